//! Reads a schema: the snapshot holds what the catalogs hold.

use nl2sql_tests::{Database, rows, text};
use postgres::Client;
use serde_json::{Value, json};

/// Creates the schema `field` with the statements, indexes it, and returns the snapshot.
fn read(client: &mut Client, statements: &str) -> Value {
    client
        .batch_execute(&format!(
            "CREATE SCHEMA field; SET search_path = field, public; {statements}; RESET search_path"
        ))
        .unwrap();
    index(client)
}

fn index(client: &mut Client) -> Value {
    client.batch_execute("SELECT nl2sql_index('field')").unwrap();
    snapshot(client, "field")
}

fn snapshot(client: &mut Client, datasource: &str) -> Value {
    let shown = text(client, &format!("nl2sql_snapshot('{datasource}')")).unwrap();
    serde_json::from_str(&shown).unwrap()
}

fn table<'a>(snapshot: &'a Value, name: &str) -> &'a Value {
    let tables = snapshot["tables"].as_array().unwrap();
    tables.iter().find(|table| table["name"] == name).unwrap_or_else(|| panic!("no table {name}: {tables:#?}"))
}

/// One field of each column or foreign key of a table, by name.
fn pick(table: &Value, list: &str, field: &str) -> Value {
    let items = table[list].as_array().unwrap();
    items
        .iter()
        .map(|item| (item["name"].as_str().unwrap().to_owned(), item[field].clone()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn names(items: &Value) -> Vec<&str> {
    items.as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect()
}

#[test]
fn every_kind_of_table_is_read() {
    let mut client = Database::blank().connect();
    let found = read(
        &mut client,
        "CREATE TABLE plain (a int, gone text, b int); ALTER TABLE plain DROP COLUMN gone; ALTER TABLE plain ADD c int;
         CREATE UNLOGGED TABLE unlogged (a int);
         CREATE TABLE no_columns ();
         CREATE VIEW no_columns_view AS SELECT;
         CREATE VIEW seen AS SELECT a, b AS renamed FROM plain;
         CREATE MATERIALIZED VIEW stored AS SELECT a FROM plain WITH NO DATA;
         CREATE FOREIGN DATA WRAPPER nothing; CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing;
         CREATE FOREIGN TABLE far (a int NOT NULL, b text) SERVER nowhere;
         CREATE TABLE parent (a int); CREATE TABLE child (b int) INHERITS (parent);
         CREATE TABLE root (a int, b int) PARTITION BY LIST (a);
         CREATE TABLE part PARTITION OF root FOR VALUES IN (1) PARTITION BY LIST (b);
         CREATE TABLE leaf PARTITION OF part FOR VALUES IN (1);
         CREATE FOREIGN TABLE far_leaf PARTITION OF root FOR VALUES IN (2) SERVER nowhere;
         CREATE TABLE owned (a int); ALTER EXTENSION vector ADD TABLE owned;
         CREATE TEMPORARY TABLE passing (a int);
         CREATE SEQUENCE counter; CREATE TYPE pair AS (a int, b int); CREATE INDEX by_a ON plain (a)",
    );
    let kinds: Vec<(&str, &str)> = found["tables"]
        .as_array()
        .unwrap()
        .iter()
        .map(|table| (table["name"].as_str().unwrap(), table["kind"].as_str().unwrap()))
        .collect();
    assert_eq!(
        kinds,
        [
            ("child", "table"),
            ("far", "foreign_table"),
            ("no_columns", "table"),
            ("no_columns_view", "view"),
            ("parent", "table"),
            ("plain", "table"),
            ("root", "partitioned_table"),
            ("seen", "view"),
            ("stored", "materialized_view"),
            ("unlogged", "table"),
        ]
    );
    assert_eq!(names(&table(&found, "plain")["columns"]), ["a", "b", "c"]);
    assert_eq!(names(&table(&found, "child")["columns"]), ["a", "b"]);
    assert_eq!(names(&table(&found, "seen")["columns"]), ["a", "renamed"]);
    assert_eq!(table(&found, "no_columns")["columns"], json!([]));
    assert_eq!(pick(table(&found, "far"), "columns", "nullable"), json!({"a": false, "b": true}));
    let kept = "SELECT count(*) FROM nl2sql.entry WHERE text ~ 'leaf|part |passing|owned|gone'";
    assert_eq!(text(&mut client, kept).as_deref(), Some("0"));
}

#[test]
fn types_as_the_server_writes_them() {
    let mut client = Database::blank().connect();
    let found = read(
        &mut client,
        "CREATE TYPE mood AS ENUM ('sad', 'it''s \"ok\"', 'glad 🦀'); ALTER TYPE mood ADD VALUE 'so so' AFTER 'sad';
         CREATE DOMAIN feeling AS mood; CREATE DOMAIN feeling2 AS feeling CHECK (value IS NOT NULL);
         CREATE DOMAIN moods AS mood[]; CREATE TYPE pair AS (a int, b mood); CREATE TYPE public.away AS ENUM ('x');
         CREATE TABLE t (
             a varchar(10), b numeric(10, 2), c timestamp(3) with time zone, d integer[], e text[][], f char(3), g \"char\", h bit(3),
             i interval day to second, j int4range, k mood, l feeling, m feeling2, n mood[], o feeling2[], p moods, q pair, r away, s vector(3),
             t name, u numeric(5, 0)[])",
    );
    assert_eq!(
        pick(table(&found, "t"), "columns", "type"),
        json!({
            "a": "character varying(10)", "b": "numeric(10,2)", "c": "timestamp(3) with time zone", "d": "integer[]", "e": "text[]",
            "f": "character(3)", "g": "\"char\"", "h": "bit(3)", "i": "interval day to second", "j": "int4range", "k": "field.mood",
            "l": "field.feeling", "m": "field.feeling2", "n": "field.mood[]", "o": "field.feeling2[]", "p": "field.moods", "q": "field.pair",
            "r": "public.away", "s": "public.vector(3)", "t": "name", "u": "numeric(5,0)[]",
        })
    );
    let labels = json!({"values": ["sad", "so so", "it's \"ok\"", "glad 🦀"]});
    let statistics = pick(table(&found, "t"), "columns", "statistics");
    for (column, expected) in statistics.as_object().unwrap() {
        let wanted = match column.as_str() {
            "k" | "l" | "m" | "n" | "o" | "p" => labels.clone(),
            "r" => json!({"values": ["x"]}),
            _ => json!({}),
        };
        assert_eq!(*expected, wanted, "{column}");
    }
    // The caller's search path does not change the names.
    let before = found["schema_version"].clone();
    client.batch_execute("SET search_path = field, public").unwrap();
    assert_eq!(index(&mut client)["schema_version"], before);
}

#[test]
fn nullability_generation_and_comments_are_read() {
    let mut client = Database::blank().connect();
    let found = read(
        &mut client,
        "CREATE DOMAIN must AS int NOT NULL; CREATE DOMAIN must2 AS must; CREATE DOMAIN may AS int; CREATE DOMAIN tags AS text[] NOT NULL;
         CREATE DOMAIN many AS must[];
         CREATE TABLE t (
             a int, b int NOT NULL, c must, d must2, e may, f tags, g must[], h many, i int PRIMARY KEY,
             j int GENERATED ALWAYS AS IDENTITY, k int GENERATED BY DEFAULT AS IDENTITY, l int GENERATED ALWAYS AS (b + 1) STORED, m int DEFAULT 1);
         CREATE VIEW v AS SELECT b, c FROM t;
         COMMENT ON TABLE t IS 'it''s a \"table\" 🦀'; COMMENT ON COLUMN t.a IS E'two\\nlines'; COMMENT ON VIEW v IS 'seen';
         COMMENT ON COLUMN v.b IS 'seen b'; COMMENT ON CONSTRAINT t_pkey ON t IS 'no one reads it'; COMMENT ON SCHEMA field IS 'grain and cattle'",
    );
    let t = table(&found, "t");
    assert_eq!(
        pick(t, "columns", "nullable"),
        json!({
            "a": true, "b": false, "c": false, "d": false, "e": true, "f": false, "g": true, "h": true, "i": false, "j": false, "k": false,
            "l": true, "m": true,
        })
    );
    let generated = pick(t, "columns", "generated");
    let generated: Vec<(&str, &Value)> = generated
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, how)| !how.is_null())
        .map(|(name, how)| (name.as_str(), how))
        .collect();
    assert_eq!(
        generated,
        [("j", &json!("identity always")), ("k", &json!("identity by default")), ("l", &json!("generated stored"))]
    );
    assert_eq!(t["description"], "it's a \"table\" 🦀");
    assert_eq!(pick(t, "columns", "description")["a"], "two\nlines");
    assert_eq!(pick(t, "columns", "description")["b"], Value::Null);
    assert_eq!(table(&found, "v")["description"], "seen");
    assert_eq!(pick(table(&found, "v"), "columns", "description"), json!({"b": "seen b", "c": null}));
    let about = "SELECT text FROM nl2sql.entry WHERE type = 'schema.datasource'";
    assert!(
        text(&mut client, about).unwrap().contains("grain and cattle"),
        "the schema's comment describes the datasource"
    );
}

#[test]
fn row_estimates_are_those_of_analyze() {
    let mut client = Database::blank().connect();
    let found = read(
        &mut client,
        "CREATE TABLE t (a int) WITH (autovacuum_enabled = off); INSERT INTO t SELECT generate_series(1, 123);
         CREATE TABLE empty (a int) WITH (autovacuum_enabled = off); CREATE VIEW v AS TABLE t;
         CREATE TABLE root (a int) PARTITION BY RANGE (a);
         CREATE TABLE p1 PARTITION OF root FOR VALUES FROM (0) TO (10) WITH (autovacuum_enabled = off);
         CREATE TABLE p2 PARTITION OF root FOR VALUES FROM (10) TO (50) WITH (autovacuum_enabled = off);
         INSERT INTO root SELECT generate_series(0, 49); SELECT nl2sql_register('field', options => '{\"profile\": \"catalog\"}')",
    );
    let counts = |found: &Value| pick(found, "tables", "row_count");
    assert_eq!(counts(&found), json!({"t": null, "empty": null, "v": null, "root": null}), "nobody has counted");
    client.batch_execute("ANALYZE field.t; ANALYZE field.empty; ANALYZE field.p1; ANALYZE field.p2").unwrap();
    assert_eq!(
        counts(&index(&mut client)),
        json!({"t": 123, "empty": 0, "v": null, "root": 50}),
        "a root has the sum of its leaves"
    );
    client
        .batch_execute(
            "ANALYZE field.root; INSERT INTO field.root SELECT 3 FROM generate_series(1, 50); ANALYZE field.root",
        )
        .unwrap();
    assert_eq!(counts(&index(&mut client))["root"], 100);
}

/// Every key that the manual names, and no other.
#[test]
fn the_shape_of_a_snapshot() {
    let mut client = Database::demo().connect();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let found = snapshot(&mut client, "chinook");
    assert_eq!(keys(&found), ["datasource", "engine_type", "fingerprint", "schema_version", "tables"]);
    assert_eq!((&found["datasource"], &found["engine_type"]), (&json!("chinook"), &json!("postgresql")));
    let (mut columns, mut foreign_keys) = (0, 0);
    for table in found["tables"].as_array().unwrap() {
        assert_eq!(
            keys(table),
            ["columns", "description", "foreign_keys", "kind", "name", "primary_key", "row_count", "schema"]
        );
        for column in table["columns"].as_array().unwrap() {
            columns += 1;
            assert_eq!(
                keys(column),
                [
                    "description",
                    "generated",
                    "name",
                    "nullable",
                    "pii",
                    "primary_key",
                    "statistics",
                    "synonyms",
                    "type"
                ]
            );
        }
        for key in table["foreign_keys"].as_array().unwrap() {
            foreign_keys += 1;
            assert_eq!(
                keys(key),
                ["cardinality", "columns", "name", "referred_columns", "referred_schema", "referred_table"]
            );
        }
    }
    let counts = rows(
        &mut client,
        "SELECT counts->'schema.column' AS c, counts->'schema.relationship' AS r FROM nl2sql_health('chinook')",
    );
    assert_eq!(counts, json!([{"c": columns, "r": foreign_keys}]));
    let version = found["schema_version"].as_str().unwrap();
    let explicit = text(&mut client, &format!("nl2sql_snapshot('chinook', '{version}')")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&explicit).unwrap(), found);
}

