//! `nl2sql_match`.

use crate::pg::argument::{self, TextArray};
use crate::pg::curated::{self, Stored};
use crate::pg::embedder;
use crate::pg::error::{OrRaise, Result};
use crate::pg::query;
use crate::pg::search::{self, Builds, Near};
use nl2sql_core::chunk::ChunkType;
use nl2sql_core::curated::VerifiedQuery;
use nl2sql_core::proposal::propose;
use pgrx::JsonB;
use pgrx::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

/// Entries that are fetched for each query wanted: a query has several.
const PHRASINGS: i64 = 10;

type Row = (
    name!(datasource, String),
    name!(query_id, String),
    name!(similarity, f64),
    name!(phrasing, String),
    name!(description, Option<String>),
    name!(sql, String),
    name!(params, JsonB),
);

#[pg_extern]
fn nl2sql_match(
    question: Option<&str>,
    datasources: TextArray,
    k: Option<i32>,
) -> TableIterator<
    'static,
    (
        name!(datasource, String),
        name!(query_id, String),
        name!(similarity, f64),
        name!(phrasing, String),
        name!(description, Option<String>),
        name!(sql, String),
        name!(params, JsonB),
    ),
> {
    TableIterator::new(find(question, datasources, k).or_raise())
}

fn find(question: Option<&str>, datasources: TextArray, k: Option<i32>) -> Result<Vec<Row>> {
    let question = argument::spoken("question", question)?;
    let datasources = argument::filter("datasources", datasources)?;
    let k = argument::at_least_one("k", k)?;
    let builds = search::builds(datasources.as_deref())?;
    if !holds_verified_queries(&builds)? {
        return Ok(Vec::new());
    }
    tracing::debug!(question, "match");
    let vector = embedder::embed_question(question)?;
    let types = [ChunkType::VerifiedQuery.name().to_owned()];
    // Where some have many phrasings, more is fetched until there are enough.
    let mut fetch = i64::try_from(k).unwrap_or(i64::MAX).saturating_mul(PHRASINGS);
    let mut entries = search::nearest(&builds, &vector, Some(&types), None, fetch)?;
    while entries.len() as i64 == fetch && distinct(&entries) < k {
        fetch = fetch.saturating_mul(4);
        entries = search::nearest(&builds, &vector, Some(&types), None, fetch)?;
    }
    let contents = contents(&entries)?;
    let mut found = HashSet::new();
    let mut rows = Vec::new();
    for near in entries {
        if rows.len() == k {
            break;
        }
        let id = near.metadata["query_id"].as_str().unwrap_or_default().to_owned();
        // Nearest first, so the first phrasing is the best.
        if !found.insert((near.datasource.clone(), id.clone())) {
            continue;
        }
        // The build may hold one that has been removed since.
        let content = contents.get(&near.datasource).map(|stored| &stored.content);
        let Some(query) = content.and_then(|content| content.verified_queries.iter().find(|query| query.id == id)) else { continue };
        let params = JsonB(proposals(query, question));
        rows.push((near.datasource, id, near.similarity, near.text, query.description.clone(), query.sql.clone(), params));
    }
    Ok(rows)
}

/// The verified queries that the entries are of, as they are now, by datasource.
fn contents(entries: &[Near]) -> Result<HashMap<String, Stored>> {
    let mut ids: HashMap<&str, HashSet<&str>> = HashMap::new();
    for near in entries {
        ids.entry(&near.datasource).or_default().extend(near.metadata["query_id"].as_str());
    }
    ids.into_iter()
        .map(|(name, ids)| {
            let ids = ids.into_iter().map(str::to_owned).collect();
            Ok((name.to_owned(), curated::visible_queries(name, ids)?))
        })
        .collect()
}

/// How many verified queries the entries are of.
fn distinct(entries: &[Near]) -> usize {
    entries.iter().map(|near| (near.datasource.as_str(), near.metadata["query_id"].as_str())).collect::<HashSet<_>>().len()
}

fn holds_verified_queries(builds: &Builds) -> Result<bool> {
    let found = query::read_one(
        "SELECT EXISTS (SELECT FROM nl2sql.entry
                        WHERE namespace = $1 AND build = ANY ($2) AND type = 'curated.verified_query')",
        &[builds.namespace.as_str().into(), builds.numbers().into()],
        |row| row.must::<bool>(1),
    )?;
    Ok(found == Some(true))
}

/// Each param with its proposed value, where that comes from, and what it may be.
fn proposals(query: &VerifiedQuery, question: &str) -> Value {
    let proposals = propose(query, question).into_iter().map(|(name, proposal)| {
        let mut fields = json!(query.params.get(&name));
        fields["value"] = proposal.value.unwrap_or_default();
        fields["source"] = json!(proposal.source.name());
        (name, fields)
    });
    Value::Object(proposals.collect::<Map<_, _>>())
}
