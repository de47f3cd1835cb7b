//! From a question to datasources, tables, columns and joins, and how they are shown to a model.

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
