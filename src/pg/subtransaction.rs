//! Work that may fail without ending the transaction.

use super::error::{Error, Result};
use pgrx::pg_sys::panic::CaughtError;
use pgrx::prelude::*;
use std::panic::AssertUnwindSafe;

/// Runs `work` in a subtransaction: a failure, ours or the server's, takes back what it did and is
/// given as an error. A cancelled query is not a failure of the work, and a transaction that cannot be
/// serialized must be run again as a whole: both go on to the caller.
pub fn attempt<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    match run(work, true) {
        Ok(result) => result,
        Err(CaughtError::PostgresError(report) | CaughtError::ErrorReport(report))
            if !ends_all(report.sql_error_code()) =>
        {
            let mut error = Error::new(report.sql_error_code(), report.message());
            error.detail = report.detail().map(str::to_owned);
            error.hint = report.hint().map(str::to_owned);
            Err(error)
        }
        Err(other) => other.rethrow(),
    }
}

/// Runs `work` in a subtransaction, which is committed where it succeeds and `keep` says so, else rolled
/// back. It has ended, and user, security context and settings are as before, when this returns, also
/// with what was raised: raised on from within, an error would leave the session in it.
pub fn run<T>(work: impl FnOnce() -> Result<T>, keep: bool) -> std::result::Result<Result<T>, CaughtError> {
    // SAFETY: the sequence of PL/pgSQL's exception blocks: memory context and resource owner are
    // noted before, put back after, and the subtransaction is ended on every way out.
    unsafe {
        let context = pg_sys::CurrentMemoryContext;
        let owner = pg_sys::CurrentResourceOwner;
        pg_sys::BeginInternalSubTransaction(std::ptr::null());
        pg_sys::MemoryContextSwitchTo(context);
        let result = PgTryBuilder::new(AssertUnwindSafe(|| Ok(work()))).catch_others(Err).execute();
        if keep && matches!(result, Ok(Ok(_))) {
            pg_sys::ReleaseCurrentSubTransaction();
        } else {
            pg_sys::RollbackAndReleaseCurrentSubTransaction();
        }
        pg_sys::MemoryContextSwitchTo(context);
        pg_sys::CurrentResourceOwner = owner;
        result
    }
}

/// Whether an error ends the whole statement, whatever part of it met it.
pub fn ends_all(code: PgSqlErrorCode) -> bool {
    matches!(
        code,
        PgSqlErrorCode::ERRCODE_QUERY_CANCELED | PgSqlErrorCode::ERRCODE_T_R_SERIALIZATION_FAILURE
    )
}
