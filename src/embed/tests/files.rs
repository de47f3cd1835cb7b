//! Files that are missing, truncated, or of another kind.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Scratch, copy, model, replace, runtime};
use nl2sql_embed::{EmbedError, Embedder, MANIFEST, Manifest, Role};

/// A copy of the model directory, for the test to damage.
fn model_copy(name: &str) -> (Scratch, Manifest) {
    let scratch = Scratch::new(name);
    copy(&model(), &scratch.0);
    let manifest = Manifest::read(&scratch.0).unwrap().expect("a manifest");
    (scratch, manifest)
}

fn error(runtime: &Path, dir: &Path) -> EmbedError {
    match Embedder::open(runtime, dir) {
        Ok(_) => panic!("{} opens", dir.display()),
        Err(error) => error,
    }
}

fn unexpected(error: &EmbedError, at: &Path) -> bool {
    matches!(error, EmbedError::Unexpected { path, .. } if path == at)
}

#[test]
fn a_missing_or_empty_directory_is_missing() {
    let gone = PathBuf::from("/nonexistent/model");
    let found = error(&runtime(), &gone);
    assert!(matches!(&found, EmbedError::Missing { path, .. } if *path == gone), "{found}");
    let scratch = Scratch::new("empty");
    let found = error(&runtime(), &scratch.0);
    let manifest = scratch.path(MANIFEST);
    assert!(matches!(&found, EmbedError::Missing { path, .. } if *path == manifest), "{found}");
}

#[test]
fn an_invalid_manifest_is_reported() {
    for (name, content) in [("empty", ""), ("other", "{\"format\": 1}"), ("binary", "\u{0}\u{1}")] {
        let (scratch, _) = model_copy(name);
        let manifest = scratch.path(MANIFEST);
        replace(&manifest, content.as_bytes());
        let found = error(&runtime(), &scratch.0);
        assert!(unexpected(&found, &manifest), "{found}");
    }
}

#[test]
fn each_missing_file_of_the_model_is_named() {
    for role in [Role::Graph, Role::Weights, Role::Tokenizer] {
        let (scratch, manifest) = model_copy(&format!("without-{role:?}"));
        let gone = manifest.path(&scratch.0, role).unwrap();
        fs::remove_file(&gone).unwrap();
        let found = error(&runtime(), &scratch.0);
        assert!(matches!(&found, EmbedError::Missing { path, .. } if *path == gone), "{found}");
    }
}

#[test]
fn each_truncated_file_of_the_model_is_reported() {
    for role in [Role::Graph, Role::Weights, Role::Tokenizer] {
        let (scratch, manifest) = model_copy(&format!("cut-{role:?}"));
        let path = manifest.path(&scratch.0, role).unwrap();
        replace(&path, b"cut");
        let found = error(&runtime(), &scratch.0);
        assert!(unexpected(&found, &path), "{found}");
        assert!(found.to_string().contains("found 3 bytes"), "{found}");
    }
}

#[test]
fn another_graph_or_tokenizer_of_the_same_length_is_reported() {
    for role in [Role::Graph, Role::Tokenizer] {
        let (scratch, manifest) = model_copy(&format!("other-{role:?}"));
        let path = manifest.path(&scratch.0, role).unwrap();
        let mut bytes = fs::read(&path).unwrap();
        bytes[1000] ^= 1;
        replace(&path, &bytes);
        let found = error(&runtime(), &scratch.0);
        assert!(unexpected(&found, &path), "{found}");
        assert!(found.to_string().contains("SHA-256"), "{found}");
    }
}

#[test]
fn a_missing_truncated_or_foreign_runtime_is_reported() {
    let scratch = Scratch::new("runtimes");
    let gone = scratch.path("gone.so");
    let found = error(&gone, &model());
    assert!(matches!(&found, EmbedError::Missing { path, .. } if *path == gone), "{found}");

    let library = fs::read(runtime()).unwrap();
    for (name, bytes) in [
        ("cut.so", &library[..library.len() / 2]),
        ("header.so", &library[..100]),
        ("empty.so", &[][..]),
        ("text.so", &b"not a library, but longer than the sixty-four bytes of an ELF header"[..]),
    ] {
        let path = scratch.path(name);
        fs::write(&path, bytes).unwrap();
        let found = error(&path, &model());
        assert!(unexpected(&found, &path), "{name}: {found}");
    }

    let found = error(&std::env::current_exe().unwrap(), &model());
    assert!(matches!(found, EmbedError::Runtime { .. }), "{found}");
    let found = error(&scratch.0, &model());
    assert!(matches!(found, EmbedError::Unreadable { .. } | EmbedError::Unexpected { .. }), "{found}");
}

#[test]
fn a_process_keeps_the_runtime_that_it_has_loaded() {
    let scratch = Scratch::new("second-runtime");
    Embedder::open(&runtime(), &model()).unwrap();
    let link = scratch.path("link.so");
    std::os::unix::fs::symlink(runtime(), &link).unwrap();
    assert!(Embedder::open(&link, &model()).is_ok());
    let second = scratch.path("second.so");
    fs::copy(runtime(), &second).unwrap();
    let found = error(&second, &model());
    assert!(matches!(&found, EmbedError::Runtime { path, .. } if *path == second), "{found}");
}
