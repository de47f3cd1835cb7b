//! `nl2sql_catalog`.

use crate::pg::index::namespace;
use crate::pg::server::argument;
use crate::pg::server::error::{Error, OrRaise, Result};
use crate::pg::{datasource, snapshot};
use nl2sql_core::search::catalog_listing;
use pgrx::prelude::*;

#[pg_extern]
fn nl2sql_catalog(datasource: Option<&str>, budget_tokens: Option<i32>) -> String {
    render(datasource, budget_tokens).or_raise()
}

fn render(datasource: Option<&str>, budget_tokens: Option<i32>) -> Result<String> {
    let name = argument::required("datasource", datasource)?;
    let budget = argument::at_least_one("budget_tokens", budget_tokens)?;
    datasource::check_known(name)?;
    let namespace = namespace::current()?;
    let version = snapshot::live_version(name, &namespace)?.ok_or_else(|| Error::not_indexed(name, &namespace))?;
    Ok(catalog_listing::render(&snapshot::load_visible(name, &version)?, budget))
}
