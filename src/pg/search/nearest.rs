//! Searching live builds, as the current user: row security is inside every search, before its
//! LIMIT.

use crate::pg::datasource;
use crate::pg::index::namespace;
use crate::pg::search::evidence::Question;
use crate::pg::server::error::{Error, Result};
use crate::pg::server::{query, vector};
use nl2sql_core::catalog::identifier::{TableName, find_table, shown};
use nl2sql_core::chunk::cutter::ChunkType;
use nl2sql_core::search::fusion::{Hit, Signal, WORDS};
use nl2sql_core::search::table_rank::bm25;
use nl2sql_core::search::tsvector;
use pgrx::JsonB;
use pgrx::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;

const LIVE: &str = include_str!("../../../sql/search/live.sql");
const NEAREST: &str = include_str!("../../../sql/search/nearest.sql");
const ROUTE_DOCUMENTS: &str = include_str!("../../../sql/search/route_documents.sql");
const ROUTE: &str = include_str!("../../../sql/search/route.sql");

/// Entries that each signal of routing lets vote.
pub const VOTE_K: i64 = 20;

/// The builds that a search looks into.
pub struct Builds {
    pub namespace: String,
    pub datasources: Vec<String>,
    builds: Vec<i64>,
}

impl Builds {
    /// Their build_ids.
    pub fn numbers(&self) -> Vec<i64> {
        self.builds.clone()
    }
}

/// Live builds of the datasources named, or of all that exist for the current user.
pub fn builds(wanted: Option<&[String]>) -> Result<Builds> {
    let namespace = namespace::current()?;
    let known =
        query::read(LIVE, &[namespace.as_str().into()], |row| Ok((row.must::<String>(1)?, row.get::<i64>(2)?)))?;
    let names: Vec<String> = known.iter().map(|(name, _)| name.clone()).collect();
    let mut found = Builds { namespace, datasources: Vec::new(), builds: Vec::new() };
    for name in wanted.unwrap_or(&names) {
        match known.iter().find(|(known, _)| known == name) {
            None => return Err(datasource::unknown(name, &names)),
            Some((_, Some(build))) => {
                found.datasources.push(name.clone());
                found.builds.push(*build);
            }
            // Named, it is an error; else it has just nothing to say yet.
            Some((_, None)) if wanted.is_some() => return Err(Error::not_indexed(name, &found.namespace)),
            Some((_, None)) => {}
        }
    }
    if found.builds.is_empty() {
        return Err(Error::new(
            PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            "no datasource has been indexed",
        )
        .detail(format!("The namespace \"{}\" holds no build.", found.namespace))
        .hint("Run: SELECT nl2sql_index('…'); with the name of a schema or of a registered datasource."));
    }
    Ok(found)
}

/// An entry near the query.
pub struct Near {
    pub id: String,
    pub datasource: String,
    pub chunk_type: String,
    pub text: String,
    pub metadata: Value,
    pub similarity: f64,
    pub vector: Vec<f32>,
}

/// The `limit` nearest entries, nearest first, ties by id.
pub fn nearest(
    builds: &Builds,
    query_vector: &[f32],
    types: Option<&[String]>,
    tables: Option<&[i32]>,
    limit: i64,
) -> Result<Vec<Near>> {
    query::read(
        &vector::qualify(NEAREST)?,
        &[
            vector::argument(query_vector),
            builds.namespace.as_str().into(),
            builds.builds.clone().into(),
            types.map(<[String]>::to_vec).into(),
            tables.map(<[i32]>::to_vec).into(),
            limit.into(),
        ],
        |row| {
            Ok(Near {
                id: row.must(1)?,
                datasource: row.must(2)?,
                chunk_type: row.must(3)?,
                text: row.must(4)?,
                metadata: row.must::<JsonB>(5)?.0,
                similarity: row.must(6)?,
                vector: row.must::<vector::Vector>(7)?.0,
            })
        },
    )
}

/// What each signal of routing finds, in the order in which the contract names them.
pub fn signals(builds: &Builds, question_vector: &[f32]) -> Result<Vec<Signal>> {
    let mut signals: Vec<Signal> = ["description", "examples", "curated", "tables", "columns"]
        .map(|name| Signal { name, hits: Vec::new() })
        .into();
    let found = query::read(
        &vector::qualify(ROUTE)?,
        &[
            vector::argument(question_vector),
            builds.namespace.as_str().into(),
            builds.builds.clone().into(),
            VOTE_K.into(),
        ],
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

/// The signals of `signals`, made to see every datasource that they can: the best table and column of each, not
/// those among the nearest alone; descriptions only where there is one, since a name alone says little; and as
/// a sixth one the words that question and datasource share, by BM25.
pub fn all_seeing(builds: &Builds, question: &Question, vector: &[f32], signals: Vec<Signal>) -> Result<Vec<Signal>> {
    let found = query::read(
        &vector::qualify(ROUTE_DOCUMENTS)?,
        &[vector::half_argument(vector), builds.numbers().into(), question.any().into()],
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
    // Words that no datasource has rank nothing.
    let hits: Vec<Hit> = if terms.iter().all(BTreeMap::is_empty) { Vec::new() } else { hits.collect() };
    signals.push(Signal { name: WORDS, hits });
    Ok(signals)
}

/// Datasources that say something of themselves beside their name.
fn described(builds: &Builds) -> Result<Vec<String>> {
    query::read(
        "SELECT datasource FROM nl2sql.entry
         WHERE namespace = $1 AND build = ANY ($2) AND type = 'schema.datasource'
           AND (metadata ? 'description' OR metadata ? 'domains')",
        &[builds.namespace.as_str().into(), builds.numbers().into()],
        |row| row.must(1),
    )
}

/// Fails with 22023 where a chunk type is unknown.
pub fn check_types(types: &[String]) -> Result<()> {
    match types.iter().find(|name| ChunkType::from_name(name).is_none()) {
        None => Ok(()),
        Some(unknown) => Err(Error::invalid(format!("unknown type \"{}\"", shown(unknown)))
            .hint(format!("Known types: {}.", ChunkType::ALL.map(ChunkType::name).join(", ")))),
    }
}

/// The numbers of the tables named, in whichever of the searched datasources they are.
pub fn table_numbers(builds: &Builds, wanted: &[String]) -> Result<Vec<i32>> {
    let known = query::read(
        "SELECT table_schema, table_name, id FROM nl2sql.relation
         WHERE live AND datasource = ANY ($1) ORDER BY id",
        &[builds.datasources.clone().into()],
        |row| Ok((TableName::new(row.must::<String>(1)?, row.must::<String>(2)?), row.must::<i32>(3)?)),
    )?;
    let mut numbers = Vec::new();
    for text in wanted {
        let Some(table) = find_table(text, known.iter().map(|(table, _)| table)) else {
            let keys: Vec<String> = known.iter().map(|(table, _)| table.to_string()).collect();
            return Err(Error::unknown("table", text, keys.iter().map(String::as_str)));
        };
        numbers.extend(known.iter().filter(|(other, _)| other == table).map(|(_, number)| *number));
    }
    Ok(numbers)
}
