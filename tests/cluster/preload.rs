//! `shared_preload_libraries = 'nl2sql'`: every backend inherits the model, and a missing file does not keep the server
//! from starting.

use nl2sql_tests::process::{backend, postmaster, private, threads};
use nl2sql_tests::{Cluster, error, text};
use std::time::Instant;

/// Most private memory of a backend that inherits the model: less than of one that loads it.
const PRIVATE_KIB: u64 = 15 << 10;
const PRELOAD: &str = "shared_preload_libraries=nl2sql";

fn log_lines(cluster: &Cluster, words: &str) -> Vec<String> {
    cluster.log().lines().filter(|line| line.contains(words)).map(str::to_owned).collect()
}

#[test]
fn backends_inherit_the_model() {
    let cluster = Cluster::start(&[PRELOAD]);
    let loaded = log_lines(&cluster, "model preloaded");
    assert_eq!(loaded.len(), 1, "{}", cluster.log());
    assert!(loaded[0].contains("LOG:  nl2sql: "), "{loaded:?}");
    assert_eq!(threads(postmaster(&cluster)), 1);
    let database = cluster.database();
    // Pages that no other process has mapped count as private, so another backend asks first.
    let mut other = database.connect();
    text(&mut other, "nl2sql_embed('warm')");
    let mut client = database.connect();
    let pid = backend(&mut client);
    let before = private(pid);
    let started = Instant::now();
    let vector = text(&mut client, "nl2sql_embed('how many albums has each artist?')");
    let first = started.elapsed();
    let after = private(pid);
    println!("preloaded: private memory {before} before, {after} after; first question {first:?}");
    assert!(after.total() <= PRIVATE_KIB, "{after}");
    assert_eq!(threads(pid), 1);
    assert_eq!(threads(postmaster(&cluster)), 1);
    // A backend that loads the model itself returns the same numbers.
    let plain = Cluster::start(&[]);
    let loaded = text(&mut plain.database().connect(), "nl2sql_embed('how many albums has each artist?')");
    assert_eq!(vector, loaded);
}

#[test]
fn the_model_is_there_after_a_restart_and_in_every_child() {
    // The database must be on disk before the server is killed.
    let settings = [PRELOAD, "synchronous_commit=on"];
    let cluster = Cluster::start(&settings);
    let database = cluster.database();
    let vector = text(&mut database.connect(), "nl2sql_embed('late parcels')");
    cluster.restart("immediate", &settings);
    assert_eq!(log_lines(&cluster, "model preloaded").len(), 2);
    for _ in 0..5 {
        assert_eq!(text(&mut database.connect(), "nl2sql_embed('late parcels')"), vector);
    }
}

#[test]
fn preloading_can_be_switched_off() {
    let cluster = Cluster::start(&[PRELOAD, "nl2sql.preload=off"]);
    assert_eq!(log_lines(&cluster, "model preloaded"), Vec::<String>::new());
    assert!(text(&mut cluster.database().connect(), "nl2sql_embed('late parcels')").is_some());
}

#[test]
fn the_server_starts_without_the_model_or_the_runtime() {
    for setting in ["nl2sql.model_dir", "nl2sql.onnxruntime_path"] {
        let cluster = Cluster::start(&[PRELOAD, &format!("{setting}=/nonexistent")]);
        let said = log_lines(&cluster, "model not preloaded");
        assert_eq!(said.len(), 1, "{}", cluster.log());
        assert!(said[0].contains("LOG:  nl2sql: ") && said[0].contains("/nonexistent"), "{said:?}");
        let mut client = cluster.database().connect();
        let missing = error(&mut client, "SELECT nl2sql_embed('late parcels')");
        assert_eq!(missing.code().code(), "58P01", "{setting}: {missing}");
        assert!(missing.message().contains("/nonexistent"), "{setting}: {missing}");
        assert!(missing.hint().is_some_and(|hint| hint.contains("nl2sql.model_dir")), "{setting}: {missing:?}");
        client.batch_execute(&format!("SET {setting} = ''")).expect("the installed one");
        assert!(text(&mut client, "nl2sql_embed('late parcels')").is_some(), "{setting}");
    }
}