const SHOP: &str =
    "CREATE TABLE a (id int PRIMARY KEY, x text); CREATE TABLE b (id int PRIMARY KEY, a int REFERENCES a)";

#[test]
fn versions_change_with_content_and_fingerprints_with_structure() {
    let mut client = Database::blank().connect();
    let first = read(&mut client, SHOP);
    let version = first["schema_version"].as_str().unwrap().to_owned();
    let stored = "SELECT s.fingerprint, left(s.content_hash, 8) AS hash, to_char(s.created_at AT TIME ZONE 'UTC', 'YYYYMMDDHH24MI') AS at
        FROM nl2sql.snapshot s WHERE datasource = 'field'";
    let stored = rows(&mut client, stored);
    let (at, hash) = version.split_once('_').expect("YYYYMMDDhhmmss_hash8");
    assert_eq!((at.len(), hash.len()), (14, 8));
    assert_eq!(stored[0]["hash"], hash);
    // Stored within the minute, or as the next one began.
    let minute: i64 = at[..12].parse().unwrap();
    assert!(
        (0..=1).contains(&(stored[0]["at"].as_str().unwrap().parse::<i64>().unwrap() - minute)) || at[10..12] == *"59"
    );
    assert_eq!(stored[0]["fingerprint"], first["fingerprint"]);
    assert_eq!(first["fingerprint"].as_str().map(str::len), Some(64));

    client.batch_execute("COMMENT ON TABLE field.a IS 'described'").unwrap();
    let described = index(&mut client);
    assert_ne!(described["schema_version"], first["schema_version"]);
    assert_eq!(described["fingerprint"], first["fingerprint"], "a comment is no structure");
    let versions = rows(&mut client, "SELECT schema_version, fingerprint, live FROM nl2sql_versions('field')");
    assert_eq!(
        versions,
        json!([
            {"schema_version": described["schema_version"], "fingerprint": first["fingerprint"], "live": true},
            {"schema_version": first["schema_version"], "fingerprint": first["fingerprint"], "live": false},
        ])
    );

    // The same structure made in another way: different OIDs, the same names.
    client
        .batch_execute(
            "DROP SCHEMA field CASCADE; CREATE SCHEMA field; CREATE TABLE field.b (gone int, id int PRIMARY KEY); ALTER TABLE field.b DROP gone;
             CREATE TABLE field.a (id int PRIMARY KEY); ALTER TABLE field.a ADD x text;
             ALTER TABLE field.b ADD a int CONSTRAINT b_a_fkey REFERENCES field.a",
        )
        .unwrap();
    let again = index(&mut client);
    assert_eq!(again["fingerprint"], first["fingerprint"]);
    assert_eq!(again["schema_version"], first["schema_version"], "equal content is the snapshot that is kept");
    let elsewhere = read(&mut Database::blank().connect(), SHOP);
    assert_eq!(elsewhere["fingerprint"], first["fingerprint"]);
    let changes = [
        "ALTER TABLE field.a ALTER x TYPE varchar(9)",
        "ALTER TABLE field.a ALTER x SET NOT NULL",
        "ALTER TABLE field.a RENAME x TO y",
        "ALTER TABLE field.b DROP CONSTRAINT b_a_fkey",
        "ALTER TABLE field.b DROP CONSTRAINT b_pkey",
        "CREATE TABLE field.c ()",
        "DROP TABLE field.c",
    ];
    let mut seen = vec![again["fingerprint"].clone()];
    for change in changes {
        client.batch_execute(change).unwrap();
        let now = index(&mut client)["fingerprint"].clone();
        assert_eq!(seen.contains(&now), change.starts_with("DROP TABLE"), "{change}");
        seen.push(now);
    }
}

