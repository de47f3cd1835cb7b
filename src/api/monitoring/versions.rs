//! `nl2sql_versions`.

use crate::pg::index::namespace;
use crate::pg::server::argument;
use crate::pg::server::error::{OrRaise, Result};
use crate::pg::snapshot::drift;
use crate::pg::{datasource, snapshot};
use pgrx::prelude::*;

type Row = (String, String, TimestampWithTimeZone, bool, bool);

#[pg_extern]
fn nl2sql_versions(
    datasource: Option<&str>,
) -> TableIterator<
    'static,
    (
        name!(schema_version, String),
        name!(fingerprint, String),
        name!(created_at, TimestampWithTimeZone),
        name!(live, bool),
        name!(has_diff, bool),
    ),
> {
    TableIterator::new(versions(datasource).or_raise())
}

fn versions(datasource: Option<&str>) -> Result<Vec<Row>> {
    let name = argument::required("datasource", datasource)?;
    datasource::check_known(name)?;
    let live = snapshot::live_version(name, &namespace::current()?)?;
    snapshot::versions(name)?
        .into_iter()
        .map(|version| {
            let fingerprint = snapshot::visible_fingerprint(name, &version.schema_version)?;
            let is_live = live.as_deref() == Some(version.schema_version.as_str());
            let has_diff = drift::has_diff(name, &version.schema_version)?;
            Ok((version.schema_version, fingerprint, version.created_at, is_live, has_diff))
        })
        .collect()
}
