//! Damaged files: an error that names the path, never a crash. The same session works once the setting is correct
//! again.

use nl2sql_tests::process::{backend, mapped, threads};
use nl2sql_tests::{Database, error, text};
use postgres::Client;
use std::path::{Path, PathBuf};

/// A directory that the server may read. Drop removes it.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("nl2sql-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("a directory");
        Self(dir)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed stays in the temporary directory.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn installed(client: &mut Client, directory: &str, below: &str) -> PathBuf {
    let sql = format!("SELECT setting FROM pg_config() WHERE name = '{directory}'");
    Path::new(&text(client, &sql).expect("a directory of the server's")).join(below)
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(directory).expect("a directory").map(|file| file.expect("a file").path()).collect();
    files.sort();
    files
}

/// The session embeds, is pointed to a damaged file, gets an error, and embeds again.
fn assert_refused(client: &mut Client, setting: &str, damaged: &Path, name: &str) {
    client.batch_execute(&format!("SET {setting} = '{}'", damaged.display())).expect("a setting");
    let refused = error(client, "SELECT nl2sql_embed('late parcels')");
    assert!(["55000", "58P01"].contains(&refused.code().code()), "{name}: {} {refused}", refused.code().code());
    assert!(refused.message().contains(damaged.to_str().expect("a path")), "{name}: {refused}");
    client.batch_execute(&format!("SET {setting} = ''")).expect("the installed one");
    assert!(text(client, "nl2sql_embed('late parcels')").is_some(), "{name}");
}

#[test]
fn a_damaged_model_is_refused_by_name() {
    let database = Database::blank();
    let mut client = database.connect();
    let model = installed(&mut client, "SHAREDIR", "nl2sql/model");
    let scratch = Scratch::new("model");
    let mut cases = 0;
    for damaged in files(&model) {
        let name = damaged.file_name().and_then(|name| name.to_str()).expect("a name");
        let content = std::fs::read(&damaged).expect("a model file");
        for (how, content) in [
            ("missing", None),
            ("empty", Some(&content[..0])),
            ("half", Some(&content[..content.len() / 2])),
            ("short by a page", Some(&content[..content.len().saturating_sub(4096)])),
        ] {
            let copy = scratch.0.join(format!("copy-{cases}"));
            std::fs::create_dir(&copy).expect("a directory");
            for file in files(&model) {
                std::os::unix::fs::symlink(&file, copy.join(file.file_name().expect("a name"))).expect("a link");
            }
            std::fs::remove_file(copy.join(name)).expect("a link");
            if let Some(content) = content {
                std::fs::write(copy.join(name), content).expect("a damaged file");
            }
            assert_refused(&mut client, "nl2sql.model_dir", &copy, &format!("{name}, {how}"));
            // The same for a session whose first question it is.
            assert_refused(&mut database.connect(), "nl2sql.model_dir", &copy, &format!("{name}, {how}, first"));
            std::fs::remove_dir_all(&copy).expect("a directory");
            cases += 1;
        }
    }
    assert_eq!(cases, 16, "four files, four ways");
    let pid = backend(&mut client);
    assert_eq!(threads(pid), 1);
    let left: Vec<String> = mapped(pid).into_iter().filter(|file| file.contains("nl2sql-model")).collect();
    assert!(left.is_empty(), "what was refused is not kept: {left:?}");
}

/// The library's code stays loaded, so a session that has used the installed one rejects another. A session that has
/// loaded none rejects the damaged one, and loads the installed one afterwards.
#[test]
fn a_damaged_runtime_is_refused_by_name() {
    let database = Database::blank();
    let mut client = database.connect();
    let directory = installed(&mut client, "PKGLIBDIR", "nl2sql");
    let runtime = files(&directory).into_iter().find(|file| file.to_string_lossy().contains("libonnxruntime.so"));
    let content = std::fs::read(runtime.expect("the installed runtime")).expect("the installed runtime");
    let scratch = Scratch::new("runtime");
    text(&mut client, "nl2sql_embed('late parcels')");
    for (name, content) in [
        ("empty", &content[..0]),
        ("header", &content[..64]),
        ("half", &content[..content.len() / 2]),
        ("text", b"#!/bin/sh\n".as_slice()),
    ] {
        let damaged = scratch.0.join(name);
        std::fs::write(&damaged, content).expect("a damaged file");
        assert_refused(&mut database.connect(), "nl2sql.onnxruntime_path", &damaged, name);
        assert_refused(&mut client, "nl2sql.onnxruntime_path", &damaged, name);
    }
    assert_refused(&mut database.connect(), "nl2sql.onnxruntime_path", &scratch.0, "a directory");
    assert_refused(&mut database.connect(), "nl2sql.onnxruntime_path", &scratch.0.join("none"), "none");
}
