//! The signals that routing fuses.

use crate::pg::search::builds::Builds;
use crate::pg::search::query_terms::QueryTerms;
use crate::pg::server::error::Result;
use crate::pg::server::{query, vector};
use nl2sql_core::search::bm25::bm25;
use nl2sql_core::search::fusion::{Hit, Signal, WORDS};
use nl2sql_core::search::tsvector;
use std::collections::BTreeMap;

const ROUTE: &str = include_str!("../../../sql/search/route.sql");
const ROUTE_DOCUMENTS: &str = include_str!("../../../sql/search/route_documents.sql");

/// Entries that each signal of routing lets vote.
pub const VOTE_K: i64 = 20;

/// What each signal finds among the nearest entries, in the order in which the contract names the signals.
pub fn of_nearest_entries(builds: &Builds, question_vector: &[f32]) -> Result<Vec<Signal>> {
    let mut signals: Vec<Signal> = ["description", "examples", "curated", "tables", "columns"]
        .map(|name| Signal { name, hits: Vec::new() })
        .into();
    let found = query::read(
        &vector::qualify(ROUTE)?,
        &[vector::argument(question_vector), builds.namespace.as_str().into(), builds.ids().into(), VOTE_K.into()],
        |row| {
            let hit = Hit { datasource: row.must(2)?, id: row.must(3)?, similarity: row.must(4)? };
            Ok((row.must::<String>(1)?, hit))
        },
    )?;
    for (name, hit) in found {
        if let Some(signal) = signals.iter_mut().find(|signal| signal.name == name) {
            signal.hits.push(hit);
        }
    }
    Ok(signals)
}

/// Extends `signals` to every datasource: with the best table and column of each, even beyond the nearest entries, and
/// with a sixth signal, BM25 of the words that question and datasource share. A datasource without a description or
/// domains leaves the signal `description`, since a name alone says little.
pub fn of_all_datasources(
    builds: &Builds,
    question: &QueryTerms,
    vector: &[f32],
    signals: Vec<Signal>,
) -> Result<Vec<Signal>> {
    let found = query::read(
        &vector::qualify(ROUTE_DOCUMENTS)?,
        &[vector::half_argument(vector), builds.ids().into(), question.any().into()],
        |row| {
            Ok((
                row.must::<String>(1)?,
                row.get::<f64>(2)?,
                row.get::<f64>(3)?,
                u64::try_from(row.must::<i64>(4)?).unwrap_or(0),
                row.get::<Vec<String>>(5)?.unwrap_or_default(),
            ))
        },
    )?;
    let described = described(builds)?;
    let mut signals: Vec<Signal> = signals
        .into_iter()
        .map(|mut signal| {
            if signal.name == "description" {
                signal.hits.retain(|hit| described.contains(&hit.datasource));
            }
            for (datasource, table, column, ..) in &found {
                let best = match signal.name {
                    "tables" => *table,
                    "columns" => *column,
                    _ => None,
                };
                if let Some(similarity) = best.filter(|_| !signal.hits.iter().any(|hit| hit.datasource == *datasource))
                {
                    signal.hits.push(Hit { datasource: datasource.clone(), id: String::new(), similarity });
                }
            }
            signal
        })
        .collect();
    let terms: Vec<BTreeMap<String, u64>> = found
        .iter()
        .map(|(.., words)| {
            let mut terms = BTreeMap::new();
            for (term, times) in words.iter().flat_map(|words| tsvector::count(words, &question.stems)) {
                *terms.entry(term).or_default() += times;
            }
            terms
        })
        .collect();
    let documents: Vec<(u64, &BTreeMap<String, u64>)> =
        found.iter().zip(&terms).map(|((_, _, _, length, _), terms)| (*length, terms)).collect();
    let hits = found.iter().zip(bm25(&documents)).map(|((datasource, ..), score)| Hit {
        datasource: datasource.clone(),
        id: String::new(),
        similarity: score,
    });
    // If no datasource has any of the words, they rank nothing.
    let hits: Vec<Hit> = if terms.iter().all(BTreeMap::is_empty) { Vec::new() } else { hits.collect() };
    signals.push(Signal { name: WORDS, hits });
    Ok(signals)
}

/// Datasources that have a description or domains.
fn described(builds: &Builds) -> Result<Vec<String>> {
    query::read(
        "SELECT datasource FROM nl2sql.entry
         WHERE namespace = $1 AND build = ANY ($2) AND type = 'schema.datasource'
           AND (metadata ? 'description' OR metadata ? 'domains')",
        &[builds.namespace.as_str().into(), builds.ids().into()],
        |row| row.must(1),
    )
}
