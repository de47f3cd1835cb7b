//! Everything that talks to Postgres, in the rooms of `nl2sql_core`. The order is that of the data, and a room uses
//! only those above it:
//!
//! - `server`: SPI, privileges, settings, errors. The only room that calls the server's C functions, apart from
//!   scanning a table's rows and analyzing a statement.
//! - `catalog`: reads a schema from the catalogs.
//! - `datasource`: what is registered, its lease and what users say about its tables.
//! - `profile`: reads statistics and sample rows.
//! - `snapshot`: stores versions of a schema and compares them.
//! - `curated`: stores verified queries, metrics and glossary, and asks the server about their SQL.
//! - `index`: builds entries with vectors and makes a build live.
//! - `search`: finds tables, columns and terms for a question.
//! - `monitoring`: checks the health of each index and the drift of each schema.

pub mod catalog;
pub mod curated;
pub mod datasource;
pub mod index;
pub mod monitoring;
pub mod profile;
pub mod search;
pub mod server;
pub mod snapshot;
