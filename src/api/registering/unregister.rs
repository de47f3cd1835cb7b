//! `nl2sql_unregister`.

use crate::pg::index::unregister;
use crate::pg::server::error::ErrorReport;
use crate::pg::server::{argument, identity};
use pgrx::prelude::*;

#[pg_extern]
fn nl2sql_unregister(datasource: Option<&str>) -> Result<bool, ErrorReport> {
    identity::check_writable("nl2sql_unregister()");
    let name = argument::required("datasource", datasource)?;
    Ok(identity::as_owner(|owner| unregister::unregister(owner, name))?)
}
