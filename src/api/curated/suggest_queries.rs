//! `nl2sql_suggest_queries`.

use crate::pg::curated::suggest::suggest;
use crate::pg::server::argument;
use crate::pg::server::error::ErrorReport;
use pgrx::prelude::*;

#[pg_extern]
fn nl2sql_suggest_queries(
    datasource: Option<&str>,
    min_calls: Option<i32>,
    limit: Option<i32>,
) -> Result<
    TableIterator<
        'static,
        (
            name!(query_id, String),
            name!(calls, i64),
            name!(tables, Vec<String>),
            name!(columns, Vec<String>),
            name!(sql, String),
            name!(document, String),
        ),
    >,
    ErrorReport,
> {
    let name = argument::required("datasource", datasource)?;
    let min_calls = argument::at_least_one("min_calls", min_calls)?;
    let limit = argument::at_least_one("limit", limit)?;
    let rows = suggest(name, min_calls, limit)?.into_iter().map(|(suggestion, document)| {
        let query = suggestion.query;
        (query.id, suggestion.calls, suggestion.tables, suggestion.columns, query.sql, document)
    });
    Ok(TableIterator::new(rows.collect::<Vec<_>>()))
}
