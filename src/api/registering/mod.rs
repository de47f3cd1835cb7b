//! Datasources: registered, described, watched, removed.

mod describe;
mod register;
mod unregister;
mod watch_ddl;
