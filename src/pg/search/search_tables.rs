//! The best tables for a query, with what their entries say.

use crate::pg::search::builds::Builds;
use crate::pg::search::rank_tables;
use crate::pg::search::rank_tables::RankedTable;
use crate::pg::search::strategy::Strategy;
use crate::pg::server::error::Result;
use crate::pg::server::query;
use std::collections::HashMap;

/// The `k` best tables of one datasource or of all, best first, each with the text of its entry.
pub fn search_tables(
    text: &str,
    datasource: Option<&str>,
    k: usize,
    strategy: Strategy,
) -> Result<Vec<(RankedTable, Option<String>)>> {
    let builds = Builds::live(datasource.map(|name| [name.to_owned()]).as_ref().map(|names| names.as_slice()))?;
    tracing::debug!(query = text, "search_tables");
    let ranking = rank_tables::rank(&builds, text, strategy, k)?;
    let picks: Vec<usize> = ranking.order.iter().copied().take(k).collect();
    let mut summaries = summaries(&builds, picks.iter().map(|place| ranking.tables[*place].number).collect())?;
    let mut tables: Vec<Option<RankedTable>> = ranking.tables.into_iter().map(Some).collect();
    let found = picks.into_iter().filter_map(|place| {
        let table = tables[place].take()?;
        let summary = summaries.remove(&table.number);
        Some((table, summary))
    });
    Ok(found.collect())
}

/// The texts of tables' entries, by the tables' numbers.
fn summaries(builds: &Builds, numbers: Vec<i32>) -> Result<HashMap<i32, String>> {
    let summaries = query::read(
        "SELECT relation, text FROM nl2sql.entry
         WHERE namespace = $1 AND build = ANY ($2) AND type = 'schema.table' AND relation = ANY ($3)",
        &[builds.namespace.as_str().into(), builds.ids().into(), numbers.into()],
        |row| Ok((row.must::<i32>(1)?, row.must::<String>(2)?)),
    )?;
    Ok(summaries.into_iter().collect())
}
