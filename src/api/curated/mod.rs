//! Verified queries, metrics and terms.

mod bind;
mod export;
mod import;
mod r#match;
mod suggest_queries;
mod validate;
mod verified_query;
