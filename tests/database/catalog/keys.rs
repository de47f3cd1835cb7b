//! Primary and foreign keys as the catalogs have them: order of columns, both ends, cardinality, without the copies
//! that partitioning creates.

use nl2sql_tests::{Database, rows, text};
use postgres::Client;
use serde_json::{Value, json};

/// Indexes the schemas as one datasource, and returns each table's foreign keys: `table.name` to `[columns, referred
/// table, referred columns, cardinality]`.
fn keys(client: &mut Client, schemas: &str) -> Value {
    client
        .batch_execute(&format!(
            "SELECT nl2sql_register('field', schemas => '{schemas}'); SELECT nl2sql_index('field')"
        ))
        .unwrap();
    let found = rows(
        client,
        "SELECT (t->>'name') || '.' || (k->>'name') AS name, jsonb_build_array(k->'columns', (k->>'referred_schema') || '.' || (k->>'referred_table'),
             k->'referred_columns', k->'cardinality') AS key
         FROM jsonb_array_elements(nl2sql_snapshot('field')->'tables') t, jsonb_array_elements(t->'foreign_keys') k",
    );
    let count = found.as_array().unwrap().len();
    let named: serde_json::Map<String, Value> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["name"].as_str().unwrap().to_owned(), row["key"].clone()))
        .collect();
    assert_eq!(named.len(), count, "no key is there twice");
    // Each key is an entry with an id of its own.
    let entries = "SELECT count(DISTINCT e.id) FROM nl2sql.entry e JOIN nl2sql.pointer p ON p.build = e.build WHERE e.type = 'schema.relationship'";
    assert_eq!(text(client, entries).unwrap(), count.to_string());
    named.into()
}

fn made(statements: &str) -> Client {
    let mut client = Database::blank().connect();
    client
        .batch_execute(&format!(
            "CREATE SCHEMA field; CREATE SCHEMA barn; SET search_path = field; {statements}; RESET search_path"
        ))
        .unwrap();
    client
}

#[test]
fn primary_keys_in_key_order() {
    let mut client = made(
        "CREATE TABLE one (id int PRIMARY KEY); CREATE TABLE none (id int UNIQUE NOT NULL);
         CREATE TABLE two (a int, b int, c int, PRIMARY KEY (c, a));
         CREATE TABLE covering (a int, b int, PRIMARY KEY (b) INCLUDE (a));
         CREATE TABLE root (a int, b int, PRIMARY KEY (b, a)) PARTITION BY HASH (a);
         CREATE TABLE leaf PARTITION OF root FOR VALUES WITH (MODULUS 1, REMAINDER 0)",
    );
    keys(&mut client, "{field}");
    let found = rows(
        &mut client,
        "SELECT t->>'name' AS name, t->'primary_key' AS key,
             (SELECT jsonb_agg(c->'name') FROM jsonb_array_elements(t->'columns') c WHERE (c->>'primary_key')::boolean) AS flagged
         FROM jsonb_array_elements(nl2sql_snapshot('field')->'tables') t",
    );
    assert_eq!(
        found,
        json!([
            {"name": "covering", "key": ["b"], "flagged": ["b"]},
            {"name": "none", "key": [], "flagged": null},
            {"name": "one", "key": ["id"], "flagged": ["id"]},
            {"name": "root", "key": ["b", "a"], "flagged": ["a", "b"]},
            {"name": "two", "key": ["c", "a"], "flagged": ["a", "c"]},
        ])
    );
}

