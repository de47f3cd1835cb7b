//! A snapshot and curated content, cut into chunks: typed texts with metadata that are embedded and searched.
//!
//! `schema_chunks` cuts a snapshot, `curated_chunks` cuts curated content, and both use `cutter` for ids and common
//! fields. `visible_if` says what a role must be able to read for a chunk to exist for it.

pub mod chunk_type;
pub mod curated_chunks;
pub mod cutter;
pub mod datasource_info;
pub mod schema_chunks;
pub(crate) mod schema_text;
pub mod visible_if;
