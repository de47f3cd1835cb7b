//! Settings of a session, and transactions that only read.

mod environment;
mod read_only;
mod settings;
