//! The versions of a datasource: which are stored, and which one is live.

use crate::pg::server::error::{Error, Result, call};
use crate::pg::server::{query, settings};
use pgrx::prelude::*;

/// A kept version.
pub struct Version {
    pub schema_version: String,
    pub created_at: TimestampWithTimeZone,
}

/// Kept versions of a datasource, newest first, as the current user.
pub fn versions(datasource: &str) -> Result<Vec<Version>> {
    query::read(
        "SELECT schema_version, created_at FROM nl2sql.snapshot WHERE datasource = $1
         ORDER BY created_at DESC, schema_version COLLATE \"C\" DESC",
        &[datasource.into()],
        |row| Ok(Version { schema_version: row.must(1)?, created_at: row.must(2)? }),
    )
}

/// Fails with 42704 if the version is not kept, and suggests similar ones.
pub fn check_version(datasource: &str, version: &str) -> Result<()> {
    let known = versions(datasource)?;
    if known.iter().any(|known| known.schema_version == version) {
        return Ok(());
    }
    let error = Error::unknown("schema version", version, known.iter().map(|known| known.schema_version.as_str()));
    Err(error.hint(format!("Run: SELECT * FROM {};", call("nl2sql_versions", datasource))))
}

/// The version that is live in `namespace`, as the current user.
pub fn live_version(datasource: &str, namespace: &str) -> Result<Option<String>> {
    query::read_one(
        "SELECT schema_version FROM nl2sql.pointer WHERE datasource = $1 AND namespace = $2",
        &[datasource.into(), namespace.into()],
        |row| row.must(1),
    )
}

/// The version that the caller named, or the live one: 42704 if it is not kept, 55000 if no build is live.
pub fn version_or_live(datasource: &str, version: Option<&str>) -> Result<String> {
    if let Some(version) = version {
        check_version(datasource, version)?;
        return Ok(version.to_owned());
    }
    let namespace = settings::namespace()?;
    live_version(datasource, &namespace)?.ok_or_else(|| Error::not_indexed(datasource, &namespace))
}
