//! A build that is ended from outside while it embeds.

use nl2sql_tests::builds::{Running, assert_as_before, grow, index, plant, state, trim};
use nl2sql_tests::{Database, text};
use postgres::Client;
use serde_json::Value;
use std::time::Instant;

/// A live build, and a schema that has grown so much that the next build can be met while it embeds.
fn before_a_long_build(database: &Database) -> (Client, Vec<Value>) {
    let mut witness = database.connect();
    plant(&mut witness, "plant");
    assert_eq!(index(&mut witness, "plant"), "indexed");
    let before = state(&mut witness);
    grow(&mut witness, "plant", 8, 400);
    (witness, before)
}

fn assert_next_build_succeeds(witness: &mut Client) {
    trim(witness, "plant");
    assert_eq!(index(witness, "plant"), "indexed");
    nl2sql_tests::builds::assert_sound(witness);
}

#[test]
fn a_cancelled_build_leaves_the_previous_one() {
    let database = Database::blank();
    let (mut witness, before) = before_a_long_build(&database);
    let running = Running::start(&mut witness, "", "SELECT * FROM nl2sql_index('plant')");
    running.reach_model(&mut witness, "plant");
    let asked = Instant::now();
    assert_eq!(text(&mut witness, &format!("pg_cancel_backend({})", running.pid)).as_deref(), Some("true"));
    assert_eq!(running.failure().as_deref(), Some("57014"));
    println!("cancelled within {:?}", asked.elapsed());
    assert_as_before(&mut witness, &before);
    assert_next_build_succeeds(&mut witness);
}

/// A cancelled session works on: it can use the model again, and the current user is the caller.
#[test]
fn a_cancelled_session_builds_and_embeds_again() {
    let database = Database::blank();
    let (mut witness, before) = before_a_long_build(&database);
    let running = Running::start(
        &mut witness,
        "",
        "DO $$ BEGIN
             PERFORM nl2sql_index('plant');
         EXCEPTION WHEN query_canceled THEN
             IF current_user <> session_user THEN RAISE 'acts as %', current_user; END IF;
             PERFORM nl2sql_embed('still here');
             RAISE NOTICE 'embedded again';
         END $$",
    );
    running.reach_model(&mut witness, "plant");
    text(&mut witness, &format!("pg_cancel_backend({})", running.pid));
    assert!(running.reaches("embedded again"));
    running.success();
    assert_as_before(&mut witness, &before);
}

#[test]
fn a_terminated_build_leaves_the_previous_one() {
    let database = Database::blank();
    let (mut witness, before) = before_a_long_build(&database);
    let running = Running::start(&mut witness, "", "SELECT * FROM nl2sql_index('plant')");
    running.reach_model(&mut witness, "plant");
    let asked = Instant::now();
    text(&mut witness, &format!("pg_terminate_backend({})", running.pid));
    assert_eq!(running.last_failure(&mut witness).as_deref(), Some("57P01"));
    println!("terminated within {:?}", asked.elapsed());
    assert_as_before(&mut witness, &before);
    assert_next_build_succeeds(&mut witness);
}

/// Doubles the timeout until it expires while the build embeds, not before.
#[test]
fn a_build_that_times_out_leaves_the_previous_one() {
    let database = Database::blank();
    let (mut witness, before) = before_a_long_build(&database);
    let mut allowed = 500;
    loop {
        let settings = format!("SET statement_timeout = {allowed}");
        let running = Running::start(&mut witness, &settings, "SELECT * FROM nl2sql_index('plant')");
        let embedding = running.reaches("nl2sql: embedding");
        assert_eq!(running.failure().as_deref(), Some("57014"));
        assert_as_before(&mut witness, &before);
        if embedding {
            break;
        }
        allowed *= 2;
    }
    assert_next_build_succeeds(&mut witness);
}
