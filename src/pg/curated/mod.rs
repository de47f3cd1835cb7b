//! Curated content as stored, and what the server says of its statements.

#[allow(unsafe_code)]
pub mod analyze;
#[allow(unsafe_code)]
pub mod analyze_hooks;
pub mod check;
pub mod store;
