//! `nl2sql_verified_query` and `nl2sql_remove_verified_query`.

use crate::api::curated::import::write_down;
use crate::pg::curated::store;
use crate::pg::datasource;
use crate::pg::datasource::lease;
use crate::pg::server::argument;
use crate::pg::server::argument::TextArray;
use crate::pg::server::error::{Error, OrRaise, Result};
use crate::pg::server::identity;
use crate::pg::server::jsonb::JsonbText;
use nl2sql_core::curated::content::{Content, Item, VerifiedQuery};
use pgrx::prelude::*;

#[pg_extern]
fn nl2sql_verified_query(
    datasource: Option<&str>,
    id: Option<&str>,
    questions: TextArray,
    sql: Option<&str>,
    description: Option<&str>,
    params: Option<JsonbText>,
) {
    write(datasource, id, questions, sql, description, params).or_raise();
}

fn write(
    datasource: Option<&str>,
    id: Option<&str>,
    questions: TextArray,
    sql: Option<&str>,
    description: Option<&str>,
    params: Option<JsonbText>,
) -> Result<()> {
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
    let content = Content { verified_queries: vec![query], ..Content::default() };
    let change = write_down(name, &content, false)?;
    identity::as_owner(|owner| change.write(owner, &content))
}

#[pg_extern]
fn nl2sql_remove_verified_query(datasource: Option<&str>, id: Option<&str>) -> bool {
    remove(datasource, id).or_raise()
}

fn remove(datasource: Option<&str>, id: Option<&str>) -> Result<bool> {
    identity::check_writable("nl2sql_remove_verified_query()");
    let name = argument::required("datasource", datasource)?;
    let item = Item::VerifiedQuery(argument::required("id", id)?.to_owned());
    datasource::check_known(name)?;
    let (lease, stored) = identity::as_owner(|owner| {
        let Some(datasource) = datasource::load(owner, name)? else {
            return Err(datasource::unknown(name, &[]));
        };
        Ok((lease::take(owner, name, datasource.id)?, store::load(owner, name)?))
    })?;
    // What the caller may not change does not exist for it.
    if !store::changeable(&stored)?.contains(&item) {
        return Ok(false);
    }
    identity::as_owner(|owner| store::remove(owner, &lease, &item))?;
    Ok(true)
}
