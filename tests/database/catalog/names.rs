//! Names that need quotes go from the catalogs to the result and back into an argument. What the options exclude
//! appears nowhere.

use nl2sql_tests::{Database, error, rows, text};
use postgres::Client;
use serde_json::{Value, json};

/// Names as people write them, at most 63 bytes.
fn strange() -> Vec<String> {
    let mut names: Vec<String> = [
        "Harvest",
        "HARVEST",
        "order",
        "select",
        "two words",
        " lead and trail ",
        "a.b",
        "a\"b",
        "\"quoted\"",
        "it's",
        "a\\b",
        "two\nlines",
        "🦀",
        "größe",
        "100%",
        "{a,b}",
        "a,b",
        "$1",
        "1st",
        "a:b",
        "a/b",
        "[x]*?",
        "null",
        "São Paulo",
        "e\u{301}",
        "\t",
        "..",
        "--",
        ";",
    ]
    .map(str::to_owned)
    .into();
    names.push("x".repeat(63));
    names.push("é".repeat(31));
    names.push("🦀".repeat(15));
    names
}

fn literal(name: &str) -> String {
    format!("E'{}'", name.replace('\\', "\\\\").replace('\'', "''"))
}

fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn parse(client: &mut Client, sql: &str) -> Value {
    serde_json::from_str(&text(client, sql).unwrap()).unwrap()
}

#[test]
fn table_column_constraint_and_label_names() {
    let mut client = Database::blank().connect();
    client.batch_execute("CREATE SCHEMA \"Field.\"").unwrap();
    for (number, name) in strange().into_iter().enumerate() {
        let (quoted, label) = (identifier(&name), literal(&name));
        client
            .batch_execute(&format!(
                "CREATE TYPE \"Field.\".state{number} AS ENUM ({label});
                 CREATE TABLE \"Field.\".{quoted} ({quoted} int PRIMARY KEY, s \"Field.\".state{number},
                     CONSTRAINT {quoted} FOREIGN KEY ({quoted}) REFERENCES \"Field.\".{quoted})"
            ))
            .unwrap_or_else(|error| panic!("{name:?}: {error:?}"));
    }
    client.batch_execute("SELECT nl2sql_index('Field.')").unwrap();
    let found = parse(&mut client, "nl2sql_snapshot('Field.')");
    let mut expected = strange();
    expected.sort();
    let tables = found["tables"].as_array().unwrap();
    let names: Vec<&str> = tables.iter().map(|table| table["name"].as_str().unwrap()).collect();
    assert_eq!(names, expected, "byte for byte, in byte order");
    for (table, name) in tables.iter().zip(&expected) {
        assert_eq!(table["columns"][0]["name"], *name);
        assert_eq!(table["columns"][1]["statistics"], json!({"values": [name]}));
        assert_eq!(table["primary_key"], json!([name]));
        let key = json!([{"name": name, "columns": [name], "referred_schema": "Field.", "referred_table": name, "referred_columns": [name],
            "cardinality": "one_to_one"}]);
        assert_eq!(table["foreign_keys"], key);
    }
    for name in &expected {
        // The relation key is the name as the server quotes it.
        let key = text(&mut client, &format!("format('%I.%I', 'Field.', {})", literal(name))).unwrap();
        let mut columns = |argument: &str| {
            rows(
                &mut client,
                &format!(
                    "SELECT metadata->>'table' AS t1, metadata->>'column' AS c FROM nl2sql_mmr('x', types => '{{schema.column}}',
                     datasources => '{{Field.}}', tables => ARRAY[{}]) ORDER BY 2",
                    literal(argument)
                ),
            )
        };
        let by_key = columns(&key);
        let mut wanted = vec![json!({"t1": key, "c": name}), json!({"t1": key, "c": "s"})];
        wanted.sort_by_key(|row| row["c"].as_str().unwrap().to_owned());
        let mut sorted = by_key.as_array().unwrap().clone();
        sorted.sort_by_key(|row| row["c"].as_str().unwrap().to_owned());
        assert_eq!(sorted, wanted, "{name:?}");
        let all_quoted = format!("{} . {}", identifier("Field."), identifier(name));
        assert_eq!(columns(&all_quoted), by_key, "{all_quoted:?}");
        assert_eq!(columns(&format!("Field..{name}")), by_key, "bare {name:?}");
    }
    let entries = "SELECT count(*) = count(DISTINCT id) FROM nl2sql.entry";
    assert_eq!(text(&mut client, entries).as_deref(), Some("true"));
}

