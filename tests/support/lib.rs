//! What the tests share: databases in the server that `tests/run.sh` starts, clusters for tests that kill, stop or
//! configure a server, and scenes that both kinds of tests use.

pub mod builds;
pub mod cluster;
pub mod curated_builds;
pub mod database;
pub mod lease;
pub mod process;
pub mod query;
pub mod read_only;

pub use cluster::Cluster;
pub use database::{Database, connect};
pub use query::{describe, error, rows, sqlstate, text};
