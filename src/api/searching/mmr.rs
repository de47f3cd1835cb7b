//! `nl2sql_mmr` and `nl2sql_mmr_explain`.

use crate::pg::index::embedder;
use crate::pg::search::builds::Builds;
use crate::pg::search::nearest;
use crate::pg::search::nearest::NearEntry;
use crate::pg::server::argument;
use crate::pg::server::argument::TextArray;
use crate::pg::server::error::{Error, OrRaise, Result};
use crate::pg::server::interrupt;
use nl2sql_core::search::mmr;
use nl2sql_core::search::mmr::{Candidate, Pick};
use pgrx::JsonB;
use pgrx::prelude::*;
use serde_json::{Value, json};

#[pg_extern]
#[allow(clippy::too_many_arguments)] // the contract's
fn nl2sql_mmr(
    query: Option<&str>,
    k: Option<i32>,
    lambda: Option<f64>,
    types: TextArray,
    datasources: TextArray,
    tables: TextArray,
    fetch_k: Option<i32>,
) -> TableIterator<
    'static,
    (
        name!(rank, i32),
        name!(id, String),
        name!(datasource, String),
        name!(r#type, String),
        name!(text, String),
        name!(metadata, JsonB),
        name!(similarity, f64),
        name!(pick, i32),
        name!(mmr_score, f64),
    ),
> {
    let found = Request::new(query, k, lambda, types, datasources, tables, fetch_k).and_then(Request::run).or_raise();
    // The pool is nearest first, so its order is the rank's.
    let mut picks: Vec<(usize, &Pick)> = found.picks.iter().enumerate().collect();
    picks.sort_by_key(|(_, pick)| pick.at);
    let mut pool: Vec<Option<NearEntry>> = found.pool.into_iter().map(Some).collect();
    let rows: Vec<_> = picks
        .into_iter()
        .enumerate()
        .filter_map(|(rank, (order, pick))| {
            let entry = pool[pick.at].take()?;
            Some((
                rank as i32 + 1,
                entry.id,
                entry.datasource,
                entry.chunk_type,
                entry.text,
                JsonB(entry.metadata),
                entry.similarity,
                order as i32 + 1,
                pick.mmr_score,
            ))
        })
        .collect();
    TableIterator::new(rows)
}

#[pg_extern]
#[allow(clippy::too_many_arguments)] // the contract's
fn nl2sql_mmr_explain(
    query: Option<&str>,
    k: Option<i32>,
    lambda: Option<f64>,
    types: TextArray,
    datasources: TextArray,
    tables: TextArray,
    fetch_k: Option<i32>,
) -> JsonB {
    let found = Request::new(query, k, lambda, types, datasources, tables, fetch_k).and_then(Request::run).or_raise();
    JsonB(found.explain())
}

struct Request {
    query: String,
    k: usize,
    lambda: f64,
    types: Option<Vec<String>>,
    datasources: Option<Vec<String>>,
    tables: Option<Vec<String>>,
    fetch_k: i64,
}

struct Found {
    request: Request,
    namespace: String,
    /// Nearest first.
    pool: Vec<NearEntry>,
    /// In the order of picking.
    picks: Vec<Pick>,
}

impl Request {
    fn new(
        query: Option<&str>,
        k: Option<i32>,
        lambda: Option<f64>,
        types: TextArray,
        datasources: TextArray,
        tables: TextArray,
        fetch_k: Option<i32>,
    ) -> Result<Self> {
        let query = argument::spoken("query", query)?.to_owned();
        let k = argument::at_least_one("k", k)?;
        let lambda = argument::share("lambda", lambda)?;
        let types = argument::filter("types", types)?;
        if let Some(types) = &types {
            nearest::check_types(types)?;
        }
        let fetch_k = match fetch_k {
            None => 4 * k as i64,
            Some(fetch_k) if fetch_k >= 1 => i64::from(fetch_k),
            Some(fetch_k) => return Err(Error::invalid(format!("fetch_k must be at least 1, not {fetch_k}"))),
        };
        let datasources = argument::filter("datasources", datasources)?;
        let tables = argument::filter("tables", tables)?;
        Ok(Self { query, k, lambda, types, datasources, tables, fetch_k })
    }

    fn run(self) -> Result<Found> {
        let builds = Builds::live(self.datasources.as_deref())?;
        let tables = self.tables.as_deref().map(|tables| nearest::table_numbers(&builds, tables)).transpose()?;
        tracing::debug!(query = self.query, "mmr");
        let vector = embedder::embed_question(&self.query)?;
        let pool = nearest::nearest(&builds, &vector, self.types.as_deref(), tables.as_deref(), self.fetch_k)?;
        let candidates: Vec<Candidate> = pool
            .iter()
            .map(|near| Candidate { id: &near.id, similarity: near.similarity, vector: &near.vector })
            .collect();
        let picks = mmr::select(&candidates, self.k, self.lambda, &mut interrupt::check);
        Ok(Found { request: self, namespace: builds.namespace, pool, picks })
    }
}

impl Found {
    fn explain(&self) -> Value {
        let picked_at = |at: usize| self.picks.iter().enumerate().find(|(_, pick)| pick.at == at);
        let pool: Vec<Value> = self
            .pool
            .iter()
            .enumerate()
            .map(|(at, near)| {
                let picked = picked_at(at);
                json!({
                    "id": near.id,
                    "datasource": near.datasource,
                    "type": near.chunk_type,
                    "similarity": near.similarity,
                    "picked": picked.is_some(),
                    "pick": picked.map(|(order, _)| order + 1),
                    "mmr_score": picked.map(|(_, pick)| pick.mmr_score),
                    "redundancy": picked.and_then(|(_, pick)| pick.redundancy),
                })
            })
            .collect();
        let picks: Vec<&str> = self.picks.iter().map(|pick| self.pool[pick.at].id.as_str()).collect();
        let dropped: Vec<&str> =
            self.pool.iter().map(|near| near.id.as_str()).filter(|id| !picks.contains(id)).collect();
        json!({
            "query": self.request.query,
            "k": self.request.k,
            "fetch_k": self.request.fetch_k,
            "lambda": self.request.lambda,
            "namespace": self.namespace,
            "filters": {
                "types": self.request.types,
                "datasources": self.request.datasources,
                "tables": self.request.tables,
            },
            "pool": pool,
            "picks": picks,
            "dropped": dropped,
        })
    }
}
