//! A snapshot and curated content, cut into typed texts that are embedded and searched.

pub mod curated;
pub mod cutter;
pub mod text;
