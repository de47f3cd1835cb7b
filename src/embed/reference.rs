//! Vectors that the model is known to give, computed elsewhere.

use serde::Deserialize;

use crate::embedder::Embedder;
use crate::error::EmbedError;

/// How far a component may be off. Rounding to six digits is half of 1e-6 of it, the
/// order of additions on another processor some more.
pub const TOLERANCE: f32 = 1e-5;

const FILE: &str = include_str!("reference.json");

#[derive(Deserialize)]
pub(crate) struct Reference {
    pub model: String,
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    text: String,
    ids: Vec<u32>,
    vector: Vec<f32>,
}

impl Reference {
    /// The reference vectors of the model that this crate can write.
    ///
    /// # Errors
    /// `Inference`, which a test rules out.
    pub fn load() -> Result<Self, EmbedError> {
        serde_json::from_str(FILE).map_err(EmbedError::inference)
    }

    /// Embeds the texts one by one and all together, and gives back how far the
    /// component is off that is farthest off: infinitely when a text has other tokens
    /// than it should.
    ///
    /// # Errors
    /// `Inference`.
    pub fn deviation(&self, embedder: &mut Embedder) -> Result<f32, EmbedError> {
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
        Ok(expected.zip(&found).map(|(e, f)| distance(e, f)).fold(0.0, f32::max))
    }
}

/// The greatest difference of two components; infinite when there are not as many,
/// or one is not a number.
pub(crate) fn distance(a: &[f32], b: &[f32]) -> f32 {
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
    fn the_file_holds_whole_unit_vectors() {
        let reference = Reference::load().unwrap();
        assert!(reference.items.len() >= 4);
        for item in &reference.items {
            assert_eq!(item.vector.len(), crate::minilm::HIDDEN);
            let length: f32 = item.vector.iter().map(|v| v * v).sum();
            assert!((length - 1.0).abs() < 1e-4);
        }
    }

    #[test]
    fn a_distance_is_that_of_the_worst_component() {
        assert_eq!(distance(&[1.0, 2.0], &[1.5, 2.25]), 0.5);
        assert_eq!(distance(&[1.0], &[1.0, 2.0]), f32::INFINITY);
        assert_eq!(distance(&[f32::NAN, 1.0], &[1.0, 1.0]), f32::INFINITY);
    }
}
