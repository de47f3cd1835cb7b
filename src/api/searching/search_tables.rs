//! `nl2sql_search_tables`.

use crate::pg::search::search_tables::search_tables;
use crate::pg::search::strategy::Strategy;
use crate::pg::server::argument;
use crate::pg::server::error::{Error, ErrorReport};
use pgrx::prelude::*;

/// The most tables that one call returns.
const MOST: usize = 30;

#[pg_extern]
fn nl2sql_search_tables(
    query: Option<&str>,
    datasource: Option<&str>,
    k: Option<i32>,
    strategy: Option<&str>,
) -> Result<
    TableIterator<
        'static,
        (
            name!(rank, i32),
            name!(datasource, String),
            name!(table_schema, String),
            name!(table_name, String),
            name!(similarity, Option<f64>),
            name!(score, f64),
            name!(summary, Option<String>),
        ),
    >,
    ErrorReport,
> {
    let text = argument::non_empty("query", query)?;
    let k = argument::at_least_one("k", k)?;
    if k > MOST {
        return Err(Error::invalid(format!("k must be at most {MOST}, not {k}")).into());
    }
    let strategy = Strategy::parse(argument::required("strategy", strategy)?)?;
    let found = search_tables(text, datasource, k, strategy)?;
    let rows = found.into_iter().zip(1..).map(|((table, summary), rank)| {
        let similarity = table.evidence.signals.table;
        (rank, table.datasource, table.name.schema, table.name.name, similarity, table.score, summary)
    });
    Ok(TableIterator::new(rows.collect::<Vec<_>>()))
}
