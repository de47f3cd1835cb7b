//! Work that may fail without ending the transaction.

use crate::pg::server::error::{Error, Result};
use pgrx::pg_sys::panic::{CaughtError, ErrorReportWithLevel};
use pgrx::prelude::*;
use std::panic::AssertUnwindSafe;

/// Runs `work` in a subtransaction. A failure, of ours or of the server, rolls it back and is returned as an error. A
/// cancel is not a failure of the work, and a serialization failure requires the whole transaction to be run again, so
/// both are raised again.
pub fn attempt<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    unless_fatal(run(work, true))
}

/// Like [`attempt`], but rolls back even if the work succeeds.
pub fn attempt_undone<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    unless_fatal(run(work, false))
}

fn unless_fatal<T>(result: std::result::Result<Result<T>, CaughtError>) -> Result<T> {
    match result {
        Ok(result) => result,
        Err(CaughtError::PostgresError(report) | CaughtError::ErrorReport(report)) if !ends_statement(&report) => {
            let mut error = Error::new(report.sql_error_code(), report.message());
            error.detail = report.detail().map(str::to_owned);
            error.hint = report.hint().map(str::to_owned);
            Err(error)
        }
        Err(other) => other.rethrow(),
    }
}

/// Runs `work` in a subtransaction, which is committed if it succeeds and `keep` is set, and rolled back otherwise. A
/// raised error is returned rather than raised again, since that would leave the session inside the subtransaction. On
/// return, the user, security context and settings are the former ones.
#[allow(clippy::result_large_err)] // The size is that of pgrx's `CaughtError`, which is moved only after an error.
pub fn run<T>(work: impl FnOnce() -> Result<T>, keep: bool) -> std::result::Result<Result<T>, CaughtError> {
    // SAFETY: the same calls as PL/pgSQL's exception blocks: memory context and resource owner are saved before and
    // restored after, and the subtransaction ends on every way out.
    unsafe {
        let context = pg_sys::CurrentMemoryContext;
        let owner = pg_sys::CurrentResourceOwner;
        pg_sys::BeginInternalSubTransaction(std::ptr::null());
        pg_sys::MemoryContextSwitchTo(context);
        let mut released = false;
        let result = PgTryBuilder::new(AssertUnwindSafe(|| {
            let result = work();
            if keep && result.is_ok() {
                // Callbacks of other extensions run here and may raise an error.
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

/// Whether an error ends the whole statement, whichever part raised it. User code can raise errors with the same
/// codes, so the error must come from the server's own code.
pub fn ends_statement(report: &ErrorReportWithLevel) -> bool {
    match report.sql_error_code() {
        PgSqlErrorCode::ERRCODE_QUERY_CANCELED => report.file().ends_with("postgres.c"),
        PgSqlErrorCode::ERRCODE_T_R_SERIALIZATION_FAILURE => !report.file().starts_with("pl"),
        _ => false,
    }
}
