//! `nl2sql_index`.

use crate::pg::datasource;
use crate::pg::datasource::RegistrationChange;
use crate::pg::datasource::lease;
use crate::pg::index::build::{BuildOutcome, build};
use crate::pg::index::namespace;
use crate::pg::index::target::Extent;
use crate::pg::server::error::{Error, OrRaise, Result};
use crate::pg::server::identity::Owner;
use crate::pg::server::{argument, identity, privilege, subtransaction};
use pgrx::JsonB;
use pgrx::prelude::*;
use serde_json::json;
use std::time::Instant;

type Row = (
    name!(datasource, String),
    name!(status, String),
    name!(build_id, Option<String>),
    name!(schema_version, Option<String>),
    name!(entries, Option<i32>),
    name!(counts, Option<JsonB>),
    name!(embedded, Option<i32>),
    name!(reused, Option<i32>),
    name!(issues, JsonB),
    name!(seconds, f64),
    name!(error, Option<String>),
);

#[pg_extern]
fn nl2sql_index(
    datasource: Option<&str>,
    curated_only: Option<bool>,
    enrich: Option<bool>,
) -> TableIterator<
    'static,
    (
        name!(datasource, String),
        name!(status, String),
        name!(build_id, Option<String>),
        name!(schema_version, Option<String>),
        name!(entries, Option<i32>),
        name!(counts, Option<JsonB>),
        name!(embedded, Option<i32>),
        name!(reused, Option<i32>),
        name!(issues, JsonB),
        name!(seconds, f64),
        name!(error, Option<String>),
    ),
> {
    TableIterator::new(index(datasource, curated_only, enrich).or_raise())
}

fn index(datasource: Option<&str>, curated_only: Option<bool>, enrich: Option<bool>) -> Result<Vec<Row>> {
    identity::check_writable("nl2sql_index()");
    let curated_only = argument::required("curated_only", curated_only)?;
    if argument::required("enrich", enrich)? {
        return Err(Error::later("enrich"));
    }
    match datasource {
        Some(name) => Ok(vec![index_one(name, curated_only)?]),
        None => index_all(curated_only),
    }
}

/// One datasource: an error raises, and nothing has changed.
fn index_one(name: &str, curated_only: bool) -> Result<Row> {
    let name = argument::spoken("datasource", Some(name))?;
    let started = Instant::now();
    if identity::as_owner(|owner| datasource::load(owner, name))?.is_none() {
        if curated_only {
            return Err(not_registered(name)?);
        }
        register_schema(name)?;
    }
    let outcome = identity::as_owner(|owner| build_one(owner, name, curated_only))
        .inspect_err(|error| log_failed(name, started, error))?;
    Ok(finish(name, started, Ok(outcome)))
}

/// Every registered datasource in turn, each on its own: one that fails keeps its previous build.
fn index_all(curated_only: bool) -> Result<Vec<Row>> {
    identity::as_owner(|owner| {
        let rows = datasource::names()?.into_iter().map(|name| {
            let started = Instant::now();
            let outcome = subtransaction::attempt(|| build_one(owner, &name, curated_only));
            finish(&name, started, outcome)
        });
        Ok(rows.collect())
    })
}

/// What is not registered has nothing that curated content could be put beside.
fn not_registered(name: &str) -> Result<Error> {
    if privilege::schema_oid(name).is_some() {
        return Ok(Error::not_indexed(name, &namespace::current()?));
    }
    Ok(datasource::unknown(name, &datasource::names()?))
}

/// A name that is not registered but is a schema that the caller may look into.
fn register_schema(name: &str) -> Result<()> {
    let system = name == "information_schema" || name.starts_with("pg_");
    if system || privilege::schema_oid(name).is_none() {
        let mut known = datasource::names()?;
        known.extend(crate::pg::catalog::schemas()?);
        return Err(datasource::unknown(name, &known));
    }
    identity::as_owner(|owner| datasource::save(owner, name, RegistrationChange::default()))?;
    notice!("schema \"{name}\" is registered as a datasource");
    Ok(())
}

fn build_one(owner: &Owner, name: &str, curated_only: bool) -> Result<BuildOutcome> {
    let Some(datasource) = datasource::load(owner, name)? else {
        return Err(datasource::unknown(name, &[]));
    };
    let lease = lease::take(owner, name, datasource.id)?;
    build(owner, &lease, &datasource, if curated_only { Extent::CuratedOnly } else { Extent::Whole })
}

/// Leaves the build's one line in the server log, and makes it a row.
fn finish(name: &str, started: Instant, outcome: Result<BuildOutcome>) -> Row {
    let seconds = started.elapsed().as_secs_f64();
    let name = name.to_owned();
    match outcome {
        Ok(outcome) => {
            tracing::info!(
                datasource = name,
                status = outcome.status,
                build = outcome.build,
                schema_version = outcome.schema_version,
                entries = outcome.entries,
                embedded = outcome.embedded,
                reused = outcome.reused,
                issues = outcome.issues.len(),
                seconds,
                "build"
            );
            let number = |count: usize| Some(i32::try_from(count).unwrap_or(i32::MAX));
            (
                name,
                outcome.status.to_owned(),
                Some(outcome.build.to_string()),
                Some(outcome.schema_version),
                number(outcome.entries),
                Some(JsonB(json!(outcome.counts))),
                number(outcome.embedded),
                number(outcome.reused),
                JsonB(json!(outcome.issues)),
                seconds,
                None,
            )
        }
        Err(error) => {
            log_failed(&name, started, &error);
            warning!("datasource \"{name}\" was not indexed: {}", error.message);
            let failed = "failed".to_owned();
            (name, failed, None, None, None, None, None, None, JsonB(json!([])), seconds, Some(error.message))
        }
    }
}

fn log_failed(name: &str, started: Instant, error: &Error) {
    let seconds = started.elapsed().as_secs_f64();
    tracing::info!(datasource = name, status = "failed", sqlstate = ?error.code, seconds, "build");
}
