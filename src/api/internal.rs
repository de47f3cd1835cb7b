//! The two functions that row security rests on (`nl2sql.table_access`, `nl2sql.readable_columns`), and the one
//! that the views rest on (`nl2sql.current_namespace`).

use crate::pg::index::namespace;
use crate::pg::server::error::OrRaise;
use crate::pg::server::privilege;
use crate::pg::server::privilege::Reach;
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
fn current_namespace() -> String {
    namespace::current().or_raise()
}

#[pg_extern]
fn readable_columns(table_schema: &str, table_name: &str) -> Vec<String> {
    privilege::readable_columns(table_schema, table_name)
}
