//! `nl2sql_diff`.

use crate::pg::server::error::{OrRaise, Result};
use crate::pg::server::{argument, identity};
use crate::pg::snapshot::drift;
use crate::pg::{datasource, snapshot};
use nl2sql_core::snapshot::diff::diff;
use pgrx::JsonB;
use pgrx::prelude::*;

#[pg_extern]
fn nl2sql_diff(datasource: Option<&str>, from_version: Option<&str>, to_version: Option<&str>) -> JsonB {
    show(datasource, from_version, to_version).or_raise()
}

fn show(datasource: Option<&str>, from_version: Option<&str>, to_version: Option<&str>) -> Result<JsonB> {
    let name = argument::required("datasource", datasource)?;
    let from = argument::required("from_version", from_version)?;
    datasource::check_known(name)?;
    let found = match (to_version, identity::as_owner(|owner| datasource::load(owner, name))?) {
        (Some(to), _) => drift::between(name, from, to)?,
        (None, None) => return Err(datasource::unknown(name, &[])),
        (None, Some(stored)) => {
            snapshot::check_version(name, from)?;
            let now = snapshot::visible(drift::current(&stored)?.schema);
            diff(&snapshot::load_visible(name, from)?, &now)
        }
    };
    Ok(JsonB(found.render(name, from, to_version)))
}
