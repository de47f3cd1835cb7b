//! The third step of a build: a vector for each text.

use crate::pg::index::cut::{Draft, TextHash};
use crate::pg::index::target::BuildTarget;
use crate::pg::index::{embedder, namespace};
use crate::pg::server::error::Result;
use crate::pg::server::identity::Owner;
use crate::pg::server::{query, vector};
use std::collections::{HashMap, HashSet};

/// The vectors of a draft's texts.
pub struct Embedded {
    pub vectors: HashMap<TextHash, Vec<f32>>,
    /// Texts that went through the model; of equal ones the first.
    pub new_texts: usize,
}

/// Takes the vectors that the namespace has already, and embeds the other texts.
pub fn embed(target: &BuildTarget, draft: &Draft) -> Result<Embedded> {
    namespace::ensure(target.owner, &target.namespace)?;
    let mut vectors = known_vectors(target.owner, &target.namespace, &draft.hashes)?;
    let mut missing: Vec<(TextHash, &str)> = Vec::new();
    let mut seen = HashSet::new();
    for (chunk, hash) in draft.chunks.iter().zip(&draft.hashes) {
        if !vectors.contains_key(hash) && seen.insert(*hash) {
            missing.push((*hash, &chunk.text));
        }
    }
    if !missing.is_empty() {
        tracing::debug!(texts = missing.len(), "embedding");
        let texts: Vec<&str> = missing.iter().map(|(_, text)| *text).collect();
        let embedded = embedder::embed(&texts)?;
        vectors.extend(missing.iter().map(|(hash, _)| *hash).zip(embedded));
    }
    Ok(Embedded { vectors, new_texts: missing.len() })
}

fn known_vectors(_: &Owner, namespace: &str, hashes: &[TextHash]) -> Result<HashMap<TextHash, Vec<f32>>> {
    let distinct: Vec<Vec<u8>> = hashes.iter().collect::<HashSet<_>>().into_iter().map(|hash| hash.to_vec()).collect();
    let known = query::read(
        "SELECT DISTINCT ON (text_hash) text_hash, embedding FROM nl2sql.entry
         WHERE namespace = $1 AND text_hash = ANY ($2)",
        &[namespace.into(), distinct.into()],
        |row| Ok((row.must::<Vec<u8>>(1)?, row.must::<vector::Vector>(2)?.0)),
    )?;
    Ok(known.into_iter().filter_map(|(hash, vector)| Some((hash.try_into().ok()?, vector))).collect())
}
