//! A hot standby: reading works there as on the primary, writing reports why it does not.

use nl2sql_tests::cluster::script;
use nl2sql_tests::read_only::{READS, SCHEMAS, assert_refuses_to_write, read_all};
use nl2sql_tests::{Cluster, describe, rows, text};
use postgres::{Client, Config, NoTls};
use serde_json::json;
use std::path::PathBuf;

/// A copy of a cluster that follows it. Drop removes it.
struct Standby {
    dir: PathBuf,
}

impl Standby {
    fn of(primary: &Cluster) -> Self {
        let dir = primary.dir().with_extension("standby");
        std::fs::create_dir(&dir).expect("a directory");
        let standby = Self { dir };
        let bin =
            text(&mut primary.connect(), "SELECT setting FROM pg_config() WHERE name = 'BINDIR'").expect("BINDIR");
        let (from, to) = (primary.dir().display().to_string(), standby.dir.display().to_string());
        // Marks it as a cluster that cluster.sh may start and remove.
        std::fs::write(standby.dir.join("nl2sql-throwaway-cluster"), "").expect("a mark");
        use std::os::unix::fs::MetadataExt;
        let owner = std::fs::metadata(primary.dir()).expect("the primary's directory");
        std::os::unix::fs::chown(&standby.dir, Some(owner.uid()), Some(owner.gid())).expect("the server's directory");
        script(&[
            "run",
            &format!("{bin}/pg_basebackup"),
            "-h",
            &from,
            "-U",
            "postgres",
            "-D",
            &format!("{to}/data"),
            "-R",
            "-c",
            "fast",
            "--no-sync",
        ]);
        script(&["start", &to]);
        standby
    }

    fn connect(&self, database: &str) -> Client {
        let client = Config::new().host_path(&self.dir).user("postgres").dbname(database).connect(NoTls);
        client.unwrap_or_else(|error| panic!("the standby: {}", describe(&error)))
    }
}

impl Drop for Standby {
    fn drop(&mut self) {
        script(&["remove", self.dir.to_str().expect("a path in UTF-8")]);
    }
}

/// Waits until the standby has replayed what the primary has written so far.
fn catch_up(primary: &mut Client, standby: &mut Client) {
    let written = text(primary, "pg_current_wal_insert_lsn()").expect("a place in the WAL");
    while text(standby, &format!("pg_last_wal_replay_lsn() >= '{written}'::pg_lsn")).as_deref() != Some("true") {
        // A further record flushes the ones before it.
        text(primary, "pg_logical_emit_message(true, 'test', 'next')");
    }
}

#[test]
fn a_hot_standby_reads_like_its_primary() {
    let cluster = Cluster::start(&["wal_level=replica"]);
    let database = cluster.database();
    let mut primary = database.connect();
    primary.batch_execute(SCHEMAS).expect("two datasources");
    let standby = Standby::of(&cluster);
    let mut reader = standby.connect(&database.name);
    assert_eq!(text(&mut reader, "pg_is_in_recovery()").as_deref(), Some("true"));
    catch_up(&mut primary, &mut reader);
    let before = read_all(&mut primary);
    for ((sql, primary), standby) in READS.iter().zip(&before).zip(read_all(&mut reader)) {
        assert_ne!(*primary, json!([]), "{sql}");
        assert_eq!(*primary, standby, "{sql}");
    }
    assert_refuses_to_write(&mut reader);

    // A build on the primary appears on the standby after replay, in a session that has read before.
    primary.batch_execute("CREATE TABLE garden.tulip (name text PRIMARY KEY, colour text)").expect("a table");
    assert_eq!(text(&mut primary, "SELECT status FROM nl2sql_index('garden')").as_deref(), Some("indexed"));
    catch_up(&mut primary, &mut reader);
    let after = read_all(&mut reader);
    assert_ne!(after, before);
    assert_eq!(after, read_all(&mut primary));
    assert!(after[12].to_string().contains("tulip"));
    assert_refuses_to_write(&mut reader);
}

/// A promoted standby builds at once.
#[test]
fn a_promoted_standby_builds() {
    let cluster = Cluster::start(&["wal_level=replica"]);
    let database = cluster.database();
    let mut primary = database.connect();
    primary.batch_execute(SCHEMAS).expect("two datasources");
    let standby = Standby::of(&cluster);
    let mut client = standby.connect(&database.name);
    catch_up(&mut primary, &mut client);
    text(&mut client, "nl2sql_embed('which rose blooms first?')");
    drop(primary);
    cluster.stop("fast");
    assert_eq!(text(&mut client, "pg_promote()").as_deref(), Some("true"));
    client.batch_execute("CREATE TABLE garden.tulip (name text PRIMARY KEY)").expect("a table");
    assert_eq!(
        rows(&mut client, "SELECT datasource, status FROM nl2sql_index() ORDER BY datasource"),
        json!([{ "datasource": "garden", "status": "indexed" }, { "datasource": "ledger", "status": "unchanged" }])
    );
    assert_eq!(rows(&mut client, "SELECT DISTINCT status FROM nl2sql_health()"), json!([{ "status": "ok" }]));
}
