//! SELECT privileges of the current user, by the server's own checks. A name that does not exist is no error.

use nl2sql_core::sql::reads::ALL_COLUMNS;
use pgrx::pg_sys;
use std::ffi::CString;

/// How much of a table the current user may SELECT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    Nothing,
    /// Columns, perhaps all that exist today, but not the table itself.
    Columns,
    Table,
}

/// The schema of that name, if the current user has USAGE on it.
pub fn schema_oid(name: &str) -> Option<pg_sys::Oid> {
    let name = CString::new(name).ok()?;
    // SAFETY: looks up the system caches in a transaction; the name is null-terminated.
    unsafe {
        let oid = pg_sys::get_namespace_oid(name.as_ptr(), true);
        (oid != pg_sys::InvalidOid && may_use_schema(oid)).then_some(oid)
    }
}

/// # Safety
/// `schema` exists: the caller has just looked it up.
unsafe fn may_use_schema(schema: pg_sys::Oid) -> bool {
    // SAFETY: reads a variable of this backend.
    let user = unsafe { pg_sys::GetUserId() };
    let mode = pg_sys::ACL_USAGE as pg_sys::AclMode;
    #[cfg(feature = "pg15")]
    // SAFETY: the caller guarantees that the schema exists.
    let result = unsafe { pg_sys::pg_namespace_aclcheck(schema, user, mode) };
    #[cfg(not(feature = "pg15"))]
    // SAFETY: as above.
    let result = unsafe { pg_sys::object_aclcheck(pg_sys::NamespaceRelationId, schema, user, mode) };
    result == pg_sys::AclResult::ACLCHECK_OK
}

/// The table of that name, if the current user has USAGE on its schema.
fn table_oid(schema: &str, name: &str) -> Option<pg_sys::Oid> {
    let schema = schema_oid(schema)?;
    let name = CString::new(name).ok()?;
    // SAFETY: as above.
    unsafe {
        let oid = pg_sys::get_relname_relid(name.as_ptr(), schema);
        let kind = pg_sys::get_rel_relkind(oid) as u8;
        (oid != pg_sys::InvalidOid && b"rpvmf".contains(&kind)).then_some(oid)
    }
}

pub fn reach(schema: &str, name: &str) -> Reach {
    let Some(table) = table_oid(schema, name) else { return Reach::Nothing };
    let mode = pg_sys::ACL_SELECT as pg_sys::AclMode;
    // SAFETY: the table was just looked up; the checks read the system caches.
    unsafe {
        let user = pg_sys::GetUserId();
        let some = || {
            let how = pg_sys::AclMaskHow::ACLMASK_ANY;
            pg_sys::pg_attribute_aclcheck_all(table, user, mode, how) == pg_sys::AclResult::ACLCHECK_OK
        };
        if pg_sys::pg_class_aclcheck(table, user, mode) == pg_sys::AclResult::ACLCHECK_OK {
            Reach::Table
        } else if some() {
            Reach::Columns
        } else {
            Reach::Nothing
        }
    }
}

/// The columns of a table that the current user may SELECT, in order, followed by [`ALL_COLUMNS`] if that is every column.
pub fn readable_columns(schema: &str, name: &str) -> Vec<String> {
    let Some(table) = table_oid(schema, name) else { return Vec::new() };
    let mode = pg_sys::ACL_SELECT as pg_sys::AclMode;
    let (mut columns, mut all) = (Vec::new(), true);
    // SAFETY: as above; get_attname copies the name into the current memory context.
    unsafe {
        let user = pg_sys::GetUserId();
        let whole = pg_sys::pg_class_aclcheck(table, user, mode) == pg_sys::AclResult::ACLCHECK_OK;
        for number in 1..=pg_sys::MaxHeapAttributeNumber as i16 {
            let column = pg_sys::get_attname(table, number, true);
            if column.is_null() {
                break; // past the last column: a dropped one still has a row
            }
            let mut missing = false;
            let verdict = pg_sys::pg_attribute_aclcheck_ext(table, number, user, mode, &mut missing);
            let readable = whole || verdict == pg_sys::AclResult::ACLCHECK_OK;
            if !missing && readable {
                columns.push(std::ffi::CStr::from_ptr(column).to_string_lossy().into_owned());
            }
            all &= missing || readable;
            pg_sys::pfree(column.cast());
        }
    }
    if all && !columns.is_empty() {
        columns.push(ALL_COLUMNS.to_owned());
    }
    columns
}

/// Whether row security hides none of the extension's rows from the current user.
pub fn bypasses_row_security() -> bool {
    let schema = CString::new("nl2sql").unwrap_or_default();
    let table = CString::new("entry").unwrap_or_default();
    // SAFETY: looks up the system caches.
    unsafe {
        let schema = pg_sys::get_namespace_oid(schema.as_ptr(), true);
        let table = pg_sys::get_relname_relid(table.as_ptr(), schema);
        let verdict = pg_sys::check_enable_rls(table, pg_sys::InvalidOid, true);
        verdict != pg_sys::CheckEnableRlsResult::RLS_ENABLED as i32
    }
}
