//! What opening the model does to a process: no thread, little memory, no file written, and the process can still fork.
//! Runs without a test harness, which would have threads.
#![allow(unsafe_code)] // To fork.

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use common::{Scratch, model, runtime};
use nl2sql_embed::{Embedder, LoadOptions};

const QUESTION: &str = "how many albums has each artist?";
/// Most private memory after opening, in KiB. A release build on x86-64 takes 9,500.
const MAX_PRIVATE: u64 = 10 << 10;
/// Most private memory that a hundred short texts and a long batch may add, in KiB.
const MAX_GROWTH: u64 = 2 << 10;

fn main() {
    match std::env::args().nth(1).as_deref() {
        // File pages that only one process maps count as its private memory. A server has other processes that map them;
        // this process stands in for those.
        Some("witness") => {
            let mut embedder = Embedder::open(&runtime(), &model()).expect("the model opens");
            embed(&mut embedder, QUESTION);
            println!("ready");
            let _ = std::io::stdin().read(&mut [0]);
        }
        Some("measured") => measured(),
        // Run by `cargo test`, with arguments for a harness.
        _ => {
            let scratch = Scratch::new("process");
            let run = |role: &str| {
                let mut command = Command::new(std::env::current_exe().unwrap());
                command.arg(role).env("HOME", &scratch.0).env("TMPDIR", &scratch.0);
                command.env("XDG_CACHE_HOME", scratch.path(".cache")).current_dir(&scratch.0);
                command
            };
            let witness = run("witness").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
            let mut witness = witness.expect("a witness");
            let mut line = String::new();
            BufReader::new(witness.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
            assert_eq!(line, "ready\n");
            let measured = run("measured").status().expect("a measured process");
            drop(witness.stdin.take());
            witness.wait().unwrap();
            assert!(measured.success());
            let written: Vec<_> = fs::read_dir(&scratch.0).unwrap().collect();
            assert!(written.is_empty(), "{written:?}");
            println!("test result: ok. 1 passed; 0 failed;");
        }
    }
}

fn embed(embedder: &mut Embedder, text: &str) -> Vec<f32> {
    embedder.embed(&[text], &mut || ()).expect("the text is embedded").remove(0)
}

fn measured() {
    let (runtime, model) = (runtime(), model());
    let before = private();
    assert_eq!(threads(), 1);
    let files = writable();
    let started = Instant::now();
    let mut embedder = Embedder::open_with(&runtime, &model, LoadOptions::default()).unwrap();
    let opened = started.elapsed();
    let vector = embed(&mut embedder, QUESTION);
    let first = started.elapsed();
    let added = private() - before;
    println!("open {opened:?}, with the first text {first:?}, {added} KiB private");
    assert!(added <= MAX_PRIVATE, "{added} KiB");
    assert_eq!(threads(), 1);
    assert_eq!(writable(), files);

    for _ in 0..100 {
        assert_eq!(embed(&mut embedder, QUESTION), vector);
    }
    let texts: Vec<String> = (0..100).map(|i| "word ".repeat(i % 50)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    embedder.embed(&texts, &mut || ()).unwrap();
    let grown = private() - before;
    println!("{grown} KiB private after 200 more");
    assert!(grown <= added + MAX_GROWTH, "{grown} KiB");
    assert_eq!(threads(), 1);
    assert_eq!(writable(), files);

    // SAFETY: this process has one thread, and the child only runs the model.
    match unsafe { libc::fork() } {
        0 => {
            let inherited = private();
            let same = embed(&mut embedder, QUESTION) == vector;
            println!("{} KiB private in a fork", private() - inherited);
            std::process::exit(i32::from(!same || threads() != 1));
        }
        child => {
            let mut status = 0;
            // SAFETY: `status` is valid for writes.
            unsafe { libc::waitpid(child, &mut status, 0) };
            assert_eq!(status, 0, "the model returns another vector after a fork");
        }
    }
    assert_eq!(embed(&mut embedder, QUESTION), vector);
}

/// Memory of this process that no other process shares, in KiB.
fn private() -> u64 {
    let rollup = fs::read_to_string("/proc/self/smaps_rollup").unwrap();
    let lines = rollup.lines().filter(|line| line.starts_with("Private_"));
    lines.filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).sum()
}

fn threads() -> usize {
    fs::read_dir("/proc/self/task").unwrap().count()
}

/// Files that this process has open for writing, except the standard streams.
fn writable() -> Vec<std::path::PathBuf> {
    let open = fs::read_dir("/proc/self/fdinfo").unwrap().map(|entry| entry.unwrap().file_name());
    let names = open.filter_map(|name| name.into_string().ok());
    names
        .filter(|name| name.parse::<u32>().is_ok_and(|number| number > 2))
        .filter(|name| {
            let info = fs::read_to_string(Path::new("/proc/self/fdinfo").join(name));
            let flags = info.unwrap_or_default();
            let flags = flags.lines().find_map(|line| line.strip_prefix("flags:")).unwrap_or("0").trim().to_owned();
            i32::from_str_radix(&flags, 8).unwrap_or(0) & 3 != 0
        })
        .filter_map(|name| fs::read_link(Path::new("/proc/self/fd").join(name)).ok())
        .collect()
}
