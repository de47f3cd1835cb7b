//! `nl2sql_route` and `nl2sql_route_explain`.

use crate::pg::index::embedder;
use crate::pg::search::builds::Builds;
use crate::pg::search::query_terms::QueryTerms;
use crate::pg::search::signals;
use crate::pg::search::signals::VOTE_K;
use crate::pg::server::argument;
use crate::pg::server::argument::TextArray;
use crate::pg::server::error::{Error, OrRaise, Result};
use nl2sql_core::catalog::identifier::shown;
use nl2sql_core::search::fusion;
use nl2sql_core::search::fusion::{DropReason, Fusion, RRF_K, RankedDatasource, Signal};
use pgrx::JsonB;
use pgrx::prelude::*;
use serde_json::{Value, json};

#[pg_extern]
fn nl2sql_route(
    question: Option<&str>,
    candidates: Option<i32>,
    floor_ratio: Option<f64>,
    datasources: TextArray,
    fusion: Option<&str>,
) -> TableIterator<'static, (name!(datasource, String), name!(score, f64), name!(similarity, f64), name!(ranks, JsonB))>
{
    let routing = Routing::run(question, candidates, floor_ratio, datasources, fusion).or_raise();
    TableIterator::new(
        routing.picks.into_iter().map(|pick| (pick.datasource, pick.score, pick.similarity, JsonB(json!(pick.ranks)))),
    )
}

#[pg_extern]
fn nl2sql_route_explain(
    question: Option<&str>,
    candidates: Option<i32>,
    floor_ratio: Option<f64>,
    datasources: TextArray,
    fusion: Option<&str>,
) -> JsonB {
    JsonB(Routing::run(question, candidates, floor_ratio, datasources, fusion).or_raise().explain())
}

/// Measured better than reciprocal ranks on every set of questions: see docs/searching.md.
const DEFAULT: Fusion = Fusion::Score;

fn parse_fusion(name: &str) -> Result<Fusion> {
    Fusion::from_name(name).ok_or_else(|| {
        Error::invalid(format!("unknown fusion \"{}\"", shown(name)))
            .hint(format!("Known: {}.", Fusion::ALL.map(Fusion::name).join(", ")))
    })
}

struct Routing {
    namespace: String,
    fusion: Fusion,
    candidates: usize,
    floor_ratio: f64,
    signals: Vec<Signal>,
    fused: Vec<RankedDatasource>,
    picks: Vec<RankedDatasource>,
    dropped: Vec<(RankedDatasource, DropReason)>,
}

impl Routing {
    fn run(
        question: Option<&str>,
        candidates: Option<i32>,
        floor_ratio: Option<f64>,
        datasources: TextArray,
        fusion: Option<&str>,
    ) -> Result<Self> {
        let question = argument::spoken("question", question)?;
        let candidates = argument::at_least_one("candidates", candidates)?;
        let floor_ratio = argument::share("floor_ratio", floor_ratio)?;
        let datasources = argument::filter("datasources", datasources)?;
        let fusion = fusion.map_or(Ok(DEFAULT), parse_fusion)?;
        let builds = Builds::live(datasources.as_deref())?;
        tracing::debug!(question, "route");
        let vector = embedder::embed_question(question)?;
        let signals = signals::of_nearest_entries(&builds, &vector)?;
        let (signals, fused) = match fusion {
            Fusion::Rrf => {
                let fused = fusion::fuse(&signals);
                (signals, fused)
            }
            Fusion::Score => {
                let signals = signals::of_all_datasources(&builds, &QueryTerms::new(question)?, &vector, signals)?;
                let fused = fusion::fuse_scores(&signals);
                (signals, fused)
            }
        };
        let (picks, dropped) = fusion::shortlist(fused.clone(), candidates, floor_ratio);
        Ok(Self { namespace: builds.namespace, fusion, candidates, floor_ratio, signals, fused, picks, dropped })
    }

    /// Ids and names only, never an entry's text.
    fn explain(&self) -> Value {
        let signals: Vec<Value> = self.signals.iter().map(explain_signal).collect();
        let used: Vec<&str> =
            self.signals.iter().filter(|signal| !signal.hits.is_empty()).map(|signal| signal.name).collect();
        let fused: Vec<Value> = self.fused.iter().map(explain_fused).collect();
        let picks: Vec<&str> = self.picks.iter().map(|pick| pick.datasource.as_str()).collect();
        let dropped: Vec<Value> = self
            .dropped
            .iter()
            .map(|(candidate, reason)| json!({ "datasource": candidate.datasource, "reason": reason.name() }))
            .collect();
        json!({
            "namespace": self.namespace,
            "signals": signals,
            "routing": {
                "fusion": self.fusion.name(),
                "rrf_k": RRF_K,
                "vote_k": VOTE_K,
                "candidates": self.candidates,
                "floor_ratio": self.floor_ratio,
                "signals": used,
                "fused": fused,
                "picks": picks,
                "dropped": dropped,
            },
        })
    }
}

/// A score that is not an entry's has no id.
fn named(id: &str) -> Option<&str> {
    Some(id).filter(|id| !id.is_empty())
}

fn explain_signal(signal: &Signal) -> Value {
    let hits: Vec<Value> = signal
        .hits
        .iter()
        .map(|hit| json!({ "id": named(&hit.id), "datasource": hit.datasource, "similarity": hit.similarity }))
        .collect();
    let ranking: Vec<Value> = signal
        .places()
        .iter()
        .map(|place| {
            json!({
                "rank": place.rank,
                "datasource": place.best.datasource,
                "id": named(&place.best.id),
                "similarity": place.best.similarity,
            })
        })
        .collect();
    json!({ "signal": signal.name, "hits": hits, "ranking": ranking })
}

fn explain_fused(candidate: &RankedDatasource) -> Value {
    json!({
        "datasource": candidate.datasource,
        "score": candidate.score,
        "similarity": candidate.similarity,
        "ranks": candidate.ranks,
    })
}
