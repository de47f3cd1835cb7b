//! Versions of a schema: stored as immutable snapshots, cut down to what the current user may see, compared with each
//! other and with the schema as it is now, and removed.

pub mod drift;
mod removal;
mod store;
mod versions;
mod visible;
pub mod withdraw;

pub(crate) use removal::{is_removing, removing, retain};
pub(crate) use store::{load, load_tables, store, table_fingerprints, tables};
pub(crate) use versions::{check_version, live_version, version_or_live, versions};
pub(crate) use visible::{access, live_schema, load_visible, visible, visible_fingerprint};
