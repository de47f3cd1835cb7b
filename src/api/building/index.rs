//! `nl2sql_index`.

use crate::pg::index::run::{IndexRun, index_all, index_one};
use crate::pg::index::target::Extent;
use crate::pg::server::error::{Error, ErrorReport};
use crate::pg::server::{argument, identity};
use pgrx::JsonB;
use pgrx::prelude::*;
use serde_json::json;

#[pg_extern]
fn nl2sql_index(
    datasource: Option<&str>,
    curated_only: Option<bool>,
    enrich: Option<bool>,
) -> Result<
    TableIterator<
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
    >,
    ErrorReport,
> {
    identity::check_writable("nl2sql_index()");
    let extent = if argument::required("curated_only", curated_only)? { Extent::CuratedOnly } else { Extent::Whole };
    if argument::required("enrich", enrich)? {
        return Err(Error::later("enrich").into());
    }
    let runs = match datasource {
        Some(name) => vec![index_one(argument::non_empty("datasource", Some(name))?, extent)?],
        None => index_all(extent)?,
    };
    let number = |count: usize| Some(i32::try_from(count).unwrap_or(i32::MAX));
    let rows = runs.into_iter().map(move |IndexRun { datasource, seconds, outcome }| match outcome {
        Ok(built) => (
            datasource,
            built.status.to_owned(),
            Some(built.build.to_string()),
            Some(built.schema_version),
            number(built.entries),
            Some(JsonB(json!(built.counts))),
            number(built.embedded),
            number(built.reused),
            JsonB(json!(built.issues)),
            seconds,
            None,
        ),
        Err(error) => {
            let failed = "failed".to_owned();
            (datasource, failed, None, None, None, None, None, None, JsonB(json!([])), seconds, Some(error.message))
        }
    });
    Ok(TableIterator::new(rows.collect::<Vec<_>>()))
}
