//! Names go on meaning what they meant when a piece was written down, or the piece is given to nobody.

use nl2sql_tests::{Database, error, rows, text};
use postgres::Client;
use serde_json::json;

/// Two schemas that both have a table `b`.
fn scene() -> (Database, Client) {
    let database = Database::blank();
    let mut client = database.connect();
    client
        .batch_execute(
            r#"CREATE SCHEMA near; CREATE SCHEMA far;
               CREATE TABLE near.a (id int, n int); CREATE TABLE near.b (id int, a_id int); CREATE TABLE far.b (id int, a_id int);
               SELECT nl2sql_register('two', schemas => ARRAY['near', 'far']);
               SELECT nl2sql_index('two');
               SELECT nl2sql_verified_query('two', 'pairs', ARRAY['pairs'], 'SELECT x.id, y.id FROM b x, far.b y');
               SELECT nl2sql_verified_query('two', 'inner_n', ARRAY['inner'], 'SELECT (SELECT count(*) FROM b WHERE a_id = a.id AND n > 0) FROM a');
               SELECT nl2sql_curated_import('{"datasources": {"two": {
                   "metrics": [{"name": "rows_of_b", "expression": "count(*)", "table": "b"}],
                   "glossary": [{"term": "bee", "definition": "a row of b", "tables": ["b"]}]}}}', replace => false);"#,
        )
        .expect("two schemas");
    (database, client)
}

#[test]
fn another_table_does_not_take_a_name() {
    let (_database, mut client) = scene();
    let bound = Some("SELECT x.id, y.id FROM near.b x, far.b y".to_owned());
    assert_eq!(text(&mut client, "nl2sql_bind('two', 'pairs')"), bound);
    let tables = "SELECT m.table_key, t.metadata -> 'tables' AS tables FROM nl2sql.metrics m, nl2sql_mmr('bee', types => ARRAY['curated.term']) t";
    let meant = json!([{"table_key": "near.b", "tables": ["near.b"]}]);
    for change in ["SELECT 1", "SELECT nl2sql_register('two', schemas => ARRAY['far', 'near'])"] {
        client.batch_execute(&format!("{change}; SELECT nl2sql_index('two')")).expect("a build");
        assert_eq!(text(&mut client, "nl2sql_bind('two', 'pairs')"), bound, "{change}");
        assert_eq!(rows(&mut client, tables), meant, "{change}");
        assert_eq!(rows(&mut client, "SELECT * FROM nl2sql_curated_validate()"), json!([]), "{change}");
        // Written again as it was, it means what it meant.
        text(&mut client, "SELECT count(*) FROM nl2sql_curated_import(nl2sql_curated_export())");
        assert_eq!(text(&mut client, "nl2sql_bind('two', 'pairs')"), bound, "{change}");
        assert_eq!(
            text(&mut client, "SELECT status FROM nl2sql_index('two')").as_deref(),
            Some("unchanged"),
            "{change}"
        );
    }
    // Nor where its own is gone.
    client.batch_execute("DROP TABLE near.b").expect("a table dropped");
    assert_eq!(error(&mut client, "SELECT nl2sql_bind('two', 'pairs')").code().code(), "55000");
    client.batch_execute("SELECT nl2sql_index('two')").expect("a build");
    assert_eq!(rows(&mut client, tables), json!([]));
    assert_eq!(rows(&mut client, "SELECT count(*) FROM nl2sql_match('pairs')"), json!([{"count": 0}]));
    let problems = rows(
        &mut client,
        "SELECT query_id, problem ~ 'table \"near.b\" does not exist' AS told FROM nl2sql_curated_validate() ORDER BY query_id",
    );
    assert_eq!(
        problems.as_array().map(|problems| problems.iter().filter(|problem| problem["told"] == true).count()),
        Some(4),
        "{problems}"
    );
    // It is what it was when its table is there again.
    client.batch_execute("CREATE TABLE near.b (id int, a_id int); SELECT nl2sql_index('two')").expect("a build");
    assert_eq!(text(&mut client, "nl2sql_bind('two', 'pairs')"), bound);
    assert_eq!(rows(&mut client, tables), meant);
}

