//! `nl2sql_lookup`.

use crate::pg::profile::lookup::look_up;
use crate::pg::server::argument;
use crate::pg::server::argument::TextArray;
use crate::pg::server::error::{Error, ErrorReport, Result as PgResult};
use crate::pg::{datasource, snapshot};
use nl2sql_core::snapshot::render::render_table;
use pgrx::JsonB;
use pgrx::prelude::*;

/// The most tables of one call, and the most rows of a table.
const MOST_TABLES: usize = 10;
const MOST_ROWS: i32 = 3;

#[pg_extern]
fn nl2sql_lookup(
    datasource: Option<&str>,
    tables: TextArray,
    sample_rows: Option<i32>,
) -> Result<
    TableIterator<
        'static,
        (
            name!(requested, String),
            name!(table_schema, Option<String>),
            name!(table_name, Option<String>),
            name!(definition, Option<JsonB>),
            name!(sample_rows, Option<JsonB>),
            name!(note, Option<String>),
        ),
    >,
    ErrorReport,
> {
    let name = argument::required("datasource", datasource)?;
    let tables = argument::required("tables", argument::list("tables", tables)?)?;
    let rows = argument::required("sample_rows", sample_rows)?;
    if tables.is_empty() || tables.len() > MOST_TABLES {
        return Err(Error::invalid(format!("tables must be from 1 to {MOST_TABLES}, not {}", tables.len())).into());
    }
    if !(0..=MOST_ROWS).contains(&rows) {
        return Err(Error::invalid(format!("sample_rows must be from 0 to {MOST_ROWS}, not {rows}")).into());
    }
    datasource::check_known(name)?;
    let schema = snapshot::live_schema(name)?;
    let found = tables.into_iter().map(|requested| {
        let found = look_up(&schema, &requested, rows)?;
        let (schema, name) = found.table.map(|table| (table.name.schema.clone(), table.name.name.clone())).unzip();
        let definition = found.table.map(|table| JsonB(render_table(table)));
        Ok((requested, schema, name, definition, found.sample.map(JsonB), found.note))
    });
    Ok(TableIterator::new(found.collect::<PgResult<Vec<_>>>()?))
}
