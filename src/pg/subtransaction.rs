//! Work that may fail without ending the transaction.

use super::error::{Error, Result};
use pgrx::pg_sys::panic::CaughtError;
use pgrx::prelude::*;
use std::panic::AssertUnwindSafe;

/// Runs `work` in a subtransaction: a failure, ours or the server's, takes back what it did and is
/// given as an error. A cancelled query is not a failure of the work, and a transaction that cannot be
/// serialized must be run again as a whole: both go on to the caller.
pub fn attempt<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    // SAFETY: the sequence of PL/pgSQL's exception blocks: memory context and resource owner are
    // noted before, put back after, and the subtransaction is ended on every way out that stays here.
    unsafe {
        let context = pg_sys::CurrentMemoryContext;
        let owner = pg_sys::CurrentResourceOwner;
        pg_sys::BeginInternalSubTransaction(std::ptr::null());
        pg_sys::MemoryContextSwitchTo(context);
        let result = PgTryBuilder::new(AssertUnwindSafe(work))
            .catch_others(|caught| match caught {
                CaughtError::PostgresError(report) | CaughtError::ErrorReport(report)
                    if !ends_all(report.sql_error_code()) =>
                {
                    let mut error = Error::new(report.sql_error_code(), report.message());
                    error.detail = report.detail().map(str::to_owned);
                    error.hint = report.hint().map(str::to_owned);
                    Err(error)
                }
                other => other.rethrow(),
            })
            .execute();
        match result {
            Ok(_) => pg_sys::ReleaseCurrentSubTransaction(),
            Err(_) => pg_sys::RollbackAndReleaseCurrentSubTransaction(),
        }
        pg_sys::MemoryContextSwitchTo(context);
        pg_sys::CurrentResourceOwner = owner;
        result
    }
}

fn ends_all(code: PgSqlErrorCode) -> bool {
    matches!(
        code,
        PgSqlErrorCode::ERRCODE_QUERY_CANCELED | PgSqlErrorCode::ERRCODE_T_R_SERIALIZATION_FAILURE
    )
}
