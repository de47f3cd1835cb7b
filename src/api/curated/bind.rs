//! `nl2sql_bind`.

use crate::pg::curated::store;
use crate::pg::datasource;
use crate::pg::server::error::{Error, OrRaise, Result, call};
use crate::pg::server::jsonb::JsonbText;
use crate::pg::server::{argument, identity};
use nl2sql_core::curated::bind;
use nl2sql_core::curated::bind::BindError;
use nl2sql_core::curated::content::Item;
use pgrx::prelude::*;
use serde_json::Value;

#[pg_extern]
fn nl2sql_bind(datasource: Option<&str>, query_id: Option<&str>, params: Option<JsonbText>) -> String {
    bind(datasource, query_id, params).or_raise()
}

fn bind(datasource: Option<&str>, query_id: Option<&str>, params: Option<JsonbText>) -> Result<String> {
    let name = argument::required("datasource", datasource)?;
    let id = argument::required("query_id", query_id)?;
    let given = params.map(|params| params.parse("params")).transpose()?.unwrap_or(Value::Null);
    datasource::check_known(name)?;
    let stored = store::visible_queries(name, vec![id.to_owned()])?;
    let Some(query) = stored.content.verified_queries.first() else {
        let known = store::load_visible(name)?.content.verified_queries;
        return Err(Error::unknown("verified query", id, known.iter().map(|query| query.id.as_str())));
    };
    let Some(registered) = identity::as_owner(|owner| datasource::load(owner, name))? else {
        return Err(datasource::unknown(name, &[]));
    };
    let values = bind::values(query, &given)?;
    let reads = stored.reads_of(&Item::VerifiedQuery(id.to_owned()));
    let columns = store::present([&reads].into_iter())?;
    bind::bind(query, &reads, &columns, &registered.schemas, &values).map_err(|error| match error {
        BindError::Unfit { .. } => Error::new(
            PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            error.to_string(),
        )
        .detail("Its tables have changed since it was written down: a name in it means nothing now, or something else.")
        .hint(format!(
            "SELECT * FROM {}; reads them anew, and SELECT * FROM {}; then says what to write down again.",
            call("nl2sql_index", name),
            call("nl2sql_curated_validate", name)
        )),
        error => error.into(),
    })
}

impl From<BindError> for Error {
    fn from(error: BindError) -> Self {
        let refused = Error::invalid(error.to_string());
        match &error {
            BindError::Unknown { known, .. } if known.is_empty() => refused.hint("It has no params."),
            BindError::Unknown { known, .. } => refused.hint(format!("Its params: {}.", known.join(", "))),
            BindError::Missing { names, .. } => {
                let example = names.iter().map(|name| format!("\"{name}\": …")).collect::<Vec<_>>().join(", ");
                refused.hint(format!("Pass params => '{{{example}}}'."))
            }
            _ => refused,
        }
    }
}
