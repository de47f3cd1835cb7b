//! The columns of a table that are sent to a planner: all columns of a small table, otherwise those that joins and the
//! question need.

use crate::catalog::identifier::TableName;
use crate::catalog::identifier_words::split_identifier;
use crate::catalog::schema::Table;
use crate::snapshot::render::render_table;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Words of columns that identify, number, date or classify a row.
const NAME_LIKE: [&str; 8] = ["name", "title", "code", "label", "number", "date", "amount", "status"];

/// What is known about the columns of a table that is sent.
#[derive(Debug, Clone, Default)]
pub struct ColumnRequest {
    /// The search is sure of the table: its name-like columns are sent, too.
    pub sure: bool,
    /// Columns that the question hit.
    pub hits: BTreeSet<String>,
    /// Values that the question names, by column.
    pub values: HashMap<String, String>,
}

/// Selects the columns of `table` to send, in their order: its primary key, its foreign keys to tables that are sent,
/// the hits, and the name-like columns if the search is sure of the table. A table of at most `whole` columns is sent
/// whole.
pub fn columns(table: &Table, request: &ColumnRequest, sent: &HashSet<TableName>, whole: usize) -> Vec<String> {
    let keys = table.contract.foreign_keys.iter().filter(|key| sent.contains(&key.referred()));
    let mut needed: HashSet<&str> = keys.flat_map(|key| &key.columns).map(String::as_str).collect();
    needed.extend(table.contract.primary_key.iter().map(String::as_str));
    let all = table.contract.columns.len() <= whole;
    let columns = table.contract.columns.iter().map(|column| column.name.as_str());
    columns
        .filter(|name| {
            all || needed.contains(name) || request.hits.contains(*name) || (request.sure && is_name_like(name))
        })
        .map(str::to_owned)
        .collect()
}

fn is_name_like(column: &str) -> bool {
    split_identifier(column).split(' ').any(|word| NAME_LIKE.contains(&word))
}

/// Renders the table's definition with only these columns, its foreign keys to tables that are sent, and the values that
/// the question names. `other_columns` counts the columns that are left out.
pub fn definition(table: &Table, columns: &[String], request: &ColumnRequest, sent: &HashSet<TableName>) -> Value {
    let kept: HashSet<&str> = columns.iter().map(String::as_str).collect();
    let mut cut = table.clone();
    let total = cut.contract.columns.len();
    (cut.contract.columns, cut.metadata.columns) = cut
        .contract
        .columns
        .into_iter()
        .zip(cut.metadata.columns)
        .filter(|(column, _)| kept.contains(column.name.as_str()))
        .unzip();
    (cut.contract.foreign_keys, cut.metadata.foreign_keys) = cut
        .contract
        .foreign_keys
        .into_iter()
        .zip(cut.metadata.foreign_keys)
        .filter(|(key, _)| sent.contains(&key.referred()))
        .unzip();
    let left_out = total - cut.contract.columns.len();
    let mut definition = render_table(&cut);
    if left_out > 0 {
        definition["other_columns"] = json!(left_out);
    }
    for column in definition["columns"].as_array_mut().into_iter().flatten() {
        if let Some(value) = column["name"].as_str().and_then(|name| request.values.get(name)) {
            column["matched_value"] = json!(value);
        }
    }
    definition
}

/// Columns that foreign keys between the sent tables refer to. They are sent, too, so that each join is complete.
pub fn far_ends(tables: &[&Table]) -> HashMap<TableName, BTreeSet<String>> {
    let names: HashSet<&TableName> = tables.iter().map(|table| &table.name).collect();
    let mut ends: HashMap<TableName, BTreeSet<String>> = HashMap::new();
    for key in tables.iter().flat_map(|table| &table.contract.foreign_keys) {
        let referred = key.referred();
        if names.contains(&referred) {
            ends.entry(referred).or_default().extend(key.referred_columns.iter().cloned());
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::schema;

    fn sent(names: &[&str]) -> HashSet<TableName> {
        names.iter().map(|name| TableName::new("shop", *name)).collect()
    }

    #[test]
    fn keys_hits_and_names_are_sent() {
        let mut orders = schema().tables.remove(1);
        let (last, metadata) = (orders.contract.columns[2].clone(), orders.metadata.columns[2].clone());
        for name in ["order_status", "weight", "note"] {
            let mut column = last.clone();
            column.name = name.into();
            orders.contract.columns.push(column);
            orders.metadata.columns.push(metadata.clone());
        }
        let hit = ColumnRequest { hits: ["weight".to_owned()].into(), ..ColumnRequest::default() };
        assert_eq!(columns(&orders, &hit, &sent(&["orders"]), 3), ["id", "weight"]);
        assert_eq!(columns(&orders, &hit, &sent(&["orders", "customers"]), 3), ["id", "customerId", "weight"]);
        let sure = ColumnRequest { sure: true, ..hit };
        assert_eq!(columns(&orders, &sure, &sent(&["orders"]), 3), ["id", "order_status", "weight"]);
        assert_eq!(columns(&orders, &ColumnRequest::default(), &sent(&["orders"]), 6).len(), 6);
    }

    #[test]
    fn the_definition_is_cut_and_quotes_the_value() {
        let orders = schema().tables.remove(1);
        let request =
            ColumnRequest { values: [("state".to_owned(), "open".to_owned())].into(), ..ColumnRequest::default() };
        let shown = definition(&orders, &["id".into(), "state".into()], &request, &sent(&["orders"]));
        assert_eq!(shown["columns"].as_array().unwrap().len(), 2);
        assert_eq!(shown["columns"][1]["matched_value"], "open");
        assert_eq!(shown["other_columns"], 1);
        assert_eq!(shown["foreign_keys"], json!([]));
        assert!(!shown.to_string().contains("customer"), "{shown}");
    }

    #[test]
    fn a_join_has_both_its_ends() {
        let schema = schema();
        let ends = far_ends(&schema.tables.iter().collect::<Vec<_>>());
        assert_eq!(ends[&TableName::new("shop", "customers")], BTreeSet::from(["id".to_owned()]));
        assert_eq!(ends.len(), 1);
    }
}
