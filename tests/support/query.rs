//! What a statement returns, and the error that it fails with.

use postgres::Client;

/// The single value of a query, as text.
pub fn text(client: &mut Client, sql: &str) -> Option<String> {
    let row = client.query_one(&format!("SELECT ({sql})::text"), &[]);
    row.unwrap_or_else(|error| panic!("{sql}: {}", describe(&error))).get(0)
}

/// A query's rows as one JSON array.
pub fn rows(client: &mut Client, sql: &str) -> serde_json::Value {
    let found = text(client, &format!("SELECT coalesce(json_agg(t), '[]') FROM ({sql}) t"));
    serde_json::from_str(&found.expect("a JSON array")).expect("JSON")
}

/// The SQLSTATE that a statement fails with. Panics if the statement succeeds.
pub fn sqlstate(client: &mut Client, sql: &str) -> String {
    error(client, sql).code().code().to_owned()
}

/// The error that a statement fails with. Panics if the statement succeeds.
pub fn error(client: &mut Client, sql: &str) -> postgres::error::DbError {
    match client.simple_query(sql) {
        Ok(_) => panic!("succeeds: {sql}"),
        Err(error) => match error.as_db_error() {
            Some(found) => found.clone(),
            None => panic!("lost the connection: {sql}: {error}"),
        },
    }
}

pub fn describe(error: &postgres::Error) -> String {
    error.as_db_error().map_or_else(|| error.to_string(), |found| format!("{} {found}", found.code().code()))
}
