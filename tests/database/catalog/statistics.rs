//! What a build learns of the values of columns, and what it keeps of them.

use nl2sql_tests::{Database, rows, text};
use postgres::Client;
use serde_json::{Value, json};

/// Indexes the schema `s` with these options, and gives the snapshot.
fn index(client: &mut Client, options: &str) -> Value {
    client
        .batch_execute(&format!("SELECT nl2sql_register('s', options => '{options}'); SELECT nl2sql_index('s')"))
        .unwrap();
    serde_json::from_str(&text(client, "nl2sql_snapshot('s')").unwrap()).unwrap()
}

fn issues(client: &mut Client) -> Value {
    rows(
        client,
        "SELECT i.* FROM nl2sql_index('s'), jsonb_to_recordset(issues) AS i (\"table\" text, \"column\" text, stage text, message text)",
    )
}

fn statistics(snapshot: &Value, table: &str) -> Value {
    let tables = snapshot["tables"].as_array().unwrap();
    let table = tables.iter().find(|found| found["name"] == table).unwrap();
    let columns = table["columns"].as_array().unwrap();
    columns
        .iter()
        .map(|column| (column["name"].as_str().unwrap().to_owned(), column["statistics"].clone()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn made(statements: &str) -> Client {
    let mut client = Database::blank().connect();
    client
        .batch_execute(&format!("CREATE SCHEMA s; SET search_path = s, public; {statements}; RESET search_path"))
        .unwrap();
    client
}

#[test]
fn each_type_has_what_can_be_said_of_it() {
    let mut client = made(
        "CREATE TYPE mood AS ENUM ('sad', 'glad'); CREATE TYPE pair AS (a int, b int); CREATE DOMAIN positive AS int CHECK (value > 0);
         CREATE TABLE t (
             small smallint, big bigint, real real, n numeric(10, 2), cash money, label text, padded char(5), who name, flag boolean,
             day date, at timestamp, atz timestamptz, clock time, clockz timetz, span interval, key uuid, doc json, docb jsonb, list int[],
             bytes bytea, spot point, net inet, span4 int4range, feeling mood, two pair, above positive, bits bit(3), nothing int);
         INSERT INTO t VALUES
             (-3, 9000000000, 1.5, 10.50, 1.25, 'b', 'x', 'm', true, '2024-02-29', '2024-02-29 13:00', '2024-02-29 13:00+02', '13:00', '13:00+02',
              '1 day', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{}', '{}', '{1}', '\\x00', '(1,2)', '10.0.0.1', '[1,3)', 'glad', (1, 2), 7, B'101', NULL),
             (4, -1, -2.25, 2, 0.5, 'a', 'y', 'n', false, '0044-03-15 BC', '-infinity', 'infinity', '00:00:00.5', '00:00+00',
              '-1 mon', 'b0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{}', '{\"a\": 1}', '{1,2}', '\\x01', '(1,2)', '10.0.0.0/8', 'empty', 'sad', (1, 3), 8, B'111', NULL),
             (NULL, NULL, NULL, 10.5, NULL, 'B', 'x  ', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
              NULL, NULL, NULL, NULL, NULL)",
    );
    // Whatever the session is set to.
    client.batch_execute("SET datestyle = 'German'; SET intervalstyle = 'iso_8601'; SET timezone = 'Asia/Tokyo'; SET extra_float_digits = 0").unwrap();
    let found = statistics(&index(&mut client, "{}"), "t");
    let third = |distinct: i32, min: &str, max: &str| json!({"null_share": 0.3333, "distinct_count": distinct, "min": min, "max": max});
    let bare = |distinct: i32| json!({"null_share": 0.3333, "distinct_count": distinct});
    assert_eq!(
        found,
        json!({
            "small": third(2, "-3", "4"), "big": third(2, "-1", "9000000000"), "real": third(2, "-2.25", "1.5"),
            "n": {"null_share": 0.0, "distinct_count": 2, "min": "2.00", "max": "10.50"}, "cash": third(2, "$0.50", "$1.25"),
            "label": {"null_share": 0.0, "distinct_count": 3, "min": "B", "max": "b"},
            "padded": {"null_share": 0.0, "distinct_count": 2, "min": "x", "max": "y"}, "who": third(2, "m", "n"), "flag": bare(2),
            "day": third(2, "0044-03-15 BC", "2024-02-29"), "at": third(2, "-infinity", "2024-02-29 13:00:00"),
            "atz": third(2, "2024-02-29 11:00:00+00", "infinity"), "clock": third(2, "00:00:00.5", "13:00:00"),
            "clockz": third(2, "00:00:00+00", "13:00:00+02"), "span": third(2, "-1 mons", "1 day"), "key": bare(2), "doc": {"null_share": 0.3333},
            "docb": bare(2), "list": bare(2), "bytes": bare(2), "spot": {"null_share": 0.3333}, "net": third(2, "10.0.0.0/8", "10.0.0.1"),
            "span4": third(2, "empty", "[1,3)"), "feeling": {"null_share": 0.3333, "distinct_count": 2, "min": "sad", "max": "glad", "values": ["sad", "glad"]},
            "two": bare(2), "above": third(2, "7", "8"), "bits": bare(2), "nothing": {"null_share": 1.0, "distinct_count": 0},
        })
    );
    assert_eq!(issues(&mut client), json!([]));
}

#[test]
fn values_are_kept_only_where_they_may_be() {
    let mut client = made(
        "CREATE TABLE t (id int, few text, many text, long text, state varchar(9) CHECK (state IN ('open', 'closed')), stars int CHECK (stars IN (1, 2, 3)));
         INSERT INTO t SELECT i, 'f' || i % 3, 'm' || least(i, 60), repeat('long', 100), 'open', 1 FROM generate_series(1, 70) i",
    );
    let known = |found: &Value| -> Value {
        let with_values = found.as_object().unwrap().iter().filter(|(_, known)| known.get("values").is_some());
        with_values
            .map(|(name, known)| (name.clone(), known["values"].clone()))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    let without = statistics(&index(&mut client, "{}"), "t");
    assert_eq!(known(&without), json!({"state": ["open", "closed"], "stars": ["1", "2", "3"]}));
    let with = statistics(&index(&mut client, "{\"sample_values\": true}"), "t");
    // 70 rows: f1 24 times, f0 and f2 23; m60 11 times, every other m once.
    assert_eq!(
        known(&with),
        json!({
            "few": ["f1", "f0", "f2"], "many": ["m60", "m1", "m10", "m11", "m12"], "state": ["open", "closed"], "stars": ["1", "2", "3"],
        })
    );
    let metadata = "SELECT count(*) FROM nl2sql.entry WHERE metadata ? 'values' AND type = 'schema.column' AND build = (SELECT build FROM nl2sql.pointer)";
    assert_eq!(text(&mut client, metadata).as_deref(), Some("4"));
}

#[test]
fn nothing_is_kept_of_what_is_personal() {
    let mut client = made(
        "CREATE TABLE t (e_mail_addr text, \"dtNasc\" date, nick text, amount int, card_no text CHECK (card_no IN ('4111')));
         INSERT INTO t SELECT 'me' || i || '@example.com', '1990-01-01'::date + i, 'nick' || i, i, '4111' FROM generate_series(1, 5) i; ANALYZE t",
    );
    let pii = |snapshot: &Value| -> Vec<String> {
        let columns = snapshot["tables"][0]["columns"].as_array().unwrap().iter();
        columns
            .filter(|column| column["pii"] == true)
            .map(|column| column["name"].as_str().unwrap().to_owned())
            .collect()
    };
    for profile in ["stats", "catalog"] {
        let snapshot = index(&mut client, &format!("{{\"sample_values\": true, \"profile\": \"{profile}\"}}"));
        assert_eq!(pii(&snapshot), ["e_mail_addr", "dtNasc", "card_no"]);
        let found = statistics(&snapshot, "t");
        for column in ["e_mail_addr", "dtNasc", "card_no"] {
            let keys: Vec<&String> = found[column].as_object().unwrap().keys().collect();
            assert!(
                keys.iter().all(|key| ["null_share", "distinct_count", "estimated"].contains(&key.as_str())),
                "{column}: {keys:?}"
            );
        }
        let quoted = "SELECT count(*) FROM (SELECT metadata::text || text FROM nl2sql.entry UNION ALL SELECT metadata::text FROM nl2sql.snapshot_table) AS t (all_of_it)
                      WHERE all_of_it ~ 'example.com|4111|1990-01'";
        assert_eq!(text(&mut client, quoted).as_deref(), Some("0"));
    }
    let snapshot = index(
        &mut client,
        "{\"sample_values\": true, \"pii\": {\"s.t.nick\": true, \"s.t.e_mail_addr\": false, \"*.CARD_no\": false}}",
    );
    assert_eq!(pii(&snapshot), ["dtNasc", "nick"]);
    let found = statistics(&snapshot, "t");
    assert_eq!(found["e_mail_addr"]["min"], "me1@example.com");
    assert_eq!(found["card_no"]["values"], json!(["4111"]));
    assert_eq!(found["nick"], json!({"null_share": 0.0, "distinct_count": 5}));
}

#[test]
fn the_catalogue_stands_in_for_tables_that_are_not_read() {
    let mut client = made(
        "CREATE TABLE t (id int, kind text, unique_text text); INSERT INTO t SELECT i, CASE WHEN i % 4 = 0 THEN NULL ELSE 'k' || i % 2 END, 'u' || i FROM generate_series(1, 400) i;
         CREATE TABLE parent (id int) PARTITION BY LIST (id); CREATE TABLE part PARTITION OF parent FOR VALUES IN (1); INSERT INTO parent VALUES (1);
         CREATE TABLE unknown (id int); CREATE VIEW v AS SELECT id FROM t",
    );
    let before = index(&mut client, "{\"profile\": \"catalog\", \"sample_values\": true}");
    assert_eq!(statistics(&before, "t"), json!({"id": {}, "kind": {}, "unique_text": {}}));
    client.batch_execute("ANALYZE s.t, s.parent").unwrap();
    let catalogue = |values: Value| {
        json!({
            "id": {"null_share": 0.0, "distinct_count": 400, "estimated": true},
            "kind": {"null_share": 0.25, "distinct_count": 2, "estimated": true, "values": values},
            "unique_text": {"null_share": 0.0, "distinct_count": 400, "estimated": true},
        })
    };
    let found = index(&mut client, "{\"profile\": \"catalog\", \"sample_values\": true}");
    assert_eq!(statistics(&found, "t"), catalogue(json!(["k1", "k0"])));
    assert_eq!(statistics(&found, "parent")["id"]["distinct_count"], 1);
    assert_eq!(issues(&mut client), json!([]));
    // Above the limit: the same figures, and an issue.
    let found = index(&mut client, "{\"max_profile_rows\": 399, \"sample_values\": true}");
    assert_eq!(statistics(&found, "t"), catalogue(json!(["k1", "k0"])));
    let limit = "it has more than 399 rows (max_profile_rows): statistics of ANALYZE are used instead";
    assert_eq!(
        issues(&mut client),
        json!([
            {"table": "s.t", "column": null, "stage": "profile", "message": limit},
            {"table": "s.v", "column": null, "stage": "profile", "message": limit},
        ])
    );
    // Read, since it has exactly as many.
    let found = index(&mut client, "{\"max_profile_rows\": 400}");
    assert_eq!(
        statistics(&found, "t")["id"],
        json!({"null_share": 0.0, "distinct_count": 400, "min": "1", "max": "400"})
    );
    assert_eq!(
        found["tables"].as_array().unwrap().iter().map(|table| table["row_count"].as_i64()).collect::<Vec<_>>(),
        [Some(1), Some(400), Some(0), Some(400)]
    );
    assert_eq!(statistics(&found, "unknown"), json!({"id": {}}));
}

#[test]
fn many_distinct_values_are_estimated() {
    let mut client = made(
        "CREATE TABLE t (id int, halves int, words text); INSERT INTO t SELECT i, i / 2, md5(i::text) FROM generate_series(1, 40000) i",
    );
    let found = statistics(&index(&mut client, "{}"), "t");
    for (column, truth) in [("id", 40000), ("halves", 20001), ("words", 40000)] {
        let count = found[column]["distinct_count"].as_i64().unwrap();
        assert!((count - truth).abs() * 20 < truth, "{column}: {count}");
        assert_eq!(found[column]["estimated"], true);
    }
    assert_eq!(issues(&mut client), json!([]));
    assert_eq!(rows(&mut client, "SELECT DISTINCT status FROM nl2sql_index('s')"), json!([{"status": "unchanged"}]));
}

#[test]
fn lists_that_are_not_the_values_are_not_taken_for_them() {
    let mut client = made(
        "CREATE DOMAIN base AS text CHECK (VALUE IN ('a', 'b', 'c')); CREATE DOMAIN narrower AS base CHECK (VALUE IN ('a'));
         CREATE TABLE t (price numeric CHECK (price::int IN (1, 2, 3)), label text CHECK (label::char(1) IN ('x', 'y')), kind narrower, state varchar(3) CHECK (state IN ('on', 'off')),
                         padded char(5), wide text);
         INSERT INTO t VALUES (1.3, 'xylophone', 'a', 'on', E'a\t', repeat('x', 300000)), (1.4, 'y', 'a', 'on', 'a', repeat('x', 300000))",
    );
    let found = statistics(&index(&mut client, "{}"), "t");
    let values = |column: &str| found[column].get("values").cloned();
    assert_eq!((values("price"), values("label")), (None, None));
    assert_eq!((values("kind"), values("state")), (Some(json!(["a"])), Some(json!(["on", "off"]))));
    assert_eq!(found["padded"]["distinct_count"], 2, "a tab is no blank");
    assert_eq!(found["wide"], json!({"null_share": 0.0, "distinct_count": 2, "estimated": true}), "not looked at");
}

/// Statistics that one reader's rows made are not for another; nor what views ask of who reads.
#[test]
fn a_view_that_depends_on_its_reader_has_no_statistics() {
    let mut client = made(
        "CREATE TABLE t (id int, who text); INSERT INTO t VALUES (1, 'postgres'); CREATE VIEW invoked WITH (security_invoker) AS SELECT * FROM t;
         CREATE VIEW own AS SELECT * FROM t WHERE who = current_user; CREATE VIEW told AS SELECT * FROM t WHERE who = current_setting('my.name', true);
         CREATE FUNCTION all_of_it() RETURNS SETOF t LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY SELECT * FROM s.t; END $$; CREATE VIEW behind AS SELECT * FROM all_of_it();
         CREATE VIEW plain AS SELECT id, upper(who) AS who FROM t; CREATE VIEW above AS SELECT * FROM own",
    );
    let found = index(&mut client, "{}");
    for view in ["invoked", "own", "told", "behind", "above"] {
        assert_eq!(statistics(&found, view), json!({"id": {}, "who": {}}), "{view}");
    }
    assert_eq!(statistics(&found, "plain")["who"]["max"], "POSTGRES");
    assert_eq!(issues(&mut client).as_array().unwrap().len(), 5);
}

/// What must not be kept goes from the older versions, too.
#[test]
fn values_that_may_no_longer_be_kept_are_withdrawn() {
    let mut client = made(
        "CREATE TABLE t (id int, nick text, state text CHECK (state IN ('on'))); INSERT INTO t VALUES (7, 'Jane Doe', 'on'); CREATE TABLE u (id int)",
    );
    index(&mut client, "{}");
    client.batch_execute("CREATE TABLE s.v (id int); SELECT nl2sql_index('s')").unwrap();
    let quoted = "SELECT count(*) FROM (SELECT text || metadata::text FROM nl2sql.entry UNION ALL SELECT metadata::text FROM nl2sql.snapshot_table) AS t (t) WHERE t LIKE '%Jane Doe%'";
    assert_ne!(text(&mut client, quoted).as_deref(), Some("0"));
    index(&mut client, "{\"pii\": {\"s.t.nick\": true}}");
    assert_eq!(text(&mut client, quoted).as_deref(), Some("0"));
    assert_eq!(text(&mut client, "SELECT count(*) FROM nl2sql_versions('s')").as_deref(), Some("1"));
    client.batch_execute("ALTER TABLE s.t ENABLE ROW LEVEL SECURITY; SELECT nl2sql_index('s')").unwrap();
    assert_eq!(
        text(&mut client, "SELECT count(*) FROM nl2sql.snapshot_table WHERE metadata::text LIKE '%\"max\": \"7\"%'")
            .as_deref(),
        Some("0")
    );
    // A list of the catalogue's own is no reason.
    client.batch_execute("CREATE TABLE s.w (id int); SELECT nl2sql_index('s')").unwrap();
    assert_eq!(text(&mut client, "SELECT count(*) FROM nl2sql_versions('s')").as_deref(), Some("2"));
}

/// Statistics are a reader's business only where every reader sees the same rows.
#[test]
fn nothing_is_kept_where_row_security_hides_rows() {
    let mut client = made(
        "CREATE TABLE secured (id int, word text); INSERT INTO secured VALUES (1, 'hidden'); ALTER TABLE secured ENABLE ROW LEVEL SECURITY;
         CREATE VIEW over_it AS SELECT word FROM secured; CREATE VIEW over_that AS SELECT word FROM over_it WHERE word <> ''; CREATE TABLE free (id int); ANALYZE secured",
    );
    for profile in ["stats", "catalog"] {
        let found = index(&mut client, &format!("{{\"sample_values\": true, \"profile\": \"{profile}\"}}"));
        assert_eq!(statistics(&found, "secured"), json!({"id": {}, "word": {}}));
        assert!(!found.to_string().contains("hidden\""), "{found}");
        let tables: Vec<Value> =
            issues(&mut client).as_array().unwrap().iter().map(|issue| issue["table"].clone()).collect();
        assert_eq!(tables, ["s.over_it", "s.over_that", "s.secured"]);
    }
}
