//! `nl2sql_prune`.

use crate::pg::index::namespace;
use crate::pg::server::error::ErrorReport;
use crate::pg::server::identity;
use pgrx::prelude::*;

#[pg_extern]
fn nl2sql_prune() -> Result<TableIterator<'static, (name!(namespace, String), name!(entries, i64))>, ErrorReport> {
    identity::check_writable("nl2sql_prune()");
    Ok(TableIterator::new(identity::as_owner(namespace::prune)?))
}
