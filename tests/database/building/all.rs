//! `nl2sql_index()` over every datasource: a failure does not touch the others, a cancel ends all.

use nl2sql_tests::builds::{PARTITION, Running, assert_as_before, assert_sound, grow, index, plant, state, trim};
use nl2sql_tests::{Database, rows, text};
use postgres::Client;
use serde_json::json;

/// Live builds of four datasources, each with one table added since.
fn four(database: &Database) -> Client {
    let mut witness = database.connect();
    for schema in ["alder", "birch", "cedar", "dogwood"] {
        plant(&mut witness, schema);
        assert_eq!(index(&mut witness, schema), "indexed");
        grow(&mut witness, schema, 8, 9);
    }
    witness
}

fn live(client: &mut Client, datasource: &str) -> String {
    text(client, &format!("SELECT build FROM nl2sql.pointer WHERE datasource = '{datasource}'")).expect("a build")
}

#[test]
fn one_that_fails_keeps_its_build_and_the_others_go_on() {
    let database = Database::blank();
    let mut witness = four(&database);
    witness
        .batch_execute(&format!(
            "DROP SCHEMA birch CASCADE;
             CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
             BEGIN
                 IF NEW.datasource = 'cedar' AND NEW.type = 'schema.table' THEN
                     RAISE 'no room for cedar';
                 END IF;
                 RETURN NEW;
             END $$;
             CREATE TRIGGER fail BEFORE INSERT ON {PARTITION} FOR EACH ROW EXECUTE FUNCTION fail()"
        ))
        .expect("two datasources that fail");
    let failing = |client: &mut Client| {
        rows(
            client,
            "SELECT d.name, p.build, e.entries, r.relations, s.snapshots FROM nl2sql.datasource d
             JOIN nl2sql.pointer p ON p.datasource = d.name,
                  LATERAL (SELECT count(*), md5(string_agg(e::text, ',' ORDER BY build, id))
                           FROM nl2sql.entry e WHERE datasource = d.name) e (n, entries),
                  LATERAL (SELECT json_agg(r ORDER BY id) FROM nl2sql.relation r WHERE datasource = d.name) r (relations),
                  LATERAL (SELECT json_agg(s ORDER BY schema_version) FROM nl2sql.snapshot s
                           WHERE datasource = d.name) s (snapshots)
             WHERE d.name IN ('birch', 'cedar') ORDER BY d.name",
        )
    };
    let before = failing(&mut witness);
    let (alder, dogwood) = (live(&mut witness, "alder"), live(&mut witness, "dogwood"));

    let running = Running::start(&mut witness, "", "CREATE TABLE result AS SELECT * FROM nl2sql_index()");
    let notices = running.rest();
    running.success();
    let result = rows(
        &mut witness,
        "SELECT datasource, status, build_id IS NOT NULL AS built, error FROM result ORDER BY datasource",
    );
    assert_eq!(
        result,
        json!([
            { "datasource": "alder", "status": "indexed", "built": true, "error": null },
            { "datasource": "birch", "status": "failed", "built": false,
              "error": "datasource \"birch\" has no tables to index" },
            { "datasource": "cedar", "status": "failed", "built": false, "error": "no room for cedar" },
            { "datasource": "dogwood", "status": "indexed", "built": true, "error": null },
        ])
    );
    for (datasource, words) in [("birch", "no tables to index"), ("cedar", "no room for cedar")] {
        let warnings: Vec<_> = notices
            .iter()
            .filter(|notice| notice.starts_with("WARNING: ") && notice.contains(&format!("\"{datasource}\"")))
            .collect();
        assert_eq!(warnings.len(), 1, "{datasource}: {notices:?}");
        assert!(warnings[0].contains(words), "{warnings:?}");
    }
    // No third warning, for example about resources that a failure left open.
    assert_eq!(notices.iter().filter(|notice| notice.starts_with("WARNING: ")).count(), 2, "{notices:?}");
    assert_eq!(failing(&mut witness), before);
    assert_ne!(live(&mut witness, "alder"), alder);
    assert_ne!(live(&mut witness, "dogwood"), dogwood);
    assert_sound(&mut witness);
    let found = rows(
        &mut witness,
        "SELECT DISTINCT datasource FROM nl2sql_mmr('cedar basin', k => 5, datasources => '{cedar}')",
    );
    assert_eq!(found, json!([{ "datasource": "cedar" }]));

    witness.batch_execute(&format!("DROP TRIGGER fail ON {PARTITION}")).expect("no trigger");
    assert_eq!(index(&mut witness, "cedar"), "indexed");
    assert_sound(&mut witness);
}

/// A cancel also rolls back datasources that were done: it is one statement.
#[test]
fn a_cancel_ends_them_all() {
    let database = Database::blank();
    let mut witness = four(&database);
    grow(&mut witness, "cedar", 9, 400);
    let before = state(&mut witness);
    let running = Running::start(&mut witness, "", "SELECT * FROM nl2sql_index()");
    assert!(running.reaches("nl2sql: writing entries datasource=\"alder\""), "the first one was built");
    running.reach_model(&mut witness, "cedar");
    text(&mut witness, &format!("pg_cancel_backend({})", running.pid));
    let notices = running.rest();
    assert_eq!(running.failure().as_deref(), Some("57014"));
    assert!(
        !notices.iter().any(|notice| notice.starts_with("WARNING")),
        "a cancel is no failure of the datasource: {notices:?}"
    );
    assert_as_before(&mut witness, &before);
    trim(&mut witness, "cedar");
    let statuses = rows(&mut witness, "SELECT DISTINCT status FROM nl2sql_index()");
    assert_eq!(statuses, json!([{ "status": "indexed" }]));
    assert_sound(&mut witness);
}

/// The statement's timeout is a cancel too, not a failure of the datasource that it hits.
#[test]
fn a_time_limit_ends_them_all() {
    let database = Database::blank();
    let mut witness = four(&database);
    grow(&mut witness, "cedar", 9, 400);
    let before = state(&mut witness);
    let mut allowed = 1000;
    loop {
        let settings = format!("SET statement_timeout = {allowed}");
        let running = Running::start(&mut witness, &settings, "SELECT * FROM nl2sql_index()");
        let reached = running.reaches("nl2sql: storing the snapshot datasource=\"cedar\"");
        assert_eq!(running.failure().as_deref(), Some("57014"));
        assert_as_before(&mut witness, &before);
        if reached {
            break;
        }
        allowed *= 2;
    }
}
