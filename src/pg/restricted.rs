//! Reading what others wrote: a table, a view or a type may run its author's code.

use super::error::Result;
use super::subtransaction;
use super::timer::Timer;
use pgrx::pg_sys;
use pgrx::pg_sys::panic::CaughtError;
use pgrx::prelude::*;
use std::ffi::CStr;
use std::time::Duration;

/// So that values come as the same text in every session, and code that runs cannot write. Row security
/// that would hide rows is an error instead.
const SETTINGS: [(&CStr, &CStr); 7] = [
    (c"transaction_read_only", c"on"),
    (c"row_security", c"off"),
    (c"datestyle", c"ISO, YMD"),
    (c"intervalstyle", c"postgres"),
    (c"timezone", c"UTC"),
    (c"extra_float_digits", c"1"),
    (c"lc_monetary", c"C"),
];

/// Why something was not read.
pub enum Refused {
    /// The limit of time was reached.
    TimeOut,
    Failed(PgSqlErrorCode),
}

/// Runs `work` as `owner` in a security-restricted context, as ANALYZE reads a table: read-only, with a
/// limit of time, in a subtransaction that is rolled back whatever comes of it. A failure is given as
/// its code alone, since the server's message may quote data. What ends the whole statement goes on to
/// the caller.
pub fn read_as<T>(
    owner: pg_sys::Oid,
    limit: Option<Duration>,
    work: impl FnOnce() -> Result<T>,
) -> Result<std::result::Result<T, Refused>> {
    let timer = Timer::start(limit);
    let result = subtransaction::run(
        || {
            restrict(owner);
            work()
        },
        false,
    );
    let expired = timer.expired();
    drop(timer);
    match result {
        Ok(result) => result.map(Ok),
        Err(CaughtError::PostgresError(report) | CaughtError::ErrorReport(report)) => match report.sql_error_code() {
            PgSqlErrorCode::ERRCODE_QUERY_CANCELED if expired => Ok(Err(Refused::TimeOut)),
            code if subtransaction::ends_all(code) => CaughtError::PostgresError(report).rethrow(),
            code => Ok(Err(Refused::Failed(code))),
        },
        Err(other) => other.rethrow(),
    }
}

/// In a subtransaction that will be rolled back.
fn restrict(owner: pg_sys::Oid) {
    // SAFETY: names and values are null-terminated, and the rollback undoes all of it.
    unsafe {
        for (name, value) in SETTINGS {
            pg_sys::set_config_option(
                name.as_ptr(),
                value.as_ptr(),
                pg_sys::GucContext::PGC_USERSET,
                pg_sys::GucSource::PGC_S_SESSION,
                pg_sys::GucAction::GUC_ACTION_LOCAL,
                true,
                0,
                false,
            );
        }
        let (mut user, mut security) = (pg_sys::InvalidOid, 0);
        pg_sys::GetUserIdAndSecContext(&mut user, &mut security);
        pg_sys::SetUserIdAndSecContext(owner, security | pg_sys::SECURITY_RESTRICTED_OPERATION as i32);
    }
}

impl Refused {
    /// What an issue says: names, states and codes.
    pub fn message(&self) -> String {
        match self {
            Refused::TimeOut => "reading it took longer than nl2sql.profile_timeout allows".to_owned(),
            Refused::Failed(PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE) => {
                "its owner has no right to read it, or what it runs tries more than it may (SQLSTATE 42501)".to_owned()
            }
            Refused::Failed(PgSqlErrorCode::ERRCODE_READ_ONLY_SQL_TRANSACTION) => {
                "reading it tries to write, which is not allowed (SQLSTATE 25006)".to_owned()
            }
            Refused::Failed(code) => format!("reading it fails with SQLSTATE {}", sqlstate(*code)),
        }
    }

    /// Whether some columns may still be readable on their own.
    pub fn may_be_of_a_column(&self) -> bool {
        !matches!(self, Refused::TimeOut)
    }
}

/// Five characters, from the server's packing of six bits each.
fn sqlstate(code: PgSqlErrorCode) -> String {
    let packed = code as u32;
    (0..5).map(|place| char::from(b'0' + ((packed >> (6 * place)) & 0x3f) as u8)).collect()
}

