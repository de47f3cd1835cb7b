//! The health of each datasource's index, as the current user may see it.

use crate::pg::datasource;
use crate::pg::datasource::{Datasource, preferred_tables};
use crate::pg::index::curated_state::curated_state;
use crate::pg::server::error::{Result, call, register_options, register_schemas};
use crate::pg::server::{identity, query};
use crate::pg::snapshot;
use crate::pg::snapshot::drift;
use nl2sql_core::catalog::globs::UnmatchedGlob;
use nl2sql_core::catalog::identifier::TableName;
use nl2sql_core::catalog::option_repair::without_unmatched;
use nl2sql_core::health;
use nl2sql_core::health::{Observations, RemedyCalls, Verdict};
use pgrx::JsonB;
use pgrx::prelude::*;
use std::collections::BTreeMap;

/// A glob of the options, with similar names.
/// A glob of the options that matches nothing, with similar names.
type UnmatchedWithNames = (UnmatchedGlob, Vec<String>);

const HEALTH: &str = include_str!("../../../sql/health/health.sql");
const MISSING_SCHEMAS: &str = "SELECT name FROM unnest($1) WITH ORDINALITY AS s (name, place)
    WHERE name NOT IN (SELECT nspname::text FROM pg_namespace) ORDER BY place";
const RENAMED: &str = include_str!("../../../sql/health/renamed.sql");

/// A datasource with its live build, if there is one.
pub struct LiveIndex {
    pub name: String,
    pub schema_version: Option<String>,
    pub built_at: Option<TimestampWithTimeZone>,
    /// Entries by chunk type.
    pub counts: BTreeMap<String, usize>,
    snapshot_kept: bool,
}

impl LiveIndex {
    pub fn entries(&self) -> usize {
        self.counts.values().sum()
    }
}

/// The health of one datasource, or of all, worst first.
pub fn health(datasource: Option<&str>, namespace: &str) -> Result<Vec<(LiveIndex, Verdict)>> {
    if let Some(name) = datasource {
        datasource::check_known(name)?;
    }
    let indexes = live_indexes(namespace)?;
    let live: Vec<String> =
        indexes.iter().filter(|index| index.schema_version.is_some()).map(|index| index.name.clone()).collect();
    let mut judged: Vec<(LiveIndex, Verdict)> = indexes
        .into_iter()
        .filter(|index| datasource.is_none_or(|name| index.name == name))
        .map(|index| {
            let others_live = live.iter().any(|other| *other != index.name);
            let verdict = judge(&index, namespace, others_live)?;
            Ok((index, verdict))
        })
        .collect::<Result<_>>()?;
    judged.sort_by(|(a, verdict_a), (b, verdict_b)| {
        verdict_a.status.cmp(&verdict_b.status).then_with(|| a.name.cmp(&b.name))
    });
    Ok(judged)
}

fn live_indexes(namespace: &str) -> Result<Vec<LiveIndex>> {
    query::read(HEALTH, &[namespace.into()], |row| {
        Ok(LiveIndex {
            name: row.must(1)?,
            schema_version: row.get(2)?,
            built_at: row.get(3)?,
            counts: serde_json::from_value(row.must::<JsonB>(4)?.0)?,
            snapshot_kept: row.must(5)?,
        })
    })
}

fn judge(index: &LiveIndex, namespace: &str, others_live: bool) -> Result<Verdict> {
    let name = index.name.as_str();
    let mut observed = Observations {
        live: index.schema_version.is_some(),
        others_live,
        entries: index.entries(),
        snapshot_kept: index.snapshot_kept,
        ..Observations::default()
    };
    let mut calls = RemedyCalls {
        index: call("nl2sql_index", name),
        schemas: register_schemas(name, &[]),
        options: String::new(),
        curated: format!("nl2sql_index({}, curated_only => true)", pgrx::spi::quote_literal(name)),
        validate: call("nl2sql_curated_validate", name),
    };
    let stored = identity::as_owner(|owner| datasource::load(owner, name))?;
    if let (Some(stored), Some(version), true) = (stored, &index.schema_version, index.snapshot_kept) {
        let unmatched = observe_content(&stored, version, namespace, &mut observed)?;
        if preferred_tables::options_readable(name)? {
            observed.unmatched = unmatched;
            observe_options(&stored, version, &mut observed, &mut calls)?;
        }
    }
    Ok(health::judge(&observed, &calls))
}

/// Compares the live build with the catalogs and the curated content. Returns the globs that match nothing, which are
/// for users who may read the options.
fn observe_content(
    stored: &Datasource,
    version: &str,
    namespace: &str,
    observed: &mut Observations,
) -> Result<Vec<UnmatchedWithNames>> {
    let name = stored.about.name.as_str();
    let now = drift::current(stored)?;
    observed.without_tables = now.schema.tables.is_empty();
    observed.drifted = drift::drifted(name, &now.schema, version)?;
    let curated = curated_state(name, namespace)?;
    (observed.curated_changed, observed.curated_left_out) = (curated.changed, curated.left_out);
    Ok(now.unmatched)
}

/// Compares the registration with the catalogs and the live snapshot, for a user who may read its options.
fn observe_options(
    stored: &Datasource,
    version: &str,
    observed: &mut Observations,
    calls: &mut RemedyCalls,
) -> Result<()> {
    let name = stored.about.name.as_str();
    let tables = identity::as_owner(|owner| snapshot::tables(owner, name, version))?;
    observed.scoped = !stored.options.include.is_empty() || !stored.options.exclude.is_empty();
    observed.preferred_missing = preferred_tables::missing(stored, &tables);
    observed.schemas_missing = schemas_missing(stored, &tables)?;
    if !observed.schemas_missing.is_empty() {
        let missing = |schema: &String| observed.schemas_missing.iter().find(|(missing, _)| missing == schema);
        let present: Vec<String> = stored
            .schemas
            .iter()
            .filter_map(|schema| missing(schema).map_or(Some(schema.clone()), |(_, renamed)| renamed.clone()))
            .collect();
        calls.schemas = register_schemas(name, &present);
    }
    let repaired = without_unmatched(&stored.stored_options, &observed.preferred_missing, &observed.unmatched);
    calls.options = register_options(name, &repaired);
    Ok(())
}

/// Schemas that do not exist, each with the one that holds most of its tables now, which is probably its new name.
fn schemas_missing(stored: &Datasource, tables: &[TableName]) -> Result<Vec<(String, Option<String>)>> {
    let missing = query::read(MISSING_SCHEMAS, &[stored.schemas.clone().into()], |row| row.must::<String>(1))?;
    missing
        .into_iter()
        .map(|schema| {
            let held: Vec<String> =
                tables.iter().filter(|table| table.schema == schema).map(|table| table.name.clone()).collect();
            let renamed = query::read_one(RENAMED, &[held.into(), stored.schemas.clone().into()], |row| row.must(1))?;
            Ok((schema, renamed))
        })
        .collect()
}
