//! A build: all entries of one datasource, written together, then made live.

use crate::pg::catalog::{ddl_watch, drift};
use crate::pg::curated::{check, store};
use crate::pg::datasource::Datasource;
use crate::pg::datasource::{overrides, relation};
use crate::pg::index::{entry, namespace, notify};
use crate::pg::search::evidence;
use crate::pg::server::error::{Error, Result, register_options, register_schemas};
use crate::pg::server::{query, settings};
use crate::pg::snapshot::withdraw;
use crate::pg::{catalog, profile, snapshot};
use nl2sql_core::catalog::identifier::TableName;
use nl2sql_core::catalog::overrides::describe;
use nl2sql_core::catalog::scope::Scope;
use nl2sql_core::chunk::cutter;
use nl2sql_core::chunk::cutter::{About, Chunk, Cutter};
use nl2sql_core::curated::content::Item;
use nl2sql_core::curated::validate::Problem;
use nl2sql_core::snapshot::issue::Issue;
use pgrx::JsonB;
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// What came of building.
pub struct Outcome {
    pub status: &'static str,
    pub build: i64,
    pub schema_version: String,
    pub entries: usize,
    pub counts: BTreeMap<&'static str, usize>,
    pub embedded: usize,
    pub reused: usize,
    /// What could not be read, and is indexed without it.
    pub issues: Vec<Issue>,
}

/// Reads the schema, stores the snapshot, and makes a new build live where the live one does not
/// hold the same already. One transaction does it all: what fails or is killed is not there. For the
/// extension's owner, who holds the lease.
pub fn build(datasource: &Datasource) -> Result<Outcome> {
    let name = datasource.about.name.as_str();
    let namespace = namespace::current()?;
    tracing::debug!(datasource = name, "reading the schema");
    let (mut schema, rows) = catalog::read(&datasource.schemas, &Scope::new(&datasource.options)?)?;
    if schema.tables.is_empty() {
        return Err(no_tables(datasource));
    }
    tracing::debug!(datasource = name, tables = schema.tables.len(), "reading statistics");
    let mut issues = profile::profile(&mut schema, &rows, &datasource.options)?;
    describe(&mut schema, overrides::load(name)?);
    ddl_watch::forget(&datasource.schemas)?;
    tracing::debug!(datasource = name, tables = schema.tables.len(), "storing the snapshot");
    let tables: Vec<TableName> = schema.tables.iter().map(|table| table.name.clone()).collect();
    let numbers = relation::note(name, &tables)?;
    let schema_version = snapshot::store(name, &schema)?;
    let about = described(datasource)?;
    let mut chunks = cutter::chunks(&about, &schema_version, &schema);
    let store::Stored { content, reads, .. } = store::load(name)?;
    let cutter = Cutter { datasource: name, schema_version: &schema_version, quote_values: about.quote_values };
    let cut = check::chunks(datasource, &cutter, &content, &reads, &schema)?;
    store::note_reads(name, &reads, &cut.reads)?;
    chunks.extend(cut.chunks);
    issues.extend(left_out(name, &cut.problems));
    let curated_hash = content.hash();
    let counts = counts(&chunks);
    let hashes = entry::hashes(&chunks);
    let live = live_build(name, &namespace)?;
    if let Some(live) = &live
        && live.schema_version == schema_version
        && live.curated_hash == curated_hash
        && entry::holds(&namespace, live.build, &chunks, &hashes, None)?
    {
        snapshot::retain(name, settings::max_versions())?;
        return Ok(Outcome {
            status: "unchanged",
            build: live.build,
            schema_version,
            entries: chunks.len(),
            counts,
            embedded: 0,
            reused: chunks.len(),
            issues,
        });
    }
    namespace::ensure(&namespace)?;
    let (vectors, embedded) = entry::vectors(&namespace, &chunks, &hashes)?;
    let build = begin(&namespace, name, &schema_version, &issues)?;
    tracing::debug!(datasource = name, build, entries = chunks.len(), "writing entries");
    entry::write(&namespace, build, &chunks, &hashes, &vectors, &numbers)?;
    evidence::write(&namespace, build, &chunks)?;
    switch_pointer(name, &namespace, build, &schema_version, curated_hash.as_deref())?;
    if let Some(replaced) = &live
        && let Some(diff) = drift::store(name, &replaced.schema_version, &schema_version)?
    {
        notify::drifted(name, &replaced.schema_version, &schema_version, &diff)?;
    }
    notify::swapped(name, &namespace, build, &schema_version)?;
    retain_builds(name, &namespace, build, live.map(|live| live.build))?;
    withdraw::withdraw(name, &schema_version, &schema, &rows)?;
    snapshot::retain(name, settings::max_versions())?;
    relation::forget_unused(name)?;
    Ok(Outcome {
        status: "indexed",
        build,
        schema_version,
        entries: chunks.len(),
        counts,
        embedded,
        reused: chunks.len() - embedded,
        issues,
    })
}

