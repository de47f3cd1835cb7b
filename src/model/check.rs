//! Verifies a model directory.

use std::path::Path;

use nl2sql_embed::{EmbedError, Embedder, LoadOptions, MANIFEST, Manifest};

use crate::error::SetupError;
use crate::reference::{Reference, checked_deviation};

/// Checks every byte of the model in `dir`, and its vectors if there are reference vectors for this model. Returns the
/// manifest and the largest deviation of a component.
///
/// # Errors
/// `Missing` for a directory without a manifest, `WrongVectors`, and the errors of opening.
pub fn check(runtime: &Path, dir: &Path) -> Result<(Manifest, Option<f32>), SetupError> {
    let manifest = Manifest::read(dir)?
        .ok_or_else(|| EmbedError::Missing { path: dir.join(MANIFEST), what: "the model's manifest" })?;
    manifest.verify(dir)?;
    if manifest.model == Reference::load()?.model {
        let deviation = checked_deviation(runtime, dir, &manifest)?;
        return Ok((manifest, Some(deviation)));
    }
    Embedder::open_manifest(runtime, dir, &manifest, LoadOptions::default())?.embed(&["a text"], &mut || ())?;
    Ok((manifest, None))
}
