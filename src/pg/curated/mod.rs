//! Verified queries, metrics and glossary as stored, each with the columns that it reads, and what the server finds when
//! it analyzes their SQL.

#[allow(unsafe_code)]
pub mod analyze;
#[allow(unsafe_code)]
pub mod analyze_hooks;
pub mod bind;
pub mod check;
pub mod store;
pub mod suggest;
pub mod validate;
pub mod write;
