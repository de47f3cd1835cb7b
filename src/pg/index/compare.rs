//! Between the second and third step: if the live build holds what was cut, the build ends here.

use crate::pg::index::cut::{Draft, TextHash};
use crate::pg::index::target::{BuildTarget, Extent};
use crate::pg::server::error::Result;
use crate::pg::server::query;
use nl2sql_core::chunk::{chunk_type::ChunkType, cutter::Chunk};
use std::collections::HashMap;

/// The live build, if it holds exactly what the draft does.
pub fn live_build_with(target: &BuildTarget, draft: &Draft) -> Result<Option<i64>> {
    let Some(live) = &target.live else { return Ok(None) };
    let same = live.schema_version == draft.schema_version
        && live.curated_hash == draft.curated_hash
        && holds(target, live.build, draft)?;
    Ok(same.then_some(live.build))
}

/// Whether a build holds exactly the draft's chunks, judged by the entries themselves.
fn holds(target: &BuildTarget, build: i64, draft: &Draft) -> Result<bool> {
    let types = match target.extent {
        Extent::Whole => None,
        Extent::CuratedOnly => Some(ChunkType::CURATED.map(|known| known.name().to_owned()).to_vec()),
    };
    let entries = query::read(
        "SELECT id, text_hash FROM nl2sql.entry
         WHERE namespace = $1 AND build = $2 AND ($3::text[] IS NULL OR type = ANY ($3))",
        &[target.namespace.as_str().into(), build.into(), types.into()],
        |row| Ok((row.must::<String>(1)?, row.must::<Vec<u8>>(2)?)),
    )?;
    let entries: HashMap<String, Vec<u8>> = entries.into_iter().collect();
    let same = |(chunk, hash): (&Chunk, &TextHash)| entries.get(&chunk.id).is_some_and(|known| known == hash);
    Ok(entries.len() == draft.chunks.len() && draft.chunks.iter().zip(&draft.hashes).all(same))
}
