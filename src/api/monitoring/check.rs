//! `nl2sql_check`.

use crate::pg::datasource;
use crate::pg::monitoring::check::{CheckOutcome, check};
use crate::pg::server::error::{ErrorReport, Result as PgResult};
use pgrx::JsonB;
use pgrx::prelude::*;

#[pg_extern]
fn nl2sql_check(
    datasource: Option<&str>,
) -> Result<
    TableIterator<
        'static,
        (
            name!(datasource, String),
            name!(status, String),
            name!(live_version, Option<String>),
            name!(diff, Option<JsonB>),
            name!(impact, Option<JsonB>),
            name!(error, Option<String>),
        ),
    >,
    ErrorReport,
> {
    let checked = datasource::named(datasource)?.into_iter().map(|name| {
        let (live, outcome) = check(&name)?;
        let status = outcome.status().to_owned();
        Ok(match outcome {
            CheckOutcome::NotIndexed | CheckOutcome::Unchanged => (name, status, live, None, None, None),
            CheckOutcome::Drifted { diff, impact } => {
                (name, status, live, Some(JsonB(diff)), Some(JsonB(impact)), None)
            }
            CheckOutcome::Failed(error) => (name, status, live, None, None, Some(error.message)),
        })
    });
    Ok(TableIterator::new(checked.collect::<PgResult<Vec<_>>>()?))
}
