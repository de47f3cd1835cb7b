//! Acts as the extension's owner: to write for a caller who may execute the function, and to read stored rows that are
//! then reduced to what the caller may read.

use crate::pg::server::error::Result;
use crate::pg::server::query;
use pgrx::pg_sys;
use std::marker::PhantomData;

/// Proof that the current user is the extension's owner. Only [`as_owner`] makes one, and lends it for as long as the
/// switch lasts: nothing can keep the reference, or send it to another thread.
pub struct Owner(PhantomData<*const ()>);

/// Restores the user, even if an error unwinds.
struct Restore {
    user: pg_sys::Oid,
    context: i32,
}

impl Drop for Restore {
    fn drop(&mut self) {
        // SAFETY: sets two backend-local variables to their former values, and cannot fail.
        unsafe { pg_sys::SetUserIdAndSecContext(self.user, self.context) };
    }
}

/// Runs `work` with the rights of the extension's owner. The server rejects SET ROLE meanwhile.
pub fn as_owner<T>(work: impl FnOnce(&Owner) -> Result<T>) -> Result<T> {
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
    // SAFETY: reads and sets backend-local variables. `restore` undoes it on every way out, as an abort of the
    // transaction does.
    unsafe {
        pg_sys::GetUserIdAndSecContext(&mut restore.user, &mut restore.context);
        pg_sys::SetUserIdAndSecContext(owner, restore.context | pg_sys::SECURITY_LOCAL_USERID_CHANGE as i32);
    }
    let result = work(&Owner(PhantomData));
    drop(restore);
    result
}

/// Fails with 25006 on a standby or in a read-only transaction.
pub fn check_writable(command: &str) {
    let command = std::ffi::CString::new(command).unwrap_or_default();
    // SAFETY: raises or returns; the name is null-terminated and copied.
    unsafe { pg_sys::PreventCommandIfReadOnly(command.as_ptr()) };
}
