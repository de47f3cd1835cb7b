//! Versions, their differences, and notifications.

use nl2sql_tests::{Database, error, rows, sqlstate, text};
use postgres::Client;
use serde_json::{Value, json};

fn made(statements: &str) -> (Database, Client) {
    let database = Database::blank();
    let mut client = database.connect();
    client
        .batch_execute(&format!(
            "CREATE SCHEMA s; SET search_path = s, public; {statements}; RESET search_path; SELECT nl2sql_index('s')"
        ))
        .unwrap();
    (database, client)
}

fn live(client: &mut Client) -> String {
    text(client, "SELECT schema_version FROM nl2sql.pointer WHERE datasource = 's' AND namespace LIKE '%384'").unwrap()
}

fn json(client: &mut Client, sql: &str) -> Value {
    serde_json::from_str(&text(client, sql).unwrap()).unwrap()
}

/// The parts of a diff that are not empty.
fn parts(diff: &Value) -> Value {
    let parts =
        diff.as_object().unwrap().iter().filter(|(_, part)| part.as_array().is_some_and(|part| !part.is_empty()));
    parts.map(|(name, part)| (name.clone(), part.clone())).collect::<serde_json::Map<_, _>>().into()
}

fn events(client: &mut Client) -> Vec<Value> {
    client.batch_execute("SELECT 1").unwrap();
    use postgres::fallible_iterator::FallibleIterator;
    client.notifications().iter().map(|event| Ok(serde_json::from_str(event.payload()).unwrap())).collect().unwrap()
}

const SCHEMA: &str = "CREATE TABLE a (id int PRIMARY KEY, x text, y int NOT NULL); CREATE TABLE \"B c\" (id int, a int CONSTRAINT to_a REFERENCES a); CREATE TABLE gone (id int)";

const CHANGES: &str = "ALTER TABLE s.a ALTER x TYPE varchar(9), ALTER y DROP NOT NULL, ADD z int; ALTER TABLE s.\"B c\" DROP CONSTRAINT to_a, ADD PRIMARY KEY (id);
                       ALTER TABLE s.\"B c\" DROP a; DROP TABLE s.gone; CREATE TABLE s.fresh (id int REFERENCES s.a)";

fn changed() -> Value {
    json!({
        "tables_added": ["s.fresh"], "tables_dropped": ["s.gone"],
        "columns_added": [{"table": "s.a", "column": "z", "type": "integer", "nullable": true, "primary_key": false}],
        "columns_dropped": [{"table": "s.\"B c\"", "column": "a", "type": "integer", "nullable": true, "primary_key": false}],
        "columns_changed": [
            {"table": "s.\"B c\"", "column": "id", "changes": {"nullable": [true, false], "primary_key": [false, true]}},
            {"table": "s.a", "column": "x", "changes": {"type": ["text", "character varying(9)"]}},
            {"table": "s.a", "column": "y", "changes": {"nullable": [false, true]}},
        ],
        "foreign_keys_dropped": [{"table": "s.\"B c\"", "name": "to_a", "columns": ["a"], "referred_schema": "s", "referred_table": "a", "referred_columns": ["id"]}],
    })
}

