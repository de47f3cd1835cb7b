//! `nl2sql_curated_import`.

use crate::pg::curated::{check, store};
use crate::pg::datasource;
use crate::pg::datasource::lease;
use crate::pg::datasource::lease::Lease;
use crate::pg::index::pointer;
use crate::pg::server::error::{Error, OrRaise, Result};
use crate::pg::server::identity::Owner;
use crate::pg::server::{argument, identity};
use nl2sql_core::curated::content::{Content, Item};
use nl2sql_core::curated::document::yaml;
use pgrx::prelude::*;
use std::collections::HashSet;

type Row = (name!(datasource, String), name!(verified_queries, i32), name!(metrics, i32), name!(terms, i32));

#[pg_extern]
fn nl2sql_curated_import(
    document: Option<&str>,
    replace: Option<bool>,
) -> TableIterator<
    'static,
    (name!(datasource, String), name!(verified_queries, i32), name!(metrics, i32), name!(terms, i32)),
> {
    TableIterator::new(import(document, replace).or_raise())
}

fn import(document: Option<&str>, replace: Option<bool>) -> Result<Vec<Row>> {
    identity::check_writable("nl2sql_curated_import()");
    let text = argument::spoken("document", document)?;
    let replace = argument::required("replace", replace)?;
    let datasources = yaml::parse(text).map_err(|problem| {
        Error::invalid(format!("the document cannot be read: {problem}"))
            .hint("It is YAML or JSON like what nl2sql_curated_export() gives: datasources: {name: {verified_queries: […], metrics: […], glossary: […]}}.")
    })?;
    // All of it is checked before any of it is written.
    let checked = datasources.iter().map(|(name, content)| Ok((name, content, write_down(name, content, replace)?)));
    let checked: Vec<_> = checked.collect::<Result<_>>()?;
    checked
        .into_iter()
        .map(|(name, content, change)| {
            identity::as_owner(|owner| change.write(owner, content))?;
            let number = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
            let Content { verified_queries, metrics, glossary } = content;
            Ok((name.clone(), number(verified_queries.len()), number(metrics.len()), number(glossary.len())))
        })
        .collect()
}

/// Content that was checked, and what it takes the place of.
pub struct Change {
    lease: Lease,
    verdict: check::Verdict,
    removed: Vec<Item>,
}

impl Change {
    pub fn write(&self, owner: &Owner, content: &Content) -> Result<()> {
        for item in &self.removed {
            store::remove(owner, &self.lease, item)?;
        }
        store::save(owner, &self.lease, content, &self.verdict.reads)
    }
}

/// Takes the lease and checks the content, as the current user. `replace`: what the user may change and the content
/// does not have goes.
pub fn write_down(name: &str, content: &Content, replace: bool) -> Result<Change> {
    datasource::check_known(name)?;
    let (stored, lease, before) = identity::as_owner(|owner| {
        let Some(stored) = datasource::load(owner, name)? else { return Err(datasource::unknown(name, &[])) };
        let lease = lease::take(owner, name, stored.id)?;
        Ok((stored, lease, store::load(owner, name)?))
    })?;
    let changeable = store::changeable(&before)?;
    let kept = before.kept(content, &changeable);
    let verdict = check::check(&stored, content, &pointer::live_schema(name)?, &kept)?;
    verdict.refuse(name)?;
    if let Some(item) = verdict.reads.keys().find(|item| before.reads.contains_key(item) && !changeable.contains(item))
    {
        return Err(store::taken(name, item));
    }
    let given: HashSet<&Item> = verdict.reads.keys().collect();
    let removed =
        if replace { changeable.into_iter().filter(|item| !given.contains(item)).collect() } else { Vec::new() };
    Ok(Change { lease, verdict, removed })
}
