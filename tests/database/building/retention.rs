//! Which snapshots and builds are kept. Nothing else changes or removes a snapshot.

use nl2sql_tests::builds::{assert_as_before, assert_sound, index, plant, state};
use nl2sql_tests::{Database, error, rows, text};
use postgres::Client;
use std::collections::BTreeSet;

/// Sets a comment, indexes the schema, and returns the live schema_version.
fn version(client: &mut Client, comment: &str) -> String {
    client.batch_execute(&format!("COMMENT ON TABLE plant.amber_amber_0 IS '{comment}'")).expect("a comment");
    assert_eq!(index(client, "plant"), "indexed");
    text(client, "SELECT schema_version FROM nl2sql.pointer").expect("a version")
}

fn kept(client: &mut Client) -> BTreeSet<String> {
    let rows = rows(client, "SELECT schema_version FROM nl2sql.snapshot");
    rows.as_array()
        .expect("rows")
        .iter()
        .map(|row| row["schema_version"].as_str().expect("a text").to_owned())
        .collect()
}

fn set<const N: usize>(versions: [&String; N]) -> BTreeSet<String> {
    versions.into_iter().cloned().collect()
}

/// Kept are the live version, the one it replaced, and the newest three.
#[test]
fn snapshots_are_kept_by_pointer_by_replacement_and_by_age() {
    let database = Database::blank();
    let mut client = database.connect();
    plant(&mut client, "plant");
    let first = version(&mut client, "one");
    let second = version(&mut client, "two");
    assert_eq!(kept(&mut client), set([&first, &second]));
    let third = version(&mut client, "three");
    let fourth = version(&mut client, "four");
    assert_eq!(kept(&mut client), set([&second, &third, &fourth]));
    assert_eq!(version(&mut client, "two"), second, "the schema of a kept version is that version");
    assert_eq!(kept(&mut client), set([&second, &third, &fourth]));
    let fifth = version(&mut client, "five");
    assert_eq!(kept(&mut client), set([&second, &third, &fourth, &fifth]), "the replaced one is not among the newest");
    let sixth = version(&mut client, "six");
    assert_eq!(kept(&mut client), set([&fourth, &fifth, &sixth]));
    client.batch_execute("SELECT pg_sleep(1.1)").expect("the next second, which the version's name tells");
    let again = version(&mut client, "one");
    assert_ne!(again, first, "a version that went is stored anew");
    assert_eq!(again.split('_').nth(1), first.split('_').nth(1), "with the hash that it had");

    client.batch_execute("SET nl2sql.max_versions = 1").expect("a setting");
    let last = version(&mut client, "seven");
    assert_eq!(kept(&mut client), set([&again, &last]), "the replaced one is kept whatever the number");
    let listed = rows(&mut client, "SELECT schema_version, live FROM nl2sql_versions('plant')");
    assert_eq!(
        listed,
        serde_json::json!([{ "schema_version": last, "live": true }, { "schema_version": again, "live": false }])
    );
    assert_sound(&mut client);
}

#[test]
fn the_live_build_and_the_replaced_one_are_kept() {
    let database = Database::blank();
    let mut client = database.connect();
    plant(&mut client, "plant");
    let mut built = Vec::new();
    for comment in ["one", "two", "three", "two", "four"] {
        version(&mut client, comment);
        built.push(text(&mut client, "SELECT build FROM nl2sql.pointer").expect("a build"));
        let kept = text(&mut client, "SELECT string_agg(id::text, ',' ORDER BY id) FROM nl2sql.build");
        let expected = &built[built.len().saturating_sub(2)..];
        assert_eq!(kept, Some(expected.join(",")));
        let held =
            text(&mut client, "SELECT string_agg(DISTINCT build::text, ',' ORDER BY build::text) FROM nl2sql.entry");
        assert_eq!(held, Some(expected.join(",")));
    }
    assert_eq!(built.iter().collect::<BTreeSet<_>>().len(), built.len(), "a build_id is never used twice");
    assert_sound(&mut client);
}

