//! Acting as the extension's owner: what a granted caller writes, and stored rows that are shown
//! only after they were cut down to the caller's rights.

use crate::pg::server::error::Result;
use crate::pg::server::query;
use pgrx::pg_sys;

/// Puts the user back also when an error unwinds.
struct Restore {
    user: pg_sys::Oid,
    context: i32,
}

impl Drop for Restore {
    fn drop(&mut self) {
        // SAFETY: sets two backend-local variables to what they were; cannot fail.
        unsafe { pg_sys::SetUserIdAndSecContext(self.user, self.context) };
    }
}

/// Runs `work` with the rights of the extension's owner. SET ROLE is refused meanwhile.
pub fn as_owner<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let owner = query::read_one("SELECT extowner FROM pg_catalog.pg_extension WHERE extname = 'nl2sql'", &[], |row| {
        row.must::<pg_sys::Oid>(1)
    })?;
    let Some(owner) = owner else {
        return Err(crate::pg::server::error::Error::new(
            pgrx::PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT,
            "extension \"nl2sql\" does not exist in this database",
        )
        .hint("Run: CREATE EXTENSION nl2sql CASCADE;"));
    };
    let mut restore = Restore { user: pg_sys::InvalidOid, context: 0 };
    // SAFETY: reads and sets backend-local variables; `restore` undoes it on every way out, and a
    // transaction's abort does so too.
    unsafe {
        pg_sys::GetUserIdAndSecContext(&mut restore.user, &mut restore.context);
        pg_sys::SetUserIdAndSecContext(owner, restore.context | pg_sys::SECURITY_LOCAL_USERID_CHANGE as i32);
    }
    let result = work();
    drop(restore);
    result
}

/// Fails with 25006 on a standby and in a read-only transaction.
pub fn check_writable(command: &str) {
    let command = std::ffi::CString::new(command).unwrap_or_default();
    // SAFETY: raises or returns; the name is null-terminated and copied.
    unsafe { pg_sys::PreventCommandIfReadOnly(command.as_ptr()) };
}
