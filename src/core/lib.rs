//! The logic of nl2sql, a room a subject. Nothing here knows Postgres's calling convention, so all of it is tested
//! without a server.
//!
//! The data goes from `catalog` to `snapshot` to `chunk`; `search` ranks what was indexed. `curated` is content that
//! people write, `mine` drafts it from statements that ran, `sql` is what both know of a statement.

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
