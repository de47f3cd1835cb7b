//! `nl2sql_mmr` and `nl2sql_mmr_explain`.

use crate::pg::search::mmr::{MmrRequest, check_types, mmr};
use crate::pg::server::argument;
use crate::pg::server::argument::TextArray;
use crate::pg::server::error::{Error, ErrorReport, Result as PgResult};
use pgrx::JsonB;
use pgrx::prelude::*;

#[pg_extern]
fn nl2sql_mmr(
    query: Option<&str>,
    k: Option<i32>,
    lambda: Option<f64>,
    types: TextArray,
    datasources: TextArray,
    tables: TextArray,
    fetch_k: Option<i32>,
) -> Result<
    TableIterator<
        'static,
        (
            name!(rank, i32),
            name!(id, String),
            name!(datasource, String),
            name!(r#type, String),
            name!(text, String),
            name!(metadata, JsonB),
            name!(similarity, f64),
            name!(pick, i32),
            name!(mmr_score, f64),
        ),
    >,
    ErrorReport,
> {
    let picked = mmr(request(query, k, lambda, types, datasources, tables, fetch_k)?)?.into_picked();
    let rows = picked.into_iter().zip(1..).map(|(picked, rank)| {
        let entry = picked.entry;
        let metadata = JsonB(entry.metadata);
        let chunk_type = entry.chunk_type;
        let pick = picked.pick as i32;
        (rank, entry.id, entry.datasource, chunk_type, entry.text, metadata, entry.similarity, pick, picked.mmr_score)
    });
    Ok(TableIterator::new(rows.collect::<Vec<_>>()))
}

#[pg_extern]
fn nl2sql_mmr_explain(
    query: Option<&str>,
    k: Option<i32>,
    lambda: Option<f64>,
    types: TextArray,
    datasources: TextArray,
    tables: TextArray,
    fetch_k: Option<i32>,
) -> Result<JsonB, ErrorReport> {
    Ok(JsonB(mmr(request(query, k, lambda, types, datasources, tables, fetch_k)?)?.explain()?))
}

fn request(
    query: Option<&str>,
    k: Option<i32>,
    lambda: Option<f64>,
    types: TextArray,
    datasources: TextArray,
    tables: TextArray,
    fetch_k: Option<i32>,
) -> PgResult<MmrRequest> {
    let query = argument::non_empty("query", query)?.to_owned();
    let k = argument::at_least_one("k", k)?;
    let lambda = argument::fraction("lambda", lambda)?;
    let types = argument::filter("types", types)?;
    check_types(types.as_deref().unwrap_or_default())?;
    let fetch_k = match fetch_k {
        None => 4 * k as i64,
        Some(fetch_k) if fetch_k >= 1 => i64::from(fetch_k),
        Some(fetch_k) => return Err(Error::invalid(format!("fetch_k must be at least 1, not {fetch_k}"))),
    };
    let datasources = argument::filter("datasources", datasources)?;
    let tables = argument::filter("tables", tables)?;
    Ok(MmrRequest { query, k, lambda, types, datasources, tables, fetch_k })
}
