//! Tables looked up by name, with sample rows.

use crate::pg::profile::sample;
use crate::pg::server::error::Result;
use nl2sql_core::catalog::identifier::{find_table_or_bare, means_table};
use nl2sql_core::catalog::schema::{Schema, Table};
use nl2sql_core::similar_names::near_names;
use serde_json::Value;
use std::collections::HashSet;

/// What a requested name refers to.
pub struct TableLookup<'a> {
    pub table: Option<&'a Table>,
    pub sample: Option<Value>,
    /// Why there is no table, or no sample.
    pub note: Option<String>,
}

/// Looks up a table of `schema`, with or without its schema's name, and reads at most `rows` sample rows.
pub fn look_up<'a>(schema: &'a Schema, requested: &str, rows: i32) -> Result<TableLookup<'a>> {
    let found = find_table_or_bare(requested, schema.tables.iter().map(|table| &table.name));
    let Some(table) = schema.tables.iter().find(|table| Some(&table.name) == found) else {
        return Ok(TableLookup { table: None, sample: None, note: Some(missing(schema, requested)) });
    };
    let (sample, note) = match rows {
        0 => (None, None),
        rows => match sample::read(table, rows)? {
            Ok(found) => (Some(found), None),
            Err(refused) => (None, Some(format!("no sample rows: {refused}"))),
        },
    };
    Ok(TableLookup { table: Some(table), sample, note })
}

fn missing(schema: &Schema, requested: &str) -> String {
    let keys: Vec<String> = schema.tables.iter().map(|table| table.name.to_string()).collect();
    let meant: Vec<&str> = schema
        .tables
        .iter()
        .zip(&keys)
        .filter(|(table, _)| means_table(requested, &table.name))
        .map(|(_, key)| key.as_str())
        .collect();
    if meant.len() > 1 {
        return format!("ambiguous: {}", meant.join(", "));
    }
    // A name without a schema is similar to others without theirs.
    let bare: HashSet<&str> = schema.tables.iter().map(|table| table.name.name.as_str()).collect();
    let mut similar = near_names(requested, keys.iter().map(String::as_str));
    similar.extend(near_names(requested, bare));
    similar.truncate(3);
    if similar.is_empty() {
        "no such table".to_owned()
    } else {
        format!("no such table; similar: {}", similar.join(", "))
    }
}
