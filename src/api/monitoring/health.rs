//! `nl2sql_health`.

use crate::pg::datasource;
use crate::pg::datasource::Datasource;
use crate::pg::datasource::preferred_tables;
use crate::pg::index::{curated_state, namespace};
use crate::pg::server::error::{OrRaise, Result, call, register_options, register_schemas};
use crate::pg::server::{argument, identity, query, settings};
use crate::pg::snapshot;
use crate::pg::snapshot::drift;
use nl2sql_core::catalog::globs::UnmatchedGlob;
use nl2sql_core::catalog::identifier::TableName;
use nl2sql_core::health;
use nl2sql_core::health::{Observations, RemedyCalls, Verdict};
use pgrx::JsonB;
use pgrx::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;

const HEALTH: &str = include_str!("../../../sql/health/health.sql");
const GONE: &str = "SELECT name FROM unnest($1) WITH ORDINALITY AS s (name, place)
    WHERE name NOT IN (SELECT nspname::text FROM pg_namespace) ORDER BY place";
const RENAMED: &str = include_str!("../../../sql/health/renamed.sql");

/// A datasource and its live build, as the caller sees them.
struct Found {
    name: String,
    schema_version: Option<String>,
    built_at: Option<TimestampWithTimeZone>,
    counts: BTreeMap<String, usize>,
    snapshot_kept: bool,
}

impl Found {
    fn entries(&self) -> usize {
        self.counts.values().sum()
    }
}

#[pg_extern]
fn nl2sql_health(
    datasource: Option<&str>,
) -> TableIterator<
    'static,
    (
        name!(datasource, String),
        name!(status, String),
        name!(index_version, Option<String>),
        name!(built_at, Option<TimestampWithTimeZone>),
        name!(entries, i32),
        name!(counts, JsonB),
        name!(namespace, String),
        name!(embedding_model, String),
        name!(problems, Vec<String>),
        name!(warnings, Vec<String>),
    ),
> {
    let (model, _) = settings::embedding_model().or_raise();
    let namespace = namespace::current().or_raise();
    let rows = judge_all(datasource, &namespace).or_raise().into_iter().map(move |(found, verdict)| {
        (
            found.name.clone(),
            verdict.status.name().to_owned(),
            found.schema_version.clone(),
            found.built_at,
            i32::try_from(found.entries()).unwrap_or(i32::MAX),
            JsonB(serde_json::json!(found.counts)),
            namespace.clone(),
            model.clone(),
            verdict.problems,
            verdict.warnings,
        )
    });
    TableIterator::new(rows.collect::<Vec<_>>())
}

fn judge_all(wanted: Option<&str>, namespace: &str) -> Result<Vec<(Found, Verdict)>> {
    if let Some(name) = wanted {
        datasource::check_known(argument::spoken("datasource", Some(name))?)?;
    }
    let found = query::read(HEALTH, &[namespace.into()], |row| {
        let counts: BTreeMap<String, usize> = serde_json::from_value(row.must::<JsonB>(4)?.0)?;
        Ok(Found {
            name: row.must(1)?,
            schema_version: row.get(2)?,
            built_at: row.get(3)?,
            counts,
            snapshot_kept: row.must(5)?,
        })
    })?;
    let live: Vec<String> =
        found.iter().filter(|one| one.schema_version.is_some()).map(|one| one.name.clone()).collect();
    let mut judged: Vec<(Found, Verdict)> = found
        .into_iter()
        .filter(|one| wanted.is_none_or(|wanted| one.name == wanted))
        .map(|one| {
            let verdict = judge(&one, live.iter().any(|other| *other != one.name))?;
            Ok((one, verdict))
        })
        .collect::<Result<_>>()?;
    judged.sort_by(|(a, verdict_a), (b, verdict_b)| {
        verdict_a.status.cmp(&verdict_b.status).then_with(|| a.name.cmp(&b.name))
    });
    Ok(judged)
}

