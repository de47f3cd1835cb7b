//! A build of curated content that is cancelled or fails leaves what was committed before, and nothing else.

use nl2sql_tests::builds::{PARTITION, Running, assert_as_before, assert_sound, state};
use nl2sql_tests::curated_builds::{BUILD_CURATED, curated_document, plant_with_content};
use nl2sql_tests::{Database, error, sqlstate, text};

#[test]
fn a_cancelled_build_leaves_the_previous_one() {
    let database = Database::blank();
    let mut witness = database.connect();
    plant_with_content(&mut witness, 600);
    let before = state(&mut witness);
    let running = Running::start(&mut witness, "", BUILD_CURATED);
    assert!(running.reaches("nl2sql: embedding"), "the build has ended");
    text(&mut witness, &format!("pg_cancel_backend({})", running.pid));
    assert_eq!(running.last_failure(&mut witness).as_deref(), Some("57014"));
    assert_as_before(&mut witness, &before);
    witness.batch_execute("SET statement_timeout = '20ms'").expect("a setting");
    for call in [format!("SELECT nl2sql_curated_import($d${}$d$)", curated_document(2000)), BUILD_CURATED.to_owned()] {
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
    plant_with_content(&mut witness, 30);
    let before = state(&mut witness);
    witness
        .batch_execute(&format!(
            "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
             BEGIN IF NEW.text LIKE '%number 20 %' THEN RAISE 'no more' USING ERRCODE = 'check_violation'; END IF; RETURN NEW; END $$;
             CREATE TRIGGER fail BEFORE INSERT ON {PARTITION} FOR EACH ROW EXECUTE FUNCTION fail()"
        ))
        .expect("a trigger that fails");
    assert_eq!(error(&mut witness, BUILD_CURATED).code().code(), "23514");
    assert_as_before(&mut witness, &before);
    witness.batch_execute(&format!("DROP TRIGGER fail ON {PARTITION}")).expect("no trigger");
    witness.batch_execute(BUILD_CURATED).expect("the next build");
    assert_sound(&mut witness);
}
