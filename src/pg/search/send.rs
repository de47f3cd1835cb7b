//! The definitions that retrieval sends.

use crate::pg::datasource::{Datasource, preferred_tables};
use crate::pg::search::rank_tables::Ranking;
use crate::pg::search::retrieval::{Retrieval, RetrievalRequest, SentTable};
use crate::pg::search::table_selection::SelectedTables;
use crate::pg::server::error::Result;
use crate::pg::server::settings;
use crate::pg::snapshot;
use nl2sql_core::catalog::identifier::TableName;
use nl2sql_core::catalog::schema::Table;
use nl2sql_core::search::column_selection::{ColumnRequest, columns, definition, far_ends};
use nl2sql_core::search::table_selection::Via;
use nl2sql_core::search::value_match::ValueMatcher;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Sends the selected columns of the selected tables.
pub fn send(
    stored: &Datasource,
    version: String,
    ranking: Ranking,
    selected: SelectedTables,
    mut definitions: HashMap<TableName, Table>,
    mut requests: BTreeMap<usize, ColumnRequest>,
) -> Retrieval {
    let ends = far_ends(&definitions.values().collect::<Vec<_>>());
    let sent_names: HashSet<TableName> = definitions.keys().cloned().collect();
    let whole = settings::whole_table_columns();
    let mut sent = Vec::with_capacity(selected.tables.len());
    let mut hits = Vec::new();
    for chosen in selected.tables {
        let request = requests.remove(&chosen.place);
        let (Some(mut request), Some(table)) = (request, definitions.remove(&ranking.tables[chosen.place].name)) else {
            continue; // not in a version that the caller pinned
        };
        request.sure = chosen.sure;
        hits.extend(request.hits.iter().map(|column| (table.name.clone(), column.clone())));
        request.hits.extend(ends.get(&table.name).into_iter().flatten().cloned());
        let columns = columns(&table, &request, &sent_names, whole);
        let definition = definition(&table, &columns, &request, &sent_names);
        let preferred = preferred_tables::is_preferred(stored, &table.name);
        sent.push(SentTable { preferred, definition, table, via: chosen.via });
    }
    sent.sort_by_key(|sent| !sent.preferred);
    let (picks, used) = (selected.picks, selected.used);
    Retrieval { schema_version: version, sent, ranking: Some(ranking), picks, hits, used }
}

/// Sends every table that exists for the current user, each whole.
pub fn send_whole(
    request: &RetrievalRequest,
    stored: &Datasource,
    version: String,
    via: Via,
    ranking: Option<Ranking>,
) -> Result<Retrieval> {
    let schema = snapshot::load_visible(request.datasource, &version)?;
    let sent_names: HashSet<TableName> = schema.tables.iter().map(|table| table.name.clone()).collect();
    let named = ValueMatcher::new(&request.text);
    let tables = schema.tables.into_iter().map(|table| {
        let request = ColumnRequest { sure: true, values: named_values(&named, &table), ..ColumnRequest::default() };
        let all: Vec<String> = table.contract.columns.iter().map(|column| column.name.clone()).collect();
        let definition = definition(&table, &all, &request, &sent_names);
        SentTable { preferred: preferred_tables::is_preferred(stored, &table.name), definition, table, via }
    });
    let mut sent: Vec<SentTable> = tables.collect();
    sent.sort_by_key(|sent| !sent.preferred);
    let (picks, hits, used) = (Vec::new(), Vec::new(), Vec::new());
    Ok(Retrieval { schema_version: version, sent, ranking, picks, hits, used })
}

/// The value of each column that the question names.
fn named_values(named: &ValueMatcher, table: &Table) -> HashMap<String, String> {
    let columns = table.columns().filter_map(|(column, metadata)| {
        let values = metadata.statistics.get("values").and_then(Value::as_array);
        let values: Vec<String> =
            values.into_iter().flatten().filter_map(|value| value.as_str().map(str::to_owned)).collect();
        Some((column.name.clone(), named.best(&values)?.value))
    });
    columns.collect()
}
