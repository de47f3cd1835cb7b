//! The second step of a build: the schema and the curated content, cut into chunks.

use crate::pg::curated::{check, store};
use crate::pg::datasource::Datasource;
use crate::pg::index::read::Reading;
use crate::pg::index::target::{BuildTarget, Extent};
use crate::pg::server::error::{Result, call};
use crate::pg::server::query;
use nl2sql_core::chunk::{
    cutter::{Chunk, Cutter},
    datasource_info::DatasourceInfo,
    schema_chunks::chunks,
};
use nl2sql_core::curated::content::Item;
use nl2sql_core::curated::problem::Problem;
use nl2sql_core::snapshot::issue::Issue;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// SHA-256 of a chunk's text.
pub type TextHash = [u8; 32];

/// What a build is to hold. A build of curated content alone holds the other entries of the live build, too.
pub struct Draft {
    pub schema_version: String,
    pub chunks: Vec<Chunk>,
    /// The hash of each chunk's text, in the same order.
    pub hashes: Vec<TextHash>,
    /// The hash of the curated content; none if there is no content.
    pub curated_hash: Option<String>,
    /// What could not be read, and what was left out.
    pub issues: Vec<Issue>,
}

/// Cuts what was read.
pub fn cut(target: &BuildTarget, reading: &Reading) -> Result<Draft> {
    let BuildTarget { owner, lease, datasource, .. } = target;
    let (name, schema_version) = (target.name(), reading.schema_version.as_str());
    let mut chunks = match target.extent {
        Extent::Whole => chunks(&described(datasource)?, schema_version, &reading.schema),
        Extent::CuratedOnly => Vec::new(),
    };
    let store::Stored { content, reads, .. } = store::load(owner, name)?;
    let cutter = Cutter { datasource: name, schema_version, quote_values: datasource.options.sample_values };
    let cut = check::chunks(datasource, &cutter, &content, &reads, &reading.schema)?;
    store::note_reads(owner, lease, &reads, &cut.reads)?;
    chunks.extend(cut.chunks);
    let hashes = chunks.iter().map(|chunk| Sha256::digest(chunk.text.as_bytes()).into()).collect();
    Ok(Draft {
        schema_version: reading.schema_version.clone(),
        hashes,
        chunks,
        curated_hash: content.hash(),
        issues: reading.issues.iter().cloned().chain(left_out(name, &cut.problems)).collect(),
    })
}

/// The datasource as its own entry describes it: without a description, by the comment on its schema.
fn described(datasource: &Datasource) -> Result<DatasourceInfo> {
    let mut about = DatasourceInfo { quote_values: datasource.options.sample_values, ..datasource.about.clone() };
    if let (None, [schema]) = (&about.description, datasource.schemas.as_slice()) {
        about.description = query::read_one(
            "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = $1",
            &[schema.as_str().into()],
            |row| row.get::<String>(1),
        )?
        .flatten();
    }
    Ok(about)
}

/// The issue that some of the curated content is left out. It names no piece, since the role that builds may not be
/// allowed to see it.
fn left_out(name: &str, problems: &[Problem]) -> Option<Issue> {
    let pieces: BTreeSet<&Item> = problems.iter().map(|problem| &problem.item).collect();
    let what = match pieces.len() {
        0 => return None,
        1 => "a piece of curated content does not fit the schema, and is".to_owned(),
        count => format!("{count} pieces of curated content do not fit the schema, and are"),
    };
    let call = call("nl2sql_curated_validate", name);
    Some(Issue::curated(format!("{what} left out: SELECT * FROM {call};")))
}
