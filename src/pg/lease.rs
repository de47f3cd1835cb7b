//! The lease of a datasource: held to the end of the transaction by who builds or changes it, freed
//! by crash and rollback.

use super::error::{Error, Result};
use super::query;
use pgrx::prelude::*;

/// First half of the advisory lock's two-integer key: "nl2s" in ASCII, so that other users of
/// advisory locks are unlikely to meet it. The second half is `nl2sql.datasource.id`.
pub const CLASS: i32 = 0x6e6c_3273;

/// Takes the lease at once or fails with 55P03. For the extension's owner, who sees every backend.
pub fn take(datasource: &str, id: i32) -> Result<()> {
    let taken = query::read_one(
        "SELECT pg_try_advisory_xact_lock($1, $2)",
        &[CLASS.into(), id.into()],
        |row| row.must::<bool>(1),
    )?;
    if taken == Some(true) {
        return Ok(());
    }
    let holder = query::read_one(
        "SELECT format('Process %s holds it, in a transaction that began at %s.', l.pid, a.xact_start)
         FROM pg_locks l
         JOIN pg_stat_activity a ON a.pid = l.pid
         WHERE l.locktype = 'advisory' AND l.granted AND l.classid = $1::bigint::oid AND l.objid = $2::bigint::oid
           AND l.objsubid = 2 AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())",
        &[CLASS.into(), id.into()],
        |row| row.must::<String>(1),
    )?;
    Err(Error::new(
        PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE,
        format!("datasource \"{datasource}\" is being built or changed by another session"),
    )
    .detail(holder.unwrap_or_else(|| "The session that held it has just ended.".to_owned()))
    .hint("Try again when that transaction has ended."))
}
