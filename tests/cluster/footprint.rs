//! A connection's first question, without preloading: little memory, no thread, no file.

use nl2sql_tests::process::{backend, kept_files, private, threads, writable_files};
use nl2sql_tests::{Cluster, Database, text};
use std::collections::BTreeSet;
use std::time::Instant;

/// A hundred connections that each ask a question must not take gigabytes.
const PRIVATE_KIB: u64 = 15 << 10;

#[test]
fn a_first_question_is_cheap_and_leaves_nothing() {
    let cluster = Cluster::start(&[]);
    let database = cluster.database();
    // Pages that no other process has mapped count as private, so another backend asks first.
    let mut other = database.connect();
    text(&mut other, "nl2sql_embed('warm')");
    // A backend that finds the server's relation cache file missing writes it, which takes memory as well.
    let mut client = (0..5)
        .map(|_| {
            let mut client = database.connect();
            text(&mut client, "SELECT count(*) FROM nl2sql.datasources");
            (private(backend(&mut client)).total(), client)
        })
        .min_by_key(|(before, _)| *before)
        .map(|(_, client)| client)
        .expect("a connection");
    let pid = backend(&mut client);
    assert_eq!(threads(pid), 1);
    let (before, open, kept) = (private(pid), writable_files(pid, &cluster), kept_files(&cluster, pid));
    let started = Instant::now();
    text(&mut client, "nl2sql_embed('how many albums has each artist?')");
    let first = started.elapsed();
    let after = private(pid);
    let started = Instant::now();
    text(&mut client, "nl2sql_embed('how many tracks has each album?')");
    println!("private memory: {before} before, {after} after; first question {first:?}, next {:?}", started.elapsed());
    assert_eq!(threads(pid), 1);
    assert!(after.total() <= PRIVATE_KIB, "{after}");
    assert_eq!(writable_files(pid, &cluster), open);
    let new: BTreeSet<_> = kept_files(&cluster, pid).difference(&kept).cloned().collect();
    assert!(new.is_empty(), "{new:?}");
}

/// A build embeds many texts in one session: it starts no thread, and frees its memory at the end.
#[test]
fn a_build_leaves_no_thread_and_no_file() {
    let cluster = Cluster::start(&[]);
    let database = cluster.database();
    let mut other = database.connect();
    text(&mut other, "nl2sql_embed('warm')");
    let mut client = database.connect();
    client
        .batch_execute(
            "CREATE SCHEMA plant;
             DO $$ BEGIN FOR i IN 1..40 LOOP
                 EXECUTE format('CREATE TABLE plant.%I (number int, name text)', 'basin_' || i);
             END LOOP; END $$",
        )
        .expect("a schema");
    let pid = backend(&mut client);
    let (open, kept) = (writable_files(pid, &cluster), kept_files(&cluster, pid));
    let embedded = text(&mut client, "SELECT embedded FROM nl2sql_index('plant')");
    println!("private memory after a build of {embedded:?} texts: {}", private(pid));
    assert_eq!(embedded.as_deref(), Some("121"));
    assert_eq!(threads(pid), 1);
    assert_eq!(writable_files(pid, &cluster), open);
    let new: BTreeSet<_> = kept_files(&cluster, pid).difference(&kept).cloned().collect();
    assert!(new.is_empty(), "{new:?}");
}

/// A pooled connection lives for days, so questions and builds must free their memory. A leak grows in every round; the
/// allocator's arena grows in some early rounds.
#[test]
fn a_session_does_not_grow() {
    const ROUNDS: usize = 6;
    const QUESTIONS: usize = 40;
    const LEAST_GROWTH_KIB: u64 = 40;
    const GROWTH_KIB: u64 = 8 << 10;
    let database = Database::demo();
    let mut client = database.connect();
    let pid = backend(&mut client);
    let mut ask = |number: usize| {
        let question = format!("which artist sold {number} albums?");
        client.query("SELECT * FROM nl2sql_route($1)", &[&question]).expect("a route");
        client.query("SELECT * FROM nl2sql_mmr($1)", &[&question]).expect("entries");
        if number.is_multiple_of(10) {
            client.query("SELECT * FROM nl2sql_index()", &[]).expect("an unchanged index");
            client.simple_query("SELECT nl2sql_embed(' ')").expect_err("an empty text");
        }
    };
    let memory: Vec<u64> = (0..=ROUNDS)
        .map(|round| {
            (round * QUESTIONS..(round + 1) * QUESTIONS).for_each(&mut ask);
            private(pid).dirty
        })
        .collect();
    println!("KiB of its own after each {QUESTIONS} questions: {memory:?}");
    let least = memory.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).min().expect("rounds");
    assert!(least <= LEAST_GROWTH_KIB, "grows in every round: {memory:?}");
    assert!(memory[ROUNDS] <= memory[0] + GROWTH_KIB, "{memory:?}");
}
