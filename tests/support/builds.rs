//! A datasource whose next build takes long enough to be interrupted, and what must hold afterwards.

use crate::{describe, rows, text};
use postgres::{Client, Config, NoTls};
use serde_json::Value;
use std::sync::mpsc::{self, Receiver};
use std::thread::JoinHandle;

/// The partition of the current model.
pub const PARTITION: &str = "nl2sql.\"nl2sql__local-all-minilm-l6-v2__384\"";

/// First half of the lease's advisory lock: "nl2s" in ASCII.
const LEASE_CLASS: i32 = 0x6e6c_3273;

/// Everything that the extension stores, and its answers. Vectors are compared by their hash.
const STATE: [&str; 12] = [
    "SELECT * FROM nl2sql.datasource ORDER BY name",
    "SELECT * FROM nl2sql.datasource_setting ORDER BY datasource",
    "SELECT * FROM nl2sql.relation ORDER BY id",
    "SELECT * FROM nl2sql.snapshot ORDER BY datasource, schema_version",
    "SELECT * FROM nl2sql.snapshot_table ORDER BY datasource, schema_version, table_schema, table_name",
    "SELECT * FROM nl2sql.build ORDER BY id",
    "SELECT * FROM nl2sql.pointer ORDER BY datasource, namespace",
    "SELECT namespace, build, id, type, datasource, relation, columns, referred, referred_columns, text, metadata,
            md5(embedding::text) FROM nl2sql.entry ORDER BY namespace, build, id",
    "SELECT * FROM nl2sql_mmr('on which day was the lagoon filled?')",
    "SELECT * FROM nl2sql_route('how much amber is in the basin?')",
    "SELECT nl2sql_snapshot(datasource) FROM nl2sql.datasources ORDER BY datasource",
    "SELECT d.datasource, v.* FROM nl2sql.datasources d, nl2sql_versions(d.datasource) v
     ORDER BY d.datasource, v.schema_version",
];

/// Rows that nothing refers to.
const ORPHANS: [&str; 6] = [
    "SELECT e.id FROM nl2sql.entry e
     WHERE NOT EXISTS (SELECT FROM nl2sql.build b WHERE b.id = e.build AND b.namespace = e.namespace)",
    "SELECT b.id FROM nl2sql.build b WHERE NOT EXISTS (SELECT FROM nl2sql.entry e WHERE e.build = b.id)",
    "SELECT b.id FROM nl2sql.build b
     WHERE (SELECT count(*) FROM nl2sql.build o WHERE o.datasource = b.datasource) > 2",
    "SELECT s.schema_version FROM nl2sql.snapshot s
     WHERE NOT EXISTS (SELECT FROM nl2sql.snapshot_table t
                       WHERE t.datasource = s.datasource AND t.schema_version = s.schema_version)",
    "SELECT r.table_name FROM nl2sql.relation r
     WHERE NOT EXISTS (SELECT FROM nl2sql.snapshot_table t
                       WHERE t.datasource = r.datasource AND t.table_schema = r.table_schema
                         AND t.table_name = r.table_name)",
    "SELECT l.pid FROM pg_locks l WHERE l.locktype = 'advisory'
     AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())",
];

/// Creates the schema with eight tables of distinct words, so that no two texts share a vector.
pub fn plant(client: &mut Client, schema: &str) {
    client
        .batch_execute(&format!("CREATE SCHEMA {schema}; COMMENT ON SCHEMA {schema} IS 'what the {schema} works hold'"))
        .expect("a schema");
    grow(client, schema, 0, 8);
}

