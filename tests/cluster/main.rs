//! Tests that own a cluster, because they crash, stop, configure or measure a server.

mod crash;
mod damage;
mod dump;
mod footprint;
mod lease;
mod logging;
mod preload;
mod standby;
mod suggest;
mod watch_ddl;
