//! The event triggers of the extension, and the DDL that they recorded.

use crate::pg::datasource::lease;
use crate::pg::server::error::Result;
use crate::pg::server::identity::Owner;
use crate::pg::server::query;

/// Enables or disables the event triggers; returns false if nothing changed.
pub fn watch(_: &Owner, on: bool) -> Result<bool> {
    let state = if on { "ENABLE" } else { "DISABLE" };
    // Calls run one at a time. No datasource has the id 0.
    query::execute("SELECT pg_advisory_xact_lock($1, 0)", &[lease::CLASS.into()])?;
    let is_on =
        query::read_one("SELECT evtenabled <> 'D' FROM pg_event_trigger WHERE evtname = 'nl2sql_ddl'", &[], |row| {
            row.must::<bool>(1)
        })?;
    if is_on == Some(on) {
        return Ok(false);
    }
    query::execute(&format!("ALTER EVENT TRIGGER nl2sql_ddl {state}"), &[])?;
    query::execute(&format!("ALTER EVENT TRIGGER nl2sql_drop {state}"), &[])?;
    Ok(true)
}

/// Deletes records of schemas that no longer belong to a datasource.
pub fn forget_others(_: &Owner) -> Result<()> {
    query::execute(
        "DELETE FROM nl2sql.ddl
         WHERE ctid = ANY (ARRAY(
             SELECT d.ctid FROM nl2sql.ddl d
             WHERE d.table_schema NOT IN (SELECT unnest(s.schemas) FROM nl2sql.datasource_setting s)
             FOR UPDATE SKIP LOCKED))",
        &[],
    )
}

/// Deletes all but the last record of each schema. Does not wait: records that another build is deleting are left to
/// it.
pub fn forget(_: &Owner, schemas: &[String]) -> Result<()> {
    query::execute(
        "DELETE FROM nl2sql.ddl
         WHERE ctid = ANY (ARRAY(
             SELECT d.ctid FROM nl2sql.ddl d
             WHERE d.table_schema = ANY ($1)
               AND EXISTS (SELECT FROM nl2sql.ddl l
                           WHERE l.table_schema = d.table_schema AND (l.touched_at, l.ctid) > (d.touched_at, d.ctid))
             FOR UPDATE SKIP LOCKED))",
        &[schemas.to_vec().into()],
    )
}
