//! The lease of a datasource: an advisory lock that a build or change holds until the transaction ends, even by a crash.

use crate::pg::server::error::{Error, Result};
use crate::pg::server::identity::Owner;
use crate::pg::server::query;
use pgrx::prelude::*;

/// First half of the advisory lock's two-integer key: "nl2s" in ASCII, which other users of advisory locks are unlikely
/// to choose. The second half is `nl2sql.datasource.id`.
pub(super) const CLASS: i32 = 0x6e6c_3273;

/// Proof that this transaction holds the lease of a datasource. Only [`take`] makes one.
pub struct Lease(String);

impl Lease {
    pub fn datasource(&self) -> &str {
        &self.0
    }
}

const HOLDER: &str = include_str!("../../../sql/datasource/lease_holder.sql");

/// Takes the lease, or fails with 55P03 without waiting; the error names the session that holds it, which the owner sees.
pub fn take(_: &Owner, datasource: &str, id: i32) -> Result<Lease> {
    let taken = query::read_one("SELECT pg_try_advisory_xact_lock($1, $2)", &[CLASS.into(), id.into()], |row| {
        row.must::<bool>(1)
    })?;
    if taken == Some(true) {
        return Ok(Lease(datasource.to_owned()));
    }
    let holder = query::read_one(HOLDER, &[CLASS.into(), id.into()], |row| {
        Ok((row.must::<String>(1)?, row.must::<String>(2)?))
    })?;
    let (detail, hint) =
        holder.unwrap_or_else(|| ("The session that held it has just ended.".to_owned(), "Try again.".to_owned()));
    Err(Error::new(
        PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE,
        format!("datasource \"{datasource}\" is being built or changed by another session"),
    )
    .detail(detail)
    .hint(hint))
}