#[test]
fn a_drift_is_seen_checked_stored_and_notified() {
    let (database, mut client) = made(SCHEMA);
    let before = live(&mut client);
    assert_eq!(
        rows(&mut client, "SELECT status, diff, impact, error FROM nl2sql_check()"),
        json!([{"status": "unchanged", "diff": null, "impact": null, "error": null}])
    );
    assert_eq!(parts(&json(&mut client, &format!("nl2sql_diff('s', '{before}')"))), json!({}));
    client
        .batch_execute(
            "SELECT nl2sql_register('s', options => '{\"preferred_tables\": [\"gone\", \"s.a\", \"never\"]}')",
        )
        .unwrap();
    client.batch_execute(CHANGES).unwrap();
    // The live schema, compared with the catalogs.
    let checked = rows(&mut client, "SELECT * FROM nl2sql_check('s')");
    assert_eq!(checked[0]["status"], "drifted");
    assert_eq!(checked[0]["live_version"], before.as_str());
    assert_eq!(parts(&checked[0]["diff"]), changed());
    assert_eq!(checked[0]["impact"], json!({"verified_queries": [], "metrics": [], "preferred_tables": ["gone"]}));
    let diff = json(&mut client, &format!("nl2sql_diff('s', '{before}')"));
    assert_eq!((parts(&diff), &diff["to_version"]), (changed(), &Value::Null));
    let warnings = text(&mut client, "SELECT array_to_string(warnings, E'\\n') FROM nl2sql_health('s')").unwrap();
    assert!(warnings.contains("has drifted since the live snapshot: SELECT nl2sql_index('s');"), "{warnings}");
    assert_eq!(text(&mut client, "SELECT count(*) FROM nl2sql.snapshot").as_deref(), Some("1"), "nothing was written");
    // The next build stores the diff and sends the notification.
    let mut listener = database.connect();
    listener.batch_execute("LISTEN nl2sql").unwrap();
    client.batch_execute("SELECT nl2sql_index('s')").unwrap();
    let after = live(&mut client);
    let build = text(&mut client, "SELECT build FROM nl2sql.pointer").unwrap();
    assert_eq!(
        events(&mut listener),
        [
            json!({"event": "schema.drifted", "datasource": "s", "from_version": before, "to_version": after,
               "counts": {"tables_added": 1, "tables_dropped": 1, "columns_added": 1, "columns_dropped": 1, "columns_changed": 3, "foreign_keys_dropped": 1}}),
            json!({"event": "index.swapped", "datasource": "s", "namespace": "nl2sql__local-all-minilm-l6-v2__384", "build_id": build, "schema_version": after}),
        ]
    );
    let versions = rows(&mut client, "SELECT schema_version, live, has_diff FROM nl2sql_versions('s')");
    assert_eq!(
        versions,
        json!([
            {"schema_version": after, "live": true, "has_diff": true}, {"schema_version": before, "live": false, "has_diff": false},
        ])
    );
    assert_eq!(parts(&json(&mut client, &format!("nl2sql_diff('s', '{before}', '{after}')"))), changed());
    let back = parts(&json(&mut client, &format!("nl2sql_diff('s', '{after}', '{before}')")));
    assert_eq!((&back["tables_added"], &back["tables_dropped"]), (&json!(["s.gone"]), &json!(["s.fresh"])));
    assert_eq!(rows(&mut client, "SELECT status FROM nl2sql_check()"), json!([{"status": "unchanged"}]));
    // A build that changes nothing sends no notification.
    client.batch_execute("SELECT nl2sql_index('s')").unwrap();
    assert_eq!(events(&mut listener), Vec::<Value>::new());
    // Back to the first structure: its version is gone by now, so this is a new diff.
    client
        .batch_execute(
            "CREATE TABLE s.again (id int); SELECT nl2sql_index('s'); DROP TABLE s.again; SELECT nl2sql_index('s')",
        )
        .unwrap();
    assert_eq!(live(&mut client), after, "a version that is kept is not stored twice");
    assert_eq!(events(&mut listener).len(), 4);
    let shown = parts(&json(
        &mut client,
        &format!(
            "nl2sql_diff('s', (SELECT from_version FROM nl2sql.diff WHERE schema_version = '{after}'), '{after}')"
        ),
    ));
    assert_eq!(shown, json!({"tables_dropped": ["s.again"]}));
}

