//! Which schemas and tables a datasource includes, and the warnings when they are not as registered.

use nl2sql_tests::{Database, error, rows, sqlstate, text};
use postgres::Client;
use serde_json::{Value, json};

fn warnings(client: &mut Client) -> Vec<String> {
    let found = rows(client, "SELECT unnest(warnings) AS warning FROM nl2sql_health()");
    found.as_array().unwrap().iter().map(|row| row["warning"].as_str().unwrap().to_owned()).collect()
}

/// Runs the call that a warning names.
fn run_fix(client: &mut Client, warning: &str) {
    let call = warning.split(": SELECT ").nth(1).unwrap_or_else(|| panic!("no call: {warning}"));
    client
        .batch_execute(&format!("SELECT {call}; SELECT nl2sql_index()"))
        .unwrap_or_else(|error| panic!("{warning}: {error}"));
}

fn tables(client: &mut Client, datasource: &str) -> Vec<String> {
    let sql = format!(
        "SELECT t ->> 'schema' || '.' || (t ->> 'name') AS name FROM jsonb_array_elements(nl2sql_snapshot('{datasource}') -> 'tables') t"
    );
    rows(client, &sql).as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_glob_that_matches_nothing_is_reported_with_similar_names() {
    let mut client = Database::blank().connect();
    client
        .batch_execute(
            "CREATE SCHEMA shop; CREATE TABLE shop.orders (id int, secret text); CREATE TABLE shop.customers (id int);
             SELECT nl2sql_register('shop', options => '{\"include\": [\"shop.*\", \"shop.ordesr\"], \"exclude\": [\"*.tmp_*\"],
                 \"exclude_columns\": [\"shop.orders.secrets\", \"*.secret\"], \"pii\": {\"shop.orders.name\": true, \"*.id\": false}}'); SELECT nl2sql_index('shop')",
        )
        .unwrap();
    let warned = warnings(&mut client);
    let begin = |warning: &String| warning.split(": SELECT").next().unwrap().to_owned();
    assert_eq!(
        warned.iter().map(begin).collect::<Vec<_>>(),
        [
            "the glob shop.ordesr of option include matches nothing (near it: shop.orders, shop.customers)",
            "the glob *.tmp_* of option exclude matches nothing",
            "the glob shop.orders.secrets of option exclude_columns matches nothing (near it: shop.orders.secret, shop.orders.id)",
            "the glob shop.orders.name of option pii matches nothing (near it: shop.orders.id, shop.orders.secret)",
        ]
    );
    // Options are replaced as a whole: each call repeats all of them.
    run_fix(&mut client, &warned[3]);
    assert_eq!(warnings(&mut client), Vec::<String>::new());
    let options = text(&mut client, "SELECT options FROM nl2sql.datasources").unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&options).unwrap(),
        json!({"include": ["shop.*"], "exclude": [], "exclude_columns": ["*.secret"], "pii": {"*.id": false}})
    );
}

/// Without its last glob, a list of inclusions includes everything.
#[test]
fn the_last_inclusion_is_replaced_and_not_removed() {
    let mut client = Database::blank().connect();
    client
        .batch_execute(
            "CREATE SCHEMA shop; CREATE TABLE shop.orders (id int); CREATE TABLE shop.secrets (id int); SELECT nl2sql_register('shop', options => '{\"include\": [\"shop.orders\"]}');
             SELECT nl2sql_index('shop'); ALTER TABLE shop.orders RENAME TO orders2",
        )
        .unwrap();
    let warned = warnings(&mut client);
    assert_eq!(warned.len(), 2, "{warned:?}");
    assert!(
        warned.iter().all(|warning| warning
            .ends_with("SELECT nl2sql_register('shop', options => '{\"include\":[\"shop.orders2\"]}');")),
        "{warned:?}"
    );
    run_fix(&mut client, &warned[0]);
    assert_eq!(tables(&mut client, "shop"), ["shop.orders2"]);
}

#[test]
fn options_are_for_those_who_register() {
    let database = Database::blank();
    let role = database.role("reader");
    let mut client = database.connect();
    client
        .batch_execute(&format!(
            "CREATE SCHEMA shop; CREATE TABLE shop.orders (id int); CREATE TABLE shop.hidden (id int); GRANT USAGE ON SCHEMA shop TO {role}; GRANT SELECT ON shop.orders TO {role};
             SELECT nl2sql_register('shop', options => '{{\"exclude\": [\"shop.hiden\"], \"preferred_tables\": [\"lost\"]}}'); SELECT nl2sql_index('shop')"
        ))
        .unwrap();
    let mut reader = database.connect_as(&role);
    assert_eq!(warnings(&mut reader), Vec::<String>::new());
    client.batch_execute(&format!("GRANT EXECUTE ON FUNCTION nl2sql_register TO {role}")).unwrap();
    let warned = warnings(&mut reader);
    assert_eq!(warned.len(), 2, "{warned:?}");
    // Only names that exist for the role are suggested.
    assert!(!warned.join(" ").contains("shop.hidden"), "{warned:?}");
    assert!(warnings(&mut client).join(" ").contains("near it: shop.hidden"));
}

