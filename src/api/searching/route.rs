//! `nl2sql_route` and `nl2sql_route_explain`.

use crate::pg::search::route::{RouteRequest, parse_fusion, route};
use crate::pg::server::argument;
use crate::pg::server::argument::TextArray;
use crate::pg::server::error::{ErrorReport, Result as PgResult};
use pgrx::JsonB;
use pgrx::prelude::*;
use serde_json::json;

#[pg_extern]
fn nl2sql_route(
    question: Option<&str>,
    candidates: Option<i32>,
    floor_ratio: Option<f64>,
    datasources: TextArray,
    fusion: Option<&str>,
) -> Result<
    TableIterator<'static, (name!(datasource, String), name!(score, f64), name!(similarity, f64), name!(ranks, JsonB))>,
    ErrorReport,
> {
    let picks = route(request(question, candidates, floor_ratio, datasources, fusion)?)?.picks;
    let rows = picks.into_iter().map(|pick| (pick.datasource, pick.score, pick.similarity, JsonB(json!(pick.ranks))));
    Ok(TableIterator::new(rows))
}

#[pg_extern]
fn nl2sql_route_explain(
    question: Option<&str>,
    candidates: Option<i32>,
    floor_ratio: Option<f64>,
    datasources: TextArray,
    fusion: Option<&str>,
) -> Result<JsonB, ErrorReport> {
    Ok(JsonB(route(request(question, candidates, floor_ratio, datasources, fusion)?)?.explain()?))
}

fn request<'a>(
    question: Option<&'a str>,
    candidates: Option<i32>,
    floor_ratio: Option<f64>,
    datasources: TextArray,
    fusion: Option<&str>,
) -> PgResult<RouteRequest<'a>> {
    Ok(RouteRequest {
        question: argument::non_empty("question", question)?,
        candidates: argument::at_least_one("candidates", candidates)?,
        floor_ratio: argument::fraction("floor_ratio", floor_ratio)?,
        datasources: argument::filter("datasources", datasources)?,
        fusion: parse_fusion(fusion)?,
    })
}
