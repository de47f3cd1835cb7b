//! The first step of a build: the schema, read from the catalogs or, for a build of curated content alone, from the live
//! snapshot.

use crate::pg::datasource::{Datasource, ddl_watch, overrides, relation};
use crate::pg::index::target::{BuildTarget, Extent};
use crate::pg::server::error::{Error, Result, call, register_options, register_schemas};
use crate::pg::server::identity::Owner;
use crate::pg::server::{privilege, query};
use crate::pg::{catalog, profile, snapshot};
use nl2sql_core::catalog::assemble::TableRow;
use nl2sql_core::catalog::identifier::TableName;
use nl2sql_core::catalog::overrides::describe;
use nl2sql_core::catalog::schema::Schema;
use nl2sql_core::catalog::scope::Scope;
use nl2sql_core::snapshot::issue::Issue;
use pgrx::JsonB;
use pgrx::prelude::*;
use std::collections::HashMap;

/// A schema as it was read, and stored as a snapshot.
pub struct Reading {
    pub schema: Schema,
    pub schema_version: String,
    /// The rows of the catalogs that name the tables; none for the live snapshot.
    pub rows: Vec<TableRow>,
    /// The numbers by which entries name their tables.
    pub table_numbers: HashMap<TableName, i32>,
    /// What could not be read.
    pub issues: Vec<Issue>,
}

pub fn read(target: &BuildTarget) -> Result<Reading> {
    match target.extent {
        Extent::Whole => read_catalog(target),
        Extent::CuratedOnly => read_live_snapshot(target),
    }
}

/// Reads the schema with its statistics, and stores it as a snapshot.
fn read_catalog(target: &BuildTarget) -> Result<Reading> {
    let BuildTarget { owner, lease, datasource, .. } = target;
    let name = target.name();
    tracing::debug!(datasource = name, "reading the schema");
    let (mut schema, rows) = catalog::read(owner, &datasource.schemas, &Scope::new(&datasource.options)?)?;
    if schema.tables.is_empty() {
        return Err(no_tables(datasource));
    }
    tracing::debug!(datasource = name, tables = schema.tables.len(), "reading statistics");
    let issues = profile::profile(&mut schema, &rows, &datasource.options)?;
    describe(&mut schema, overrides::load(owner, name)?);
    ddl_watch::forget(owner, &datasource.schemas)?;
    tracing::debug!(datasource = name, tables = schema.tables.len(), "storing the snapshot");
    let tables: Vec<TableName> = schema.tables.iter().map(|table| table.name.clone()).collect();
    let table_numbers = relation::note(owner, lease, &tables)?;
    let schema_version = snapshot::store(owner, lease, &schema)?;
    Ok(Reading { schema, schema_version, rows, table_numbers, issues })
}

fn read_live_snapshot(target: &BuildTarget) -> Result<Reading> {
    let (owner, name) = (target.owner, target.name());
    let Some(live) = &target.live else { return Err(Error::not_indexed(name, &target.namespace)) };
    Ok(Reading {
        schema: snapshot::load(owner, name, &live.schema_version)?,
        schema_version: live.schema_version.clone(),
        rows: Vec::new(),
        table_numbers: relation::numbers(owner, name)?,
        issues: schema_issues(owner, live.build)?,
    })
}

/// What a build could not read of the schema.
fn schema_issues(_: &Owner, build: i64) -> Result<Vec<Issue>> {
    let issues =
        query::read_one("SELECT issues FROM nl2sql.build WHERE id = $1", &[build.into()], |row| row.must::<JsonB>(1))?;
    let issues: Vec<Issue> = serde_json::from_value(issues.map(|issues| issues.0).unwrap_or_default())?;
    Ok(issues.into_iter().filter(|issue| issue.table.is_some()).collect())
}

fn no_tables(datasource: &Datasource) -> Error {
    let name = &datasource.about.name;
    let scoped = !datasource.options.include.is_empty() || !datasource.options.exclude.is_empty();
    let gone: Vec<&str> = datasource
        .schemas
        .iter()
        .filter(|schema| privilege::schema_oid(schema).is_none())
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
            "Change the options; this call repeats all of them: SELECT {};",
            register_options(name, &datasource.stored_options)
        ))
    } else {
        error.hint(format!("Create tables, then run: SELECT {};", call("nl2sql_index", name)))
    }
}
