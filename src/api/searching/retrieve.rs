//! `nl2sql_retrieve` and `nl2sql_retrieve_explain`.

use crate::pg::search::explain_retrieval::explain;
use crate::pg::search::retrieval::RetrievalRequest;
use crate::pg::search::retrieve::retrieve;
use crate::pg::search::strategy::Strategy;
use crate::pg::server::argument;
use crate::pg::server::error::{Error, ErrorReport, Result as PgResult};
use crate::pg::server::jsonb::JsonbText;
use nl2sql_core::search::sub_query;
use pgrx::JsonB;
use pgrx::prelude::*;

#[pg_extern]
fn nl2sql_retrieve(
    datasource: Option<&str>,
    question: Option<&str>,
    sub_query: Option<JsonbText>,
    schema_version: Option<&str>,
    table_k: Option<i32>,
    planning_k: Option<i32>,
    strategy: Option<&str>,
) -> Result<
    TableIterator<
        'static,
        (
            name!(rank, i32),
            name!(table_schema, String),
            name!(table_name, String),
            name!(preferred, bool),
            name!(definition, JsonB),
            name!(via, String),
        ),
    >,
    ErrorReport,
> {
    let request = request(datasource, question, sub_query, schema_version, table_k, planning_k, strategy)?;
    let rows = retrieve(&request)?.sent.into_iter().zip(1..).map(|(sent, rank)| {
        let name = sent.table.name;
        (rank, name.schema, name.name, sent.preferred, JsonB(sent.definition), sent.via.name().to_owned())
    });
    Ok(TableIterator::new(rows.collect::<Vec<_>>()))
}

#[pg_extern]
fn nl2sql_retrieve_explain(
    datasource: Option<&str>,
    question: Option<&str>,
    sub_query: Option<JsonbText>,
    schema_version: Option<&str>,
    table_k: Option<i32>,
    planning_k: Option<i32>,
    strategy: Option<&str>,
) -> Result<JsonB, ErrorReport> {
    let request = request(datasource, question, sub_query, schema_version, table_k, planning_k, strategy)?;
    Ok(JsonB(explain(&request, &retrieve(&request)?)?))
}

/// Checks the arguments.
pub(super) fn request<'a>(
    datasource: Option<&'a str>,
    question: Option<&str>,
    sub_query: Option<JsonbText>,
    schema_version: Option<&'a str>,
    table_k: Option<i32>,
    planning_k: Option<i32>,
    strategy: Option<&str>,
) -> PgResult<RetrievalRequest<'a>> {
    let datasource = argument::required("datasource", datasource)?;
    let question = argument::non_empty("question", question)?;
    let sub_query = sub_query.map(|sub_query| sub_query.parse("sub_query")).transpose()?;
    let text = sub_query::text(question, sub_query.as_ref()).map_err(|error| {
        Error::invalid(error.to_string()).hint(format!("Known keys: {}.", sub_query::KEYS.join(", ")))
    })?;
    tracing::debug!(question, "retrieve");
    Ok(RetrievalRequest {
        datasource,
        text,
        schema_version,
        table_k: argument::at_least_one("table_k", table_k)?,
        planning_k: argument::at_least_one("planning_k", planning_k)?,
        strategy: Strategy::parse(argument::required("strategy", strategy)?)?,
    })
}