#[test]
fn foreign_keys_of_every_sort() {
    let mut client = made(
        "CREATE TABLE person (id int PRIMARY KEY, boss int CONSTRAINT boss REFERENCES person, email text UNIQUE, first text, last text,
             UNIQUE (last, first));
         CREATE TABLE barn.shed (id int PRIMARY KEY, owner int CONSTRAINT owner REFERENCES field.person);
         CREATE TABLE visit (shed int CONSTRAINT far REFERENCES barn.shed, mail text CONSTRAINT by_unique REFERENCES person (email),
             guest int CONSTRAINT guest REFERENCES person, host int CONSTRAINT host REFERENCES person,
             first text, last text, CONSTRAINT by_name FOREIGN KEY (first, last) REFERENCES person (first, last),
             CONSTRAINT by_name_turned FOREIGN KEY (last, first) REFERENCES person (last, first), at date);
         ALTER TABLE visit ADD CONSTRAINT not_valid FOREIGN KEY (guest) REFERENCES person NOT VALID;
         ALTER TABLE visit ADD CONSTRAINT late FOREIGN KEY (host) REFERENCES person DEFERRABLE INITIALLY DEFERRED",
    );
    let id = |columns: Value, to: &str| json!([columns, to, ["id"], "many_to_one"]);
    let visits = json!({
        "visit.far": id(json!(["shed"]), "barn.shed"),
        "visit.by_unique": [["mail"], "field.person", ["email"], "many_to_one"],
        "visit.guest": id(json!(["guest"]), "field.person"),
        "visit.host": id(json!(["host"]), "field.person"),
        "visit.not_valid": id(json!(["guest"]), "field.person"),
        "visit.late": id(json!(["host"]), "field.person"),
        "visit.by_name": [["first", "last"], "field.person", ["first", "last"], "many_to_one"],
        "visit.by_name_turned": [["last", "first"], "field.person", ["last", "first"], "many_to_one"],
        "person.boss": id(json!(["boss"]), "field.person"),
    });
    // A referred table of another schema is named although it is not in the datasource.
    assert_eq!(keys(&mut client, "{field}"), visits);
    let mut both = visits;
    both["shed.owner"] = id(json!(["owner"]), "field.person");
    assert_eq!(keys(&mut client, "{field,barn}"), both);
    let metadata = "SELECT metadata->'from_table' AS a, metadata->'to_table' AS b, metadata->'from_columns' AS c, metadata->'constraint' AS d
        FROM nl2sql_mmr('name of the person', k => 50, types => '{schema.relationship}') WHERE metadata->>'constraint' = 'by_name'";
    assert_eq!(
        rows(&mut client, metadata),
        json!([{"a": "field.visit", "b": "field.person", "c": ["first", "last"], "d": "by_name"}])
    );
}

