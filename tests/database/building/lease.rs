//! The lease of a datasource: one session at a time builds or changes it. Others fail at once with the name of the
//! holder, and no end of a session leaves a lease behind.

use nl2sql_tests::lease::{holder, status, two};
use nl2sql_tests::{Database, describe, error, rows, sqlstate, text};
use postgres::Client;
use serde_json::json;

const BUILT: &str = "SELECT datasource, status FROM nl2sql_index()";

#[test]
fn a_second_build_fails_at_once_and_says_who_builds() {
    let database = Database::blank();
    let mut client = two(&database);
    let (mut first, pid) = holder(&database, "ledger");
    let since =
        text(&mut first, "SELECT xact_start FROM pg_stat_activity WHERE pid = pg_backend_pid()").expect("a time");
    let refused = error(&mut client, "SELECT nl2sql_index('ledger')");
    assert_eq!(refused.code().code(), "55P03");
    assert_eq!(refused.message(), "datasource \"ledger\" is being built or changed by another session");
    let detail = refused.detail().expect("a DETAIL");
    assert!(detail.contains(&format!("Process {pid} ")), "{detail}");
    assert!(detail.contains(&since), "{detail}: {since}");
    assert!(refused.hint().is_some());
    first.batch_execute("COMMIT").expect("a commit");
    assert_eq!(status(&mut client, "ledger"), "unchanged");
}

#[test]
fn other_datasources_are_built_meanwhile() {
    let database = Database::blank();
    let mut client = two(&database);
    client
        .batch_execute("ALTER TABLE garden.rose ADD thorns int; ALTER TABLE ledger.account ADD owner text")
        .expect("columns");
    let (mut first, _) = holder(&database, "ledger");
    let (mut second, _) = holder(&database, "garden");
    first.batch_execute("COMMIT").expect("a commit");
    second.batch_execute("COMMIT").expect("a commit");
    assert_eq!(
        rows(&mut client, &format!("{BUILT} ORDER BY datasource")),
        json!([{ "datasource": "garden", "status": "unchanged" }, { "datasource": "ledger", "status": "unchanged" }])
    );
}

/// `nl2sql_index()` over all datasources reports one that another session builds as failed, and builds the others.
#[test]
fn over_all_the_one_being_built_fails_and_the_others_go_on() {
    let database = Database::blank();
    let mut client = two(&database);
    let (mut first, pid) = holder(&database, "garden");
    client.batch_execute("ALTER TABLE ledger.account ADD owner text").expect("a column");
    let found = rows(&mut client, "SELECT datasource, status, error FROM nl2sql_index() ORDER BY datasource");
    assert_eq!(found[0]["status"], "failed", "{found}");
    assert!(found[0]["error"].as_str().expect("an error").contains("being built"), "{found} {pid}");
    assert_eq!(found[1], json!({ "datasource": "ledger", "status": "indexed", "error": null }));
    first.batch_execute("ROLLBACK").expect("a rollback");
    assert_eq!(status(&mut client, "garden"), "unchanged");
}

#[test]
fn commit_rollback_and_the_end_of_a_session_free_it() {
    let database = Database::blank();
    let mut client = two(&database);
    let free = |client: &mut Client| {
        assert_eq!(status(client, "ledger"), "unchanged");
        let locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'
                     AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
        assert_eq!(text(client, locks).as_deref(), Some("0"));
    };
    for end in ["COMMIT", "ROLLBACK"] {
        let (mut first, _) = holder(&database, "ledger");
        assert_eq!(sqlstate(&mut client, "SELECT nl2sql_index('ledger')"), "55P03", "{end}");
        first.batch_execute(end).expect(end);
        free(&mut client);
    }
    let (mut first, _) = holder(&database, "ledger");
    assert_eq!(sqlstate(&mut first, "SELECT 1 / 0"), "22012");
    // The server reports an error before it aborts the transaction; the next answer comes afterwards.
    assert_eq!(sqlstate(&mut first, "SELECT 1"), "25P02");
    free(&mut client);

    let (_first, pid) = holder(&database, "ledger");
    assert_eq!(sqlstate(&mut client, "SELECT nl2sql_index('ledger')"), "55P03", "terminate");
    text(&mut client, &format!("pg_terminate_backend({pid})"));
    let alive = format!("EXISTS (SELECT FROM pg_stat_activity WHERE pid = {pid})");
    while text(&mut client, &alive).as_deref() == Some("true") {}
    free(&mut client);

    let (first, pid) = holder(&database, "ledger");
    drop(first);
    let alive = format!("EXISTS (SELECT FROM pg_stat_activity WHERE pid = {pid})");
    while text(&mut client, &alive).as_deref() == Some("true") {}
    free(&mut client);
}

