//! `nl2sql_describe`.

use crate::pg::datasource::overrides::{DescribeRequest, describe};
use crate::pg::server::argument::TextArray;
use crate::pg::server::error::ErrorReport;
use crate::pg::server::{argument, identity};
use crate::pg::snapshot::drift;
use crate::pg::{datasource, snapshot};
use pgrx::prelude::*;

#[pg_extern]
fn nl2sql_describe(
    datasource: Option<&str>,
    table_name: Option<&str>,
    description: Option<&str>,
    column_name: Option<&str>,
    synonyms: TextArray,
) -> Result<(), ErrorReport> {
    identity::check_writable("nl2sql_describe()");
    let name = argument::required("datasource", datasource)?;
    let request = DescribeRequest {
        table: argument::non_empty("table_name", table_name)?,
        column: column_name,
        description: description.map(str::trim).filter(|text| !text.is_empty()),
        synonyms: argument::non_empty_items("synonyms", synonyms)?,
    };
    let stored = datasource::load_known(name)?;
    let schema = snapshot::visible(drift::current(&stored)?.schema);
    Ok(describe(&stored, &schema, request)?)
}
