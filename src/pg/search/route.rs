//! Routing: the datasources that a question is about.

use crate::pg::index::embedder;
use crate::pg::search::builds::Builds;
use crate::pg::search::query_terms::QueryTerms;
use crate::pg::search::signals;
use crate::pg::search::signals::VOTE_K;
use crate::pg::server::error::{Error, Result};
use nl2sql_core::catalog::identifier::shown;
use nl2sql_core::search::explain::{RouteRecord, Routing};
use nl2sql_core::search::fusion;
use nl2sql_core::search::fusion::{DropReason, Fusion, RankedDatasource, Signal};
use serde_json::Value;

/// Measured better than reciprocal ranks on every set of questions: see docs/searching.md.
const DEFAULT: Fusion = Fusion::Score;

pub struct RouteRequest<'a> {
    pub question: &'a str,
    /// The most datasources to pick.
    pub candidates: usize,
    /// The least score of a pick, relative to the best one.
    pub floor_ratio: f64,
    pub datasources: Option<Vec<String>>,
    pub fusion: Fusion,
}

pub struct Route<'a> {
    request: RouteRequest<'a>,
    namespace: String,
    signals: Vec<Signal>,
    fused: Vec<RankedDatasource>,
    pub picks: Vec<RankedDatasource>,
    dropped: Vec<(RankedDatasource, DropReason)>,
}

pub fn parse_fusion(name: Option<&str>) -> Result<Fusion> {
    let Some(name) = name else { return Ok(DEFAULT) };
    Fusion::from_name(name).ok_or_else(|| {
        Error::invalid(format!("unknown fusion \"{}\"", shown(name)))
            .hint(format!("Known: {}.", Fusion::ALL.map(Fusion::name).join(", ")))
    })
}

pub fn route(request: RouteRequest) -> Result<Route> {
    let builds = Builds::live(request.datasources.as_deref())?;
    tracing::debug!(question = request.question, "route");
    let vector = embedder::embed_question(request.question)?;
    let nearest = signals::of_nearest_entries(&builds, &vector)?;
    let (signals, fused) = match request.fusion {
        Fusion::Rrf => {
            let fused = fusion::fuse(&nearest);
            (nearest, fused)
        }
        Fusion::Score => {
            let terms = QueryTerms::new(request.question)?;
            let signals = signals::of_all_datasources(&builds, &terms, &vector, nearest)?;
            let fused = fusion::fuse_scores(&signals);
            (signals, fused)
        }
    };
    let (picks, dropped) = fusion::shortlist(fused.clone(), request.candidates, request.floor_ratio);
    Ok(Route { request, namespace: builds.namespace, signals, fused, picks, dropped })
}

impl Route<'_> {
    pub fn explain(&self) -> Result<Value> {
        let routing = Routing {
            namespace: &self.namespace,
            fusion: self.request.fusion,
            vote_k: VOTE_K,
            candidates: self.request.candidates,
            floor_ratio: self.request.floor_ratio,
            signals: &self.signals,
            fused: &self.fused,
            picks: &self.picks,
            dropped: &self.dropped,
        };
        Ok(serde_json::to_value(RouteRecord::from(routing))?)
    }
}
