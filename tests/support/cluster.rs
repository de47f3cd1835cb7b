//! A server that belongs to one test.

use crate::database::{Database, connect, next};
use postgres::Client;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A cluster that belongs to one test. Drop removes it.
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
        // Autovacuum refreshes row estimates at any time, and a new estimate would be a new snapshot.
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

fn path(dir: &Path) -> &str {
    dir.to_str().expect("a path in UTF-8")
}

/// Runs `cluster.sh`, and panics with what it wrote if it fails.
pub fn script(args: &[&str]) {
    let cluster = Path::new(env!("CARGO_MANIFEST_DIR")).join("support/cluster.sh");
    let output = Command::new(cluster).args(args).output().expect("tests/support/cluster.sh");
    assert!(output.status.success(), "cluster.sh {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}
