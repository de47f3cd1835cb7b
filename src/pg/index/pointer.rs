//! The pointer of a datasource, which names its live build, and the builds that are kept.

use crate::pg::datasource::lease::Lease;
use crate::pg::server::error::Result;
use crate::pg::server::identity::Owner;
use crate::pg::server::query;
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;

/// The live build of a datasource.
pub(super) struct LiveBuild {
    pub build: i64,
    pub schema_version: String,
    pub built_at: TimestampWithTimeZone,
    pub curated_hash: Option<String>,
}

/// The live build, if there is one.
pub(super) fn live_build(_: &Owner, name: &str, namespace: &str) -> Result<Option<LiveBuild>> {
    query::read_one(
        "SELECT build, schema_version, built_at, curated_hash FROM nl2sql.pointer WHERE datasource = $1 AND namespace = $2",
        &[name.into(), namespace.into()],
        |row| {
            Ok(LiveBuild {
                build: row.must(1)?,
                schema_version: row.must(2)?,
                built_at: row.must(3)?,
                curated_hash: row.get(4)?,
            })
        },
    )
}

/// Makes a build live.
pub(super) fn switch(
    _: &Owner,
    lease: &Lease,
    namespace: &str,
    build: i64,
    schema_version: &str,
    curated_hash: Option<&str>,
) -> Result<()> {
    let name = lease.datasource();
    query::execute(
        "INSERT INTO nl2sql.pointer AS p (datasource, namespace, build, schema_version, built_at, curated_hash)
         SELECT $1, $2, b.id, $4, b.built_at, $5 FROM nl2sql.build b WHERE b.id = $3
         ON CONFLICT (datasource, namespace) DO UPDATE SET
             build = excluded.build,
             schema_version = excluded.schema_version,
             built_at = excluded.built_at,
             curated_hash = excluded.curated_hash",
        &[name.into(), namespace.into(), build.into(), schema_version.into(), curated_hash.into()],
    )
}

/// Deletes all builds but the live one and the one just replaced, which clients that pinned it still read.
pub(super) fn retain_builds(_: &Owner, lease: &Lease, namespace: &str, live: i64, replaced: Option<i64>) -> Result<()> {
    let name = lease.datasource();
    let args: [DatumWithOid; 3] = [name.into(), namespace.into(), vec![Some(live), replaced].into()];
    query::execute(
        "DELETE FROM nl2sql.entry e USING nl2sql.build b
         WHERE e.namespace = $2 AND e.build = b.id AND b.datasource = $1 AND b.namespace = $2
           AND b.id NOT IN (SELECT k FROM unnest($3::bigint[]) k WHERE k IS NOT NULL)",
        &args,
    )?;
    query::execute(
        "DELETE FROM nl2sql.build b
         WHERE b.datasource = $1 AND b.namespace = $2
           AND b.id NOT IN (SELECT k FROM unnest($3::bigint[]) k WHERE k IS NOT NULL)",
        &args,
    )
}
