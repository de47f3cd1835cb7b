//! Searches of the live builds, as the current user may see them: routing's signals, the nearest entries, tables ranked
//! for a question, and retrieval. `retrieve` tells the story of retrieval, and a file holds each step: `rank_tables`,
//! `table_selection`, `column_selection`, `send`.

mod builds;
mod column_selection;
mod evidence;
pub mod explain_retrieval;
pub mod match_queries;
pub mod mmr;
mod nearest;
pub mod prompt;
mod query_terms;
mod rank_tables;
pub mod retrieval;
pub mod retrieve;
pub mod route;
pub mod search_tables;
mod send;
mod signals;
pub mod strategy;
mod table_selection;
mod terms;
