//! The lists of statements and functions of `nl2sql_core`, against a server.

mod functions;
mod statements;
