//! `nl2sql_versions`.

use crate::pg::server::argument;
use crate::pg::server::error::{ErrorReport, Result as PgResult};
use crate::pg::server::settings;
use crate::pg::snapshot::drift;
use crate::pg::{datasource, snapshot};
use pgrx::prelude::*;

#[pg_extern]
fn nl2sql_versions(
    datasource: Option<&str>,
) -> Result<
    TableIterator<
        'static,
        (
            name!(schema_version, String),
            name!(fingerprint, String),
            name!(created_at, TimestampWithTimeZone),
            name!(live, bool),
            name!(has_diff, bool),
        ),
    >,
    ErrorReport,
> {
    let name = argument::required("datasource", datasource)?;
    datasource::check_known(name)?;
    let live = snapshot::live_version(name, &settings::namespace()?)?;
    let rows = snapshot::versions(name)?.into_iter().map(|version| {
        let fingerprint = snapshot::visible_fingerprint(name, &version.schema_version)?;
        let is_live = live.as_ref() == Some(&version.schema_version);
        let has_diff = drift::has_diff(name, &version.schema_version)?;
        Ok((version.schema_version, fingerprint, version.created_at, is_live, has_diff))
    });
    Ok(TableIterator::new(rows.collect::<PgResult<Vec<_>>>()?))
}
