//! Makes a model directory from the published files, and checks one.

use std::fs;
use std::io::Write;
use std::path::Path;

use crate::checkpoint::Checkpoint;
use crate::digest;
use crate::embedder::Embedder;
use crate::error::EmbedError;
use crate::graph::Weights;
use crate::manifest::{FORMAT, Manifest, Role};
use crate::minilm;
use crate::reference::{Reference, TOLERANCE};
use crate::session::Options;
use crate::store::{self, Staged};

/// The model that [`write`] makes.
pub const MODEL: &str = "local/all-minilm-l6-v2";
/// SHA-256 of the `model.safetensors` that is published for it.
pub const WEIGHTS_SHA256: &str = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db";
/// SHA-256 of its `tokenizer.json`.
pub const TOKENIZER_SHA256: &str = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037";
/// SHA-256 of the graph and of the weights file that are written: the same on every
/// machine. A test compares them with what the code writes.
const GRAPH_SHA256: &str = "a4e0d6b82126d5836a13427f6663da187ccd5cd9d57ae8dd7a96f0729e8c3661";
const PANELS_SHA256: &str = "e08f287720551b4f7ad5c21ffcf6aeaeff6ec2c7d46cca9f21adf54681f2f452";
const MAX_TOKENS: usize = 256;
/// What the names of its graph and weights begin with.
const STEM: &str = "all-minilm-l6-v2-";

/// What [`write`] found to do.
#[derive(Debug)]
pub enum Written {
    /// The directory held this model already, every byte of it.
    AlreadyThere,
    /// The model was written and checked; no component of a reference vector is
    /// farther off than `deviation`.
    New { deviation: f32 },
}

/// Writes the model into `out`, which is made if need be, from the published
/// weights and tokenizer. Takes some 2 s; 0.3 s when it is there already.
///
/// # Errors
/// `Unexpected` when a file does not have the published SHA-256, `WrongVectors` when
/// the model does not give the reference vectors, and those of reading, writing and
/// opening. After an error the model that was there before is still in place.
pub fn write(weights: &Path, tokenizer: &Path, runtime: &Path, out: &Path) -> Result<Written, EmbedError> {
    if let Ok(Some(manifest)) = Manifest::read(out)
        && is_current(&manifest)
        && manifest.verify(out).is_ok()
    {
        return Ok(Written::AlreadyThere);
    }
    let checkpoint = read(weights, "the model's published weights", WEIGHTS_SHA256)?;
    let tokenizer = read(tokenizer, "the published tokenizer", TOKENIZER_SHA256)?;
    let checkpoint = Checkpoint::parse(weights, &checkpoint)?;
    fs::create_dir_all(out).map_err(EmbedError::writing(out))?;
    let manifest = place(&checkpoint, &tokenizer, out)?;
    let deviation = deviation(runtime, out, &manifest)?;
    store::publish(out, &manifest)?;
    Ok(Written::New { deviation })
}

/// Checks every byte of the model in `dir`, and its vectors if it is the one whose
/// vectors are known. Gives back the manifest and how far a vector is off.
///
/// # Errors
/// `Missing` for a directory without a manifest, `WrongVectors`, and those of
/// opening.
pub fn check(runtime: &Path, dir: &Path) -> Result<(Manifest, Option<f32>), EmbedError> {
    let manifest = Manifest::read(dir)?
        .ok_or_else(|| EmbedError::Missing { path: dir.join(crate::MANIFEST), what: "the model's manifest" })?;
    manifest.verify(dir)?;
    if manifest.model == Reference::load()?.model {
        let deviation = deviation(runtime, dir, &manifest)?;
        return Ok((manifest, Some(deviation)));
    }
    Embedder::open_manifest(runtime, dir, &manifest, Options::default())?.embed(&["a text"], &mut || ())?;
    Ok((manifest, None))
}

/// Whether `manifest` is of the very model that [`write`] would write.
pub fn is_current(manifest: &Manifest) -> bool {
    let expected = [GRAPH_SHA256, PANELS_SHA256, TOKENIZER_SHA256];
    let found = manifest.files.iter().map(|file| file.sha256.as_str());
    manifest.model == MODEL
        && manifest.dimension == minilm::HIDDEN
        && manifest.max_tokens == MAX_TOKENS
        && found.eq(expected)
}

/// The content of `path`, if it is the file that is expected.
fn read(path: &Path, what: &'static str, sha256: &str) -> Result<Vec<u8>, EmbedError> {
    let bytes = fs::read(path).map_err(|error| EmbedError::reading(path, what, error))?;
    let found = digest::of_bytes(&bytes);
    if found == sha256 { Ok(bytes) } else { Err(EmbedError::unexpected(path, format!("SHA-256 {sha256}"), found)) }
}

/// Puts weights, graph and tokenizer into `out` under names of their own. Nothing
/// refers to them until a manifest does.
fn place(checkpoint: &Checkpoint, tokenizer: &[u8], out: &Path) -> Result<Manifest, EmbedError> {
    let staged = Staged::create(out, "weights")?;
    let path = staged.path();
    let mut weights = Weights::new(staged);
    let skeleton = minilm::build(checkpoint, &mut weights, EmbedError::writing(&path))?;
    let (staged, entries) = weights.finish();
    let weights = staged.place(Role::Weights, STEM, ".weights")?;
    let graph = skeleton.encode(entries(&weights.name));
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

fn place_bytes(
    out: &Path,
    bytes: &[u8],
    role: Role,
    before: &str,
    after: &str,
) -> Result<crate::FileEntry, EmbedError> {
    let mut staged = Staged::create(out, after.trim_start_matches('.'))?;
    let path = staged.path();
    staged.write_all(bytes).map_err(EmbedError::writing(&path))?;
    staged.place(role, before, after)
}

/// How far the model of `manifest` is off, if that is near enough.
fn deviation(runtime: &Path, dir: &Path, manifest: &Manifest) -> Result<f32, EmbedError> {
    let mut embedder = Embedder::open_manifest(runtime, dir, manifest, Options::default())?;
    let deviation = Reference::load()?.deviation(&mut embedder)?;
    if deviation <= TOLERANCE {
        return Ok(deviation);
    }
    Err(EmbedError::WrongVectors {
        path: dir.to_owned(),
        detail: format!("a component is {deviation:e} off, and {TOLERANCE:e} is allowed"),
    })
}