/// Adds tables to a schema, which the next build has to embed.
pub fn grow(client: &mut Client, schema: &str, from: u32, to: u32) {
    client
        .batch_execute(&format!(
            "DO $$
             DECLARE
                 w text[] := string_to_array('amber basin cedar delta ember falcon garnet harbor iris jasper kelp
                     lagoon maple nectar opal pepper quartz river saddle tundra', ' ');
             BEGIN
                 w := ARRAY(SELECT btrim(x, E' \\n') FROM unnest(w) x WHERE btrim(x, E' \\n') <> '');
                 FOR i IN {from}..{to} - 1 LOOP
                     EXECUTE format('CREATE TABLE {schema}.%I (%I int PRIMARY KEY, %I date)',
                         format('%s_%s_%s', w[i % 20 + 1], w[i / 20 % 20 + 1], i),
                         format('%s_no_%s', w[i * 7 % 20 + 1], i),
                         format('%s_day_%s', w[i * 3 % 20 + 1], i));
                 END LOOP;
             END $$"
        ))
        .expect("more tables");
}

/// Drops most of the tables that [`grow`] added, so that the next build is short.
pub fn trim(client: &mut Client, schema: &str) {
    client
        .batch_execute(&format!(
            "DO $$ DECLARE t regclass; BEGIN
                 FOR t IN SELECT oid FROM pg_class WHERE relnamespace = '{schema}'::regnamespace AND relkind = 'r'
                          ORDER BY oid OFFSET 12 LOOP
                     EXECUTE format('DROP TABLE %s', t);
                 END LOOP;
             END $$"
        ))
        .expect("fewer tables");
}

pub fn index(client: &mut Client, datasource: &str) -> String {
    text(client, &format!("SELECT status FROM nl2sql_index('{datasource}')")).expect("a status")
}

pub fn state(client: &mut Client) -> Vec<Value> {
    STATE.iter().map(|sql| rows(client, sql)).collect()
}

/// The same rows and answers as before, and nothing left over.
pub fn assert_as_before(client: &mut Client, before: &[Value]) {
    for ((sql, before), now) in STATE.iter().zip(before).zip(state(client)) {
        assert_eq!(*before, now, "{sql}");
    }
    assert_sound(client);
}

/// Nothing left over, and a healthy index.
pub fn assert_sound(client: &mut Client) {
    for sql in ORPHANS {
        // The server reports an error before it ends the transaction, whose locks go last.
        let mut found = rows(client, sql);
        for _ in 0..100 {
            if found == Value::Array(Vec::new()) {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
            found = rows(client, sql);
        }
        assert_eq!(found, Value::Array(Vec::new()), "{sql}");
    }
    let unwell = rows(client, "SELECT datasource, status, problems FROM nl2sql_health() WHERE status <> 'ok'");
    assert_eq!(unwell, Value::Array(Vec::new()));
}

/// A statement that runs in a session of its own and sends its notices, down to DEBUG1, as they come.
pub struct Running {
    pub pid: i32,
    notices: Receiver<String>,
    thread: JoinHandle<Result<(), postgres::Error>>,
}

impl Running {
    /// Runs `sql` in the database of `witness`, after `settings`.
    pub fn start(witness: &mut Client, settings: &str, sql: &str) -> Self {
        let (sender, notices) = mpsc::channel();
        let mut client = Config::new()
            .host(&text(witness, "current_setting('unix_socket_directories')").expect("a socket"))
            .dbname(&text(witness, "current_database()").expect("a database"))
            .user("postgres")
            .notice_callback(move |notice| {
                // The receiver may be gone.
                let _ = sender.send(format!("{}: {}", notice.severity(), notice.message()));
            })
            .connect(NoTls)
            .expect("a second connection");
        client.batch_execute(settings).expect("settings");
        client.batch_execute("SET client_min_messages = debug1").expect("debug messages");
        let pid = text(&mut client, "pg_backend_pid()").expect("a process").parse().expect("a number");
        let sql = sql.to_owned();
        let thread = std::thread::spawn(move || {
            let result = client.batch_execute(&sql);
            // The server reports an error before it aborts the transaction; the next answer comes afterwards.
            let _ = client.batch_execute("");
            result
        });
        Self { pid, notices, thread }
    }

    /// Waits for a notice that contains `words`. Returns `false` if the statement ends without it.
    pub fn reaches(&self, words: &str) -> bool {
        self.notices.iter().any(|notice| notice.contains(words))
    }

    /// Waits until the build embeds, and checks it from outside.
    pub fn reach_model(&self, witness: &mut Client, datasource: &str) {
        assert!(self.reaches(&format!("storing the snapshot datasource=\"{datasource}\"")), "the build has ended");
        assert!(self.reaches("nl2sql: embedding"), "the build has ended");
        self.assert_building(witness, datasource);
    }

    /// Asserts that the session is active and holds the datasource's lease.
    pub fn assert_building(&self, witness: &mut Client, datasource: &str) {
        let pid = self.pid;
        let seen = rows(
            witness,
            &format!(
                "SELECT a.state, (SELECT count(*) FROM pg_locks l
                                  JOIN nl2sql.datasource d ON d.id::bigint = l.objid::bigint
                                  WHERE l.pid = {pid} AND l.locktype = 'advisory' AND l.granted
                                    AND l.classid = {LEASE_CLASS}::bigint::oid AND d.name = '{datasource}') AS leases
                 FROM pg_stat_activity a WHERE a.pid = {pid}"
            ),
        );
        assert_eq!(seen, serde_json::json!([{ "state": "active", "leases": 1 }]));
    }

    /// The SQLSTATE that the statement failed with; `None` if the connection broke.
    pub fn failure(self) -> Option<String> {
        let error = self.thread.join().expect("the session's thread").expect_err("the statement succeeded");
        println!("ended by: {}", describe(&error));
        error.code().map(|code| code.code().to_owned())
    }

    /// [`Self::failure`] of a session that ends with its statement: waits until the server process is gone.
    pub fn last_failure(self, witness: &mut Client) -> Option<String> {
        let alive = format!("EXISTS (SELECT FROM pg_stat_activity WHERE pid = {})", self.pid);
        let failure = self.failure();
        while text(witness, &alive).as_deref() == Some("true") {}
        failure
    }

    /// Waits for the statement to succeed.
    pub fn success(self) {
        self.thread.join().expect("the session's thread").unwrap_or_else(|error| panic!("{}", describe(&error)));
    }

    /// The remaining notices; waits for the statement's end.
    pub fn rest(&self) -> Vec<String> {
        self.notices.iter().collect()
    }
}
