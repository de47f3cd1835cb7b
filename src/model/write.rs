//! Writes the model directory from the published files.

use std::fs;
use std::io::Write;
use std::path::Path;

use nl2sql_embed::{EmbedError, FORMAT, FileEntry, Manifest, Role, sha256};

use crate::atomic_file::AtomicFile;
use crate::error::SetupError;
use crate::minilm;
use crate::onnx_graph::WeightsFile;
use crate::publish::publish;
use crate::published::{GRAPH_SHA256, MODEL, PANELS_SHA256, TOKENIZER_SHA256, WEIGHTS_SHA256};
use crate::reference::checked_deviation;
use crate::safetensors::Checkpoint;

/// Most tokens of a text.
const MAX_TOKENS: usize = 256;
/// How the names of the graph and the weights begin.
const STEM: &str = "all-minilm-l6-v2-";

/// What [`write`] did.
#[derive(Debug)]
pub enum Written {
    /// Nothing: the directory already held every byte of this model.
    AlreadyThere,
    /// Wrote and checked the model. No component of a reference vector is off by more than `deviation`.
    New { deviation: f32 },
}

/// Writes the model into `out` from the published weights and tokenizer. Creates `out` if needed. Takes about 2 s, or
/// 0.3 s if the model is already there.
///
/// # Errors
/// `Unexpected` when a file does not have the published SHA-256, `WrongVectors` when the model does not return the
/// reference vectors, and the errors of reading, writing, and opening. After an error, the previous model is still in
/// place.
pub fn write(weights: &Path, tokenizer: &Path, runtime: &Path, out: &Path) -> Result<Written, SetupError> {
    if let Ok(Some(manifest)) = Manifest::read(out)
        && is_current(&manifest)
        && manifest.verify(out).is_ok()
    {
        return Ok(Written::AlreadyThere);
    }
    let checkpoint = read(weights, "the model's published weights", WEIGHTS_SHA256)?;
    let tokenizer = read(tokenizer, "the published tokenizer", TOKENIZER_SHA256)?;
    let checkpoint = Checkpoint::parse(weights, &checkpoint)?;
    fs::create_dir_all(out).map_err(SetupError::writing(out))?;
    let manifest = place_files(&checkpoint, &tokenizer, out)?;
    let deviation = checked_deviation(runtime, out, &manifest)?;
    publish(out, &manifest)?;
    Ok(Written::New { deviation })
}

/// Whether `manifest` describes exactly the model that [`write`] would write.
fn is_current(manifest: &Manifest) -> bool {
    let expected = [GRAPH_SHA256, PANELS_SHA256, TOKENIZER_SHA256];
    let found = manifest.files.iter().map(|file| file.sha256.as_str());
    manifest.model == MODEL
        && manifest.dimension == minilm::HIDDEN
        && manifest.max_tokens == MAX_TOKENS
        && found.eq(expected)
}

/// The content of `path`, if it is the expected file.
fn read(path: &Path, what: &'static str, expected: &str) -> Result<Vec<u8>, EmbedError> {
    let bytes = fs::read(path).map_err(|error| EmbedError::reading(path, what, error))?;
    let found = sha256::of_bytes(&bytes);
    if found == expected { Ok(bytes) } else { Err(EmbedError::unexpected(path, format!("SHA-256 {expected}"), found)) }
}

/// Writes weights, graph, and tokenizer into `out` under unique names. No process opens them until the manifest names
/// them.
fn place_files(checkpoint: &Checkpoint, tokenizer: &[u8], out: &Path) -> Result<Manifest, SetupError> {
    let file = AtomicFile::create(out, "weights")?;
    let path = file.path();
    let mut weights = WeightsFile::new(file);
    let graph = minilm::write(checkpoint, &mut weights, SetupError::writing(&path))?;
    let (file, tensors) = weights.finish();
    let weights = file.place(Role::Weights, STEM, ".weights")?;
    let graph = graph.encode(tensors(&weights.name));
    let graph = place_bytes(out, &graph, Role::Graph, STEM, ".onnx")?;
    let tokenizer = place_bytes(out, tokenizer, Role::Tokenizer, "tokenizer-", ".json")?;
    Ok(Manifest {
        format: FORMAT,
        model: MODEL.to_owned(),
        dimension: minilm::HIDDEN,
        max_tokens: MAX_TOKENS,
        files: vec![graph, weights, tokenizer],
    })
}

fn place_bytes(out: &Path, bytes: &[u8], role: Role, before: &str, after: &str) -> Result<FileEntry, SetupError> {
    let mut file = AtomicFile::create(out, after.trim_start_matches('.'))?;
    let path = file.path();
    file.write_all(bytes).map_err(SetupError::writing(&path))?;
    file.place(role, before, after)
}