#[test]
fn statistics_and_comments_alone_make_a_version_without_a_diff() {
    let (database, mut client) = made(SCHEMA);
    let mut listener = database.connect();
    listener.batch_execute("LISTEN nl2sql").unwrap();
    let before = live(&mut client);
    client
        .batch_execute(
            "INSERT INTO s.a VALUES (1, 'x', 1); COMMENT ON TABLE s.a IS 'the first'; SELECT nl2sql_index('s')",
        )
        .unwrap();
    let after = live(&mut client);
    assert_ne!(before, after);
    assert_eq!(
        rows(&mut client, "SELECT has_diff FROM nl2sql_versions('s')"),
        json!([{"has_diff": false}, {"has_diff": false}])
    );
    assert_eq!(parts(&json(&mut client, &format!("nl2sql_diff('s', '{before}', '{after}')"))), json!({}));
    let notified: Vec<Value> = events(&mut listener).into_iter().map(|event| event["event"].clone()).collect();
    assert_eq!(notified, ["index.swapped"]);
    let fingerprints = "SELECT count(DISTINCT fingerprint) FROM nl2sql_versions('s')";
    assert_eq!(text(&mut client, fingerprints).as_deref(), Some("1"));
    // The position of a column does not matter, its name and type do.
    client.batch_execute("ALTER TABLE s.a DROP x; ALTER TABLE s.a ADD x text").unwrap();
    assert_eq!(rows(&mut client, "SELECT status FROM nl2sql_check()"), json!([{"status": "unchanged"}]));
}

#[test]
fn versions_go_by_retention_and_diffs_with_them() {
    let (_database, mut client) = made("CREATE TABLE a (id int)");
    let first = live(&mut client);
    for column in ["b", "c", "d", "e"] {
        client.batch_execute(&format!("ALTER TABLE s.a ADD {column} int; SELECT nl2sql_index('s')")).unwrap();
    }
    let kept = "SELECT count(*), count(*) FILTER (WHERE has_diff) AS with_diff FROM nl2sql_versions('s')";
    assert_eq!(rows(&mut client, kept), json!([{"count": 3, "with_diff": 3}]));
    assert_eq!(text(&mut client, "SELECT count(*) FROM nl2sql.diff").as_deref(), Some("3"));
    // The oldest kept version's diff starts at a version that is gone, and can still be read.
    let oldest = rows(
        &mut client,
        "SELECT d.from_version, d.schema_version FROM nl2sql.diff d JOIN nl2sql.snapshot s USING (datasource, schema_version) ORDER BY s.created_at LIMIT 1",
    );
    let (from, to) = (oldest[0]["from_version"].as_str().unwrap(), oldest[0]["schema_version"].as_str().unwrap());
    assert!(!rows(&mut client, "SELECT schema_version FROM nl2sql_versions('s')").to_string().contains(from));
    assert_eq!(
        parts(&json(&mut client, &format!("nl2sql_diff('s', '{from}', '{to}')")))["columns_added"][0]["column"],
        "c"
    );
    assert_eq!(sqlstate(&mut client, &format!("SELECT nl2sql_diff('s', '{first}', '{to}')")), "42704");
    // With a lower limit, the live version and the one it replaced stay.
    client.batch_execute("SET nl2sql.max_versions = 1; SELECT nl2sql_index('s')").unwrap();
    assert_eq!(rows(&mut client, kept), json!([{"count": 2, "with_diff": 2}]));
    // A pointer in the namespace of another model keeps its version.
    client
        .batch_execute(
            "SELECT nl2sql.create_namespace('nl2sql__other__3', 3); ALTER EXTENSION nl2sql ADD TABLE nl2sql.nl2sql__other__3;
             INSERT INTO nl2sql.build (namespace, datasource, schema_version) SELECT 'nl2sql__other__3', 's', schema_version FROM nl2sql.pointer;
             INSERT INTO nl2sql.pointer SELECT 's', b.namespace, b.id, b.schema_version, b.built_at FROM nl2sql.build b WHERE b.namespace = 'nl2sql__other__3'",
        )
        .unwrap();
    let pinned = live(&mut client);
    for column in ["f", "g", "h"] {
        client.batch_execute(&format!("ALTER TABLE s.a ADD {column} int; SELECT nl2sql_index('s')")).unwrap();
    }
    assert_eq!(
        text(&mut client, &format!("SELECT count(*) FROM nl2sql.snapshot WHERE schema_version = '{pinned}'"))
            .as_deref(),
        Some("1")
    );
    client.batch_execute("SELECT nl2sql_prune(); SELECT nl2sql_index('s')").unwrap();
    assert_eq!(
        text(&mut client, &format!("SELECT count(*) FROM nl2sql.snapshot WHERE schema_version = '{pinned}'"))
            .as_deref(),
        Some("0")
    );
    client.batch_execute("SELECT nl2sql_describe('s', 'a', 'x'); SELECT nl2sql_unregister('s')").unwrap();
    let left = "SELECT (SELECT count(*) FROM nl2sql.snapshot) + (SELECT count(*) FROM nl2sql.snapshot_table) + (SELECT count(*) FROM nl2sql.diff)
                     + (SELECT count(*) FROM nl2sql.build) + (SELECT count(*) FROM nl2sql.pointer) + (SELECT count(*) FROM nl2sql.entry)
                     + (SELECT count(*) FROM nl2sql.relation) + (SELECT count(*) FROM nl2sql.description) + (SELECT count(*) FROM nl2sql.datasource_setting)";
    assert_eq!(text(&mut client, left).as_deref(), Some("0"));
}

