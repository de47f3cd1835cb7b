//! Entries: the chunks of a build as stored, with their vectors. For the extension's owner.

use crate::pg::index::embedder;
use crate::pg::server::error::Result;
use crate::pg::server::{interrupt, query, vector};
use nl2sql_core::catalog::identifier::TableName;
use nl2sql_core::chunk::cutter::{Chunk, ChunkType, Reads};
use nl2sql_core::sql::reads::ALL_COLUMNS;
use pgrx::JsonB;
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap, HashSet};

const COPY: &str = include_str!("../../../sql/index/copy_entries.sql");
const COPY_DOCUMENTS: &str = include_str!("../../../sql/index/copy_documents.sql");

pub type TextHash = [u8; 32];

pub fn hashes(chunks: &[Chunk]) -> Vec<TextHash> {
    chunks.iter().map(|chunk| Sha256::digest(chunk.text.as_bytes()).into()).collect()
}

/// Whether a build holds exactly these chunks: judged by the entries themselves, of these types alone where given.
pub fn holds(
    namespace: &str,
    build: i64,
    chunks: &[Chunk],
    hashes: &[TextHash],
    types: Option<&[ChunkType]>,
) -> Result<bool> {
    let types: Option<Vec<String>> = types.map(|types| types.iter().map(|known| known.name().to_owned()).collect());
    let entries = query::read(
        "SELECT id, text_hash FROM nl2sql.entry
         WHERE namespace = $1 AND build = $2 AND ($3::text[] IS NULL OR type = ANY ($3))",
        &[namespace.into(), build.into(), types.into()],
        |row| Ok((row.must::<String>(1)?, row.must::<Vec<u8>>(2)?)),
    )?;
    let entries: HashMap<String, Vec<u8>> = entries.into_iter().collect();
    let same = |(chunk, hash): (&Chunk, &TextHash)| entries.get(&chunk.id).is_some_and(|known| known == hash);
    Ok(entries.len() == chunks.len() && chunks.iter().zip(hashes).all(same))
}

