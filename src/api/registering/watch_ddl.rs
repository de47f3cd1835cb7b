//! `nl2sql_watch_ddl` and `nl2sql_unwatch_ddl`.

use crate::pg::datasource::ddl_watch;
use crate::pg::server::error::ErrorReport;
use crate::pg::server::identity;
use pgrx::prelude::*;

#[pg_extern]
fn nl2sql_watch_ddl() -> Result<bool, ErrorReport> {
    identity::check_writable("nl2sql_watch_ddl()");
    Ok(identity::as_owner(|owner| ddl_watch::watch(owner, true))?)
}

#[pg_extern]
fn nl2sql_unwatch_ddl() -> Result<bool, ErrorReport> {
    identity::check_writable("nl2sql_unwatch_ddl()");
    Ok(identity::as_owner(|owner| ddl_watch::watch(owner, false))?)
}
