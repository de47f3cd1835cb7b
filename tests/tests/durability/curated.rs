//! Curated content that is written down or indexed when the session ends: what was committed before is there, and
//! nothing else.

use super::scene::{PARTITION, Running, assert_as_before, assert_sound, index, plant, state};
use nl2sql_tests::{Cluster, Database, error, rows, sqlstate, text};
use postgres::Client;
use serde_json::json;
use std::process::Command;

const BUILD: &str = "SELECT * FROM nl2sql_index('plant', curated_only => true)";
const CONTENT: &str = "SELECT id, questions, sql, reads FROM nl2sql.verified_query ORDER BY id";

/// A document of queries that no two share a question.
fn document(queries: usize) -> String {
    let queries: Vec<_> = (0..queries)
        .map(|n| json!({"id": format!("q{n}"), "questions": [format!("How many of number {n} are there, and what of {}?", n * 7919)], "sql": format!("SELECT {n}")}))
        .collect();
    json!({"datasources": {"plant": {"verified_queries": queries}}}).to_string()
}

/// An indexed datasource with some indexed content, and more that is not indexed yet.
fn scene(witness: &mut Client, queries: usize) {
    plant(witness, "plant");
    assert_eq!(index(witness, "plant"), "indexed");
    for queries in [3, queries] {
        witness.execute("SELECT nl2sql_curated_import($1)", &[&document(queries)]).expect("content");
        if queries == 3 {
            witness.batch_execute(BUILD).expect("a build");
        }
    }
}

#[test]
fn a_killed_backend_leaves_the_previous_build_and_content() {
    let cluster = Cluster::start(&["synchronous_commit=on"]);
    let database = cluster.database();
    let mut witness = database.connect();
    scene(&mut witness, 600);
    let (before, content) = (state(&mut witness), rows(&mut witness, CONTENT));
    let import =
        format!("BEGIN; SELECT nl2sql_curated_import('datasources: {{plant: {{}}}}'); {BUILD}; SELECT pg_sleep(600)");
    for (sql, stage) in [(BUILD, "nl2sql: embedding"), (import.as_str(), "build datasource")] {
        let running = Running::start(&mut witness, "", sql);
        if stage.starts_with("nl2sql") {
            assert!(running.reaches(stage), "the build has ended");
        } else {
            let asleep =
                format!("EXISTS (SELECT FROM pg_stat_activity WHERE pid = {} AND wait_event = 'PgSleep')", running.pid);
            while text(&mut witness, &asleep).as_deref() == Some("false") {}
        }
        let killed = Command::new("kill").args(["-9", &running.pid.to_string()]).status().expect("kill");
        assert!(killed.success());
        assert_eq!(running.failure(), None, "the connection breaks");
        while witness.simple_query("SELECT 1").is_ok() {}
        witness = super::crash::reconnect(&cluster, &database.name);
        assert_as_before(&mut witness, &before);
        assert_eq!(rows(&mut witness, CONTENT), content);
    }
    witness.batch_execute(BUILD).expect("the next build");
    assert_sound(&mut witness);
    assert_eq!(
        text(&mut witness, "SELECT counts -> 'curated.verified_query' FROM nl2sql_health('plant')").as_deref(),
        Some("600")
    );
}

#[test]
fn a_cancelled_build_leaves_the_previous_one() {
    let database = Database::blank();
    let mut witness = database.connect();
    scene(&mut witness, 600);
    let before = state(&mut witness);
    let running = Running::start(&mut witness, "", BUILD);
    assert!(running.reaches("nl2sql: embedding"), "the build has ended");
    text(&mut witness, &format!("pg_cancel_backend({})", running.pid));
    assert_eq!(running.last_failure(&mut witness).as_deref(), Some("57014"));
    assert_as_before(&mut witness, &before);
    witness.batch_execute("SET statement_timeout = '20ms'").expect("a setting");
    for call in [format!("SELECT nl2sql_curated_import($d${}$d$)", document(2000)), BUILD.to_owned()] {
        assert_eq!(sqlstate(&mut witness, &call), "57014");
    }
    witness.batch_execute("RESET statement_timeout").expect("a setting");
    assert_as_before(&mut witness, &before);
    assert_sound(&mut witness);
}

#[test]
fn a_row_that_cannot_be_written_leaves_the_previous_build() {
    let database = Database::blank();
    let mut witness = database.connect();
    scene(&mut witness, 30);
    let before = state(&mut witness);
    witness
        .batch_execute(&format!(
            "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
             BEGIN IF NEW.text LIKE '%number 20 %' THEN RAISE 'no more' USING ERRCODE = 'check_violation'; END IF; RETURN NEW; END $$;
             CREATE TRIGGER fail BEFORE INSERT ON {PARTITION} FOR EACH ROW EXECUTE FUNCTION fail()"
        ))
        .expect("a trigger that fails");
    assert_eq!(error(&mut witness, BUILD).code().code(), "23514");
    assert_as_before(&mut witness, &before);
    witness.batch_execute(&format!("DROP TRIGGER fail ON {PARTITION}")).expect("no trigger");
    witness.batch_execute(BUILD).expect("the next build");
    assert_sound(&mut witness);
}
