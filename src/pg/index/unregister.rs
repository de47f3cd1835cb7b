//! Unregistering: everything of a datasource goes, its builds and snapshots too.

use crate::pg::datasource::{ddl_watch, lease};
use crate::pg::server::error::Result;
use crate::pg::server::identity::Owner;
use crate::pg::server::query;
use crate::pg::snapshot;

/// Removes everything of a datasource; false where there is none.
pub fn unregister(owner: &Owner, name: &str) -> Result<bool> {
    let id =
        query::read_one("SELECT id FROM nl2sql.datasource WHERE name = $1", &[name.into()], |row| row.must::<i32>(1))?;
    let Some(id) = id else { return Ok(false) };
    lease::take(owner, name, id)?;
    snapshot::removing(|| {
        for statement in [
            "DELETE FROM nl2sql.entry e USING nl2sql.build b
             WHERE e.namespace = b.namespace AND e.build = b.id AND b.datasource = $1",
            "DELETE FROM nl2sql.pointer WHERE datasource = $1",
            "DELETE FROM nl2sql.build WHERE datasource = $1",
            "DELETE FROM nl2sql.snapshot WHERE datasource = $1",
            "DELETE FROM nl2sql.datasource WHERE name = $1",
        ] {
            query::execute(statement, &[name.into()])?;
        }
        Ok(())
    })?;
    ddl_watch::forget_others(owner)?;
    Ok(true)
}
