//! The entries nearest to a query, diversified by maximal marginal relevance.

use crate::pg::index::embedder;
use crate::pg::search::builds::Builds;
use crate::pg::search::nearest;
use crate::pg::search::nearest::NearEntry;
use crate::pg::server::error::Result;
use crate::pg::server::interrupt;
use nl2sql_core::search::explain::{FiltersRecord, MmrRecord, PoolEntryRecord};
use nl2sql_core::search::mmr;
use nl2sql_core::search::mmr::{Candidate, Pick};
use serde_json::Value;

pub use crate::pg::search::nearest::check_types;

pub struct MmrRequest {
    pub query: String,
    pub k: usize,
    pub lambda: f64,
    pub types: Option<Vec<String>>,
    pub datasources: Option<Vec<String>>,
    pub tables: Option<Vec<String>>,
    /// How many entries to pick from.
    pub fetch_k: i64,
}

pub struct MmrResult {
    request: MmrRequest,
    namespace: String,
    /// Nearest first.
    pool: Vec<NearEntry>,
    /// In the order of picking.
    picks: Vec<Pick>,
}

/// An entry that was picked.
pub struct PickedEntry {
    pub entry: NearEntry,
    /// Its place in the order of picking, from 1.
    pub pick: usize,
    pub mmr_score: f64,
}

pub fn mmr(request: MmrRequest) -> Result<MmrResult> {
    let builds = Builds::live(request.datasources.as_deref())?;
    let tables = request.tables.as_deref().map(|tables| nearest::table_numbers(&builds, tables)).transpose()?;
    tracing::debug!(query = request.query, "mmr");
    let vector = embedder::embed_question(&request.query)?;
    let pool = nearest::nearest(&builds, &vector, request.types.as_deref(), tables.as_deref(), request.fetch_k)?;
    let candidates: Vec<Candidate> =
        pool.iter().map(|near| Candidate { id: &near.id, similarity: near.similarity, vector: &near.vector }).collect();
    let picks = mmr::select(&candidates, request.k, request.lambda, &mut interrupt::check);
    Ok(MmrResult { request, namespace: builds.namespace, pool, picks })
}

impl MmrResult {
    /// The picked entries, nearest first.
    pub fn into_picked(self) -> Vec<PickedEntry> {
        let mut picks: Vec<(usize, &Pick)> = (1..).zip(&self.picks).collect();
        picks.sort_by_key(|(_, pick)| pick.at);
        let mut pool: Vec<Option<NearEntry>> = self.pool.into_iter().map(Some).collect();
        let picked = picks.into_iter().filter_map(|(order, pick)| {
            Some(PickedEntry { entry: pool[pick.at].take()?, pick: order, mmr_score: pick.mmr_score })
        });
        picked.collect()
    }

    pub fn explain(&self) -> Result<Value> {
        let picked_at = |at: usize| (1..).zip(&self.picks).find(|(_, pick)| pick.at == at);
        let pool = self.pool.iter().enumerate().map(|(at, near)| {
            let picked = picked_at(at);
            PoolEntryRecord {
                id: &near.id,
                datasource: &near.datasource,
                chunk_type: &near.chunk_type,
                similarity: near.similarity,
                picked: picked.is_some(),
                pick: picked.map(|(order, _)| order),
                mmr_score: picked.map(|(_, pick)| pick.mmr_score),
                redundancy: picked.and_then(|(_, pick)| pick.redundancy),
            }
        });
        let picks: Vec<&str> = self.picks.iter().map(|pick| self.pool[pick.at].id.as_str()).collect();
        let dropped = self.pool.iter().map(|near| near.id.as_str()).filter(|id| !picks.contains(id)).collect();
        let record = MmrRecord {
            query: &self.request.query,
            k: self.request.k,
            fetch_k: self.request.fetch_k,
            lambda: self.request.lambda,
            namespace: &self.namespace,
            filters: FiltersRecord {
                types: self.request.types.as_deref(),
                datasources: self.request.datasources.as_deref(),
                tables: self.request.tables.as_deref(),
            },
            pool: pool.collect(),
            picks,
            dropped,
        };
        Ok(serde_json::to_value(record)?)
    }
}