/// What the datasource says of itself; one without a description has its schema's comment.
fn described(datasource: &Datasource) -> Result<About> {
    let mut about = About { quote_values: datasource.options.sample_values, ..datasource.about.clone() };
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

fn no_tables(datasource: &Datasource) -> Error {
    let name = &datasource.about.name;
    let scoped = !datasource.options.include.is_empty() || !datasource.options.exclude.is_empty();
    let gone: Vec<&str> = datasource
        .schemas
        .iter()
        .filter(|schema| crate::pg::server::privilege::schema_oid(schema).is_none())
        .map(String::as_str)
        .collect();
    let error = Error::new(
        PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        format!("datasource \"{name}\" has no tables to index"),
    );
    if !gone.is_empty() {
        error
            .detail(format!("Schema \"{}\" does not exist.", gone.join("\", \"")))
            .hint(format!("Name the schemas it has now: SELECT {};", register_schemas(name, &[])))
    } else if scoped {
        error.detail("Its options include none of its schemas' tables.").hint(format!(
            "Change them, of which these are all: SELECT {};",
            register_options(name, &datasource.stored_options)
        ))
    } else {
        error.hint(format!("Create tables, then run: SELECT {};", crate::pg::server::error::call("nl2sql_index", name)))
    }
}

/// That some of the curated content is left out. Who may build need not be one who may see it: it is not named.
pub fn left_out(name: &str, problems: &[Problem]) -> Option<Issue> {
    let pieces: BTreeSet<&Item> = problems.iter().map(|problem| &problem.item).collect();
    let what = match pieces.len() {
        0 => return None,
        1 => "a piece of curated content does not fit the schema, and is".to_owned(),
        count => format!("{count} pieces of curated content do not fit the schema, and are"),
    };
    let call = crate::pg::server::error::call("nl2sql_curated_validate", name);
    Some(Issue::curated(format!("{what} left out: SELECT * FROM {call};")))
}

/// Entries by chunk type.
fn counts(chunks: &[Chunk]) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for chunk in chunks {
        *counts.entry(chunk.chunk_type.name()).or_insert(0) += 1;
    }
    counts
}

/// The build that is live.
pub struct Live {
    pub build: i64,
    pub schema_version: String,
    pub built_at: TimestampWithTimeZone,
    pub curated_hash: Option<String>,
}

/// For the extension's owner.
pub fn live_build(name: &str, namespace: &str) -> Result<Option<Live>> {
    query::read_one(
        "SELECT build, schema_version, built_at, curated_hash FROM nl2sql.pointer WHERE datasource = $1 AND namespace = $2",
        &[name.into(), namespace.into()],
        |row| {
            Ok(Live {
                build: row.must(1)?,
                schema_version: row.must(2)?,
                built_at: row.must(3)?,
                curated_hash: row.get(4)?,
            })
        },
    )
}

/// A new build without entries; gives its build_id.
pub fn begin(namespace: &str, name: &str, schema_version: &str, issues: &[Issue]) -> Result<i64> {
    query::write(
        "INSERT INTO nl2sql.build (namespace, datasource, schema_version, issues)
         VALUES ($1, $2, $3, $4) RETURNING id",
        &[namespace.into(), name.into(), schema_version.into(), JsonB(serde_json::to_value(issues)?).into()],
        |row| row.must::<i64>(1),
    )?
    .pop()
    .ok_or_else(|| Error::from(pgrx::spi::Error::InvalidPosition))
}

pub fn switch_pointer(
    name: &str,
    namespace: &str,
    build: i64,
    schema_version: &str,
    curated_hash: Option<&str>,
) -> Result<()> {
    query::execute(
        "INSERT INTO nl2sql.pointer AS p (datasource, namespace, build, schema_version, built_at, curated_hash)
         SELECT $1, $2, b.id, $4, b.built_at, $5 FROM nl2sql.build b WHERE b.id = $3
         ON CONFLICT (datasource, namespace) DO UPDATE SET
             build = excluded.build,
             schema_version = excluded.schema_version,
             built_at = excluded.built_at,
             curated_hash = excluded.curated_hash",
        &[name.into(), namespace.into(), build.into(), schema_version.into(), curated_hash.into()],
    )
}

/// Keeps the live build and the one just replaced, which a client that pinned it reads on.
pub fn retain_builds(name: &str, namespace: &str, live: i64, replaced: Option<i64>) -> Result<()> {
    let args: [DatumWithOid; 3] = [name.into(), namespace.into(), vec![Some(live), replaced].into()];
    query::execute(
        "DELETE FROM nl2sql.entry e USING nl2sql.build b
         WHERE e.namespace = $2 AND e.build = b.id AND b.datasource = $1 AND b.namespace = $2
           AND b.id NOT IN (SELECT k FROM unnest($3::bigint[]) k WHERE k IS NOT NULL)",
        &args,
    )?;
    query::execute(
        "DELETE FROM nl2sql.build b
         WHERE b.datasource = $1 AND b.namespace = $2
           AND b.id NOT IN (SELECT k FROM unnest($3::bigint[]) k WHERE k IS NOT NULL)",
        &args,
    )
}
