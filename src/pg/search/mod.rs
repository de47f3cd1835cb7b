//! Searches of the live builds, as the current user may see them: routing's signals, the nearest entries, tables ranked
//! for a question, and retrieval. `retrieve` tells the story of retrieval, and a file holds each step: `rank_tables`,
//! `table_selection`, `column_selection`, `send`.

pub mod builds;
mod column_selection;
mod evidence;
pub mod nearest;
pub mod query_terms;
pub mod rank_tables;
pub mod retrieval;
pub mod retrieve;
mod send;
pub mod signals;
pub mod strategy;
mod table_selection;
pub mod terms;
