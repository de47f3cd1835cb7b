//! The server as the SQL functions see it, in the rooms of `nl2sql_core`. `server` calls Postgres's C functions.

pub mod catalog;
pub mod curated;
pub mod datasource;
pub mod index;
pub mod profile;
pub mod search;
pub mod server;
pub mod snapshot;
