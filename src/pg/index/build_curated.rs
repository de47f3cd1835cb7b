//! A build of curated content alone: the live build's schema entries as they are, and the content cut anew.

use crate::pg::curated::{check, store};
use crate::pg::datasource::Datasource;
use crate::pg::datasource::relation;
use crate::pg::index::build;
use crate::pg::index::build::Outcome;
use crate::pg::index::{entry, namespace, notify};
use crate::pg::server::error::{Error, Result};
use crate::pg::server::query;
use crate::pg::snapshot;
use nl2sql_core::chunk::cutter::{ChunkType, Cutter};
use nl2sql_core::snapshot::issue::Issue;
use pgrx::JsonB;

/// Reads no schema, stores no snapshot, and makes a new build live where the live one does not hold the content
/// already. For the extension's owner, who holds the lease.
pub fn build(datasource: &Datasource) -> Result<Outcome> {
    let name = datasource.about.name.as_str();
    let namespace = namespace::current()?;
    let Some(live) = build::live_build(name, &namespace)? else { return Err(Error::not_indexed(name, &namespace)) };
    let schema_version = live.schema_version;
    let schema = snapshot::load(name, &schema_version)?;
    let store::Stored { content, reads, .. } = store::load(name)?;
    let cutter = Cutter { datasource: name, schema_version: &schema_version, quote_values: false };
    let cut = check::chunks(datasource, &cutter, &content, &reads, &schema)?;
    store::note_reads(name, &reads, &cut.reads)?;
    let chunks = cut.chunks;
    let curated_hash = content.hash();
    let hashes = entry::hashes(&chunks);
    let issues: Vec<Issue> =
        schema_issues(live.build)?.into_iter().chain(build::left_out(name, &cut.problems)).collect();
    if live.curated_hash == curated_hash
        && entry::holds(&namespace, live.build, &chunks, &hashes, Some(&ChunkType::CURATED))?
    {
        let counts = entry::counts(&namespace, live.build)?;
        let entries = counts.values().sum();
        return Ok(Outcome {
            status: "unchanged",
            build: live.build,
            schema_version,
            entries,
            counts,
            embedded: 0,
            reused: entries,
            issues,
        });
    }
    let (vectors, embedded) = entry::vectors(&namespace, &chunks, &hashes)?;
    let build = build::begin(&namespace, name, &schema_version, &issues)?;
    entry::copy(&namespace, live.build, build)?;
    entry::write(&namespace, build, &chunks, &hashes, &vectors, &relation::numbers(name)?)?;
    let counts = entry::counts(&namespace, build)?;
    let entries = counts.values().sum::<usize>();
    build::switch_pointer(name, &namespace, build, &schema_version, curated_hash.as_deref())?;
    notify::swapped(name, &namespace, build, &schema_version)?;
    build::retain_builds(name, &namespace, build, Some(live.build))?;
    Ok(Outcome {
        status: "indexed",
        build,
        schema_version,
        entries,
        counts,
        embedded,
        reused: entries - embedded,
        issues,
    })
}

/// What a build found wrong with the schema.
fn schema_issues(build: i64) -> Result<Vec<Issue>> {
    let issues =
        query::read_one("SELECT issues FROM nl2sql.build WHERE id = $1", &[build.into()], |row| row.must::<JsonB>(1))?;
    let issues: Vec<Issue> = serde_json::from_value(issues.map(|issues| issues.0).unwrap_or_default())?;
    Ok(issues.into_iter().filter(|issue| issue.table.is_some()).collect())
}
