//! `nl2sql_lookup`.

use crate::pg::index::namespace;
use crate::pg::profile::sample;
use crate::pg::server::argument;
use crate::pg::server::argument::TextArray;
use crate::pg::server::error::{Error, OrRaise, Result};
use crate::pg::{datasource, snapshot};
use nl2sql_core::catalog::identifier::{find_table_or_bare, means_table};
use nl2sql_core::catalog::schema::Schema;
use nl2sql_core::similar_names::near_names;
use nl2sql_core::snapshot::render::render_table;
use pgrx::JsonB;
use pgrx::prelude::*;
use std::collections::HashSet;

/// The most tables of one call, and the most rows of a table.
const MOST_TABLES: usize = 10;
const MOST_ROWS: i32 = 3;

type Row = (
    name!(requested, String),
    name!(table_schema, Option<String>),
    name!(table_name, Option<String>),
    name!(definition, Option<JsonB>),
    name!(sample_rows, Option<JsonB>),
    name!(note, Option<String>),
);

#[pg_extern]
fn nl2sql_lookup(
    datasource: Option<&str>,
    tables: TextArray,
    sample_rows: Option<i32>,
) -> TableIterator<
    'static,
    (
        name!(requested, String),
        name!(table_schema, Option<String>),
        name!(table_name, Option<String>),
        name!(definition, Option<JsonB>),
        name!(sample_rows, Option<JsonB>),
        name!(note, Option<String>),
    ),
> {
    TableIterator::new(look_up(datasource, tables, sample_rows).or_raise())
}

fn look_up(datasource: Option<&str>, tables: TextArray, sample_rows: Option<i32>) -> Result<Vec<Row>> {
    let name = argument::required("datasource", datasource)?;
    let tables = argument::list("tables", argument::required("tables", tables).map(Some)?)?.unwrap_or_default();
    let rows = argument::required("sample_rows", sample_rows)?;
    if tables.is_empty() || tables.len() > MOST_TABLES {
        return Err(Error::invalid(format!("tables must be from 1 to {MOST_TABLES}, not {}", tables.len())));
    }
    if !(0..=MOST_ROWS).contains(&rows) {
        return Err(Error::invalid(format!("sample_rows must be from 0 to {MOST_ROWS}, not {rows}")));
    }
    datasource::check_known(name)?;
    let namespace = namespace::current()?;
    let version = snapshot::live_version(name, &namespace)?.ok_or_else(|| Error::not_indexed(name, &namespace))?;
    let schema = snapshot::load_visible(name, &version)?;
    tables.into_iter().map(|requested| find(&schema, requested, rows)).collect()
}

fn find(schema: &Schema, requested: String, rows: i32) -> Result<Row> {
    let names = || schema.tables.iter().map(|table| &table.name);
    let found = find_table_or_bare(&requested, names());
    let Some(table) = schema.tables.iter().find(|table| Some(&table.name) == found) else {
        let note = missing(schema, &requested);
        return Ok((requested, None, None, None, None, Some(note)));
    };
    let (sample, note) = match rows {
        0 => (None, None),
        rows => match sample::read(table, rows)? {
            Ok(found) => (Some(JsonB(found)), None),
            Err(refused) => (None, Some(format!("no sample rows: {refused}"))),
        },
    };
    let name = table.name.clone();
    Ok((requested, Some(name.schema), Some(name.name), Some(JsonB(render_table(table))), sample, note))
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
    // A name without its schema is near to one without its schema.
    let bare: HashSet<&str> = schema.tables.iter().map(|table| table.name.name.as_str()).collect();
    let mut near = near_names(requested, keys.iter().map(String::as_str));
    near.extend(near_names(requested, bare));
    near.truncate(3);
    if near.is_empty() { "no such table".to_owned() } else { format!("no such table; near it: {}", near.join(", ")) }
}
