//! `nl2sql_health`.

use crate::pg::monitoring::health::health;
use crate::pg::server::argument;
use crate::pg::server::error::ErrorReport;
use crate::pg::server::settings;
use pgrx::JsonB;
use pgrx::prelude::*;
use serde_json::json;

#[pg_extern]
fn nl2sql_health(
    datasource: Option<&str>,
) -> Result<
    TableIterator<
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
    >,
    ErrorReport,
> {
    let (model, _) = settings::embedding_model()?;
    let namespace = settings::namespace()?;
    let datasource = datasource.map(|name| argument::non_empty("datasource", Some(name))).transpose()?;
    let rows = health(datasource, &namespace)?.into_iter().map(move |(live, verdict)| {
        (
            live.name.clone(),
            verdict.status.name().to_owned(),
            live.schema_version.clone(),
            live.built_at,
            i32::try_from(live.entries()).unwrap_or(i32::MAX),
            JsonB(json!(live.counts)),
            namespace.clone(),
            model.clone(),
            verdict.problems,
            verdict.warnings,
        )
    });
    Ok(TableIterator::new(rows.collect::<Vec<_>>()))
}
