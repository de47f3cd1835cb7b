//! Two datasources, and a session that holds the lease of one.

use crate::{Database, text};
use postgres::Client;

/// Two schemas, both registered and indexed.
pub fn two(database: &Database) -> Client {
    let mut client = database.connect();
    client
        .batch_execute(
            "CREATE SCHEMA ledger; CREATE TABLE ledger.account (number int PRIMARY KEY, balance numeric);
             CREATE SCHEMA garden; CREATE TABLE garden.rose (name text PRIMARY KEY, blooms date);
             SELECT nl2sql_index('ledger'); SELECT nl2sql_index('garden')",
        )
        .expect("two datasources");
    client
}

/// A session with an open transaction that builds `datasource`; returns its process id.
pub fn holder(database: &Database, datasource: &str) -> (Client, i32) {
    let mut client = database.connect();
    client.batch_execute("BEGIN").expect("a transaction");
    text(&mut client, &format!("SELECT status FROM nl2sql_index('{datasource}')"));
    let pid = text(&mut client, "pg_backend_pid()").expect("a process").parse().expect("a number");
    (client, pid)
}

pub fn status(client: &mut Client, datasource: &str) -> String {
    text(client, &format!("SELECT status FROM nl2sql_index('{datasource}')")).expect("a status")
}
