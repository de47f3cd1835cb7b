//! A build inside a transaction of the caller: visible to that transaction at once, to others from its commit on, and
//! to nobody after a rollback.

use nl2sql_tests::builds::{assert_as_before, assert_sound, grow, index, plant, state};
use nl2sql_tests::{Database, rows, text};
use postgres::Client;
use serde_json::Value;

/// A live build, and one new table, the only one about saddles.
fn with_a_new_table(database: &Database) -> (Client, Vec<Value>) {
    let mut client = database.connect();
    plant(&mut client, "plant");
    assert_eq!(index(&mut client, "plant"), "indexed");
    let before = state(&mut client);
    grow(&mut client, "plant", 18, 19);
    (client, before)
}

/// Whether a search finds the new table.
fn finds(client: &mut Client) -> bool {
    let found = text(
        client,
        "SELECT bool_or(metadata ->> 'table' LIKE '%saddle%') FROM nl2sql_mmr('saddle', types => '{schema.table}')",
    );
    found.as_deref() == Some("true")
}

#[test]
fn a_rollback_takes_the_build_back() {
    let database = Database::blank();
    let (mut client, before) = with_a_new_table(&database);
    client.batch_execute("BEGIN").expect("a transaction");
    assert_eq!(index(&mut client, "plant"), "indexed");
    assert!(finds(&mut client));
    client.batch_execute("ROLLBACK").expect("a rollback");
    assert_as_before(&mut client, &before);
    assert_eq!(index(&mut client, "plant"), "indexed");
    assert!(finds(&mut client));
    assert_sound(&mut client);
}

#[test]
fn a_rollback_to_a_savepoint_takes_the_build_and_its_lease_back() {
    let database = Database::blank();
    let (mut client, before) = with_a_new_table(&database);
    let mut other = database.connect();
    client.batch_execute("BEGIN; SAVEPOINT s").expect("a savepoint");
    assert_eq!(index(&mut client, "plant"), "indexed");
    client.batch_execute("ROLLBACK TO s").expect("a rollback");
    assert!(!finds(&mut client));
    assert_as_before(&mut other, &before);
    assert_eq!(index(&mut client, "plant"), "indexed", "again, in the same transaction");
    client.batch_execute("RELEASE s; COMMIT").expect("a commit");
    assert!(finds(&mut other));
    assert_sound(&mut other);
}

#[test]
fn others_see_the_replaced_build_until_the_commit() {
    let database = Database::blank();
    let (mut client, before) = with_a_new_table(&database);
    let mut other = database.connect();
    let mut repeatable = database.connect();
    repeatable.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM nl2sql.build").expect("a snapshot");
    client.batch_execute("BEGIN").expect("a transaction");
    assert_eq!(index(&mut client, "plant"), "indexed");
    assert!(finds(&mut client));
    assert!(!finds(&mut other));
    assert_eq!(state(&mut other), before);
    client.batch_execute("COMMIT").expect("a commit");
    assert!(finds(&mut other));
    assert!(!finds(&mut repeatable), "its snapshot is older");
    repeatable.batch_execute("COMMIT").expect("a commit");
    assert!(finds(&mut repeatable));
    assert_sound(&mut other);
}

/// A build on an old snapshot must not replace a build that was committed since.
#[test]
fn a_build_on_an_older_snapshot_is_refused() {
    let database = Database::blank();
    let (mut client, _) = with_a_new_table(&database);
    let mut late = database.connect();
    late.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM nl2sql.build").expect("a snapshot");
    assert_eq!(index(&mut client, "plant"), "indexed");
    let after = state(&mut client);
    assert_eq!(nl2sql_tests::sqlstate(&mut late, "SELECT nl2sql_index('plant')"), "40001");
    late.batch_execute("ROLLBACK").expect("a rollback");
    assert_as_before(&mut client, &after);
}

/// The caller's cursors and prepared statements survive a build that failed in an exception block.
#[test]
fn a_failed_build_in_an_exception_block_leaves_the_transaction_usable() {
    let database = Database::blank();
    let (mut client, before) = with_a_new_table(&database);
    client
        .batch_execute(
            "BEGIN;
             DECLARE open CURSOR FOR SELECT generate_series(1, 3);
             DO $$ BEGIN
                 PERFORM nl2sql_index('plant');
                 RAISE division_by_zero;
             EXCEPTION WHEN division_by_zero THEN NULL;
             END $$",
        )
        .expect("the block catches its error");
    assert_eq!(rows(&mut client, "SELECT current_user = session_user AS same"), serde_json::json!([{ "same": true }]));
    assert!(client.simple_query("FETCH open").is_ok());
    assert!(!finds(&mut client));
    client.batch_execute("COMMIT").expect("a commit");
    assert_as_before(&mut client, &before);
}
