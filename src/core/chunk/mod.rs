//! A snapshot and curated content, cut into typed texts that are embedded and searched.

pub mod chunk_type;
pub mod curated_chunks;
pub mod cutter;
pub mod datasource_info;
pub mod schema_chunks;
pub(crate) mod schema_text;
pub mod visible_if;
