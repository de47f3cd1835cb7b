//! Writes curated content: checked as the current user, then stored as the extension's owner.

use crate::pg::curated::{check, store};
use crate::pg::datasource;
use crate::pg::datasource::lease;
use crate::pg::datasource::lease::Lease;
use crate::pg::server::error::Result;
use crate::pg::server::identity;
use crate::pg::server::identity::Owner;
use crate::pg::snapshot;
use nl2sql_core::curated::content::{Content, Item, VerifiedQuery};
use std::collections::{BTreeMap, HashSet};

/// Checked content, ready to be stored.
struct CheckedContent<'a> {
    lease: Lease,
    content: &'a Content,
    verdict: check::Verdict,
    removed: Vec<Item>,
}

/// Stores the content of several datasources. All of it is checked before any is stored. With `replace`, items that the
/// user may change and that the content lacks are removed.
pub fn import(contents: &BTreeMap<String, Content>, replace: bool) -> Result<()> {
    let checked: Vec<CheckedContent> =
        contents.iter().map(|(name, content)| checked(name, content, replace)).collect::<Result<_>>()?;
    identity::as_owner(|owner| checked.iter().try_for_each(|checked| checked.store(owner)))
}

/// Stores a verified query, in place of the one of the same id.
pub fn store_verified_query(name: &str, query: VerifiedQuery) -> Result<()> {
    let content = Content { verified_queries: vec![query], ..Content::default() };
    let checked = checked(name, &content, false)?;
    identity::as_owner(|owner| checked.store(owner))
}

/// Removes a verified query; false if there is none that the user may change.
pub fn remove_verified_query(name: &str, id: &str) -> Result<bool> {
    datasource::check_known(name)?;
    let item = Item::VerifiedQuery(id.to_owned());
    let (_, lease, stored) = load_leased(name)?;
    if !store::changeable(&stored)?.contains(&item) {
        return Ok(false);
    }
    identity::as_owner(|owner| store::remove(owner, &lease, &item))?;
    Ok(true)
}

/// Takes the lease and checks the content.
fn checked<'a>(name: &str, content: &'a Content, replace: bool) -> Result<CheckedContent<'a>> {
    datasource::check_known(name)?;
    let (stored, lease, before) = load_leased(name)?;
    let changeable = store::changeable(&before)?;
    let kept = before.kept(content, &changeable);
    let verdict = check::check(&stored, content, &snapshot::live_schema(name)?, &kept)?;
    verdict.refuse(name)?;
    if let Some(item) = verdict.reads.keys().find(|item| before.reads.contains_key(item) && !changeable.contains(item))
    {
        return Err(store::taken(name, item));
    }
    let given: HashSet<&Item> = verdict.reads.keys().collect();
    let removed =
        if replace { changeable.into_iter().filter(|item| !given.contains(item)).collect() } else { Vec::new() };
    Ok(CheckedContent { lease, content, verdict, removed })
}

fn load_leased(name: &str) -> Result<(datasource::Datasource, Lease, store::Stored)> {
    identity::as_owner(|owner| {
        let Some(datasource) = datasource::load(owner, name)? else { return Err(datasource::unknown(name, &[])) };
        let lease = lease::take(owner, name, datasource.id)?;
        Ok((datasource, lease, store::load(owner, name)?))
    })
}

impl CheckedContent<'_> {
    fn store(&self, owner: &Owner) -> Result<()> {
        for item in &self.removed {
            store::remove(owner, &self.lease, item)?;
        }
        store::save(owner, &self.lease, self.content, &self.verdict.reads)
    }
}
