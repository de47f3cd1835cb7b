//! Functions that the install script calls: row security uses `nl2sql.table_access` and `nl2sql.readable_columns`, the
//! views use `nl2sql.current_namespace`, and the trigger on snapshots uses `nl2sql.retaining`.

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

#[pg_extern]
fn current_namespace() -> Result<String, ErrorReport> {
    Ok(settings::namespace()?)
}

#[pg_extern]
fn readable_columns(table_schema: &str, table_name: &str) -> Vec<String> {
    privilege::readable_columns(table_schema, table_name)
}

/// Whether the trigger that keeps snapshots immutable lets them be removed.
#[pg_extern]
fn retaining() -> bool {
    snapshot::is_removing()
}
