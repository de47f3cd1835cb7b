//! `nl2sql_curated_validate`.

use crate::pg::curated::validate::validate;
use crate::pg::datasource;
use crate::pg::server::error::ErrorReport;
use pgrx::prelude::*;

#[pg_extern]
fn nl2sql_curated_validate(
    datasource: Option<&str>,
) -> Result<
    TableIterator<'static, (name!(datasource, String), name!(query_id, Option<String>), name!(problem, String))>,
    ErrorReport,
> {
    let mut rows = Vec::new();
    for name in datasource::named(datasource)? {
        let problems = validate(&name)?;
        rows.extend(problems.into_iter().map(|(query_id, problem)| (name.clone(), query_id, problem)));
    }
    Ok(TableIterator::new(rows))
}
