//! From a question to datasources, tables, columns and joins, and their form in a model's prompt.
//!
//! Routing fuses signals (`fusion`). Retrieval ranks tables (`table_rank`, `bm25`, `pagerank`, `value_match`), selects
//! tables and columns (`table_selection`, `join_path`, `column_selection`) and renders them (`prompt`,
//! `catalog_listing`).

pub mod bm25;
pub mod catalog_listing;
pub mod column_hits;
pub mod column_selection;
pub mod explain;
pub mod fusion;
pub(crate) mod join_path;
pub mod mmr;
pub mod pagerank;
pub mod prompt;
pub mod sub_query;
pub mod table_rank;
pub mod table_selection;
pub mod term_match;
pub mod tsvector;
pub mod value_match;
pub mod z_scores;
