//! A build of what the live build already holds writes no row and embeds no text twice.

use nl2sql_tests::builds::{assert_sound, grow, index, plant};
use nl2sql_tests::{Database, rows, text};
use postgres::Client;
use serde_json::{Value, json};

/// Tables that users and DDL fill, and that no build writes in these tests.
const UNTOUCHED: [&str; 6] =
    ["nl2sql.ddl", "nl2sql.description", "nl2sql.diff", "nl2sql.metric", "nl2sql.term", "nl2sql.verified_query"];

/// Where each row of the extension's tables is stored, and which transaction wrote it. A rewritten row, even with the
/// same values, is stored elsewhere.
fn versions_of_rows(client: &mut Client) -> Vec<(String, Value)> {
    let tables = rows(
        client,
        "SELECT c.oid::regclass::text AS name FROM pg_class c
         WHERE c.relnamespace = 'nl2sql'::regnamespace AND c.relkind = 'r' ORDER BY 1",
    );
    let tables = tables.as_array().expect("tables").clone();
    assert!(tables.len() >= 8, "{tables:?}");
    let mut versions = Vec::new();
    for table in tables {
        let name = table["name"].as_str().expect("a name").to_owned();
        let found = rows(client, &format!("SELECT ctid, xmin, xmax FROM {name} ORDER BY ctid"));
        assert_eq!(found == json!([]), UNTOUCHED.contains(&name.as_str()), "{name} holds rows: {found}");
        versions.push((name, found));
    }
    versions
}

#[test]
fn equal_content_writes_nothing() {
    let database = Database::blank();
    let mut client = database.connect();
    plant(&mut client, "plant");
    client
        .batch_execute("ALTER TABLE plant.basin_amber_1 ADD FOREIGN KEY (harbor_no_1) REFERENCES plant.amber_amber_0")
        .expect("a foreign key");
    assert_eq!(index(&mut client, "plant"), "indexed");
    let before = versions_of_rows(&mut client);
    let run = rows(
        &mut client,
        "SELECT status, build_id, schema_version, entries, counts, embedded, reused, error FROM nl2sql_index('plant')",
    );
    let live = rows(
        &mut client,
        "SELECT 'unchanged' AS status, p.build::text AS build_id, p.schema_version, h.entries, h.counts, 0 AS embedded,
                h.entries AS reused, NULL AS error
         FROM nl2sql.pointer p, nl2sql_health('plant') h",
    );
    assert_eq!(run, live);
    assert_eq!(rows(&mut client, "SELECT status FROM nl2sql_index()"), json!([{ "status": "unchanged" }]));
    for (before, now) in before.iter().zip(versions_of_rows(&mut client)) {
        assert_eq!(*before, now);
    }
}

/// With one table more, only its texts are embedded.
#[test]
fn known_texts_are_not_embedded_again() {
    let database = Database::blank();
    let mut client = database.connect();
    plant(&mut client, "plant");
    assert_eq!(index(&mut client, "plant"), "indexed");
    grow(&mut client, "plant", 8, 9);
    let run = rows(&mut client, "SELECT status, entries, embedded, reused FROM nl2sql_index('plant')");
    assert_eq!(run, json!([{ "status": "indexed", "entries": 28, "embedded": 3, "reused": 25 }]));
    let vectors = text(
        &mut client,
        "SELECT bool_and(o.embedding::text = n.embedding::text) AND count(*) = 25
         FROM nl2sql.entry o JOIN nl2sql.entry n USING (text_hash) WHERE o.build < n.build",
    );
    assert_eq!(vectors.as_deref(), Some("true"));
    assert_sound(&mut client);
}

/// A changed description is content too: the datasource's own texts change.
#[test]
fn a_changed_description_is_indexed() {
    let database = Database::blank();
    let mut client = database.connect();
    plant(&mut client, "plant");
    assert_eq!(index(&mut client, "plant"), "indexed");
    let version = text(&mut client, "SELECT schema_version FROM nl2sql.pointer");
    text(&mut client, "nl2sql_register('plant', description => 'stones and water')");
    let run = rows(&mut client, "SELECT status, embedded FROM nl2sql_index('plant')");
    assert_eq!(run, json!([{ "status": "indexed", "embedded": 1 }]));
    assert_eq!(text(&mut client, "SELECT schema_version FROM nl2sql.pointer"), version, "the schema is the same");
    assert_sound(&mut client);
}
