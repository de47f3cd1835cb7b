//! A build: all entries of one datasource, written together, then made live.

use super::datasource::Datasource;
use super::error::{Error, Result, register_options, register_schemas};
use super::{
    catalogue, ddl, description, document, drift, embedder, interrupt, namespace, notify, profile, query, relation, retention,
    settings, snapshot, vector,
};
use nl2sql_core::chunk::{self, About, Chunk, Reads};
use nl2sql_core::description::describe;
use nl2sql_core::issue::Issue;
use nl2sql_core::name::TableName;
use nl2sql_core::scope::Scope;
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;
use pgrx::JsonB;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap, HashSet};

type TextHash = [u8; 32];

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
    let (mut schema, rows) = catalogue::read(&datasource.schemas, &Scope::new(&datasource.options)?)?;
    if schema.tables.is_empty() {
        return Err(no_tables(datasource));
    }
    tracing::debug!(datasource = name, tables = schema.tables.len(), "reading statistics");
    let issues = profile::profile(&mut schema, &rows, &datasource.options)?;
    describe(&mut schema, description::load(name)?);
    ddl::forget(&datasource.schemas)?;
    tracing::debug!(datasource = name, tables = schema.tables.len(), "storing the snapshot");
    let tables: Vec<TableName> = schema.tables.iter().map(|table| table.name.clone()).collect();
    let numbers = relation::note(name, &tables)?;
    let schema_version = snapshot::store(name, &schema)?;
    let about = described(datasource)?;
    let chunks = chunk::chunks(&about, &schema_version, &schema);
    let mut counts = BTreeMap::new();
    for chunk in &chunks {
        *counts.entry(chunk.chunk_type.name()).or_insert(0) += 1;
    }
    let hashes: Vec<TextHash> = chunks.iter().map(|chunk| Sha256::digest(chunk.text.as_bytes()).into()).collect();
    let live = live_build(name, &namespace)?;
    if let Some(live) = &live
        && live.schema_version == schema_version
        && holds(&namespace, live.build, &chunks, &hashes)?
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
    let (vectors, embedded) = vectors(&namespace, &chunks, &hashes)?;
    let build = query::write(
        "INSERT INTO nl2sql.build (namespace, datasource, schema_version, issues)
         VALUES ($1, $2, $3, $4) RETURNING id",
        &[
            namespace.as_str().into(),
            name.into(),
            schema_version.as_str().into(),
            JsonB(serde_json::to_value(&issues)?).into(),
        ],
        |row| row.must::<i64>(1),
    )?
    .pop()
    .ok_or_else(|| Error::from(pgrx::spi::Error::InvalidPosition))?;
    tracing::debug!(datasource = name, build, entries = chunks.len(), "writing entries");
    write_entries(&namespace, build, &chunks, &hashes, &vectors, &numbers)?;
    document::write(&namespace, build, &chunks)?;
    switch_pointer(name, &namespace, build, &schema_version)?;
    if let Some(replaced) = &live
        && let Some(diff) = drift::store(name, &replaced.schema_version, &schema_version)?
    {
        notify::drifted(name, &replaced.schema_version, &schema_version, &diff)?;
    }
    notify::swapped(name, &namespace, build, &schema_version)?;
    retain_builds(name, &namespace, build, live.map(|live| live.build))?;
    retention::withdraw(name, &schema_version, &schema, &rows)?;
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
        .filter(|schema| super::privilege::schema_oid(schema).is_none())
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
        error.hint(format!("Create tables, then run: SELECT {};", super::error::call("nl2sql_index", name)))
    }
}

struct Live {
    build: i64,
    schema_version: String,
}

fn live_build(name: &str, namespace: &str) -> Result<Option<Live>> {
    query::read_one(
        "SELECT build, schema_version FROM nl2sql.pointer WHERE datasource = $1 AND namespace = $2",
        &[name.into(), namespace.into()],
        |row| Ok(Live { build: row.must(1)?, schema_version: row.must(2)? }),
    )
}

/// Whether a build holds exactly these chunks: judged by the entries themselves.
fn holds(namespace: &str, build: i64, chunks: &[Chunk], hashes: &[TextHash]) -> Result<bool> {
    let entries = query::read(
        "SELECT id, text_hash FROM nl2sql.entry WHERE namespace = $1 AND build = $2",
        &[namespace.into(), build.into()],
        |row| Ok((row.must::<String>(1)?, row.must::<Vec<u8>>(2)?)),
    )?;
    let entries: HashMap<String, Vec<u8>> = entries.into_iter().collect();
    let same = |(chunk, hash): (&Chunk, &TextHash)| entries.get(&chunk.id).is_some_and(|known| known == hash);
    Ok(entries.len() == chunks.len() && chunks.iter().zip(hashes).all(same))
}

/// A vector for each text: one that the namespace has already, else a new one. Gives the number of
/// texts that went through the model, too: of equal ones the first.
fn vectors(
    namespace: &str,
    chunks: &[Chunk],
    hashes: &[TextHash],
) -> Result<(HashMap<TextHash, Vec<f32>>, usize)> {
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

fn write_entries(
    namespace: &str,
    build: i64,
    chunks: &[Chunk],
    hashes: &[TextHash],
    vectors: &HashMap<TextHash, Vec<f32>>,
    numbers: &HashMap<TableName, i32>,
) -> Result<()> {
    const INSERT: &str = "INSERT INTO nl2sql.entry
        (namespace, build, id, type, datasource, relation, columns, referred, referred_columns, referred_outside, text, text_hash, metadata, embedding)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";
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
        ];
        let insert = client.prepare_mut(INSERT, &types)?;
        for (chunk, hash) in chunks.iter().zip(hashes) {
            interrupt::check();
            let (table, columns, referred, referred_columns) = match &chunk.reads {
                Reads::Datasource => (None, None, None, None),
                Reads::Columns(table, columns) => (Some(table), Some(columns), None, None),
                Reads::Relationship(from, from_columns, to, to_columns) => {
                    (Some(from), Some(from_columns), Some(to), Some(to_columns))
                }
            };
            let number = |table: Option<&TableName>| table.and_then(|table| numbers.get(table).copied());
            let outside = referred
                .filter(|table| !numbers.contains_key(*table))
                .map(|table| vec![table.schema.clone(), table.name.clone()]);
            let args: [DatumWithOid; 14] = [
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
            ];
            client.update(&insert, None, &args)?;
        }
        Ok(())
    })
}

fn switch_pointer(name: &str, namespace: &str, build: i64, schema_version: &str) -> Result<()> {
    query::execute(
        "INSERT INTO nl2sql.pointer AS p (datasource, namespace, build, schema_version, built_at)
         SELECT $1, $2, b.id, $4, b.built_at FROM nl2sql.build b WHERE b.id = $3
         ON CONFLICT (datasource, namespace) DO UPDATE SET
             build = excluded.build,
             schema_version = excluded.schema_version,
             built_at = excluded.built_at,
             curated_hash = excluded.curated_hash",
        &[name.into(), namespace.into(), build.into(), schema_version.into()],
    )
}

/// Keeps the live build and the one just replaced, which a client that pinned it reads on.
fn retain_builds(name: &str, namespace: &str, live: i64, replaced: Option<i64>) -> Result<()> {
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
