//! Documents: narrow rows, one for each chunk that tables are ranked by. A search reads all of them.

use crate::pg::server::error::Result;
use crate::pg::server::identity::Owner;
use crate::pg::server::query;
use nl2sql_core::chunk::cutter::Chunk;

const WRITE: &str = include_str!("../../../sql/index/write_documents.sql");

/// Writes the documents of a build whose entries are written.
pub fn write(_: &Owner, namespace: &str, build: i64, chunks: &[Chunk]) -> Result<()> {
    let (mut ids, mut places, mut words, mut values) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for chunk in chunks {
        if let Some(document) = &chunk.document {
            ids.push(chunk.id.clone());
            places.push(document.place);
            words.push(document.words.clone());
            let known = (!document.values.is_empty()).then(|| serde_json::to_string(&document.values)).transpose()?;
            values.push(known);
        }
    }
    if ids.is_empty() {
        return Ok(());
    }
    query::execute(WRITE, &[namespace.into(), build.into(), ids.into(), places.into(), words.into(), values.into()])
}