#[test]
fn renamed_and_dropped_schemas_are_reported() {
    let mut client = Database::blank().connect();
    client
        .batch_execute(
            "CREATE SCHEMA one; CREATE TABLE one.a (id int); CREATE TABLE one.b (id int); CREATE SCHEMA two; CREATE TABLE two.c (id int);
             SELECT nl2sql_register('both', schemas => '{one,two}'); SELECT nl2sql_index('both'); ALTER SCHEMA one RENAME TO \"First's\"",
        )
        .unwrap();
    let warned = warnings(&mut client);
    assert_eq!(
        warned[0],
        "schema \"one\" does not exist, perhaps renamed to \"First's\": SELECT nl2sql_register('both', schemas => ARRAY['First''s', 'two']);"
    );
    assert!(warned[1].contains("drifted"), "{warned:?}");
    assert_eq!(
        text(&mut client, "SELECT status FROM nl2sql_health()").as_deref(),
        Some("ok"),
        "warnings leave the status alone"
    );
    run_fix(&mut client, &warned[0]);
    assert_eq!(
        (warnings(&mut client), tables(&mut client, "both")),
        (vec![], vec!["First's.a".to_owned(), "First's.b".to_owned(), "two.c".to_owned()])
    );
    client.batch_execute("DROP SCHEMA two CASCADE").unwrap();
    let warned = warnings(&mut client);
    assert_eq!(
        warned[0],
        "schema \"two\" does not exist: SELECT nl2sql_register('both', schemas => ARRAY['First''s']);"
    );
    run_fix(&mut client, &warned[0]);
    client.batch_execute("DROP SCHEMA \"First's\" CASCADE").unwrap();
    assert_eq!(
        warnings(&mut client),
        ["schema \"First's\" does not exist: SELECT nl2sql_register('both', schemas => ARRAY[…]);"]
    );
    let failed = error(&mut client, "SELECT nl2sql_index('both')");
    assert_eq!(failed.code().code(), "55000");
    assert!(failed.hint().unwrap().contains("nl2sql_register('both'"));
}

#[test]
fn public_several_and_foreign_schemas() {
    let database = Database::blank();
    let role = database.role("owner");
    let mut client = database.connect();
    client
        .batch_execute(&format!(
            "CREATE TABLE public.mine (id int PRIMARY KEY); CREATE TABLE public.of_vector (id int); ALTER EXTENSION vector ADD TABLE public.of_vector; CREATE SCHEMA theirs AUTHORIZATION {role}; SET ROLE {role};
             CREATE TABLE theirs.t (id int, word text); INSERT INTO theirs.t VALUES (1, 'x'); RESET ROLE; REVOKE ALL ON SCHEMA theirs FROM PUBLIC;
             CREATE TABLE theirs.from_us (id int REFERENCES public.mine); INSERT INTO public.mine VALUES (1)"
        ))
        .unwrap();
    let built = rows(&mut client, "SELECT status, issues FROM nl2sql_index('public')");
    assert_eq!(built, json!([{"status": "indexed", "issues": []}]));
    assert_eq!(tables(&mut client, "public"), ["public.mine"], "what belongs to an extension is left out");
    client
        .batch_execute("SELECT nl2sql_register('all', schemas => '{public,theirs}'); SELECT nl2sql_index('all')")
        .unwrap();
    assert_eq!(tables(&mut client, "all"), ["public.mine", "theirs.from_us", "theirs.t"]);
    let statistics = "SELECT t -> 'columns' -> 1 -> 'statistics' ->> 'max' FROM jsonb_array_elements(nl2sql_snapshot('all') -> 'tables') t WHERE t ->> 'name' = 't'";
    assert_eq!(text(&mut client, statistics).as_deref(), Some("x"), "read as its owner");
    for schema in ["pg_catalog", "information_schema", "pg_toast"] {
        assert_eq!(
            sqlstate(&mut client, &format!("SELECT nl2sql_register('x', schemas => ARRAY['{schema}'])")),
            "22023"
        );
    }
}

#[test]
fn what_is_excluded_is_not_read() {
    let mut client = Database::blank().connect();
    client
        .batch_execute(
            "CREATE SCHEMA s; CREATE TABLE s.a (id int, hidden text); CREATE FUNCTION s.boom() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'read'; END $$;
             CREATE VIEW s.trap AS SELECT s.boom() AS a; CREATE VIEW s.half AS SELECT 1 AS a, s.boom() / 1 AS b;
             SELECT nl2sql_register('s', options => '{\"exclude\": [\"s.trap\"], \"exclude_columns\": [\"s.half.b\", \"s.a.hidden\"]}')",
        )
        .unwrap();
    let built = rows(&mut client, "SELECT issues FROM nl2sql_index('s')");
    assert_eq!(tables(&mut client, "s"), ["s.a", "s.half"]);
    assert!(!built.to_string().contains("trap"), "{built}");
    assert_eq!(text(&mut client, "SELECT count(*) FROM nl2sql.entry WHERE text ~ 'trap|hidden'").as_deref(), Some("0"));
}
