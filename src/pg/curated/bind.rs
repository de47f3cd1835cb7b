//! Binds the params of a verified query.

use crate::pg::curated::analyze::ServerAnalyst;
use crate::pg::curated::store;
use crate::pg::datasource;
use crate::pg::server::error::{Error, Result, call};
use crate::pg::server::identity;
use nl2sql_core::curated::bind;
use nl2sql_core::curated::bind::BindError;
use nl2sql_core::curated::content::Item;
use pgrx::prelude::*;
use serde_json::Value;

/// The SQL of a verified query that exists for the current user, with literals in place of its params.
pub fn bind(name: &str, id: &str, params: &Value) -> Result<String> {
    let datasource = datasource::load_known(name)?;
    let stored = store::visible_queries(name, vec![id.to_owned()])?;
    let Some(query) = stored.content.verified_queries.first() else {
        let known = store::load_visible(name)?.content.verified_queries;
        return Err(Error::unknown("verified query", id, known.iter().map(|query| query.id.as_str())));
    };
    let values = bind::values(query, params)?;
    let reads = stored.reads_of(&Item::VerifiedQuery(id.to_owned()));
    let columns = store::present([&reads].into_iter())?;
    // A role that bypasses row security may not look into the schemas; no error of the analysis is shown.
    let bound = identity::as_owner(|_| {
        let mut analyst = ServerAnalyst::new(&datasource.schemas)?;
        let bound = bind::bind(query, &reads, &columns, &datasource.schemas, &values, &mut analyst);
        analyst.found(bound)
    })?;
    bound.map_err(|error| match error {
        BindError::Unfit { .. } => Error::new(
            PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            error.to_string(),
        )
        .detail(
            "Its tables have changed since it was stored: a name in it no longer exists, or refers to something else.",
        )
        .hint(format!(
            "Run: SELECT * FROM {}; then list what to store again: SELECT * FROM {};",
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
