//! Validates stored content against the live snapshot.

use crate::pg::curated::{check, store};
use crate::pg::datasource;
use crate::pg::server::error::{Result, call};
use crate::pg::server::settings;
use crate::pg::snapshot;
use nl2sql_core::catalog::identifier::cut;
use nl2sql_core::curated::content::Item;

/// The problems of a datasource's content that exists for the current user, each with the verified query that it is of.
pub fn validate(name: &str) -> Result<Vec<(Option<String>, String)>> {
    let store::Stored { content, reads, .. } = store::load_visible(name)?;
    if content.is_empty() {
        return Ok(Vec::new());
    }
    if snapshot::live_version(name, &settings::namespace()?)?.is_none() {
        let index = call("nl2sql_index", name);
        return Ok(vec![(None, format!("it has not been indexed: SELECT {index};"))]);
    }
    let stored = datasource::load_known(name)?;
    let verdict = check::check(&stored, &content, &snapshot::live_schema(name)?, &reads)?;
    let problems = verdict.problems.into_iter().map(|problem| match &problem.item {
        Item::VerifiedQuery(id) => (Some(id.clone()), cut(&problem.without_item()).into_owned()),
        _ => (None, cut(&problem.to_string()).into_owned()),
    });
    Ok(problems.collect())
}
