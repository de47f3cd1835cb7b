//! What the event triggers of the extension recorded of DDL, and switching them.

use super::error::Result;
use super::query;

/// Switches the event triggers; false where they are so already. For the extension's owner.
pub fn watch(on: bool) -> Result<bool> {
    let state = if on { "ENABLE" } else { "DISABLE" };
    let is_on = query::read_one(
        "SELECT evtenabled <> 'D' FROM pg_event_trigger WHERE evtname = 'nl2sql_ddl'",
        &[],
        |row| row.must::<bool>(1),
    )?;
    if is_on == Some(on) {
        return Ok(false);
    }
    query::execute(&format!("ALTER EVENT TRIGGER nl2sql_ddl {state}"), &[])?;
    query::execute(&format!("ALTER EVENT TRIGGER nl2sql_drop {state}"), &[])?;
    Ok(true)
}

/// Forgets all but the last record of each schema. Waits for nobody: what another build of the same schema
/// is just forgetting is left to it. For the extension's owner.
pub fn forget(schemas: &[String]) -> Result<()> {
    query::execute(
        "DELETE FROM nl2sql.ddl
         WHERE ctid = ANY (ARRAY(
             SELECT d.ctid FROM nl2sql.ddl d
             WHERE d.table_schema = ANY ($1)
               AND EXISTS (SELECT FROM nl2sql.ddl l
                           WHERE l.table_schema = d.table_schema AND l.touched_at > d.touched_at)
             FOR UPDATE SKIP LOCKED))",
        &[schemas.to_vec().into()],
    )
}
