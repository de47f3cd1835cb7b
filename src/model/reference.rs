//! Compares a model with reference vectors, which another implementation computed.

use std::path::Path;

use nl2sql_embed::{EmbedError, Embedder, LoadOptions, Manifest};
use serde::Deserialize;

use crate::error::SetupError;

/// Largest deviation of a component. Rounding to six digits accounts for half of 1e-6; another order of additions on
/// other processors accounts for some more.
const TOLERANCE: f32 = 1e-5;

const FILE: &str = include_str!("reference.json");

#[derive(Deserialize)]
pub(crate) struct Reference {
    pub model: String,
    items: Vec<ReferenceItem>,
}

#[derive(Deserialize)]
struct ReferenceItem {
    text: String,
    ids: Vec<u32>,
    vector: Vec<f32>,
}

impl Reference {
    /// The reference vectors of the model that this crate writes.
    ///
    /// # Errors
    /// `Inference` when the embedded file is invalid, which a test rules out.
    pub fn load() -> Result<Self, EmbedError> {
        serde_json::from_str(FILE).map_err(EmbedError::inference)
    }

    /// Embeds the texts one by one and all together, and returns the largest deviation of a component. Returns infinity
    /// when a text has other tokens than expected.
    ///
    /// # Errors
    /// `Inference`.
    fn deviation(&self, embedder: &mut Embedder) -> Result<f32, EmbedError> {
        for item in &self.items {
            if embedder.token_ids(&item.text)? != item.ids {
                return Ok(f32::INFINITY);
            }
        }
        let texts: Vec<&str> = self.items.iter().map(|item| item.text.as_str()).collect();
        let mut found = embedder.embed(&texts, &mut || ())?;
        for text in &texts {
            found.extend(embedder.embed(&[text], &mut || ())?);
        }
        let expected = self.items.iter().chain(&self.items).map(|item| &item.vector);
        Ok(expected.zip(&found).map(|(e, f)| largest_difference(e, f)).fold(0.0, f32::max))
    }
}

/// The deviation of the model that `manifest` describes.
///
/// # Errors
/// `WrongVectors` when it exceeds the tolerance, and the errors of opening and running the model.
pub(crate) fn checked_deviation(runtime: &Path, dir: &Path, manifest: &Manifest) -> Result<f32, SetupError> {
    let mut embedder = Embedder::open_manifest(runtime, dir, manifest, LoadOptions::default())?;
    let deviation = Reference::load()?.deviation(&mut embedder)?;
    if deviation <= TOLERANCE {
        return Ok(deviation);
    }
    Err(SetupError::WrongVectors {
        path: dir.to_owned(),
        detail: format!("a component deviates by {deviation:e}; the tolerance is {TOLERANCE:e}"),
    })
}

/// The largest difference of two components; infinity when the lengths differ or a component is not a number.
fn largest_difference(a: &[f32], b: &[f32]) -> f32 {
    if a.len() != b.len() {
        return f32::INFINITY;
    }
    let difference = |(a, b): (&f32, &f32)| match (a - b).abs() {
        difference if difference.is_nan() => f32::INFINITY,
        difference => difference,
    };
    a.iter().zip(b).map(difference).fold(0.0, f32::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_holds_complete_unit_vectors() {
        let reference = Reference::load().unwrap();
        assert!(reference.items.len() >= 4);
        for item in &reference.items {
            assert_eq!(item.vector.len(), crate::minilm::HIDDEN);
            let length: f32 = item.vector.iter().map(|v| v * v).sum();
            assert!((length - 1.0).abs() < 1e-4);
        }
    }

    #[test]
    fn the_difference_is_that_of_the_worst_component() {
        assert_eq!(largest_difference(&[1.0, 2.0], &[1.5, 2.25]), 0.5);
        assert_eq!(largest_difference(&[1.0], &[1.0, 2.0]), f32::INFINITY);
        assert_eq!(largest_difference(&[f32::NAN, 1.0], &[1.0, 1.0]), f32::INFINITY);
    }
}
