//! nl2sql: an index of database schemas inside PostgreSQL, for applications that turn questions
//! into SQL. The logic is in `core/`, the embedding model in `embed/`; here is what touches
//! Postgres: `pg/` speaks to the server, `api/` holds the SQL functions.

use pgrx::prelude::*;

/// The SQL functions, a file each.
mod api {
    mod bind;
    mod catalog;
    mod check;
    mod curated_export;
    mod curated_import;
    mod curated_validate;
    mod describe;
    mod diff;
    mod embed;
    mod health;
    mod index;
    mod lookup;
    mod r#match;
    mod mmr;
    mod prune;
    mod register;
    mod retrieve;
    mod route;
    mod schema_prompt;
    mod search_tables;
    mod snapshot;
    mod suggest_queries;
    mod unregister;
    mod verified_query;
    mod versions;
    mod visibility;
    mod watch;
}

/// The server as the functions see it. `unsafe` is opened where a module calls it directly.
mod pg {
    pub mod argument;
    pub mod build;
    pub mod catalogue;
    pub mod curated;
    pub mod curated_build;
    pub mod curated_check;
    pub mod datasource;
    pub mod ddl;
    pub mod description;
    pub mod document;
    pub mod drift;
    #[allow(unsafe_code)]
    pub mod embedder;
    pub mod entry;
    #[allow(unsafe_code)]
    pub mod error;
    #[allow(unsafe_code)]
    pub mod gather;
    pub mod glossary;
    #[allow(unsafe_code)]
    pub mod identity;
    #[allow(unsafe_code)]
    pub mod interrupt;
    #[allow(unsafe_code)]
    pub mod jsonb;
    pub mod lease;
    #[allow(unsafe_code)]
    pub mod log;
    pub mod namespace;
    pub mod notify;
    pub mod preferred;
    #[allow(unsafe_code)]
    pub mod prepare;
    #[allow(unsafe_code)]
    pub mod privilege;
    pub mod profile;
    pub mod query;
    pub mod ranking;
    pub mod relation;
    #[allow(unsafe_code)]
    pub mod restricted;
    pub mod retention;
    pub mod retrieval;
    pub mod sample;
    #[allow(unsafe_code)]
    pub mod scan;
    pub mod search;
    #[allow(unsafe_code)]
    pub mod settings;
    pub mod snapshot;
    #[allow(unsafe_code)]
    pub mod subtransaction;
    #[allow(unsafe_code)]
    pub mod timer;
    #[allow(unsafe_code)]
    pub mod untyped;
    #[allow(unsafe_code)]
    pub mod vector;
}

pg_module_magic!();

/// Runs when the library is loaded: by `shared_preload_libraries` in the postmaster, else in the
/// first backend that calls a function. Never raises, so that no missing file keeps a server from
/// starting.
#[pg_guard]
pub extern "C-unwind" fn _PG_init() {
    pg::error::keep_details();
    pg::settings::define();
    pg::log::install();
    pg::embedder::preload();
}