/// Frozen: the catalogs of Postgres 15 to 18 differ, the result does not.
#[test]
fn every_major_computes_the_same_fingerprint() {
    let mut client = Database::blank().connect();
    let found = read(
        &mut client,
        "CREATE TYPE mood AS ENUM ('sad', 'glad'); CREATE DOMAIN must AS mood NOT NULL;
         CREATE TABLE a (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, x varchar(9)[] NOT NULL, y must, z numeric(4, 1) DEFAULT 0 CHECK (z > 0));
         CREATE TABLE root (id int, at date, a int CONSTRAINT a REFERENCES a, PRIMARY KEY (at, id)) PARTITION BY RANGE (at);
         CREATE TABLE part PARTITION OF root FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
         CREATE TABLE b (at date, id int, CONSTRAINT root FOREIGN KEY (at, id) REFERENCES root, t timestamptz(3), u interval hour to minute, v bit varying(5));
         CREATE TABLE child (extra text NOT NULL) INHERITS (a);
         CREATE VIEW v AS SELECT x, y FROM a; CREATE MATERIALIZED VIEW m AS SELECT count(*) FROM b",
    );
    assert_eq!(found["fingerprint"], "2c3d04368222c5ae9b15469dd01c5e286a585f0024306a840d75c17c71e4fe9b");
    // The fingerprint covers the structure alone, as JSON with sorted keys.
    let keep = |item: &Value, keys: &[&str]| -> Value {
        keys.iter().map(|key| (key.to_string(), item[*key].clone())).collect::<serde_json::Map<_, _>>().into()
    };
    let list = |items: &Value, keys: &[&str]| -> Value {
        items.as_array().unwrap().iter().map(|item| keep(item, keys)).collect()
    };
    let sorted = |mut items: Value| {
        items.as_array_mut().unwrap().sort_by_key(|item| item["name"].as_str().unwrap().to_owned());
        items
    };
    let tables: Vec<Value> = found["tables"].as_array().unwrap().iter().map(|table| json!({
        "schema": table["schema"],
        "name": table["name"],
        "columns": sorted(list(&table["columns"], &["name", "type", "nullable", "primary_key"])),
        "foreign_keys": list(&table["foreign_keys"], &["name", "columns", "referred_schema", "referred_table", "referred_columns"]),
    })).collect();
    let structure = json!({"datasource": "field", "engine_type": "postgresql", "tables": tables}).to_string();
    let hash: String =
        client.query_one("SELECT encode(sha256(convert_to($1, 'UTF8')), 'hex')", &[&structure]).unwrap().get(0);
    assert_eq!(found["fingerprint"], hash);
}

