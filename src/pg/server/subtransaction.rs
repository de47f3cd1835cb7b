//! Work that may fail without ending the transaction.

use crate::pg::server::error::{Error, Result};
use pgrx::pg_sys::panic::{CaughtError, ErrorReportWithLevel};
use pgrx::prelude::*;
use std::panic::AssertUnwindSafe;

/// Runs `work` in a subtransaction: a failure, ours or the server's, takes back what it did and is
/// given as an error. A cancelled query is not a failure of the work, and a transaction that cannot be
/// serialized must be run again as a whole: both go on to the caller.
pub fn attempt<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    told(run(work, true))
}

/// The same for work that only looks: what it did is taken back also where it succeeds.
pub fn attempt_undone<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    told(run(work, false))
}

fn told<T>(result: std::result::Result<Result<T>, CaughtError>) -> Result<T> {
    match result {
        Ok(result) => result,
        Err(CaughtError::PostgresError(report) | CaughtError::ErrorReport(report)) if !ends_all(&report) => {
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
#[allow(clippy::result_large_err)] // The size is that of pgrx's `CaughtError`, which is moved only after an error.
pub fn run<T>(work: impl FnOnce() -> Result<T>, keep: bool) -> std::result::Result<Result<T>, CaughtError> {
    // SAFETY: the sequence of PL/pgSQL's exception blocks: memory context and resource owner are
    // noted before, put back after, and the subtransaction is ended on every way out.
    unsafe {
        let context = pg_sys::CurrentMemoryContext;
        let owner = pg_sys::CurrentResourceOwner;
        pg_sys::BeginInternalSubTransaction(std::ptr::null());
        pg_sys::MemoryContextSwitchTo(context);
        let mut released = false;
        let result = PgTryBuilder::new(AssertUnwindSafe(|| {
            let result = work();
            if keep && result.is_ok() {
                // Others have their say on it, and may object.
                pg_sys::ReleaseCurrentSubTransaction();
                released = true;
            }
            Ok(result)
        }))
        .catch_others(Err)
        .execute();
        if !released {
            pg_sys::RollbackAndReleaseCurrentSubTransaction();
        }
        pg_sys::MemoryContextSwitchTo(context);
        pg_sys::CurrentResourceOwner = owner;
        result
    }
}

/// Whether an error ends the whole statement, whatever part of it met it. Anybody's code can raise an error
/// with these codes: it is one only where it comes from the server's own code.
pub fn ends_all(report: &ErrorReportWithLevel) -> bool {
    match report.sql_error_code() {
        PgSqlErrorCode::ERRCODE_QUERY_CANCELED => report.file().ends_with("postgres.c"),
        PgSqlErrorCode::ERRCODE_T_R_SERIALIZATION_FAILURE => !report.file().starts_with("pl"),
        _ => false,
    }
}
