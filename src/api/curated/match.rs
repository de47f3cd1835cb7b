//! `nl2sql_match`.

use crate::pg::search::match_queries::{match_queries, proposals};
use crate::pg::server::argument::TextArray;
use crate::pg::server::error::ErrorReport;
use crate::pg::server::{argument, interrupt};
use nl2sql_core::curated::fill_params::question::Question;
use pgrx::JsonB;
use pgrx::prelude::*;

#[pg_extern]
fn nl2sql_match(
    question: Option<&str>,
    datasources: TextArray,
    k: Option<i32>,
) -> Result<
    TableIterator<
        'static,
        (
            name!(datasource, String),
            name!(query_id, String),
            name!(similarity, f64),
            name!(phrasing, String),
            name!(description, Option<String>),
            name!(sql, String),
            name!(params, JsonB),
        ),
    >,
    ErrorReport,
> {
    let question = argument::non_empty("question", question)?;
    let datasources = argument::filter("datasources", datasources)?;
    let k = argument::at_least_one("k", k)?;
    let matches = match_queries(question, datasources.as_deref(), k)?;
    let asked = Question::of(question);
    let rows = matches.into_iter().map(|(near, query)| {
        interrupt::check();
        let params = JsonB(proposals(&query, &asked));
        (near.datasource, query.id, near.similarity, near.text, query.description, query.sql, params)
    });
    Ok(TableIterator::new(rows.collect::<Vec<_>>()))
}
