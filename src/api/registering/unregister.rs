//! `nl2sql_unregister`.

use crate::pg::index::unregister;
use crate::pg::server::error::OrRaise;
use crate::pg::server::{argument, identity};
use pgrx::prelude::*;

#[pg_extern]
fn nl2sql_unregister(datasource: Option<&str>) -> bool {
    identity::check_writable("nl2sql_unregister()");
    let name = argument::required("datasource", datasource).or_raise();
    identity::as_owner(|owner| unregister::unregister(owner, name)).or_raise()
}
