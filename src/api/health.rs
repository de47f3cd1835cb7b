//! `nl2sql_health`.

use crate::pg::error::{OrRaise, Result, call, register_options, register_schemas};
use crate::pg::{argument, catalogue, datasource, identity, namespace, query, settings, snapshot};
use nl2sql_core::fingerprint::fingerprint;
use nl2sql_core::health::{self, Calls, Observed, Verdict};
use nl2sql_core::name::parse_identifiers;
use nl2sql_core::schema::Schema;
use nl2sql_core::scope::Scope;
use pgrx::JsonB;
use pgrx::prelude::*;
use std::collections::BTreeMap;

const HEALTH: &str = include_str!("../../sql/search/health.sql");

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
    let mut observed = Observed {
        live: found.schema_version.is_some(),
        others_live,
        entries: found.entries(),
        snapshot_kept: found.snapshot_kept,
        ..Observed::default()
    };
    let mut preferred = String::new();
    if let (Some(version), true) = (&found.schema_version, found.snapshot_kept) {
        let now = current(&found.name)?;
        observed.without_tables = now.tables.is_empty();
        observed.drifted = drifted(&found.name, now, version)?;
        (observed.preferred_missing, preferred) = preferred_missing(&found.name, version)?;
    }
    let calls = Calls {
        index: call("nl2sql_index", &found.name),
        schemas: register_schemas(&found.name),
        preferred,
    };
    Ok(health::judge(&observed, &calls))
}

/// The schema as the catalogue has it now.
fn current(name: &str) -> Result<Schema> {
    identity::as_owner(|| match datasource::load(name)? {
        None => Ok(Schema::default()),
        Some(stored) => catalogue::read(&stored.schemas, &Scope::new(&stored.options)?),
    })
}

/// Whether what the caller sees of the schema now differs from what it sees of the live snapshot.
fn drifted(name: &str, now: Schema, version: &str) -> Result<bool> {
    Ok(fingerprint(name, &snapshot::visible(now)) != snapshot::visible_fingerprint(name, version)?)
}

/// Preferred tables that the live snapshot does not have, and the call that leaves them out: for a caller
/// who may read the options that name them.
fn preferred_missing(name: &str, version: &str) -> Result<(Vec<String>, String)> {
    let readable = query::read_one(
        "SELECT true FROM nl2sql.datasource_setting WHERE datasource = $1",
        &[name.into()],
        |row| row.must::<bool>(1),
    )?;
    if readable.is_none() {
        return Ok(Default::default());
    }
    identity::as_owner(|| {
        let Some(stored) = datasource::load(name)? else { return Ok(Default::default()) };
        let preferred = stored.options.preferred_tables;
        if preferred.is_empty() {
            return Ok(Default::default());
        }
        let tables = snapshot::tables(name, version)?;
        let known = |text: &String| {
            let read = parse_identifiers(text);
            tables.iter().any(|table| {
                *text == table.to_string()
                    || *text == table.name
                    || *text == format!("{}.{}", table.schema, table.name)
                    || match read.as_deref() {
                        Some([name]) => *name == table.name,
                        Some([schema, name]) => *schema == table.schema && *name == table.name,
                        _ => false,
                    }
            })
        };
        let (there, missing): (Vec<String>, Vec<String>) = preferred.into_iter().partition(known);
        let mut options = stored.stored_options;
        options["preferred_tables"] = there.into();
        Ok((missing, register_options(name, &options)))
    })
}
