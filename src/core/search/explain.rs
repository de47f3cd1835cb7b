//! The records that explain a search. They hold ids and names, never an entry's text.

use crate::search::fusion::{DropReason, Fusion, RRF_K, RankedDatasource, Signal};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// What `nl2sql_mmr_explain` returns.
#[derive(Serialize)]
pub struct MmrRecord<'a> {
    pub query: &'a str,
    pub k: usize,
    pub fetch_k: i64,
    pub lambda: f64,
    pub namespace: &'a str,
    pub filters: FiltersRecord<'a>,
    /// Nearest first.
    pub pool: Vec<PoolEntryRecord<'a>>,
    /// Ids in the order of picking.
    pub picks: Vec<&'a str>,
    pub dropped: Vec<&'a str>,
}

#[derive(Serialize)]
pub struct FiltersRecord<'a> {
    pub types: Option<&'a [String]>,
    pub datasources: Option<&'a [String]>,
    pub tables: Option<&'a [String]>,
}

#[derive(Serialize)]
pub struct PoolEntryRecord<'a> {
    pub id: &'a str,
    pub datasource: &'a str,
    #[serde(rename = "type")]
    pub chunk_type: &'a str,
    pub similarity: f64,
    pub picked: bool,
    pub pick: Option<usize>,
    pub mmr_score: Option<f64>,
    pub redundancy: Option<f64>,
}

/// What `nl2sql_route_explain` returns.
#[derive(Serialize)]
pub struct RouteRecord<'a> {
    namespace: &'a str,
    signals: Vec<SignalRecord<'a>>,
    routing: RoutingRecord<'a>,
}

#[derive(Serialize)]
struct RoutingRecord<'a> {
    fusion: &'static str,
    rrf_k: u32,
    vote_k: i64,
    candidates: usize,
    floor_ratio: f64,
    /// Signals that found something.
    signals: Vec<&'static str>,
    fused: Vec<FusedRecord<'a>>,
    picks: Vec<&'a str>,
    dropped: Vec<DroppedRecord<'a>>,
}

#[derive(Serialize)]
struct SignalRecord<'a> {
    signal: &'static str,
    hits: Vec<HitRecord<'a>>,
    ranking: Vec<RankRecord<'a>>,
}

#[derive(Serialize)]
struct HitRecord<'a> {
    id: Option<&'a str>,
    datasource: &'a str,
    similarity: f64,
}

#[derive(Serialize)]
struct RankRecord<'a> {
    rank: u32,
    #[serde(flatten)]
    best: HitRecord<'a>,
}

#[derive(Serialize)]
struct FusedRecord<'a> {
    datasource: &'a str,
    score: f64,
    similarity: f64,
    ranks: &'a BTreeMap<&'static str, u32>,
}

#[derive(Serialize)]
struct DroppedRecord<'a> {
    datasource: &'a str,
    reason: &'static str,
}

/// A routing, as far as it is explained.
pub struct Routing<'a> {
    pub namespace: &'a str,
    pub fusion: Fusion,
    pub vote_k: i64,
    pub candidates: usize,
    pub floor_ratio: f64,
    pub signals: &'a [Signal],
    pub fused: &'a [RankedDatasource],
    pub picks: &'a [RankedDatasource],
    pub dropped: &'a [(RankedDatasource, DropReason)],
}

impl<'a> From<Routing<'a>> for RouteRecord<'a> {
    fn from(routing: Routing<'a>) -> Self {
        let found = routing.signals.iter().filter(|signal| !signal.hits.is_empty());
        let dropped = routing.dropped.iter();
        RouteRecord {
            namespace: routing.namespace,
            signals: routing.signals.iter().map(SignalRecord::from).collect(),
            routing: RoutingRecord {
                fusion: routing.fusion.name(),
                rrf_k: RRF_K,
                vote_k: routing.vote_k,
                candidates: routing.candidates,
                floor_ratio: routing.floor_ratio,
                signals: found.map(|signal| signal.name).collect(),
                fused: routing.fused.iter().map(FusedRecord::from).collect(),
                picks: routing.picks.iter().map(|pick| pick.datasource.as_str()).collect(),
                dropped: dropped
                    .map(|(fused, reason)| DroppedRecord { datasource: &fused.datasource, reason: reason.name() })
                    .collect(),
            },
        }
    }
}

impl<'a> From<&'a Signal> for SignalRecord<'a> {
    fn from(signal: &'a Signal) -> Self {
        let ranking = signal.places().into_iter().map(|place| RankRecord { rank: place.rank, best: place.best.into() });
        SignalRecord {
            signal: signal.name,
            ranking: ranking.collect(),
            hits: signal.hits.iter().map(HitRecord::from).collect(),
        }
    }
}

impl<'a> From<&'a crate::search::fusion::Hit> for HitRecord<'a> {
    fn from(hit: &'a crate::search::fusion::Hit) -> Self {
        // A score of BM25 is not of one entry, and has no id.
        let id = Some(hit.id.as_str()).filter(|id| !id.is_empty());
        HitRecord { id, datasource: &hit.datasource, similarity: hit.similarity }
    }
}

impl<'a> From<&'a RankedDatasource> for FusedRecord<'a> {
    fn from(fused: &'a RankedDatasource) -> Self {
        FusedRecord {
            datasource: &fused.datasource,
            score: fused.score,
            similarity: fused.similarity,
            ranks: &fused.ranks,
        }
    }
}

/// What `nl2sql_retrieve_explain` returns.
#[derive(Serialize)]
pub struct RetrievalRecord<'a> {
    pub datasource: &'a str,
    pub schema_version: &'a str,
    /// The text that was embedded.
    pub text: &'a str,
    pub table_k: usize,
    pub planning_k: usize,
    /// Whether the datasource is small enough to be sent whole.
    pub small: bool,
    pub sent: Vec<SentRecord<'a>>,
    pub used: Vec<UsedRecord<'a>>,
    /// Absent if there was no search.
    #[serde(flatten)]
    pub search: Option<TableSearchRecord<'a>>,
}

#[derive(Serialize)]
pub struct SentRecord<'a> {
    pub table: String,
    pub via: &'static str,
    pub preferred: bool,
    pub columns: Vec<&'a Value>,
}

/// A term or metric that the question uses.
#[derive(Serialize)]
pub struct UsedRecord<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub term: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric: Option<&'a str>,
    pub tables: Vec<&'a str>,
}

#[derive(Serialize)]
pub struct TableSearchRecord<'a> {
    pub strategy: &'static str,
    /// Stems of the question's words.
    pub words: &'a [String],
    /// Best first.
    pub pool: Vec<PoolTableRecord<'a>>,
    pub picks: Vec<String>,
    pub hits: Vec<ColumnHitRecord<'a>>,
}

#[derive(Serialize)]
pub struct PoolTableRecord<'a> {
    pub rank: usize,
    pub table: String,
    pub score: f64,
    pub similarity: Option<f64>,
    pub column_similarity: Option<f64>,
    pub words: &'a BTreeMap<String, u64>,
    pub picked: bool,
}

#[derive(Serialize)]
pub struct ColumnHitRecord<'a> {
    pub table: String,
    pub column: &'a str,
}