#[test]
fn registering_and_unregistering_wait_for_no_build() {
    let database = Database::blank();
    let mut client = two(&database);
    let (mut first, pid) = holder(&database, "ledger");
    for statement in [
        "SELECT nl2sql_register('ledger', description => 'books')",
        "SELECT nl2sql_register('ledger')",
        "SELECT nl2sql_unregister('ledger')",
    ] {
        let refused = error(&mut client, statement);
        assert_eq!(refused.code().code(), "55P03", "{statement}");
        assert!(refused.detail().is_some_and(|detail| detail.contains(&pid.to_string())), "{statement}: {refused:?}");
    }
    // And in the other direction.
    first.batch_execute("COMMIT; BEGIN; SELECT nl2sql_register('ledger', description => 'books')").expect("a change");
    assert_eq!(sqlstate(&mut client, "SELECT nl2sql_index('ledger')"), "55P03");
    first.batch_execute("COMMIT; BEGIN; SELECT nl2sql_unregister('ledger')").expect("a removal");
    assert_eq!(sqlstate(&mut client, "SELECT nl2sql_index('ledger')"), "55P03");
    first.batch_execute("COMMIT").expect("a commit");
    assert_eq!(rows(&mut client, "SELECT datasource FROM nl2sql.datasources"), json!([{ "datasource": "garden" }]));
}

/// The session that holds the lease may build, change and remove.
#[test]
fn the_holder_is_not_in_its_own_way() {
    let database = Database::blank();
    let mut client = two(&database);
    client
        .batch_execute(
            "BEGIN;
             SELECT nl2sql_index('ledger');
             SELECT nl2sql_register('ledger', description => 'books');
             SELECT nl2sql_index('ledger');
             SELECT nl2sql_index();
             SELECT nl2sql_unregister('ledger');
             SELECT nl2sql_index('ledger');
             COMMIT",
        )
        .unwrap_or_else(|error| panic!("{}", describe(&error)));
    assert_eq!(status(&mut client, "ledger"), "unchanged");
}

/// Two sessions index an unregistered schema at the same time: the second waits for the first, and one datasource
/// results.
#[test]
fn an_unregistered_schema_is_registered_once() {
    for (end, first_wins) in [("COMMIT", true), ("ROLLBACK", false)] {
        let database = Database::blank();
        let mut client = two(&database);
        client
            .batch_execute("CREATE SCHEMA harbor; CREATE TABLE harbor.ship (name text PRIMARY KEY)")
            .expect("an unregistered schema");
        let (mut first, _) = holder(&database, "harbor");
        let mut second = database.connect();
        let pid = text(&mut second, "pg_backend_pid()").expect("a process");
        let racing = std::thread::spawn(move || {
            let done = second.query_one("SELECT status FROM nl2sql_index('harbor')", &[]);
            done.map(|row| row.get::<_, String>(0)).map_err(|error| describe(&error))
        });
        let waits = format!("EXISTS (SELECT FROM pg_stat_activity WHERE pid = {pid} AND wait_event_type = 'Lock')");
        while !racing.is_finished() && text(&mut client, &waits).as_deref() != Some("true") {}
        first.batch_execute(end).expect(end);
        let outcome = racing.join().expect("the second session");
        let expected = if first_wins { "unchanged" } else { "indexed" };
        assert!(
            outcome.as_deref() == Ok(expected) || outcome.as_ref().is_err_and(|error| error.starts_with("55P03")),
            "after {end}: {outcome:?}"
        );
        assert_eq!(status(&mut client, "harbor"), if outcome.is_ok() || first_wins { "unchanged" } else { "indexed" });
        let registered = rows(&mut client, "SELECT count(*) FROM nl2sql.datasource WHERE name = 'harbor'");
        assert_eq!(registered, json!([{ "count": 1 }]));
        let builds = rows(&mut client, "SELECT count(*) FROM nl2sql.build WHERE datasource = 'harbor'");
        assert_eq!(builds, json!([{ "count": 1 }]), "after {end}");
    }
}

/// The first builds of two datasources in a new namespace: both need its partition, and neither lease blocks the other.
#[test]
fn a_namespace_is_made_once() {
    let database = Database::blank();
    let mut client = two(&database);
    let partition = "nl2sql.\"nl2sql__local-all-minilm-l6-v2__384\"";
    client
        .batch_execute(&format!(
            "DELETE FROM nl2sql.pointer; DELETE FROM nl2sql.build;
             ALTER EXTENSION nl2sql DROP TABLE {partition}; DROP TABLE {partition}"
        ))
        .expect("a namespace less");
    let (mut first, _) = holder(&database, "ledger");
    let mut second = database.connect();
    let pid = text(&mut second, "pg_backend_pid()").expect("a process");
    let racing = std::thread::spawn(move || {
        let done = second.query_one("SELECT status FROM nl2sql_index('garden')", &[]);
        done.map(|row| row.get::<_, String>(0)).map_err(|error| describe(&error))
    });
    let waits = format!("EXISTS (SELECT FROM pg_stat_activity WHERE pid = {pid} AND wait_event_type = 'Lock')");
    while !racing.is_finished() && text(&mut client, &waits).as_deref() != Some("true") {}
    first.batch_execute("COMMIT").expect("a commit");
    assert_eq!(racing.join().expect("the second session").as_deref(), Ok("indexed"));
    assert_eq!(rows(&mut client, "SELECT DISTINCT status FROM nl2sql_health()"), json!([{ "status": "ok" }]));
}

/// An advisory lock of an application with the datasource's number is a different lock.
#[test]
fn advisory_locks_of_others_are_not_the_lease() {
    let database = Database::blank();
    let mut client = two(&database);
    let mut other = database.connect();
    other
        .batch_execute(
            "SELECT pg_advisory_lock(id), pg_advisory_lock(0, id), pg_advisory_lock((1::bigint << 32) + id)
             FROM nl2sql.datasource",
        )
        .expect("locks of an application");
    assert_eq!(status(&mut client, "ledger"), "unchanged");
}