/// Not even a superuser can change a snapshot by hand, with any statement.
#[test]
fn snapshots_are_immutable() {
    let database = Database::blank();
    let mut client = database.connect();
    plant(&mut client, "plant");
    version(&mut client, "one");
    version(&mut client, "two");
    let before = state(&mut client);
    for statement in [
        "UPDATE nl2sql.snapshot SET fingerprint = ''",
        "UPDATE nl2sql.snapshot SET fingerprint = '' WHERE false",
        "DELETE FROM nl2sql.snapshot",
        "TRUNCATE nl2sql.snapshot CASCADE",
        "UPDATE nl2sql.snapshot_table SET contract = '{}'",
        "DELETE FROM nl2sql.snapshot_table",
        "TRUNCATE nl2sql.snapshot_table",
        "DELETE FROM nl2sql.snapshot WHERE schema_version NOT IN (SELECT schema_version FROM nl2sql.pointer)",
        "MERGE INTO nl2sql.snapshot s USING (SELECT 1) x ON true WHEN MATCHED THEN DELETE",
        "INSERT INTO nl2sql.snapshot SELECT * FROM nl2sql.snapshot
         ON CONFLICT (datasource, schema_version) DO UPDATE SET fingerprint = ''",
        "DELETE FROM nl2sql.datasource",
    ] {
        let refused = error(&mut client, statement);
        assert_eq!(refused.code().code(), "55000", "{statement}: {refused}");
        assert!(refused.message().contains("snapshots are immutable"), "{statement}: {refused}");
    }
    assert_as_before(&mut client, &before);
}

/// Removing old versions permits deletion only for that moment, also if it fails.
#[test]
fn a_failed_removal_leaves_snapshots_immutable() {
    let database = Database::blank();
    let mut client = database.connect();
    plant(&mut client, "plant");
    client.batch_execute("SET nl2sql.max_versions = 1").expect("a setting");
    version(&mut client, "one");
    version(&mut client, "two");
    let before = state(&mut client);
    client
        .batch_execute(
            "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
             BEGIN RAISE 'kept' USING ERRCODE = 'check_violation'; END $$;
             CREATE TRIGGER fail BEFORE DELETE ON nl2sql.snapshot_table FOR EACH ROW EXECUTE FUNCTION fail();
             COMMENT ON TABLE plant.amber_amber_0 IS 'three'",
        )
        .expect("a trigger that fails");
    assert_eq!(error(&mut client, "SELECT nl2sql_index('plant')").code().code(), "23514");
    assert_eq!(error(&mut client, "DELETE FROM nl2sql.snapshot_table").code().code(), "55000");
    assert_eq!(error(&mut client, "SELECT nl2sql_unregister('plant')").code().code(), "23514");
    assert_eq!(error(&mut client, "DELETE FROM nl2sql.snapshot_table").code().code(), "55000");
    assert_as_before(&mut client, &before);
    client.batch_execute("DROP TRIGGER fail ON nl2sql.snapshot_table").expect("no trigger");
    assert_eq!(index(&mut client, "plant"), "indexed");
    assert_eq!(error(&mut client, "DELETE FROM nl2sql.snapshot_table").code().code(), "55000");
    assert_sound(&mut client);
}

#[test]
fn unregistering_removes_everything() {
    let database = Database::blank();
    let mut client = database.connect();
    for schema in ["plant", "quarry"] {
        plant(&mut client, schema);
        assert_eq!(index(&mut client, schema), "indexed");
    }
    assert_eq!(text(&mut client, "nl2sql_unregister('plant')").as_deref(), Some("true"));
    assert_eq!(text(&mut client, "nl2sql_unregister('plant')").as_deref(), Some("false"));
    for table in ["datasource_setting", "relation", "snapshot", "snapshot_table", "build", "pointer", "entry"] {
        let left = rows(&mut client, &format!("SELECT DISTINCT datasource FROM nl2sql.{table}"));
        assert_eq!(left, serde_json::json!([{ "datasource": "quarry" }]), "{table}");
    }
    assert_sound(&mut client);
}
