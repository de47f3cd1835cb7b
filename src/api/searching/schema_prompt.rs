//! `nl2sql_schema_prompt`.

use crate::api::searching::retrieve::request;
use crate::pg::search::prompt::prompt;
use crate::pg::search::retrieve::retrieve;
use crate::pg::server::error::ErrorReport;
use crate::pg::server::jsonb::JsonbText;
use pgrx::prelude::*;

#[pg_extern]
fn nl2sql_schema_prompt(
    datasource: Option<&str>,
    question: Option<&str>,
    sub_query: Option<JsonbText>,
) -> Result<String, ErrorReport> {
    let request = request(datasource, question, sub_query, None, Some(8), Some(12), Some("fused"))?;
    Ok(prompt(&retrieve(&request)?))
}