/// A table with as many columns as the server allows, a few of them embedded, and one whose text is far longer than the
/// model reads.
#[test]
fn wide_tables_are_stored_whole() {
    let mut client = Database::blank().connect();
    let columns =
        |count: usize, stem: &str| (1..=count).map(|n| format!("{stem}{n} bool")).collect::<Vec<_>>().join(", ");
    let (widest, wordy) = (columns(1600, "c"), columns(300, "a_name_of_words_"));
    let found = read(
        &mut client,
        &format!(
            "CREATE TABLE widest ({widest}); CREATE TABLE wordy ({wordy});
             SELECT nl2sql_register('field', options => '{{\"exclude_columns\": [\"*.widest.c??\", \"*.widest.c???\", \"*.widest.c1[0-5]??\"]}}')"
        ),
    );
    let left: Vec<String> = (1..10).map(|n| format!("c{n}")).chain(["c1600".to_owned()]).collect();
    assert_eq!(names(&table(&found, "widest")["columns"]), left);
    let stored = "SELECT text FROM nl2sql.entry WHERE type = 'schema.table' AND metadata->>'table' = 'field.wordy'";
    assert!(text(&mut client, stored).unwrap().contains("a name of words 300"), "the text is stored whole");
    assert_eq!(names(&table(&found, "wordy")["columns"]).len(), 300);
}
