//! `nl2sql_retrieve` and `nl2sql_retrieve_explain`.

use crate::pg::search::rank_tables::Ranking;
use crate::pg::search::retrieval::{Retrieval, RetrievalRequest};
use crate::pg::search::retrieve;
use crate::pg::search::strategy::Strategy;
use crate::pg::server::argument;
use crate::pg::server::error::{Error, OrRaise, Result};
use crate::pg::server::jsonb::JsonbText;
use nl2sql_core::search::sub_query;
use nl2sql_core::search::table_selection::Via;
use pgrx::JsonB;
use pgrx::prelude::*;
use serde_json::{Value, json};

/// Tables of the pool that an explain record shows.
const POOL: usize = 50;

#[pg_extern]
#[allow(clippy::too_many_arguments)] // the contract's
fn nl2sql_retrieve(
    datasource: Option<&str>,
    question: Option<&str>,
    sub_query: Option<JsonbText>,
    schema_version: Option<&str>,
    table_k: Option<i32>,
    planning_k: Option<i32>,
    strategy: Option<&str>,
) -> TableIterator<
    'static,
    (
        name!(rank, i32),
        name!(table_schema, String),
        name!(table_name, String),
        name!(preferred, bool),
        name!(definition, JsonB),
        name!(via, String),
    ),
> {
    let found = request(datasource, question, sub_query, schema_version, table_k, planning_k, strategy)
        .and_then(|request| retrieve::retrieve(&request))
        .or_raise();
    let rows = found.sent.into_iter().zip(1..).map(|(sent, rank)| {
        let name = sent.table.name;
        (rank, name.schema, name.name, sent.preferred, JsonB(sent.definition), sent.via.name().to_owned())
    });
    TableIterator::new(rows.collect::<Vec<_>>())
}

#[pg_extern]
#[allow(clippy::too_many_arguments)] // the contract's
fn nl2sql_retrieve_explain(
    datasource: Option<&str>,
    question: Option<&str>,
    sub_query: Option<JsonbText>,
    schema_version: Option<&str>,
    table_k: Option<i32>,
    planning_k: Option<i32>,
    strategy: Option<&str>,
) -> JsonB {
    let request = request(datasource, question, sub_query, schema_version, table_k, planning_k, strategy).or_raise();
    let found = retrieve::retrieve(&request).or_raise();
    JsonB(explain(&request, &found))
}

/// The arguments, checked.
pub fn request<'a>(
    datasource: Option<&'a str>,
    question: Option<&str>,
    sub_query: Option<JsonbText>,
    schema_version: Option<&'a str>,
    table_k: Option<i32>,
    planning_k: Option<i32>,
    strategy: Option<&str>,
) -> Result<RetrievalRequest<'a>> {
    let datasource = argument::required("datasource", datasource)?;
    let question = argument::spoken("question", question)?;
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

fn explain(request: &RetrievalRequest, found: &Retrieval) -> Value {
    let sent: Vec<Value> = found
        .sent
        .iter()
        .map(|sent| {
            let columns = sent.definition["columns"].as_array().into_iter().flatten();
            json!({
                "table": sent.table.name.to_string(),
                "via": sent.via.name(),
                "preferred": sent.preferred,
                "columns": columns.map(|column| column["name"].clone()).collect::<Value>(),
            })
        })
        .collect();
    let mut record = json!({
        "datasource": request.datasource,
        "schema_version": found.schema_version,
        "text": request.text,
        "table_k": request.table_k,
        "planning_k": request.planning_k,
        "small": found.sent.first().is_some_and(|sent| sent.via == Via::Small),
        "sent": sent,
        "used": found.used.iter().map(|used| json!({ used.via().name(): used.name(), "tables": used.tables() })).collect::<Value>(),
    });
    if let Some(ranking) = &found.ranking {
        record["strategy"] = json!(ranking.strategy.name());
        record["words"] = json!(ranking.stems);
        record["pool"] = pool(ranking, found);
        record["picks"] = found.picks.iter().map(|place| ranking.tables[*place].name.to_string()).collect();
        record["hits"] =
            found.hits.iter().map(|(table, column)| json!({ "table": table.to_string(), "column": column })).collect();
    }
    record
}

fn pool(ranking: &Ranking, found: &Retrieval) -> Value {
    let tables = ranking.order.iter().take(POOL.max(found.picks.len())).zip(1..);
    tables
        .map(|(place, rank)| {
            let table = &ranking.tables[*place];
            let evidence = &table.evidence.signals;
            json!({
                "rank": rank,
                "table": table.name.to_string(),
                "score": table.score,
                "similarity": evidence.table,
                "column_similarity": evidence.column,
                "words": evidence.terms,
                "picked": found.picks.contains(place),
            })
        })
        .collect()
}
