//! `nl2sql_verified_query` and `nl2sql_remove_verified_query`.

use crate::pg::curated::write;
use crate::pg::server::argument::TextArray;
use crate::pg::server::error::{Error, ErrorReport};
use crate::pg::server::jsonb::JsonbText;
use crate::pg::server::{argument, identity};
use nl2sql_core::curated::content::VerifiedQuery;
use pgrx::prelude::*;

#[pg_extern]
fn nl2sql_verified_query(
    datasource: Option<&str>,
    id: Option<&str>,
    questions: TextArray,
    sql: Option<&str>,
    description: Option<&str>,
    params: Option<JsonbText>,
) -> Result<(), ErrorReport> {
    identity::check_writable("nl2sql_verified_query()");
    let name = argument::required("datasource", datasource)?;
    let params = match params {
        None => Default::default(),
        Some(params) => serde_json::from_value(params.parse("params")?).map_err(|problem| {
            Error::invalid(format!("params cannot be read: {problem}"))
                .hint("Params are like {\"n\": {\"type\": \"int\", \"default\": 10, \"min\": 1, \"max\": 100}}.")
        })?,
    };
    let query = VerifiedQuery {
        id: argument::required("id", id)?.to_owned(),
        description: description.map(str::to_owned),
        questions: argument::required("questions", argument::list("questions", questions)?)?,
        params,
        sql: argument::required("sql", sql)?.to_owned(),
    };
    Ok(write::store_verified_query(name, query)?)
}

#[pg_extern]
fn nl2sql_remove_verified_query(datasource: Option<&str>, id: Option<&str>) -> Result<bool, ErrorReport> {
    identity::check_writable("nl2sql_remove_verified_query()");
    let name = argument::required("datasource", datasource)?;
    let id = argument::required("id", id)?;
    Ok(write::remove_verified_query(name, id)?)
}
