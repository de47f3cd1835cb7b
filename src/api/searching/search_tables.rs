//! `nl2sql_search_tables`.

use crate::pg::search::builds::Builds;
use crate::pg::search::rank_tables;
use crate::pg::search::strategy::Strategy;
use crate::pg::server::error::{Error, OrRaise, Result};
use crate::pg::server::{argument, query};
use pgrx::prelude::*;
use std::collections::HashMap;

/// The most tables that one call gives.
const MOST: usize = 30;

type Row = (
    name!(rank, i32),
    name!(datasource, String),
    name!(table_schema, String),
    name!(table_name, String),
    name!(similarity, Option<f64>),
    name!(score, f64),
    name!(summary, Option<String>),
);

#[pg_extern]
fn nl2sql_search_tables(
    query: Option<&str>,
    datasource: Option<&str>,
    k: Option<i32>,
    strategy: Option<&str>,
) -> TableIterator<
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
> {
    TableIterator::new(find(query, datasource, k, strategy).or_raise())
}

fn find(text: Option<&str>, datasource: Option<&str>, k: Option<i32>, strategy: Option<&str>) -> Result<Vec<Row>> {
    let text = argument::spoken("query", text)?;
    let k = argument::at_least_one("k", k)?;
    if k > MOST {
        return Err(Error::invalid(format!("k must be at most {MOST}, not {k}")));
    }
    let strategy = Strategy::parse(argument::required("strategy", strategy)?)?;
    let wanted = datasource.map(|name| vec![name.to_owned()]);
    let builds = Builds::live(wanted.as_deref())?;
    tracing::debug!(query = text, "search_tables");
    let ranking = rank_tables::rank(&builds, text, strategy, k)?;
    let picks: Vec<usize> = ranking.order.iter().copied().take(k).collect();
    let numbers: Vec<i32> = picks.iter().map(|place| ranking.tables[*place].number).collect();
    let summaries = query::read(
        "SELECT relation, text FROM nl2sql.entry
         WHERE namespace = $1 AND build = ANY ($2) AND type = 'schema.table' AND relation = ANY ($3)",
        &[builds.namespace.as_str().into(), builds.ids().into(), numbers.into()],
        |row| Ok((row.must::<i32>(1)?, row.must::<String>(2)?)),
    )?;
    let mut summaries: HashMap<i32, String> = summaries.into_iter().collect();
    let rows = picks.into_iter().zip(1..).map(|(place, rank)| {
        let table = &ranking.tables[place];
        (
            rank,
            table.datasource.clone(),
            table.name.schema.clone(),
            table.name.name.clone(),
            table.evidence.signals.table,
            table.score,
            summaries.remove(&table.number),
        )
    });
    Ok(rows.collect())
}
