//! The columns that are sent of selected tables: those that the question hits, and those that have a value which it
//! names.

use crate::pg::search::builds::Builds;
use crate::pg::search::evidence;
use crate::pg::search::rank_tables::Ranking;
use crate::pg::search::retrieval::RetrievalRequest;
use crate::pg::server::error::Result;
use nl2sql_core::catalog::identifier::TableName;
use nl2sql_core::catalog::schema::Table;
use nl2sql_core::search::column_hits::{ColumnEvidence, column_hits};
use nl2sql_core::search::column_selection::ColumnRequest;
use std::collections::{BTreeMap, HashMap};

/// What is to be sent of each table, by its place in the ranking.
pub fn select_columns(
    request: &RetrievalRequest,
    builds: &Builds,
    ranking: &Ranking,
    places: &[usize],
    definitions: &HashMap<TableName, Table>,
) -> Result<BTreeMap<usize, ColumnRequest>> {
    let mut requests: BTreeMap<usize, ColumnRequest> =
        places.iter().map(|place| (*place, ColumnRequest::default())).collect();
    let numbers: Vec<i32> = places.iter().map(|place| ranking.tables[*place].number).collect();
    let names = evidence::column_names(builds, &numbers)?;
    let names: HashMap<(i32, i16), String> =
        names.into_iter().map(|(number, place, name)| ((number, place), name)).collect();
    let name = |place: usize, column: i16| names.get(&(ranking.tables[place].number, column)).cloned();
    let columns: Vec<&[ColumnEvidence]> =
        ranking.tables.iter().map(|table| table.evidence.columns.as_slice()).collect();
    for (place, column) in column_hits(&columns, places, request.planning_k - request.planning_k / 3) {
        if let (Some(request), Some(column)) = (requests.get_mut(&place), name(place, column)) {
            request.hits.insert(column);
        }
    }
    for ((place, column), found) in &ranking.matches {
        if let (Some(request), Some(column)) = (requests.get_mut(place), name(*place, *column)) {
            let table = definitions.get(&ranking.tables[*place].name);
            if table.is_some_and(|table| has_value(table, &column, &found.value)) {
                request.values.insert(column.clone(), found.value.clone());
            }
            request.hits.insert(column);
        }
    }
    Ok(requests)
}

/// Whether the definition at hand lists the value.
fn has_value(table: &Table, column: &str, value: &str) -> bool {
    let known = table.columns().find(|(contract, _)| contract.name == column);
    known
        .and_then(|(_, metadata)| metadata.statistics.get("values")?.as_array())
        .is_some_and(|values| values.iter().any(|known| known == value))
}
