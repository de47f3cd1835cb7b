//! Removes snapshots, which nothing else may change or delete.

use crate::pg::datasource::lease::Lease;
use crate::pg::server::error::Result;
use crate::pg::server::identity::Owner;
use crate::pg::server::query;
use pgrx::datum::DatumWithOid;
use std::cell::Cell;

thread_local! {
    static REMOVING: Cell<bool> = const { Cell::new(false) };
}

/// Allows `work` to delete snapshots.
pub fn removing<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    struct Done;
    impl Drop for Done {
        fn drop(&mut self) {
            REMOVING.set(false);
        }
    }
    let _done = Done;
    REMOVING.set(true);
    work()
}

/// Whether [`removing`] is under way. The trigger that keeps snapshots immutable asks this.
pub fn is_removing() -> bool {
    REMOVING.get()
}

/// Removes versions, except the newest `keep` and those that a pointer or a kept build names. The build that was just
/// replaced is kept.
pub fn retain(_: &Owner, lease: &Lease, keep: i64) -> Result<()> {
    let datasource = lease.datasource();
    let args: [DatumWithOid; 2] = [datasource.into(), keep.into()];
    removing(|| {
        query::execute(
            "DELETE FROM nl2sql.snapshot s
             WHERE s.datasource = $1
               AND s.schema_version NOT IN (
                   SELECT p.schema_version FROM nl2sql.pointer p WHERE p.datasource = $1
                   UNION SELECT b.schema_version FROM nl2sql.build b WHERE b.datasource = $1)
               AND s.schema_version NOT IN (
                   SELECT n.schema_version FROM nl2sql.snapshot n WHERE n.datasource = $1
                   ORDER BY n.created_at DESC, n.schema_version COLLATE \"C\" DESC LIMIT $2)",
            &args,
        )
    })
}