#[test]
fn a_role_sees_only_its_part_of_a_diff() {
    let (database, mut client) = made(SCHEMA);
    let role = database.role("reader");
    let before = live(&mut client);
    client
        .batch_execute(&format!(
            "GRANT USAGE ON SCHEMA s TO {role}; GRANT SELECT (id, x) ON s.a TO {role}; GRANT SELECT ON s.gone TO {role}"
        ))
        .unwrap();
    client.batch_execute("SELECT nl2sql_register('s', options => '{\"preferred_tables\": [\"gone\"], \"include\": [\"s.*\", \"nothing.*\"]}')").unwrap();
    let mut reader = database.connect_as(&role);
    let shown = |reader: &mut Client| {
        rows(
            reader,
            "SELECT c.status, c.diff, c.impact, h.warnings FROM nl2sql_check() c JOIN nl2sql_health() h USING (datasource)",
        )
    };
    // A change of what the role cannot read is not reported, not even to roles that may read the table's other columns.
    client.batch_execute("ALTER TABLE s.a ALTER y DROP NOT NULL, ADD z int; ALTER TABLE s.\"B c\" DROP CONSTRAINT to_a, DROP a; CREATE TABLE s.fresh (id int)").unwrap();
    let silent = json!([{"status": "unchanged", "diff": null, "impact": null, "warnings": []}]);
    assert_eq!(shown(&mut reader), silent);
    assert_eq!(parts(&json(&mut reader, &format!("nl2sql_diff('s', '{before}')"))), json!({}));
    client.batch_execute("SELECT nl2sql_index('s')").unwrap();
    let after = live(&mut client);
    assert_eq!(
        rows(&mut reader, "SELECT has_diff FROM nl2sql_versions('s')"),
        json!([{"has_diff": false}, {"has_diff": false}])
    );
    assert_eq!(parts(&json(&mut reader, &format!("nl2sql_diff('s', '{before}', '{after}')"))), json!({}));
    assert_eq!(text(&mut reader, "SELECT count(DISTINCT fingerprint) FROM nl2sql_versions('s')").as_deref(), Some("1"));
    // A change of what the role can read.
    client
        .batch_execute("ALTER TABLE s.a ALTER x TYPE varchar; ALTER TABLE s.gone ADD n int; SELECT nl2sql_index('s')")
        .unwrap();
    let latest = live(&mut client);
    let seen = json!({
        "columns_added": [{"table": "s.gone", "column": "n", "type": "integer", "nullable": true, "primary_key": false}],
        "columns_changed": [{"table": "s.a", "column": "x", "changes": {"type": ["text", "character varying"]}}],
    });
    assert_eq!(parts(&json(&mut reader, &format!("nl2sql_diff('s', '{after}', '{latest}')"))), seen);
    assert_eq!(rows(&mut reader, "SELECT has_diff FROM nl2sql_versions('s') LIMIT 1"), json!([{"has_diff": true}]));
    // A dropped table does not exist for the role, so its diff does not mention it.
    client.batch_execute("DROP TABLE s.gone").unwrap();
    assert_eq!(shown(&mut reader), silent);
    for table in ["nl2sql.diff", "nl2sql.snapshot_table", "nl2sql.description"] {
        assert_eq!(sqlstate(&mut reader, &format!("SELECT * FROM {table}")), "42501");
    }
    client.batch_execute(&format!("REVOKE ALL ON SCHEMA s FROM {role}")).unwrap();
    let unknown = error(&mut reader, &format!("SELECT nl2sql_diff('s', '{before}')"));
    let never = error(&mut reader, &format!("SELECT nl2sql_diff('t', '{before}')"));
    assert_eq!(
        (unknown.code(), unknown.message().replace("\"s\"", "\"t\"")),
        (never.code(), never.message().to_owned())
    );
    assert_eq!(rows(&mut reader, "SELECT * FROM nl2sql_check()"), json!([]));
    assert_eq!(sqlstate(&mut reader, "SELECT * FROM nl2sql_check('s')"), "42704");
}