#[test]
fn schema_and_datasource_names_survive_quoting() {
    let mut client = Database::blank().connect();
    let mut names = strange();
    // A datasource's name must contain something visible.
    names.retain(|name| !name.trim().is_empty());
    for name in &names {
        client
            .batch_execute(&format!(
                "CREATE SCHEMA {schema}; CREATE TABLE {schema}.t (id int PRIMARY KEY)",
                schema = identifier(name)
            ))
            .unwrap();
        client
            .batch_execute(&format!("SELECT nl2sql_register({name}, schemas => ARRAY[{name}])", name = literal(name)))
            .unwrap();
    }
    let built = rows(&mut client, "SELECT datasource, status, error FROM nl2sql_index()");
    let mut expected = names.clone();
    expected.sort();
    let wanted: Vec<Value> =
        expected.iter().map(|name| json!({"datasource": name, "status": "indexed", "error": null})).collect();
    assert_eq!(built, Value::from(wanted));
    for name in &expected {
        let quoted = literal(name);
        let shown = parse(&mut client, &format!("nl2sql_snapshot({quoted})"));
        assert_eq!((&shown["datasource"], &shown["tables"][0]["schema"]), (&json!(name), &json!(name)));
        let health = rows(&mut client, &format!("SELECT datasource, status FROM nl2sql_health({quoted})"));
        assert_eq!(health, json!([{"datasource": name, "status": "ok"}]));
        let version = format!("SELECT schema_version FROM nl2sql_versions({quoted})");
        assert_eq!(text(&mut client, &version).unwrap(), shown["schema_version"]);
        let routed = format!("SELECT datasource FROM nl2sql_route('id of t', datasources => ARRAY[{quoted}])");
        assert_eq!(rows(&mut client, &routed), json!([{"datasource": name}]));
        let key = text(&mut client, &format!("format('%I.t', {quoted})")).unwrap();
        let found = rows(
            &mut client,
            &format!(
                "SELECT datasource, metadata->>'table' AS key FROM nl2sql_mmr('t', types => '{{schema.table}}', datasources => ARRAY[{quoted}],
                 tables => ARRAY[{}])",
                literal(&key)
            ),
        );
        assert_eq!(found, json!([{"datasource": name, "key": key}]));
    }
    // The call in a hint can be pasted.
    for name in &expected {
        client
            .batch_execute(&format!("SELECT nl2sql_unregister({0}); SELECT nl2sql_register({0})", literal(name)))
            .unwrap();
        let found = error(&mut client, &format!("SELECT nl2sql_snapshot({})", literal(name)));
        let call = found.hint().unwrap().strip_prefix("Run: ").unwrap().to_owned();
        client.batch_execute(&call).unwrap_or_else(|error| panic!("{call}: {error:?}"));
        assert_eq!(text(&mut client, &format!("nl2sql_unregister({})", literal(name))).as_deref(), Some("true"));
    }
    assert_eq!(text(&mut client, "SELECT count(*) FROM nl2sql.entry").as_deref(), Some("0"));
}

#[test]
fn keywords_are_quoted_as_the_server_quotes_them() {
    let mut client = Database::blank().connect();
    client.batch_execute("CREATE SCHEMA field").unwrap();
    let words = rows(
        &mut client,
        "SELECT word, quote_ident(word) AS quoted FROM pg_get_keywords() WHERE catcode <> 'U' ORDER BY 1",
    );
    let columns: Vec<String> = words
        .as_array()
        .unwrap()
        .iter()
        .map(|word| format!("{} int", identifier(word["word"].as_str().unwrap())))
        .collect();
    client
        .batch_execute(&format!("CREATE TABLE field.t ({}); SELECT nl2sql_index('field')", columns.join(", ")))
        .unwrap();
    let ids = "SELECT metadata->>'column' AS word, split_part(id, 'field.t.', 2) AS quoted FROM nl2sql.entry WHERE type = 'schema.column' ORDER BY 1";
    let mut found: Vec<Value> = rows(&mut client, ids).as_array().unwrap().clone();
    let mut expected: Vec<Value> = words.as_array().unwrap().clone();
    for list in [&mut found, &mut expected] {
        list.sort_by_key(|row| row["word"].as_str().unwrap().to_owned());
    }
    assert_eq!(found, expected);
}

