//! A build that the server cannot store: a failing row, a full disk.

use nl2sql_tests::builds::{PARTITION, assert_as_before, assert_sound, grow, index, plant, state};
use nl2sql_tests::cluster::script;
use nl2sql_tests::{Database, error, sqlstate, text};

#[test]
fn a_row_that_cannot_be_written_leaves_the_previous_build() {
    let database = Database::blank();
    let mut witness = database.connect();
    plant(&mut witness, "plant");
    assert_eq!(index(&mut witness, "plant"), "indexed");
    let before = state(&mut witness);
    grow(&mut witness, "plant", 8, 20);
    witness
        .batch_execute(&format!(
            "CREATE SEQUENCE written;
             CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
             BEGIN
                 IF nextval('public.written') > 20 THEN RAISE 'no more' USING ERRCODE = 'check_violation'; END IF;
                 RETURN NEW;
             END $$;
             CREATE TRIGGER fail BEFORE INSERT ON {PARTITION} FOR EACH ROW EXECUTE FUNCTION fail()"
        ))
        .expect("a trigger that fails");
    assert_eq!(sqlstate(&mut witness, "SELECT * FROM nl2sql_index('plant')"), "23514");
    assert_eq!(text(&mut witness, "SELECT last_value FROM written").as_deref(), Some("21"), "rows were written before");
    assert_as_before(&mut witness, &before);
    witness.batch_execute(&format!("DROP TRIGGER fail ON {PARTITION}")).expect("no trigger");
    assert_eq!(index(&mut witness, "plant"), "indexed");
    assert_sound(&mut witness);
}

/// The backend may write no file beyond 16 MiB, the size of a WAL segment, and the partition is that long: writing its
/// next page fails as on a full disk, without a mount.
#[test]
fn a_full_disk_leaves_the_previous_build() {
    let database = Database::blank();
    let mut witness = database.connect();
    plant(&mut witness, "plant");
    assert_eq!(index(&mut witness, "plant"), "indexed");
    let before = state(&mut witness);
    grow(&mut witness, "plant", 8, 20);
    witness
        .batch_execute(&format!(
            "ALTER TABLE {PARTITION} SET (autovacuum_enabled = false);
             INSERT INTO nl2sql.entry (namespace, build, id, type, datasource, text, text_hash, metadata, embedding)
             SELECT e.namespace, 0, n::text, 'filler', 'plant', '', sha256(n::text::bytea), '{{}}', e.embedding
             FROM generate_series(1, 9000) n, (SELECT * FROM nl2sql.entry LIMIT 1) e"
        ))
        .expect("a long partition");
    let size = text(&mut witness, &format!("pg_relation_size('{PARTITION}')")).expect("a size");
    assert!(size.parse::<u64>().expect("a number") > 16 << 20, "{size}");
    let mut builder = database.connect();
    let pid = text(&mut builder, "pg_backend_pid()").expect("a process");
    // Run as the server's user: root without CAP_SYS_RESOURCE may not limit another user's process.
    script(&["run", "prlimit", "--pid", &pid, "--fsize=16777216"]);
    let failure = error(&mut builder, "SELECT * FROM nl2sql_index('plant')");
    assert!(failure.message().starts_with("could not extend file"), "{failure}");
    drop(builder);
    witness.batch_execute("DELETE FROM nl2sql.entry WHERE build = 0").expect("no filler");
    assert_as_before(&mut witness, &before);
    assert_eq!(index(&mut witness, "plant"), "indexed");
    assert_sound(&mut witness);
}
