//! Registers, describes, watches and removes datasources.

mod describe;
mod register;
mod unregister;
mod watch_ddl;
