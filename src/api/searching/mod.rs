//! Searches, and renders what a model is sent.

mod catalog;
mod lookup;
mod mmr;
mod retrieve;
mod route;
mod schema_prompt;
mod search_tables;
