//! A database that belongs to one test, and connections to it.

use postgres::{Client, Config, NoTls};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A database that belongs to one test.
pub struct Database {
    dir: PathBuf,
    pub name: String,
}

impl Database {
    /// A database in the shared cluster that holds the extension and nothing else.
    pub fn blank() -> Self {
        Self::create(&shared(), "template0", true)
    }

    /// A database in the shared cluster that holds the demo's three schemas, registered and indexed.
    pub fn demo() -> Self {
        Self::create(&shared(), "nl2sql_demo", false)
    }

    pub(crate) fn create(dir: &Path, template: &str, extension: bool) -> Self {
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

    /// Creates a login role with a name of its own, and returns the name. Roles belong to the cluster and go with it.
    pub fn role(&self, stem: &str) -> String {
        let role = format!("{stem}_{}_{}", std::process::id(), next());
        self.connect().batch_execute(&format!("CREATE ROLE {role} LOGIN")).expect("a new role");
        role
    }
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

/// A number that no other call in this process returns.
pub(crate) fn next() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
