//! Verified queries, metrics and glossary as stored, each with the columns that it reads, and what the server finds when
//! it analyzes their SQL.

#[allow(unsafe_code)]
pub mod analyze;
#[allow(unsafe_code)]
pub mod analyze_hooks;
pub mod bind;
#[allow(unsafe_code)]
pub mod callable;
pub mod check;
#[allow(unsafe_code)]
pub mod columns;
#[allow(unsafe_code)]
pub mod query_reads;
#[allow(unsafe_code)]
pub mod raw_tree;
pub mod store;
pub mod suggest;
pub mod validate;
pub mod write;
