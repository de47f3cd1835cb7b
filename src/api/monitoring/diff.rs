//! `nl2sql_diff`.

use crate::pg::datasource;
use crate::pg::server::argument;
use crate::pg::server::error::ErrorReport;
use crate::pg::snapshot::drift;
use pgrx::JsonB;
use pgrx::prelude::*;

#[pg_extern]
fn nl2sql_diff(
    datasource: Option<&str>,
    from_version: Option<&str>,
    to_version: Option<&str>,
) -> Result<JsonB, ErrorReport> {
    let name = argument::required("datasource", datasource)?;
    let from = argument::required("from_version", from_version)?;
    let stored = datasource::load_known(name)?;
    let diff = match to_version {
        Some(to) => drift::between(name, from, to)?,
        None => drift::since(&stored, from)?,
    };
    Ok(JsonB(diff.render(name, from, to_version)))
}
