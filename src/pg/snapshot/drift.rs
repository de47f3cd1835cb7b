//! Drift: how the structure of a datasource differs now from a snapshot, and how versions differ from each other.

use crate::pg::datasource::Datasource;
use crate::pg::datasource::lease::Lease;
use crate::pg::server::error::Result;
use crate::pg::server::identity::Owner;
use crate::pg::server::{identity, privilege, query};
use crate::pg::{catalog, snapshot};
use nl2sql_core::catalog::identifier::TableName;
use nl2sql_core::catalog::schema::Schema;
use nl2sql_core::catalog::{globs::UnmatchedGlob, scope::Scope};
use nl2sql_core::similar_names::near_names;
use nl2sql_core::snapshot::diff::{Diff, diff};
use nl2sql_core::snapshot::fingerprint::table_fingerprint;
use pgrx::JsonB;
use std::collections::{HashMap, HashSet};

/// What the schemas of a datasource hold now, according to the catalogs.
pub struct CurrentSchema {
    /// The structure of the tables in scope.
    pub schema: Schema,
    /// Globs of its options that match nothing, each with similar names that exist for the current user.
    pub unmatched: Vec<(UnmatchedGlob, Vec<String>)>,
}

/// Reads the catalogs as the extension's owner.
pub fn current(stored: &Datasource) -> Result<CurrentSchema> {
    let scope = Scope::new(&stored.options)?;
    let mut catalogue = identity::as_owner(|owner| catalog::structure(owner, &stored.schemas))?;
    let all: Vec<TableName> = catalogue.tables.iter().map(|table| table.table_name()).collect();
    catalogue.tables.retain(|table| scope.takes_in(&table.table_name()));
    let names: HashMap<u32, TableName> = catalogue.tables.iter().map(|table| (table.oid, table.table_name())).collect();
    let columns = catalogue.columns.iter().filter_map(|column| Some((names.get(&column.table)?, column.name.as_str())));
    let unmatched = scope.unmatched(&all, columns.clone());
    let unmatched = if unmatched.is_empty() { Vec::new() } else { with_near_names(unmatched, &all, columns) };
    Ok(CurrentSchema { schema: catalogue.assemble(&scope), unmatched })
}

fn with_near_names<'a>(
    unmatched: Vec<UnmatchedGlob>,
    tables: &[TableName],
    columns: impl Iterator<Item = (&'a TableName, &'a str)>,
) -> Vec<(UnmatchedGlob, Vec<String>)> {
    let readable = |table: &TableName| privilege::reach(&table.schema, &table.name) == privilege::Reach::Table;
    let plain = |table: &TableName| format!("{}.{}", table.schema, table.name);
    let tables: Vec<String> = tables.iter().filter(|table| readable(table)).map(plain).collect();
    let known: HashSet<&String> = tables.iter().collect();
    let columns: Vec<String> = columns
        .map(|(table, column)| (plain(table), column))
        .filter(|(table, _)| known.contains(table))
        .map(|(table, column)| format!("{table}.{column}"))
        .collect();
    unmatched
        .into_iter()
        .map(|one| {
            let among = if matches!(one.option, "include" | "exclude") { &tables } else { &columns };
            let near = near_names(&one.glob, among.iter().map(String::as_str));
            let near = near.into_iter().map(str::to_owned).collect();
            (one, near)
        })
        .collect()
}

/// Whether the schema differs now from the snapshot, in the part that exists for the current user. Tables with equal
/// fingerprints are skipped.
pub fn drifted(name: &str, now: &Schema, version: &str) -> Result<bool> {
    let mut stored: HashMap<TableName, String> =
        identity::as_owner(|owner| snapshot::table_fingerprints(owner, name, version))?.into_iter().collect();
    let mut differing = Vec::new();
    let mut changed = Schema::default();
    for table in &now.tables {
        let known = stored.remove(&table.name);
        if known.as_deref() != Some(table_fingerprint(table).as_str()) {
            differing.push(table.name.clone());
            changed.tables.push(table.clone());
        }
    }
    differing.extend(stored.into_keys());
    if differing.is_empty() {
        return Ok(false);
    }
    let before = identity::as_owner(|owner| snapshot::load_tables(owner, name, version, &differing))?;
    Ok(!diff(&snapshot::visible(before), &snapshot::visible(changed)).is_empty())
}

/// How the structure of version `to` differs from that of `from`, in the part that exists for the current user. `to` must
/// be kept, and `from` or the diff between them.
pub fn between(name: &str, from: &str, to: &str) -> Result<Diff> {
    let kept = snapshot::versions(name)?;
    let kept = |version: &str| kept.iter().any(|known| known.schema_version == version);
    if kept(to)
        && !kept(from)
        && let Some((_, diff)) = stored(name, to)?.filter(|(stored_from, _)| stored_from == from)
    {
        return Ok(diff);
    }
    snapshot::check_version(name, from)?;
    snapshot::check_version(name, to)?;
    Ok(diff(&snapshot::load_visible(name, from)?, &snapshot::load_visible(name, to)?))
}

/// How the current structure differs from that of a kept version, as far as both exist for the current user.
pub fn since(stored: &Datasource, from: &str) -> Result<Diff> {
    let name = stored.about.name.as_str();
    snapshot::check_version(name, from)?;
    let now = snapshot::visible(current(stored)?.schema);
    Ok(diff(&snapshot::load_visible(name, from)?, &now))
}

/// The diff stored with a version, as the current user may see it, and the version that it starts from.
fn stored(name: &str, version: &str) -> Result<Option<(String, Diff)>> {
    let stored: Option<(String, Diff)> = identity::as_owner(|_| {
        query::read_one(
            "SELECT from_version, diff FROM nl2sql.diff WHERE datasource = $1 AND schema_version = $2",
            &[name.into(), version.into()],
            |row| Ok((row.must::<String>(1)?, serde_json::from_value(row.must::<JsonB>(2)?.0)?)),
        )
    })?;
    Ok(stored.map(|(from, diff)| {
        let tables = diff.named_tables();
        (from, snapshot::access(tables).visible_diff(diff))
    }))
}

/// Whether a version has a diff that is not empty for the current user.
pub fn has_diff(name: &str, version: &str) -> Result<bool> {
    Ok(stored(name, version)?.is_some_and(|(_, diff)| !diff.is_empty()))
}

/// Stores how the version that goes live differs from the one that it replaces, and returns the diff unless it is
/// empty.
pub fn store(owner: &Owner, lease: &Lease, from: &str, to: &str) -> Result<Option<Diff>> {
    let name = lease.datasource();
    if from == to {
        return Ok(None);
    }
    let found = diff(&snapshot::load(owner, name, from)?, &snapshot::load(owner, name, to)?);
    if found.is_empty() {
        // An older diff may be stored, from the last time that this version went live.
        query::execute(
            "DELETE FROM nl2sql.diff WHERE datasource = $1 AND schema_version = $2",
            &[name.into(), to.into()],
        )?;
        return Ok(None);
    }
    query::execute(
        "INSERT INTO nl2sql.diff (datasource, schema_version, from_version, diff) VALUES ($1, $2, $3, $4)
         ON CONFLICT (datasource, schema_version) DO UPDATE SET
             from_version = excluded.from_version,
             diff = excluded.diff",
        &[name.into(), to.into(), from.into(), JsonB(serde_json::to_value(&found)?).into()],
    )?;
    Ok(Some(found))
}
