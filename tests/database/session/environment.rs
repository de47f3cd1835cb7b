//! Settings of a session, and privileges on pgvector's schema, do not change results.

use nl2sql_tests::{Database, error, rows, text};

/// With `quote_all_identifiers`, the server quotes type names, which texts and fingerprints contain.
#[test]
fn quoting_changes_neither_texts_nor_fingerprints() {
    let database = Database::demo();
    let mut client = database.connect();
    let entries = "SELECT id, text FROM nl2sql.entry ORDER BY build, id";
    let (before, version) = (rows(&mut client, entries), "SELECT max(schema_version) FROM nl2sql.pointer");
    let built = text(&mut client, version);
    client.batch_execute("SET quote_all_identifiers = on").expect("a setting");
    let statuses = rows(&mut client, "SELECT DISTINCT status FROM nl2sql_index()");
    assert_eq!(statuses, serde_json::json!([{"status": "unchanged"}]));
    let warned = text(&mut client, "SELECT count(*) FROM nl2sql_health() WHERE warnings <> '{}' OR status <> 'ok'");
    assert_eq!(warned.as_deref(), Some("0"));
    // A new build with the setting has the same texts.
    client.batch_execute("DELETE FROM nl2sql.entry; SELECT nl2sql_index()").expect("a build");
    client.batch_execute("RESET quote_all_identifiers").expect("a setting");
    assert_eq!(rows(&mut client, entries), before);
    assert_eq!(text(&mut client, version), built);
}

/// pgvector often has a schema of its own that ordinary roles may not use. Its operator returns the same numbers for
/// them as for a superuser.
#[test]
fn a_role_without_pgvectors_schema_searches_all_the_same() {
    let database = Database::demo();
    let mut client = database.connect();
    let role = database.role("searcher");
    client
        .batch_execute(&format!(
            "CREATE SCHEMA extensions; ALTER EXTENSION vector SET SCHEMA extensions;
             GRANT USAGE ON SCHEMA chinook, helpdesk, webshop TO {role};
             GRANT SELECT ON ALL TABLES IN SCHEMA chinook, helpdesk, webshop TO {role}"
        ))
        .expect("a schema for pgvector");
    let mut ordinary = database.connect_as(&role);
    let may = text(&mut ordinary, "has_schema_privilege('extensions', 'USAGE')");
    assert_eq!(may.as_deref(), Some("false"));
    for query in
        ["SELECT * FROM nl2sql_route('who pays late?')", "SELECT id, similarity FROM nl2sql_mmr('who pays late?')"]
    {
        let seen = rows(&mut ordinary, query);
        assert!(seen.as_array().is_some_and(|seen| !seen.is_empty()), "{query}");
        assert_eq!(seen, rows(&mut client, query), "{query}");
    }
}

/// A serialization failure must reach the caller, who has to retry the transaction: `nl2sql_index()` over all
/// datasources must not turn it into a row.
#[test]
fn a_serialization_failure_ends_the_whole_call() {
    let database = Database::demo();
    let (mut older, mut newer) = (database.connect(), database.connect());
    newer.batch_execute("CREATE TABLE webshop.parcel_locker (locker_id integer)").expect("something to build");
    older.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM nl2sql.build").expect("a snapshot");
    newer.batch_execute("SELECT nl2sql_index('webshop')").expect("a build");
    assert_eq!(error(&mut older, "SELECT * FROM nl2sql_index()").code().code(), "40001");
    older.batch_execute("ROLLBACK").expect("the end");
    let statuses = rows(&mut older, "SELECT DISTINCT status FROM nl2sql_index()");
    assert_eq!(statuses, serde_json::json!([{"status": "unchanged"}]));
}

/// A schema that is named twice is kept once.
#[test]
fn a_repeated_schema_is_kept_once() {
    let database = Database::demo();
    let mut client = database.connect();
    client
        .batch_execute("SELECT nl2sql_register('both', schemas => '{webshop,helpdesk,webshop}')")
        .expect("registered");
    let schemas = text(&mut client, "SELECT schemas FROM nl2sql.datasources WHERE datasource = 'both'");
    assert_eq!(schemas.as_deref(), Some("{webshop,helpdesk}"));
}
