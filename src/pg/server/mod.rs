//! Everything that calls the server's C functions.

pub mod argument;
#[allow(unsafe_code)]
pub mod error;
#[allow(unsafe_code)]
pub mod error_position;
#[allow(unsafe_code, dead_code)]
pub mod function_class;
#[allow(unsafe_code)]
pub mod identity;
#[allow(unsafe_code)]
pub mod interrupt;
#[allow(unsafe_code)]
pub mod jsonb;
#[allow(unsafe_code)]
pub mod log;
#[allow(unsafe_code)]
pub mod privilege;
pub mod query;
#[allow(unsafe_code)]
pub mod query_tree;
#[allow(unsafe_code)]
pub mod restricted;
#[allow(unsafe_code)]
pub mod settings;
#[allow(unsafe_code)]
pub mod statement_timer;
#[allow(unsafe_code)]
pub mod subtransaction;
#[allow(unsafe_code)]
pub mod vector;
