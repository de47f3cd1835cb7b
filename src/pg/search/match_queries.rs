//! Verified queries whose phrasings are near to a question.

use crate::pg::curated::store;
use crate::pg::index::embedder;
use crate::pg::search::builds::Builds;
use crate::pg::search::nearest;
use crate::pg::search::nearest::NearEntry;
use crate::pg::server::error::Result;
use crate::pg::server::query;
use nl2sql_core::chunk::chunk_type::ChunkType;
use nl2sql_core::chunk::curated_chunks::phrasings;
use nl2sql_core::curated::content::VerifiedQuery;
use nl2sql_core::curated::fill_params::propose::propose;
use nl2sql_core::curated::fill_params::question::Question;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

/// Entries to fetch for each query wanted: a query has several phrasings.
const PHRASINGS: i64 = 10;

/// The `k` nearest queries, each with its nearest phrasing.
pub fn match_queries(
    question: &str,
    datasources: Option<&[String]>,
    k: usize,
) -> Result<Vec<(NearEntry, VerifiedQuery)>> {
    let builds = Builds::live(datasources)?;
    if !holds_verified_queries(&builds)? {
        return Ok(Vec::new());
    }
    tracing::debug!(question, "match");
    let vector = embedder::embed_question(question)?;
    let types = [ChunkType::VerifiedQuery.name().to_owned()];
    // Fetches more until there are enough, since some queries have many phrasings.
    let mut fetch = i64::try_from(k).unwrap_or(i64::MAX).saturating_mul(PHRASINGS);
    loop {
        let entries = nearest::nearest(&builds, &vector, Some(&types), None, fetch)?;
        let all = (entries.len() as i64) < fetch;
        let found = best(entries, k)?;
        if all || found.len() == k {
            return Ok(found);
        }
        fetch = fetch.saturating_mul(4);
    }
}

/// The `k` queries of the nearest entries, each with its nearest phrasing.
fn best(entries: Vec<NearEntry>, k: usize) -> Result<Vec<(NearEntry, VerifiedQuery)>> {
    let mut current = current(&entries)?;
    let mut best = Vec::new();
    for near in entries {
        if best.len() == k {
            break;
        }
        let key = (near.datasource.clone(), query_id(&near).to_owned());
        // The build may hold a query or a phrasing that has been removed since.
        if current.get(&key).is_some_and(|(_, phrasings)| phrasings.contains(&near.text))
            && let Some((query, _)) = current.remove(&key)
        {
            best.push((near, query));
        }
    }
    Ok(best)
}

fn query_id(near: &NearEntry) -> &str {
    near.metadata["query_id"].as_str().unwrap_or_default()
}

/// The verified queries of the entries as they are stored now, by datasource and id, each with its phrasings.
fn current(entries: &[NearEntry]) -> Result<HashMap<(String, String), (VerifiedQuery, HashSet<String>)>> {
    let mut ids: HashMap<&str, HashSet<&str>> = HashMap::new();
    for near in entries {
        ids.entry(&near.datasource).or_default().insert(query_id(near));
    }
    let mut current = HashMap::new();
    for (name, ids) in ids {
        let stored = store::visible_queries(name, ids.into_iter().map(str::to_owned).collect())?;
        for query in stored.content.verified_queries {
            let phrasings = phrasings(&query).into_iter().collect();
            current.insert((name.to_owned(), query.id.clone()), (query, phrasings));
        }
    }
    Ok(current)
}

fn holds_verified_queries(builds: &Builds) -> Result<bool> {
    let found = query::read_one(
        "SELECT EXISTS (SELECT FROM nl2sql.entry
                        WHERE namespace = $1 AND build = ANY ($2) AND type = 'curated.verified_query')",
        &[builds.namespace.as_str().into(), builds.ids().into()],
        |row| row.must::<bool>(1),
    )?;
    Ok(found == Some(true))
}

/// Each param with its declaration, its proposed value and the source of that.
pub fn proposals(query: &VerifiedQuery, question: &Question) -> Value {
    let proposals = propose(query, question).into_iter().map(|(name, proposal)| {
        let mut fields = json!(query.params.get(&name));
        fields["value"] = proposal.value.unwrap_or_default();
        fields["source"] = json!(proposal.source.name());
        (name, fields)
    });
    Value::Object(proposals.collect::<Map<_, _>>())
}
