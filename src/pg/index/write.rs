//! The fourth step of a build: its row, its entries and their documents.

use crate::pg::index::cut::Draft;
use crate::pg::index::embed::Embedded;
use crate::pg::index::target::{BuildTarget, Extent};
use crate::pg::index::{document, entry};
use crate::pg::server::error::{Error, Result};
use crate::pg::server::identity::Owner;
use crate::pg::server::query;
use nl2sql_core::catalog::identifier::TableName;
use nl2sql_core::chunk::chunk_type::ChunkType;
use nl2sql_core::snapshot::issue::Issue;
use pgrx::JsonB;
use std::collections::{BTreeMap, HashMap};

const COPY: &str = include_str!("../../../sql/index/copy_entries.sql");
const COPY_DOCUMENTS: &str = include_str!("../../../sql/index/copy_documents.sql");

/// Writes a new build, which is not live yet, and returns its build_id.
pub fn write(
    target: &BuildTarget,
    draft: &Draft,
    embedded: &Embedded,
    table_numbers: &HashMap<TableName, i32>,
) -> Result<i64> {
    let (owner, name, namespace) = (target.owner, target.name(), target.namespace.as_str());
    let build = begin(owner, namespace, name, &draft.schema_version, &draft.issues)?;
    if let (Extent::CuratedOnly, Some(live)) = (target.extent, &target.live) {
        copy_schema_entries(owner, namespace, live.build, build)?;
    }
    tracing::debug!(datasource = name, build, entries = draft.chunks.len(), "writing entries");
    entry::write(owner, namespace, build, draft, embedded, table_numbers)?;
    document::write(owner, namespace, build, &draft.chunks)?;
    Ok(build)
}

/// Creates a build without entries and returns its build_id.
fn begin(_: &Owner, namespace: &str, name: &str, schema_version: &str, issues: &[Issue]) -> Result<i64> {
    query::write(
        "INSERT INTO nl2sql.build (namespace, datasource, schema_version, issues)
         VALUES ($1, $2, $3, $4) RETURNING id",
        &[namespace.into(), name.into(), schema_version.into(), JsonB(serde_json::to_value(issues)?).into()],
        |row| row.must::<i64>(1),
    )?
    .pop()
    .ok_or_else(|| Error::from(pgrx::spi::Error::InvalidPosition))
}

/// Copies the entries of a build, apart from those of curated content, with their documents.
fn copy_schema_entries(_: &Owner, namespace: &str, from: i64, to: i64) -> Result<()> {
    query::execute(COPY, &[namespace.into(), from.into(), to.into()])?;
    query::execute(COPY_DOCUMENTS, &[from.into(), to.into()])
}

/// The entries of a build by chunk type.
pub fn counts(_: &Owner, namespace: &str, build: i64) -> Result<BTreeMap<&'static str, usize>> {
    let counts = query::read(
        "SELECT type, count(*) FROM nl2sql.entry WHERE namespace = $1 AND build = $2 GROUP BY type",
        &[namespace.into(), build.into()],
        |row| Ok((row.must::<String>(1)?, row.must::<i64>(2)?)),
    )?;
    let known =
        |(name, count): (String, i64)| Some((ChunkType::from_name(&name)?.name(), usize::try_from(count).ok()?));
    Ok(counts.into_iter().filter_map(known).collect())
}
