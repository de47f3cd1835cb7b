//! How curated content differs from what the live build holds of it.

use crate::pg::curated::store;
use crate::pg::index::pointer;
use crate::pg::server::error::Result;
use crate::pg::server::{identity, privilege, query};
use nl2sql_core::curated::content::Item;
use std::collections::BTreeMap;

const INDEXED: &str = include_str!("../../../sql/index/curated_entries.sql");

/// How the content that exists for the current user differs from what the live build holds of it.
#[derive(Default)]
pub struct CuratedState {
    /// The build is out of date.
    pub changed: bool,
    /// The build left some of it out.
    pub left_out: bool,
}

pub fn curated_state(datasource: &str, namespace: &str) -> Result<CuratedState> {
    let Some(live) = identity::as_owner(|owner| pointer::live_build(owner, datasource, namespace))? else {
        return Ok(CuratedState::default());
    };
    let stored = store::load_visible(datasource)?;
    if stored.content.is_empty() && live.curated_hash.is_none() {
        return Ok(CuratedState::default());
    }
    let held: BTreeMap<Item, Option<String>> = query::read(INDEXED, &[namespace.into(), live.build.into()], |row| {
        let name: String = row.must(2)?;
        let item = match row.must::<String>(1)?.as_str() {
            "curated.verified_query" => Item::VerifiedQuery(name),
            "schema.metric" => Item::Metric(name),
            _ => Item::Term(name),
        };
        Ok((item, row.get(3)?))
    })?
    .into_iter()
    .collect();
    let hashes = stored.content.hashes();
    // Content that is missing from the build was written after it, or the build left it out.
    let missing = || hashes.keys().filter(|item| !held.contains_key(item));
    let new = missing().any(|item| stored.changed.get(item).copied() > Some(live.built_at));
    let gone = held.iter().any(|(item, hash)| hashes.get(item) != hash.as_ref());
    // The hash covers all content, so it is compared only for a user who may see all of it.
    let differs = privilege::bypasses_row_security() && stored.content.hash() != live.curated_hash;
    let changed = new || gone || differs;
    Ok(CuratedState { changed, left_out: !changed && missing().next().is_some() })
}
