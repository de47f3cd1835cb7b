//! Writing and checking the model directory.

#[path = "../../embed/tests/common/mod.rs"]
mod common;

use std::fs;
use std::path::Path;

use common::{Scratch, copy, model, replace, runtime};
use nl2sql_embed::{EmbedError, Embedder, Manifest, Role};
use nl2sql_model::{MODEL, SetupError, WEIGHTS_SHA256, Written, check, write};

fn unexpected(error: &SetupError, at: &Path) -> bool {
    matches!(error, SetupError::Embed(EmbedError::Unexpected { path, .. }) if path == at)
}

#[test]
fn the_model_is_complete_and_returns_the_reference_vectors() {
    let (manifest, deviation) = check(&runtime(), &model()).expect("a correct model");
    assert_eq!((manifest.model.as_str(), manifest.dimension), (MODEL, 384));
    assert!(deviation.expect("reference vectors") <= 1e-5);
}

#[test]
fn check_finds_other_weights_of_the_same_length() {
    let scratch = Scratch::new("other-weights");
    copy(&model(), &scratch.0);
    let manifest = Manifest::read(&scratch.0).unwrap().expect("a manifest");
    let path = manifest.path(&scratch.0, Role::Weights).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    replace(&path, &bytes);
    assert!(Embedder::open(&runtime(), &scratch.0).is_ok());
    let found = check(&runtime(), &scratch.0).unwrap_err();
    assert!(unexpected(&found, &path), "{found}");
}

#[test]
fn a_complete_model_is_not_written_again() {
    let gone = Path::new("/nonexistent");
    let written = write(gone, gone, &runtime(), &model()).expect("nothing to do");
    assert!(matches!(written, Written::AlreadyThere));
}

#[test]
fn files_other_than_the_published_ones_are_rejected() {
    let scratch = Scratch::new("published");
    let weights = scratch.path("model.safetensors");
    fs::write(&weights, "other weights").unwrap();
    let out = scratch.path("out");
    let found = write(&weights, &weights, &runtime(), &out).unwrap_err();
    let text = found.to_string();
    assert!(unexpected(&found, &weights), "{text}");
    assert!(text.contains(WEIGHTS_SHA256) && text.contains("found"), "{text}");
    assert!(!out.exists());
}
