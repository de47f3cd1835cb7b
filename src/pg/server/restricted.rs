//! Reading what others wrote: a table, a view or a type may run its author's code.

use crate::pg::server::error::Result;
use crate::pg::server::statement_timer::Timer;
use crate::pg::server::{settings, subtransaction};
use pgrx::pg_sys;
use pgrx::pg_sys::panic::CaughtError;
use pgrx::prelude::*;
use std::ffi::CStr;
use std::time::Duration;

/// So that values come as the same text in every session, and code that runs cannot write.
const SETTINGS: [(&CStr, &CStr); 6] = [
    (c"transaction_read_only", c"on"),
    (c"datestyle", c"ISO, YMD"),
    (c"intervalstyle", c"postgres"),
    (c"timezone", c"UTC"),
    (c"extra_float_digits", c"1"),
    (c"lc_monetary", c"C"),
];

/// What becomes of row security that would hide rows from the reader.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum RowSecurity {
    Applies,
    /// It is an error.
    Refuses,
}

/// Why something was not read.
pub enum Refused {
    /// The limit of time was reached.
    TimeOut,
    /// The table is another one than that whose structure was read, or another's.
    Changed,
    Failed(PgSqlErrorCode),
}

/// A table, as the catalogue had it when its schema was read.
#[derive(Clone, Copy)]
pub struct Source {
    pub oid: pg_sys::Oid,
    pub owner: pg_sys::Oid,
}

/// Runs `work` with the rights of the table's owner in a security-restricted context, as ANALYZE reads a
/// table: read-only, with a limit of time, in a subtransaction that is rolled back whatever comes of it. The
/// table is locked first, and is read only if it is still its owner's. What belongs to a superuser is read as
/// `pg_read_all_data`, since what others have put below it would run as who reads. A failure is given as its
/// code alone, since the server's message may quote data. What ends the whole statement goes on to the caller.
pub fn read_as<T>(
    source: Source,
    limit: Option<Duration>,
    row_security: RowSecurity,
    work: impl FnOnce() -> Result<T>,
) -> Result<std::result::Result<T, Refused>> {
    run(limit, || {
        // SAFETY: opens the relation of that number, if there is one, and closes it again; the lock stays.
        let reader = unsafe {
            let relation = pg_sys::try_relation_open(source.oid, pg_sys::AccessShareLock as pg_sys::LOCKMODE);
            if relation.is_null() {
                return Ok(None);
            }
            let owner = (*(*relation).rd_rel).relowner;
            pg_sys::relation_close(relation, pg_sys::NoLock as pg_sys::LOCKMODE);
            if owner != source.owner {
                return Ok(None);
            }
            if pg_sys::superuser_arg(source.owner) { READ_ALL_DATA } else { source.owner }
        };
        restrict(reader, row_security);
        work().map(Some)
    })
    .map(|result| result.and_then(|found| found.ok_or(Refused::Changed)))
}

/// The same as the current user.
pub fn read_as_caller<T>(
    limit: Option<Duration>,
    row_security: RowSecurity,
    work: impl FnOnce() -> Result<T>,
) -> Result<std::result::Result<T, Refused>> {
    run(limit, || {
        // SAFETY: reads a backend-local variable.
        restrict(unsafe { pg_sys::GetUserId() }, row_security);
        work()
    })
}

fn run<T>(limit: Option<Duration>, work: impl FnOnce() -> Result<T>) -> Result<std::result::Result<T, Refused>> {
    let timer = Timer::start(limit);
    let result = subtransaction::run(work, false);
    let expired = timer.expired();
    drop(timer);
    match result {
        Ok(Ok(found)) => Ok(Ok(found)),
        // What is found wrong while reading is of this table alone, like what the server raises.
        Ok(Err(error)) => Ok(Err(Refused::Failed(error.code))),
        Err(CaughtError::PostgresError(report) | CaughtError::ErrorReport(report)) => {
            let cancelled = report.sql_error_code() == PgSqlErrorCode::ERRCODE_QUERY_CANCELED;
            if cancelled && expired {
                Ok(Err(Refused::TimeOut))
            } else if subtransaction::ends_statement(&report) {
                CaughtError::PostgresError(report).rethrow()
            } else {
                Ok(Err(Refused::Failed(report.sql_error_code())))
            }
        }
        Err(other) => other.rethrow(),
    }
}

/// The predefined role that may read every table and do nothing else.
const READ_ALL_DATA: pg_sys::Oid = pg_sys::Oid::from_u32(pg_sys::ROLE_PG_READ_ALL_DATA);

/// Whatever code runs from here on writes nothing and has what it changes of the session taken back, as who it runs
/// as now. In a subtransaction that will be rolled back.
pub fn hold() {
    settings::set_local(c"transaction_read_only", c"on");
    // SAFETY: reads a backend-local variable.
    become_restricted(unsafe { pg_sys::GetUserId() });
}

/// In a subtransaction that will be rolled back.
fn restrict(reader: pg_sys::Oid, row_security: RowSecurity) {
    let row_security = if row_security == RowSecurity::Applies { c"on" } else { c"off" };
    for (name, value) in SETTINGS.into_iter().chain([(c"row_security", row_security)]) {
        settings::set_local(name, value);
    }
    become_restricted(reader);
}

fn become_restricted(reader: pg_sys::Oid) {
    // SAFETY: reads and sets backend-local variables; the rollback undoes it.
    unsafe {
        let (mut user, mut security) = (pg_sys::InvalidOid, 0);
        pg_sys::GetUserIdAndSecContext(&mut user, &mut security);
        pg_sys::SetUserIdAndSecContext(reader, security | pg_sys::SECURITY_RESTRICTED_OPERATION as i32);
    }
}

impl Refused {
    /// What an issue says: names, states and codes.
    pub fn message(&self) -> String {
        match self {
            Refused::TimeOut => "reading it took longer than nl2sql.profile_timeout allows".to_owned(),
            Refused::Changed => "it was changed while the schema was read".to_owned(),
            Refused::Failed(PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE) => {
                "there is no right to read it, or what it runs tries more than it may (SQLSTATE 42501)".to_owned()
            }
            Refused::Failed(PgSqlErrorCode::ERRCODE_READ_ONLY_SQL_TRANSACTION) => {
                "reading it tries to write, which is not allowed (SQLSTATE 25006)".to_owned()
            }
            Refused::Failed(code) => format!("reading it fails with SQLSTATE {}", sqlstate(*code)),
        }
    }

    /// Whether some columns may still be readable on their own.
    pub fn may_be_of_a_column(&self) -> bool {
        matches!(self, Refused::Failed(_))
    }
}

/// Five characters, from the server's packing of six bits each.
fn sqlstate(code: PgSqlErrorCode) -> String {
    let packed = code as u32;
    (0..5).map(|place| char::from(b'0' + ((packed >> (6 * place)) & 0x3f) as u8)).collect()
}