#[test]
fn a_column_that_takes_a_name_makes_it_unfit() {
    let (_database, mut client) = scene();
    client.batch_execute("ALTER TABLE near.b ADD n int").expect("a column");
    let found = error(&mut client, "SELECT nl2sql_bind('two', 'inner_n')");
    assert_eq!(
        (found.code().code(), found.message()),
        ("55000", "verified query \"inner_n\" no longer fits the schema")
    );
    assert_eq!(
        found.hint(),
        Some(
            "Run: SELECT * FROM nl2sql_index('two'); then list what to store again: SELECT * FROM nl2sql_curated_validate('two');"
        )
    );
    client.batch_execute("ALTER TABLE near.b DROP n").expect("a column dropped");
    assert!(text(&mut client, "nl2sql_bind('two', 'inner_n')").is_some());
}

/// Rights on all columns of today are none on what a star reads tomorrow.
#[test]
fn a_star_is_for_who_may_read_all_that_there_is() {
    let (database, mut client) = scene();
    let role = database.role("columns");
    // A column may be called like a star.
    client
        .batch_execute(&format!("ALTER TABLE near.b ADD \"*\" int; GRANT SELECT (\"*\") ON near.b TO {role}"))
        .expect("an odd name");
    client
        .batch_execute(&format!(
            "SELECT nl2sql_verified_query('two', 'star', ARRAY['stars of b'], 'SELECT * FROM near.b');
             SELECT nl2sql_verified_query('two', 'whole', ARRAY['rows of b'], 'SELECT b FROM near.b');
             SELECT nl2sql_verified_query('two', 'named', ARRAY['named columns of b'], 'SELECT id, a_id FROM near.b');
             SELECT nl2sql_index('two');
             GRANT USAGE ON SCHEMA near TO {role}; GRANT SELECT (id, a_id) ON near.b TO {role};"
        ))
        .expect("queries and rights");
    let mut session = database.connect_as(&role);
    let seen = "SELECT query_id FROM nl2sql_match('b', k => 20) ORDER BY query_id";
    let all = json!([{"query_id": "named"}, {"query_id": "star"}, {"query_id": "whole"}]);
    assert_eq!(rows(&mut session, seen), all);
    for (change, wanted) in [
        ("ALTER TABLE near.b ADD secret text".to_owned(), json!([{"query_id": "named"}])),
        (format!("GRANT SELECT (secret) ON near.b TO {role}"), all.clone()),
        (format!("REVOKE SELECT (id) ON near.b FROM {role}"), json!([])),
        (format!("GRANT SELECT ON near.b TO {role}"), all.clone()),
        ("ALTER TABLE near.b ADD more text".to_owned(), all.clone()),
    ] {
        client.batch_execute(&change).expect("a change");
        assert_eq!(rows(&mut session, seen), wanted, "{change}");
        let export = text(&mut session, "nl2sql_curated_export('two')").unwrap_or_default();
        assert_eq!(export.contains("stars of b"), wanted == all, "{change}");
    }
}

#[test]
fn a_phrasing_that_is_no_more_matches_nothing() {
    let (_database, mut client) = scene();
    let many = (1..=60).map(|number| format!("'count the stars number {number}'")).collect::<Vec<_>>().join(", ");
    client
        .batch_execute(&format!(
            "SELECT nl2sql_verified_query('two', 'many', ARRAY[{many}], 'SELECT 1');
             SELECT nl2sql_verified_query('two', 'few', ARRAY['count the planets'], 'SELECT 2');
             SELECT nl2sql_index('two', curated_only => true);
             SELECT nl2sql_remove_verified_query('two', 'many');"
        ))
        .expect("queries");
    let best = "SELECT query_id, phrasing, sql FROM nl2sql_match('count the stars', k => 1)";
    assert_eq!(
        rows(&mut client, best),
        json!([{"query_id": "few", "phrasing": "count the planets", "sql": "SELECT 2"}])
    );
    text(&mut client, "nl2sql_verified_query('two', 'few', ARRAY['sum of ids'], 'SELECT sum(id) FROM a')");
    assert_eq!(
        rows(&mut client, "SELECT query_id FROM nl2sql_match('count the planets', k => 1)"),
        json!([{"query_id": "pairs"}]).clone(),
        "{}",
        rows(&mut client, best)
    );
}