fn judge(found: &Found, others_live: bool) -> Result<Verdict> {
    let mut observed = Observations {
        live: found.schema_version.is_some(),
        others_live,
        entries: found.entries(),
        snapshot_kept: found.snapshot_kept,
        ..Observations::default()
    };
    let mut calls = RemedyCalls {
        index: call("nl2sql_index", &found.name),
        schemas: register_schemas(&found.name, &[]),
        options: String::new(),
        curated: format!("nl2sql_index({}, curated_only => true)", pgrx::spi::quote_literal(&found.name)),
        validate: call("nl2sql_curated_validate", &found.name),
    };
    let stored = identity::as_owner(|owner| datasource::load(owner, &found.name))?;
    if let (Some(stored), Some(version), true) = (stored, &found.schema_version, found.snapshot_kept) {
        look(&stored, version, &mut observed, &mut calls)?;
    }
    Ok(health::judge(&observed, &calls))
}

/// Compares the live snapshot with the catalogue and with the options.
fn look(stored: &Datasource, version: &str, observed: &mut Observations, calls: &mut RemedyCalls) -> Result<()> {
    let name = stored.about.name.as_str();
    let now = drift::current(stored)?;
    observed.without_tables = now.schema.tables.is_empty();
    observed.drifted = drift::drifted(name, &now.schema, version)?;
    let curated = curated_state::curated_state(name, &namespace::current()?)?;
    (observed.curated_changed, observed.curated_left_out) = (curated.changed, curated.left_out);
    if !preferred_tables::options_readable(name)? {
        return Ok(());
    }
    let tables = identity::as_owner(|owner| snapshot::tables(owner, name, version))?;
    observed.scoped = !stored.options.include.is_empty() || !stored.options.exclude.is_empty();
    observed.preferred_missing = preferred_tables::missing(stored, &tables);
    observed.schemas_missing = schemas_missing(stored, &tables)?;
    if !observed.schemas_missing.is_empty() {
        let gone = |schema: &String| observed.schemas_missing.iter().find(|(gone, _)| gone == schema);
        let there: Vec<String> = stored
            .schemas
            .iter()
            .filter_map(|schema| gone(schema).map_or(Some(schema.clone()), |(_, renamed)| renamed.clone()))
            .collect();
        calls.schemas = register_schemas(name, &there);
    }
    calls.options = register_options(name, &mended(stored, &observed.preferred_missing, &now.unmatched));
    observed.unmatched = now.unmatched;
    Ok(())
}

/// Schemas that are not there, each with the one that holds most of its tables now, which it was
/// probably renamed to.
fn schemas_missing(stored: &Datasource, tables: &[TableName]) -> Result<Vec<(String, Option<String>)>> {
    let gone = query::read(GONE, &[stored.schemas.clone().into()], |row| row.must::<String>(1))?;
    gone.into_iter()
        .map(|schema| {
            let held: Vec<String> =
                tables.iter().filter(|table| table.schema == schema).map(|table| table.name.clone()).collect();
            let renamed = query::read_one(RENAMED, &[held.into(), stored.schemas.clone().into()], |row| row.must(1))?;
            Ok((schema, renamed))
        })
        .collect()
}

/// The options without what names nothing. A list of inclusions that would be empty would take in every table:
/// there, the near name stands in place of the glob, or nothing changes.
fn mended(stored: &Datasource, preferred: &[String], unmatched: &[(UnmatchedGlob, Vec<String>)]) -> Value {
    let mut options = stored.stored_options.clone();
    if let Some(Value::Array(tables)) = options.get_mut("preferred_tables") {
        tables.retain(|table| !preferred.iter().any(|missing| *table == missing.as_str()));
    }
    let included =
        |glob: &Value| unmatched.iter().find(|(one, _)| one.option == "include" && *glob == one.glob.as_str());
    for (one, _) in unmatched.iter().filter(|(one, _)| one.option != "include") {
        match options.get_mut(one.option) {
            Some(Value::Array(globs)) => globs.retain(|glob| *glob != one.glob.as_str()),
            Some(Value::Object(globs)) => drop(globs.remove(&one.glob)),
            _ => {}
        }
    }
    if let Some(Value::Array(globs)) = options.get_mut("include") {
        if globs.iter().all(|glob| included(glob).is_some()) {
            for glob in globs.iter_mut() {
                let near = included(glob).and_then(|(_, near)| near.first()).cloned();
                *glob = near.map_or_else(|| glob.clone(), Value::from);
            }
        } else {
            globs.retain(|glob| included(glob).is_none());
        }
    }
    options
}
