//! The two functions that row security rests on (`nl2sql.table_access`, `nl2sql.readable_columns`), the one
//! that the views rest on (`nl2sql.current_namespace`), and the one that the trigger on snapshots asks (`nl2sql.retaining`).

use crate::pg::server::error::ErrorReport;
use crate::pg::server::privilege::Reach;
use crate::pg::server::{privilege, settings};
use crate::pg::snapshot;
use pgrx::prelude::*;

#[pg_extern]
fn table_access(table_schema: &str, table_name: &str) -> i32 {
    match privilege::reach(table_schema, table_name) {
        Reach::Nothing => 0,
        Reach::Columns => 1,
        Reach::Table => 2,
    }
}

/// For the views.
#[pg_extern]
fn current_namespace() -> Result<String, ErrorReport> {
    Ok(settings::namespace()?)
}

#[pg_extern]
fn readable_columns(table_schema: &str, table_name: &str) -> Vec<String> {
    privilege::readable_columns(table_schema, table_name)
}

/// For the trigger that keeps snapshots immutable: whether it lets them be removed.
#[pg_extern]
fn retaining() -> bool {
    snapshot::is_removing()
}
