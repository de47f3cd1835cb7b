//! Files that are missing, cut short or of another kind, and models of other origin.

mod common;
#[allow(dead_code)]
#[path = "../onnx.rs"]
mod onnx;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Scratch, copy, model, replace, runtime};
use nl2sql_embed::{EmbedError, Embedder, MANIFEST, Manifest, Role, setup};
use onnx::{Extent, Model, ValueInfo};
use prost::Message;

/// A directory that holds the model, to be damaged.
fn damaged(name: &str) -> (Scratch, Manifest) {
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
fn a_directory_that_is_not_there_or_empty_is_missing() {
    let gone = PathBuf::from("/nonexistent/model");
    let found = error(&runtime(), &gone);
    assert!(matches!(&found, EmbedError::Missing { path, .. } if *path == gone), "{found}");
    let scratch = Scratch::new("empty");
    let found = error(&runtime(), &scratch.0);
    let manifest = scratch.path(MANIFEST);
    assert!(matches!(&found, EmbedError::Missing { path, .. } if *path == manifest), "{found}");
}

#[test]
fn a_manifest_of_another_kind_is_told() {
    for (name, content) in [("empty", ""), ("other", "{\"format\": 1}"), ("binary", "\u{0}\u{1}")] {
        let (scratch, _) = damaged(name);
        let manifest = scratch.path(MANIFEST);
        replace(&manifest, content.as_bytes());
        let found = error(&runtime(), &scratch.0);
        assert!(unexpected(&found, &manifest), "{found}");
    }
}

#[test]
fn each_file_of_the_model_is_missed_by_name() {
    for role in [Role::Graph, Role::Weights, Role::Tokenizer] {
        let (scratch, manifest) = damaged(&format!("without-{role:?}"));
        let gone = manifest.path(&scratch.0, role).unwrap();
        fs::remove_file(&gone).unwrap();
        let found = error(&runtime(), &scratch.0);
        assert!(matches!(&found, EmbedError::Missing { path, .. } if *path == gone), "{found}");
    }
}

#[test]
fn each_file_of_the_model_that_is_cut_short_is_told() {
    for role in [Role::Graph, Role::Weights, Role::Tokenizer] {
        let (scratch, manifest) = damaged(&format!("cut-{role:?}"));
        let path = manifest.path(&scratch.0, role).unwrap();
        replace(&path, b"cut");
        let found = error(&runtime(), &scratch.0);
        assert!(unexpected(&found, &path), "{found}");
        assert!(found.to_string().contains("found 3 bytes"), "{found}");
    }
}

#[test]
fn another_graph_or_tokenizer_of_the_same_length_is_told() {
    for role in [Role::Graph, Role::Tokenizer] {
        let (scratch, manifest) = damaged(&format!("other-{role:?}"));
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
fn other_weights_of_the_same_length_are_found_by_a_check() {
    let (scratch, manifest) = damaged("other-weights");
    let path = manifest.path(&scratch.0, Role::Weights).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    replace(&path, &bytes);
    assert!(Embedder::open(&runtime(), &scratch.0).is_ok());
    let found = setup::check(&runtime(), &scratch.0).unwrap_err();
    assert!(unexpected(&found, &path), "{found}");
}

#[test]
fn a_runtime_that_is_missing_cut_short_or_something_else_is_told() {
    let scratch = Scratch::new("runtimes");
    let gone = scratch.path("gone.so");
    let found = error(&gone, &model());
    assert!(matches!(&found, EmbedError::Missing { path, .. } if *path == gone), "{found}");

    let library = fs::read(runtime()).unwrap();
    for (name, bytes) in [
        ("cut.so", &library[..library.len() / 2]),
        ("header.so", &library[..100]),
        ("empty.so", &[][..]),
        ("text.so", &b"not a library, but more than the sixty-four bytes of a header of one"[..]),
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

#[test]
fn a_model_that_is_there_is_not_written_again() {
    let gone = Path::new("/nonexistent");
    let written = setup::write(gone, gone, &runtime(), &model()).expect("nothing to do");
    assert!(matches!(written, setup::Written::AlreadyThere));
}

#[test]
fn published_files_that_are_not_the_published_ones_stop_the_set_up() {
    let scratch = Scratch::new("published");
    let weights = scratch.path("model.safetensors");
    fs::write(&weights, "other weights").unwrap();
    let out = scratch.path("out");
    let found = setup::write(&weights, &weights, &runtime(), &out).unwrap_err();
    let text = found.to_string();
    assert!(unexpected(&found, &weights), "{text}");
    assert!(text.contains(setup::WEIGHTS_SHA256) && text.contains("found"), "{text}");
    assert!(!out.exists());
}

/// Makes `dir` what a `sentence-transformers` export is: no manifest, a graph that
/// takes a mask and token types and gives back token embeddings.
fn export(dir: &Path) {
    let manifest = Manifest::read(&model()).unwrap().expect("a manifest");
    let path = |role| manifest.path(&model(), role).unwrap();
    let mut parsed = Model::decode(fs::read(path(Role::Graph)).unwrap().as_slice()).unwrap();
    let graph = parsed.graph.as_mut().expect("a graph");
    let pooling = ["components", "mean", "sentence_embedding"];
    graph.node.retain(|node| !node.output.iter().any(|output| pooling.contains(&output.as_str())));
    let axis = |name: &str| Extent::Named(name.to_owned());
    for name in ["attention_mask", "token_type_ids"] {
        let shape = vec![axis("batch"), axis("sequence")];
        graph.input.push(ValueInfo::tensor(name, onnx::INT64, shape));
    }
    let shape = vec![axis("batch"), axis("sequence"), axis("width")];
    graph.output = vec![ValueInfo::tensor("tokens", onnx::FLOAT, shape)];
    fs::write(dir.join("model.onnx"), parsed.encode_to_vec()).unwrap();
    let weights = path(Role::Weights);
    // The runtime refuses weights that a link leads out of the directory for.
    fs::copy(&weights, dir.join(weights.file_name().unwrap())).unwrap();
    fs::copy(path(Role::Tokenizer), dir.join("tokenizer.json")).unwrap();
}

#[test]
fn an_export_without_a_manifest_works_too() {
    let scratch = Scratch::new("export");
    export(&scratch.0);
    let texts = ["which genre sells best?", "", "Zürich", "a longer text than the others are"];
    let mut ours = Embedder::open(&runtime(), &model()).unwrap();
    let expected = ours.embed(&texts, &mut || ()).unwrap();
    let mut export = Embedder::open(&runtime(), &scratch.0).unwrap();
    assert_eq!((export.model(), export.dimension(), export.max_tokens()), (None, 384, 256));
    let found = export.embed(&texts, &mut || ()).unwrap();
    for (a, b) in expected.iter().flatten().zip(found.iter().flatten()) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }

    let config = scratch.path("sentence_bert_config.json");
    fs::write(config, "{\"max_seq_length\": 8}").unwrap();
    let short = Embedder::open(&runtime(), &scratch.0).unwrap();
    assert_eq!(short.token_ids(&"word ".repeat(20)).unwrap().len(), 8);

    for name in ["tokenizer.json", "model.onnx"] {
        let path = scratch.path(name);
        let bytes = fs::read(&path).unwrap();
        for content in [&b""[..], b"{}", &bytes[..bytes.len() / 2]] {
            replace(&path, content);
            let found = error(&runtime(), &scratch.0);
            assert!(unexpected(&found, &path), "{name}: {found}");
        }
        replace(&path, &bytes);
    }
    fs::remove_file(scratch.path("tokenizer.json")).unwrap();
    assert!(matches!(error(&runtime(), &scratch.0), EmbedError::Missing { .. }));
}
