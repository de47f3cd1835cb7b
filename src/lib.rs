//! nl2sql: an index of database schemas inside PostgreSQL, for applications that turn questions
//! into SQL. The logic is in `core/`, the embedding model in `embed/`; here is what touches
//! Postgres: `pg/` speaks to the server, `api/` holds the SQL functions.

use pgrx::prelude::*;

mod api;
mod pg;

pg_module_magic!();

/// Runs when the library is loaded: by `shared_preload_libraries` in the postmaster, else in the
/// first backend that calls a function. Never raises, so that no missing file keeps a server from
/// starting.
#[pg_guard]
pub extern "C-unwind" fn _PG_init() {
    pg::server::error::keep_details();
    pg::server::settings::define();
    pg::server::log::install();
    pg::index::embedder::preload();
}