#[test]
fn partitions_do_not_repeat_keys() {
    let mut client = made(
        "CREATE TABLE goods (id int PRIMARY KEY);
         CREATE TABLE sales (id int, at int, good int CONSTRAINT good REFERENCES goods, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
         CREATE TABLE sales_1 PARTITION OF sales FOR VALUES FROM (0) TO (10);
         CREATE TABLE sales_2 PARTITION OF sales FOR VALUES FROM (10) TO (20) PARTITION BY LIST (at);
         CREATE TABLE sales_2a PARTITION OF sales_2 FOR VALUES IN (10, 11);
         CREATE TABLE refund (sale int, at int, CONSTRAINT sale FOREIGN KEY (sale, at) REFERENCES sales);
         -- One that had its key before it became a partition.
         CREATE TABLE sales_3 (id int, at int, good int CONSTRAINT good REFERENCES goods, PRIMARY KEY (id, at));
         ALTER TABLE sales ATTACH PARTITION sales_3 FOR VALUES FROM (20) TO (30);
         CREATE TABLE refund_part (sale int, at int, CONSTRAINT sale FOREIGN KEY (sale, at) REFERENCES sales) PARTITION BY LIST (at);
         CREATE TABLE refund_part_1 PARTITION OF refund_part FOR VALUES IN (1)",
    );
    let sale = json!([["sale", "at"], "field.sales", ["id", "at"], "many_to_one"]);
    let expected = json!({
        "sales.good": [["good"], "field.goods", ["id"], "many_to_one"],
        "refund.sale": sale,
        "refund_part.sale": sale,
    });
    assert_eq!(keys(&mut client, "{field}"), expected);
}

#[test]
fn cardinality_follows_unique_keys() {
    let mut client = made(
        "CREATE TABLE p (a int, b int, PRIMARY KEY (a, b)); CREATE TABLE q (id int PRIMARY KEY);
         CREATE TABLE same_key (id int PRIMARY KEY CONSTRAINT k REFERENCES q);
         CREATE TABLE own_unique (id int PRIMARY KEY, q int UNIQUE CONSTRAINT k REFERENCES q);
         CREATE TABLE unique_index (q int CONSTRAINT k REFERENCES q); CREATE UNIQUE INDEX ON unique_index (q);
         CREATE TABLE key_within (a int PRIMARY KEY, b int, CONSTRAINT k FOREIGN KEY (a, b) REFERENCES p);
         CREATE TABLE turned (a int, b int, UNIQUE (b, a), CONSTRAINT k FOREIGN KEY (a, b) REFERENCES p);
         CREATE TABLE covering (q int CONSTRAINT k REFERENCES q, x int, UNIQUE (q) INCLUDE (x));
         CREATE TABLE wider (q int CONSTRAINT k REFERENCES q, x int, PRIMARY KEY (q, x));
         CREATE TABLE partial (q int CONSTRAINT k REFERENCES q); CREATE UNIQUE INDEX ON partial (q) WHERE q > 0;
         CREATE TABLE computed (q int CONSTRAINT k REFERENCES q); CREATE UNIQUE INDEX ON computed ((q + 0));
         CREATE TABLE plain_index (q int CONSTRAINT k REFERENCES q); CREATE INDEX ON plain_index (q)",
    );
    let found = keys(&mut client, "{field}");
    for (table, expected) in [
        ("same_key", "one_to_one"),
        ("own_unique", "one_to_one"),
        ("unique_index", "one_to_one"),
        ("key_within", "one_to_one"),
        ("turned", "one_to_one"),
        ("covering", "one_to_one"),
        ("wider", "many_to_one"),
        ("partial", "many_to_one"),
        ("computed", "many_to_one"),
        ("plain_index", "many_to_one"),
    ] {
        assert_eq!(found[format!("{table}.k")][3], expected, "{table}");
    }
}

/// Runs the four catalog queries on 2,000 tables of 12 columns each. Prints the time and does not judge it, because the
/// machine may be busy.
#[test]
fn thousands_of_tables_are_read_and_compared() {
    let mut client = made("SELECT 1");
    client
        .batch_execute(
            "DO $$ BEGIN FOR n IN 1..2000 LOOP
                 EXECUTE format('CREATE TABLE field.t%s (id int PRIMARY KEY, parent int REFERENCES field.t%s, c1 text, c2 numeric(10, 2), c3 date,
                     c4 timestamptz, c5 bool, c6 text[], c7 varchar(20), c8 jsonb, c9 bigint, c10 uuid)', n, greatest(1, n - 1));
                 IF n % 500 = 0 THEN COMMIT; END IF;
             END LOOP; END $$",
        )
        .unwrap();
    client.batch_execute("ANALYZE pg_class; ANALYZE pg_attribute; ANALYZE pg_constraint; ANALYZE pg_index").unwrap();
    // Builds with one table, then reads the whole schema to compare it.
    client
        .batch_execute(
            "SELECT nl2sql_register('field', options => '{\"include\": [\"field.t1\"]}'); SELECT nl2sql_index('field');
             SELECT nl2sql_register('field', options => '{}')",
        )
        .unwrap();
    let started = std::time::Instant::now();
    let warnings = text(&mut client, "SELECT warnings FROM nl2sql_health('field')").unwrap();
    println!("2,000 tables with 24,000 columns: read and compared in {:.2} s", started.elapsed().as_secs_f64());
    assert!(warnings.contains("drifted"), "{warnings}");
    let tables = text(&mut client, "SELECT count(*) FROM nl2sql.relation WHERE live");
    assert_eq!(tables.as_deref(), Some("2000"));
}