/// A vector for each text: one that the namespace has already, else a new one. Gives the number of
/// texts that went through the model, too: of equal ones the first.
pub fn vectors(namespace: &str, chunks: &[Chunk], hashes: &[TextHash]) -> Result<(HashMap<TextHash, Vec<f32>>, usize)> {
    let wanted: Vec<Vec<u8>> = hashes.iter().collect::<HashSet<_>>().into_iter().map(|hash| hash.to_vec()).collect();
    let known = query::read(
        "SELECT DISTINCT ON (text_hash) text_hash, embedding FROM nl2sql.entry
         WHERE namespace = $1 AND text_hash = ANY ($2)",
        &[namespace.into(), wanted.into()],
        |row| Ok((row.must::<Vec<u8>>(1)?, row.must::<vector::Vector>(2)?.0)),
    )?;
    let mut vectors: HashMap<TextHash, Vec<f32>> =
        known.into_iter().filter_map(|(hash, vector)| Some((hash.try_into().ok()?, vector))).collect();
    let mut missing: Vec<(TextHash, &str)> = Vec::new();
    let mut seen = HashSet::new();
    for (chunk, hash) in chunks.iter().zip(hashes) {
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
    Ok((vectors, missing.len()))
}

pub fn write(
    namespace: &str,
    build: i64,
    chunks: &[Chunk],
    hashes: &[TextHash],
    vectors: &HashMap<TextHash, Vec<f32>>,
    numbers: &HashMap<TableName, i32>,
) -> Result<()> {
    const INSERT: &str = "INSERT INTO nl2sql.entry
        (namespace, build, id, type, datasource, relation, columns, referred, referred_columns, referred_outside,
         text, text_hash, metadata, embedding, read_relations, read_columns, curated_hash)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)";
    Spi::connect_mut(|client| {
        let types: Vec<PgOid> = vec![
            PgBuiltInOids::TEXTOID.oid(),
            PgBuiltInOids::INT8OID.oid(),
            PgBuiltInOids::TEXTOID.oid(),
            PgBuiltInOids::TEXTOID.oid(),
            PgBuiltInOids::TEXTOID.oid(),
            PgBuiltInOids::INT4OID.oid(),
            PgBuiltInOids::TEXTARRAYOID.oid(),
            PgBuiltInOids::INT4OID.oid(),
            PgBuiltInOids::TEXTARRAYOID.oid(),
            PgBuiltInOids::TEXTARRAYOID.oid(),
            PgBuiltInOids::TEXTOID.oid(),
            PgBuiltInOids::BYTEAOID.oid(),
            PgBuiltInOids::JSONBOID.oid(),
            PgOid::from(<vector::Vector as pgrx::datum::IntoDatum>::type_oid()),
            PgBuiltInOids::INT4ARRAYOID.oid(),
            PgBuiltInOids::TEXTARRAYOID.oid(),
            PgBuiltInOids::TEXTOID.oid(),
        ];
        let insert = client.prepare_mut(INSERT, &types)?;
        for (chunk, hash) in chunks.iter().zip(hashes) {
            interrupt::check();
            let (table, columns, referred, referred_columns) = match &chunk.reads {
                Reads::Datasource | Reads::Several(_) => (None, None, None, None),
                Reads::Columns(table, columns) => (Some(table), Some(columns), None, None),
                Reads::Relationship(from, from_columns, to, to_columns) => {
                    (Some(from), Some(from_columns), Some(to), Some(to_columns))
                }
            };
            let number = |table: Option<&TableName>| table.and_then(|table| numbers.get(table).copied());
            let outside = referred
                .filter(|table| !numbers.contains_key(*table))
                .map(|table| vec![table.schema.clone(), table.name.clone()]);
            let (read_relations, read_columns) = several(&chunk.reads, numbers);
            let args: [DatumWithOid; 17] = [
                namespace.into(),
                build.into(),
                chunk.id.as_str().into(),
                chunk.chunk_type.name().into(),
                chunk.metadata["datasource"].as_str().into(),
                number(table).into(),
                columns.cloned().into(),
                number(referred).into(),
                referred_columns.cloned().into(),
                outside.into(),
                chunk.text.as_str().into(),
                hash.as_slice().into(),
                JsonB(Value::Object(chunk.metadata.clone())).into(),
                vectors.get(hash).map(|vector| vector::Vector(vector.clone())).into(),
                read_relations.into(),
                read_columns.into(),
                chunk.curated_hash.as_deref().into(),
            ];
            client.update(&insert, None, &args)?;
        }
        Ok(())
    })
}

type ReadColumns = (Option<Vec<i32>>, Option<Vec<Option<String>>>);

/// What curated content reads, as row security wants it: a table's number for each column; no column where some
/// column is enough.
fn several(reads: &Reads, numbers: &HashMap<TableName, i32>) -> ReadColumns {
    let Reads::Several(reads) = reads else { return (None, None) };
    let (mut tables, mut columns) = (Vec::new(), Vec::new());
    for (table, names) in &reads.tables {
        // A table that is not known is one that nobody may read.
        let number = numbers.get(table).copied().unwrap_or(0);
        if names.is_empty() {
            tables.push(number);
            columns.push(None);
        }
        let all = reads.whole.contains(table).then_some(ALL_COLUMNS);
        for name in names.iter().map(String::as_str).chain(all) {
            tables.push(number);
            columns.push(Some(name.to_owned()));
        }
    }
    (Some(tables), Some(columns))
}

/// Copies the entries of a build that are not of curated content, with their documents.
pub fn copy(namespace: &str, from: i64, to: i64) -> Result<()> {
    query::execute(COPY, &[namespace.into(), from.into(), to.into()])?;
    query::execute(COPY_DOCUMENTS, &[from.into(), to.into()])
}

/// The entries of a build by chunk type.
pub fn counts(namespace: &str, build: i64) -> Result<BTreeMap<&'static str, usize>> {
    let counts = query::read(
        "SELECT type, count(*) FROM nl2sql.entry WHERE namespace = $1 AND build = $2 GROUP BY type",
        &[namespace.into(), build.into()],
        |row| Ok((row.must::<String>(1)?, row.must::<i64>(2)?)),
    )?;
    let known =
        |(name, count): (String, i64)| Some((ChunkType::from_name(&name)?.name(), usize::try_from(count).ok()?));
    Ok(counts.into_iter().filter_map(known).collect())
}
