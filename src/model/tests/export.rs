//! Directories without a manifest, as `sentence-transformers` exports them.

#[path = "../../embed/tests/common/mod.rs"]
mod common;

use std::fs;
use std::path::Path;

use common::{Scratch, model, replace, runtime};
use nl2sql_embed::{EmbedError, Embedder, Manifest, Role};
use nl2sql_model::onnx_proto::{self, Extent, Model, ValueInfo};
use prost::Message;

/// Writes an export like that of `sentence-transformers` into `dir`: no manifest, and a graph that takes a mask and token
/// types and returns token embeddings.
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
        graph.input.push(ValueInfo::tensor(name, onnx_proto::INT64, shape));
    }
    let shape = vec![axis("batch"), axis("sequence"), axis("width")];
    graph.output = vec![ValueInfo::tensor("tokens", onnx_proto::FLOAT, shape)];
    fs::write(dir.join("model.onnx"), parsed.encode_to_vec()).unwrap();
    let weights = path(Role::Weights);
    // A copy, since the runtime rejects weights behind a link that leads outside the directory.
    fs::copy(&weights, dir.join(weights.file_name().unwrap())).unwrap();
    fs::copy(path(Role::Tokenizer), dir.join("tokenizer.json")).unwrap();
}

#[test]
fn an_export_without_a_manifest_works() {
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
            let found = Embedder::open(&runtime(), &scratch.0).err().expect("an invalid file is rejected");
            let named = matches!(&found, EmbedError::Unexpected { path: at, .. } if *at == path);
            assert!(named, "{name}: {found}");
        }
        replace(&path, &bytes);
    }
    fs::remove_file(scratch.path("tokenizer.json")).unwrap();
    assert!(matches!(Embedder::open(&runtime(), &scratch.0), Err(EmbedError::Missing { .. })));
}
