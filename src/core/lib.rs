//! The logic of nl2sql. Nothing here depends on Postgres, so all of it is tested without a server.
//!
//! Data flows from `catalog` to `snapshot` to `chunk`, and `search` ranks what was indexed. `curated` is content that
//! people write, `mine` drafts it from statements that ran, and `sql` parses their statements. `health` judges the state
//! of an index, and `similar_names` suggests names for error messages. A test (`tests/rooms.rs`) keeps these rooms, and
//! the files in them, free of circular imports.

pub mod catalog;
pub mod chunk;
pub mod curated;
#[cfg(test)]
mod fixture;
pub mod health;
pub mod mine;
pub mod search;
pub mod similar_names;
pub mod snapshot;
pub mod sql;
