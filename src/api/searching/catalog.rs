//! `nl2sql_catalog`.

use crate::pg::server::argument;
use crate::pg::server::error::ErrorReport;
use crate::pg::{datasource, snapshot};
use nl2sql_core::search::catalog_listing;
use pgrx::prelude::*;

#[pg_extern]
fn nl2sql_catalog(datasource: Option<&str>, budget_tokens: Option<i32>) -> Result<String, ErrorReport> {
    let name = argument::required("datasource", datasource)?;
    let budget = argument::at_least_one("budget_tokens", budget_tokens)?;
    datasource::check_known(name)?;
    Ok(catalog_listing::render(&snapshot::live_schema(name)?, budget))
}