#[test]
fn check_says_what_keeps_it_from_checking() {
    let (_database, mut client) = made("CREATE TABLE a (id int)");
    client.batch_execute("CREATE SCHEMA t; CREATE TABLE t.b (id int); SELECT nl2sql_register('t')").unwrap();
    let statuses = "SELECT datasource, status, live_version IS NULL AS never FROM nl2sql_check()";
    assert_eq!(
        rows(&mut client, statuses),
        json!([
            {"datasource": "s", "status": "unchanged", "never": false}, {"datasource": "t", "status": "not_indexed", "never": true},
        ])
    );
    client.batch_execute("SET session_replication_role = replica; DELETE FROM nl2sql.snapshot; DELETE FROM nl2sql.snapshot_table; RESET session_replication_role").unwrap();
    let failed = rows(&mut client, "SELECT status, error ~ 'does not exist' AS named FROM nl2sql_check('s')");
    assert_eq!(failed, json!([{"status": "failed", "named": true}]));
    assert_eq!(sqlstate(&mut client, "SELECT * FROM nl2sql_check('nobody')"), "42704");
    assert_eq!(sqlstate(&mut client, "SELECT * FROM nl2sql_check('')"), "22023");
    for (call, code) in [
        ("nl2sql_diff(NULL, 'x')", "22004"),
        ("nl2sql_diff('s', NULL)", "22004"),
        ("nl2sql_diff('s', 'x')", "42704"),
        ("nl2sql_diff('nobody', 'x')", "42704"),
    ] {
        assert_eq!(sqlstate(&mut client, &format!("SELECT {call}")), code, "{call}");
    }
}

/// The same structure may come back after another one, and after itself.
#[test]
fn a_diff_is_that_of_the_last_time() {
    let (_database, mut client) = made("CREATE TABLE a (x int)");
    client
        .batch_execute(
            "ALTER TABLE s.a ADD y int; SELECT nl2sql_index('s'); ALTER TABLE s.a DROP y; SELECT nl2sql_index('s')",
        )
        .unwrap();
    let has_diff = "SELECT has_diff FROM nl2sql_versions('s') WHERE live";
    assert_eq!(text(&mut client, has_diff).as_deref(), Some("true"));
    client
        .batch_execute(
            "INSERT INTO s.a VALUES (1); SELECT nl2sql_index('s'); DELETE FROM s.a; SELECT nl2sql_index('s')",
        )
        .unwrap();
    assert_eq!(text(&mut client, has_diff).as_deref(), Some("false"));
}

/// Reading works in a read-only transaction. A dropped schema is a drift like any other.
#[test]
fn reads_write_nothing() {
    let (_database, mut client) = made("CREATE TABLE a (id int)");
    let version = live(&mut client);
    client.batch_execute("DROP SCHEMA s CASCADE; BEGIN READ ONLY").unwrap();
    assert_eq!(
        rows(&mut client, "SELECT status, diff -> 'tables_dropped' AS dropped FROM nl2sql_check()"),
        json!([{"status": "drifted", "dropped": ["s.a"]}])
    );
    assert_eq!(json(&mut client, &format!("nl2sql_diff('s', '{version}')"))["tables_dropped"], json!(["s.a"]));
    client.batch_execute("ROLLBACK").unwrap();
}
