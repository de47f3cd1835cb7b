//! Where nothing can be written: a hot standby, a read-only transaction. Reading works there as on
//! the primary, writing says why it does not.

use nl2sql_tests::{Cluster, Database, describe, error, rows, text};
use postgres::{Client, Config, NoTls};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Every function that reads, and the tables and views that a user reads.
const READS: [&str; 22] = [
    "SELECT nl2sql_embed('which rose blooms first?')",
    "SELECT * FROM nl2sql_mmr('which rose blooms first?', k => 5)",
    "SELECT * FROM nl2sql_mmr('balance', types => '{schema.column}', datasources => '{ledger}')",
    "SELECT nl2sql_mmr_explain('which rose blooms first?')",
    "SELECT * FROM nl2sql_route('which rose blooms first?')",
    "SELECT nl2sql_route_explain('which rose blooms first?')",
    "SELECT * FROM nl2sql_health()",
    "SELECT * FROM nl2sql_health('ledger')",
    "SELECT * FROM nl2sql_versions('ledger')",
    "SELECT nl2sql_snapshot('ledger')",
    "SELECT nl2sql_snapshot('garden', (SELECT min(schema_version) FROM nl2sql_versions('garden')))",
    "SELECT * FROM nl2sql.datasources ORDER BY datasource",
    "SELECT datasource, id, text FROM nl2sql.entry ORDER BY build, id",
    "SELECT * FROM nl2sql.pointer ORDER BY datasource",
    "SELECT * FROM nl2sql.build ORDER BY id",
    "SELECT * FROM nl2sql.relation ORDER BY id",
    "SELECT * FROM nl2sql_match('what is on account 7?')",
    "SELECT nl2sql_bind('ledger', 'one', '{\"n\": 7}')",
    "SELECT nl2sql_curated_export()",
    "SELECT count(*) FROM nl2sql_curated_validate()",
    "SELECT * FROM nl2sql_check()",
    "SELECT nl2sql_schema_prompt('ledger', 'what is the balance?')",
];

const WRITES: [&str; 11] = [
    "SELECT * FROM nl2sql_index()",
    "SELECT * FROM nl2sql_index('ledger')",
    "SELECT * FROM nl2sql_index('unregistered')",
    "SELECT nl2sql_register('ledger', description => 'books')",
    "SELECT nl2sql_unregister('ledger')",
    "SELECT nl2sql_unregister('nothing')",
    "SELECT * FROM nl2sql_prune()",
    "SELECT * FROM nl2sql_index('ledger', curated_only => true)",
    "SELECT * FROM nl2sql_curated_import('datasources: {}')",
    "SELECT nl2sql_verified_query('ledger', 'two', '{two?}', 'SELECT 2')",
    "SELECT nl2sql_remove_verified_query('ledger', 'one')",
];

const SCHEMAS: &str = "
    CREATE SCHEMA ledger; CREATE TABLE ledger.account (number int PRIMARY KEY, balance numeric);
    CREATE TABLE ledger.booking (number int PRIMARY KEY, account int REFERENCES ledger.account, amount numeric);
    CREATE SCHEMA garden; CREATE TABLE garden.rose (name text PRIMARY KEY, blooms date);
    CREATE SCHEMA unregistered; CREATE TABLE unregistered.nothing (number int);
    SELECT nl2sql_register('ledger', sample_questions => '{what is the balance?}');
    SELECT nl2sql_register('garden', description => 'roses and their seasons');
    SELECT nl2sql_index();
    SELECT nl2sql_verified_query('ledger', 'one', ARRAY['what is on account {n}?'], 'SELECT balance FROM account WHERE number = :n',
        params => '{\"n\": {\"type\": \"int\"}}');
    SELECT nl2sql_index('ledger', curated_only => true)";

fn read_all(client: &mut Client) -> Vec<Value> {
    READS.iter().map(|sql| rows(client, sql)).collect()
}

fn assert_refuses_to_write(client: &mut Client) {
    for statement in WRITES {
        let refused = error(client, statement);
        assert_eq!(refused.code().code(), "25006", "{statement}: {refused}");
        let function = statement.split_once("nl2sql_").and_then(|(_, call)| call.split_once('(')).expect("a call").0;
        assert!(refused.message().contains(&format!("nl2sql_{function}()")), "{statement}: {refused}");
    }
}

/// A copy of a cluster that follows it; removed when it goes out of scope.
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
        // What cluster.sh takes for a cluster of its own, and starts and removes.
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

fn script(args: &[&str]) {
    let cluster = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docker/cluster.sh");
    let output = Command::new(cluster).args(args).output().expect("docker/cluster.sh");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Waits until the standby has replayed what the primary has written so far.
fn catch_up(primary: &mut Client, standby: &mut Client) {
    let written = text(primary, "pg_current_wal_insert_lsn()").expect("a place in the WAL");
    while text(standby, &format!("pg_last_wal_replay_lsn() >= '{written}'::pg_lsn")).as_deref() != Some("true") {
        // A record more pushes the ones before it out.
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

    // A build on the primary is there on the standby once it is replayed, in a session that has read before.
    primary.batch_execute("CREATE TABLE garden.tulip (name text PRIMARY KEY, colour text)").expect("a table");
    assert_eq!(text(&mut primary, "SELECT status FROM nl2sql_index('garden')").as_deref(), Some("indexed"));
    catch_up(&mut primary, &mut reader);
    let after = read_all(&mut reader);
    assert_ne!(after, before);
    assert_eq!(after, read_all(&mut primary));
    assert!(after[12].to_string().contains("tulip"));
    assert_refuses_to_write(&mut reader);
}

/// A standby that becomes the primary builds at once.
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

#[test]
fn a_read_only_transaction_reads_and_refuses_to_write() {
    let database = Database::blank();
    let mut client = database.connect();
    client.batch_execute(SCHEMAS).expect("two datasources");
    let outside = read_all(&mut client);
    client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").expect("a transaction");
    assert_eq!(read_all(&mut client), outside);
    client.batch_execute("COMMIT; SET default_transaction_read_only = on").expect("a setting");
    assert_eq!(read_all(&mut client), outside);
    assert_refuses_to_write(&mut client);
    client.batch_execute("SET default_transaction_read_only = off").expect("a setting");
    assert_eq!(read_all(&mut client), outside);
}

/// Reading takes no transaction id, which a standby has none of and a busy primary should not spend.
#[test]
fn reading_takes_no_transaction_id() {
    let database = Database::blank();
    let mut client = database.connect();
    client.batch_execute(SCHEMAS).expect("two datasources");
    for sql in READS {
        client.batch_execute(&format!("BEGIN; {sql}")).unwrap_or_else(|error| panic!("{sql}: {}", describe(&error)));
        assert_eq!(text(&mut client, "pg_current_xact_id_if_assigned()"), None, "{sql}");
        client.batch_execute("COMMIT").expect("a commit");
    }
}
