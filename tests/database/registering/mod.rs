//! Creating the extension, registering datasources, describing what has no comment, watching DDL.

mod describe;
mod install;
mod scope;
mod watch_ddl;
