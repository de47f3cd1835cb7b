//! `nl2sql_bind`.

use crate::pg::curated::bind::bind;
use crate::pg::server::argument;
use crate::pg::server::error::ErrorReport;
use crate::pg::server::jsonb::JsonbText;
use pgrx::prelude::*;
use serde_json::Value;

#[pg_extern]
fn nl2sql_bind(
    datasource: Option<&str>,
    query_id: Option<&str>,
    params: Option<JsonbText>,
) -> Result<String, ErrorReport> {
    let name = argument::required("datasource", datasource)?;
    let id = argument::required("query_id", query_id)?;
    let params = params.map(|params| params.parse("params")).transpose()?.unwrap_or(Value::Null);
    Ok(bind(name, id, &params)?)
}