const FARM: &str = "CREATE SCHEMA \"Farm\"; CREATE SCHEMA barn; CREATE SCHEMA other;
    CREATE TYPE \"Farm\".grade AS ENUM ('hidden_label');
    CREATE TABLE \"Farm\".\"Hidden\" (id int PRIMARY KEY, note text); COMMENT ON TABLE \"Farm\".\"Hidden\" IS 'hidden words';
    CREATE TABLE \"Farm\".\"ÉTABLE\" (id int PRIMARY KEY, \"GEHEIMÜ\" \"Farm\".grade);
    CREATE TABLE \"Farm\".cow (id int PRIMARY KEY, hidden_by int CONSTRAINT hidden_key REFERENCES \"Farm\".\"Hidden\", stable int CONSTRAINT stable REFERENCES \"Farm\".\"ÉTABLE\");
    CREATE TABLE \"Farm\".cow_old (id int PRIMARY KEY, of int REFERENCES \"Farm\".cow);
    CREATE TABLE barn.hay (id int PRIMARY KEY, cow int CONSTRAINT eater REFERENCES \"Farm\".cow);
    CREATE TABLE other.x (id int PRIMARY KEY); CREATE TABLE barn.y (id int PRIMARY KEY, x int CONSTRAINT outward REFERENCES other.x);
    CREATE TABLE public.z (id int PRIMARY KEY)";

/// Tables of the datasource with these options and schemas.
fn taken_in(client: &mut Client, schemas: &str, options: &str) -> Vec<String> {
    client.batch_execute(&format!("SELECT nl2sql_register('farm', schemas => '{schemas}', options => '{options}'); SELECT nl2sql_index('farm')")).unwrap();
    let found = parse(client, "nl2sql_snapshot('farm')");
    let name = |table: &Value| format!("{}.{}", table["schema"].as_str().unwrap(), table["name"].as_str().unwrap());
    found["tables"].as_array().unwrap().iter().map(name).collect()
}

#[test]
fn options_choose_tables_and_columns() {
    let mut client = Database::blank().connect();
    client.batch_execute(FARM).unwrap();
    for (schemas, options, expected) in [
        ("{public}", "{}", &["public.z"][..]),
        ("{barn,other}", "{}", &["barn.hay", "barn.y", "other.x"]),
        ("{barn,public,barn}", "{\"exclude\": [\"*.HAY\"]}", &["barn.y", "public.z"]),
        ("{Farm}", "{\"include\": [\"farm.COW*\"]}", &["Farm.cow", "Farm.cow_old"]),
        ("{Farm}", "{\"include\": [\"*\"], \"exclude\": [\"*_old\", \"farm.hidden\"]}", &["Farm.cow", "Farm.ÉTABLE"]),
        ("{Farm}", "{\"include\": [\"farm.cow\"], \"exclude\": [\"other.*\"]}", &["Farm.cow"]),
        ("{Farm}", "{\"include\": [\"farm.étable\"]}", &["Farm.ÉTABLE"]),
        ("{Farm}", "{\"include\": [\"farm.?table\"]}", &["Farm.ÉTABLE"]),
        ("{Farm}", "{\"include\": [\"farm.[éx]TABLE\"]}", &["Farm.ÉTABLE"]),
        ("{Farm,barn}", "{\"exclude\": [\"FARM.*\", \"*.y\"]}", &["barn.hay"]),
    ] {
        assert_eq!(taken_in(&mut client, schemas, options), expected, "{schemas} {options}");
    }
    let found = error(
        &mut client,
        "SELECT nl2sql_register('farm', options => '{\"exclude\": [\"*\"]}'); SELECT nl2sql_index('farm')",
    );
    assert_eq!(found.code().code(), "55000");
    assert!(found.hint().unwrap().contains("nl2sql_register('farm'"), "{:?}", found.hint());
}

#[test]
fn what_is_excluded_appears_nowhere() {
    let mut client = Database::blank().connect();
    client.batch_execute(FARM).unwrap();
    let options =
        r#"{"exclude": ["farm.hidden", "OTHER.*"], "exclude_columns": ["*.*.geheimü", "farm.cow.hidden_by"]}"#;
    assert_eq!(
        taken_in(&mut client, "{Farm,barn}", options),
        ["Farm.cow", "Farm.cow_old", "Farm.ÉTABLE", "barn.hay", "barn.y"]
    );
    let kept = "SELECT string_agg(e.text || e.metadata || e.id, ' ') || ' ' || nl2sql_snapshot('farm')::text || ' '
        || (SELECT string_agg(r::text, ' ') FROM nl2sql.relation r) || (SELECT string_agg(t::text, ' ') FROM nl2sql.snapshot_table t) FROM nl2sql.entry e";
    let kept = text(&mut client, kept).unwrap().to_lowercase();
    for word in ["hidden", "geheim", "other", "outward"] {
        assert!(!kept.contains(word), "{word} is in {kept}");
    }
    for word in ["stable", "eater", "cow_old_of_fkey"] {
        assert!(kept.contains(word), "{word} is missing");
    }
    // A primary key with an excluded column is not shown as a key.
    taken_in(&mut client, "{barn}", r#"{"exclude_columns": ["barn.hay.id"]}"#);
    let found = parse(&mut client, "nl2sql_snapshot('farm')");
    assert_eq!(found["tables"][0]["primary_key"], json!([]));
    assert_eq!(found["tables"][0]["columns"].as_array().map(Vec::len), Some(1));
}
