//! What the tests share: databases of their own in the cluster that `tests/run.sh` has started, and
//! clusters of their own where a test kills, stops or configures the server.

use postgres::{Client, Config, NoTls};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// A cluster that belongs to one test; removed when it goes out of scope.
pub struct Cluster {
    dir: PathBuf,
}

impl Cluster {
    /// Starts a cluster with these settings, each `name=value`.
    pub fn start(settings: &[&str]) -> Self {
        let dir = std::env::temp_dir().join(format!("nl2sql-test-{}-{}", std::process::id(), next()));
        let cluster = Self { dir };
        cluster.run("start", settings);
        cluster
    }

    /// Stops the server, `fast` or `immediate`, and starts it again.
    pub fn restart(&self, how: &str, settings: &[&str]) {
        self.stop(how);
        self.run("start", settings);
    }

    pub fn stop(&self, how: &str) {
        script(&["stop", path(&self.dir), how]);
    }

    fn run(&self, action: &str, settings: &[&str]) {
        // A row estimate that autovacuum refreshes at a moment of its own would be a new snapshot.
        let mut args = vec![action, path(&self.dir), "-c", "autovacuum=off"];
        for setting in settings {
            args.extend(["-c", setting]);
        }
        script(&args);
    }

    /// The directory that holds socket, data and log.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(self.dir.join("log")).expect("the server's log")).into_owned()
    }

    /// A connection as the superuser to the database `postgres`.
    pub fn connect(&self) -> Client {
        connect(&self.dir, "postgres", "postgres")
    }

    /// A new database that holds the extension.
    pub fn database(&self) -> Database {
        Database::create(&self.dir, "template0", true)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        script(&["remove", path(&self.dir)]);
    }
}

/// A database of one test's own.
pub struct Database {
    dir: PathBuf,
    pub name: String,
}

impl Database {
    /// One that holds the extension and nothing else, in the shared cluster.
    pub fn blank() -> Self {
        Self::create(&shared(), "template0", true)
    }

    /// One that holds the demo's three schemas, registered and indexed, in the shared cluster.
    pub fn demo() -> Self {
        Self::create(&shared(), "nl2sql_demo", false)
    }

    fn create(dir: &Path, template: &str, extension: bool) -> Self {
        let name = format!("test_{}_{}", std::process::id(), next());
        let mut client = connect(dir, "postgres", "postgres");
        client.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE {template}")).expect("a new database");
        let database = Self { dir: dir.to_owned(), name };
        if extension {
            database.connect().batch_execute("CREATE EXTENSION nl2sql CASCADE").expect("the extension");
        }
        database
    }

    /// A connection as the superuser.
    pub fn connect(&self) -> Client {
        self.connect_as("postgres")
    }

    pub fn connect_as(&self, user: &str) -> Client {
        connect(&self.dir, user, &self.name)
    }

    /// Makes a login role that no other test has, and gives its name. Roles belong to the cluster, so
    /// it is dropped with what it owns here when the cluster goes.
    pub fn role(&self, stem: &str) -> String {
        let role = format!("{stem}_{}_{}", std::process::id(), next());
        self.connect().batch_execute(&format!("CREATE ROLE {role} LOGIN")).expect("a new role");
        role
    }
}

/// The one value of a query's one row, as text.
pub fn text(client: &mut Client, sql: &str) -> Option<String> {
    let row = client.query_one(&format!("SELECT ({sql})::text"), &[]);
    row.unwrap_or_else(|error| panic!("{sql}: {}", describe(&error))).get(0)
}

/// A query's rows as one JSON array.
pub fn rows(client: &mut Client, sql: &str) -> serde_json::Value {
    let found = text(client, &format!("SELECT coalesce(json_agg(t), '[]') FROM ({sql}) t"));
    serde_json::from_str(&found.expect("a JSON array")).expect("JSON")
}

/// The SQLSTATE that a statement fails with; it panics where the statement succeeds.
pub fn sqlstate(client: &mut Client, sql: &str) -> String {
    error(client, sql).code().code().to_owned()
}

/// The error that a statement fails with; it panics where the statement succeeds.
pub fn error(client: &mut Client, sql: &str) -> postgres::error::DbError {
    match client.simple_query(sql) {
        Ok(_) => panic!("succeeds: {sql}"),
        Err(error) => match error.as_db_error() {
            Some(found) => found.clone(),
            None => panic!("lost the connection: {sql}: {error}"),
        },
    }
}

pub fn describe(error: &postgres::Error) -> String {
    error.as_db_error().map_or_else(|| error.to_string(), |found| format!("{} {found}", found.code().code()))
}

pub fn connect(dir: &Path, user: &str, database: &str) -> Client {
    Config::new()
        .host_path(dir)
        .user(user)
        .dbname(database)
        .connect(NoTls)
        .unwrap_or_else(|error| panic!("connecting as {user}: {error}"))
}

fn shared() -> PathBuf {
    std::env::var_os("NL2SQL_TEST_CLUSTER")
        .expect("NL2SQL_TEST_CLUSTER is set by tests/run.sh: run \"make test\"")
        .into()
}

fn next() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn path(dir: &Path) -> &str {
    dir.to_str().expect("a path in UTF-8")
}

fn script(args: &[&str]) {
    let cluster = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docker/cluster.sh");
    let output = Command::new(cluster).args(args).output().expect("docker/cluster.sh");
    assert!(output.status.success(), "cluster.sh {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}
