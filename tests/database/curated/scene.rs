//! The demo with its curated content, and what the tests do with it.

use nl2sql_tests::{Database, describe, error, rows};
use postgres::Client;
use serde_json::{Value, json};

/// The document of the demo, cut out of its script.
pub fn document() -> String {
    let script = include_str!("../../../sql/demo/curated.sql");
    script.split("$yaml$").nth(1).expect("a document").to_owned()
}

/// The demo with its curated content imported and indexed.
pub fn scene() -> (Database, Client) {
    let database = Database::demo();
    let mut client = database.connect();
    import(&mut client, &document());
    index(&mut client);
    (database, client)
}

pub fn import(client: &mut Client, document: &str) -> Value {
    let found =
        client.query_one("SELECT coalesce(json_agg(t), '[]')::text FROM nl2sql_curated_import($1) t", &[&document]);
    let found: String = found.unwrap_or_else(|error| panic!("{}", describe(&error))).get(0);
    serde_json::from_str(&found).expect("JSON")
}

pub fn refused(client: &mut Client, document: &str) -> postgres::error::DbError {
    let call = format!("SELECT * FROM nl2sql_curated_import($doc${document}$doc$)");
    error(client, &call)
}

pub fn index(client: &mut Client) -> Value {
    rows(client, "SELECT status, entries, embedded, reused, issues FROM nl2sql_index('chinook', curated_only => true)")
        [0]
    .clone()
}

pub fn one_query(id: &str, sql: &str) -> String {
    json!({"datasources": {"chinook": {"verified_queries": [{"id": id, "questions": ["What?"], "sql": sql}]}}})
        .to_string()
}
