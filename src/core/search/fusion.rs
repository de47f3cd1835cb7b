//! Fuses signals by reciprocal ranks or by scores, and cuts the result to a shortlist.

use crate::search::z_scores::z_scores;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009).
pub const RRF_K: u32 = 60;

/// An entry that a signal's search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    pub datasource: String,
    /// The entry; empty for a score that belongs to no entry.
    pub id: String,
    /// Cosine similarity to the question; for the signal `words`, BM25.
    pub similarity: f64,
}

/// How signals are fused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fusion {
    /// By reciprocal ranks.
    Rrf,
    /// By z-scores.
    Score,
}

impl Fusion {
    pub const ALL: [Fusion; 2] = [Fusion::Rrf, Fusion::Score];

    pub fn name(self) -> &'static str {
        match self {
            Fusion::Rrf => "rrf",
            Fusion::Score => "score",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }
}

/// The signal whose scores are not cosines.
pub const WORDS: &str = "words";
/// Signals from what people wrote about a datasource. The others come from its schema.
const WRITTEN: [&str; 3] = ["description", "examples", "curated"];
/// The signals among these that compare questions with questions.
const QUESTIONS: [&str; 2] = ["examples", "curated"];

/// One search and what it found.
#[derive(Debug, Clone, PartialEq)]
pub struct Signal {
    pub name: &'static str,
    pub hits: Vec<Hit>,
}

/// A datasource's place in one signal: by its best entry, ties to the smaller name.
#[derive(Debug, Clone, PartialEq)]
pub struct SignalRank<'a> {
    pub rank: u32,
    pub best: &'a Hit,
}

impl Signal {
    /// Datasources by their best entry, best first.
    pub fn places(&self) -> Vec<SignalRank<'_>> {
        let mut best: HashMap<&str, &Hit> = HashMap::new();
        for hit in &self.hits {
            best.entry(&hit.datasource)
                .and_modify(|known| {
                    let order = hit.similarity.total_cmp(&known.similarity);
                    if order.then_with(|| known.id.cmp(&hit.id)).is_gt() {
                        *known = hit;
                    }
                })
                .or_insert(hit);
        }
        let mut best: Vec<&Hit> = best.into_values().collect();
        best.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then_with(|| a.datasource.cmp(&b.datasource)));
        best.into_iter().zip(1..).map(|(best, rank)| SignalRank { rank, best }).collect()
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct RankedDatasource {
    pub datasource: String,
    pub score: f64,
    /// The best cosine over all signals.
    pub similarity: f64,
    /// The rank in each signal that ranked it.
    pub ranks: BTreeMap<&'static str, u32>,
}

/// Reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009): the sum over the signals of `1 / (RRF_K + rank)`,
/// best first, ties to the smaller name. A datasource that a signal did not rank gets the rank after its last. A signal
/// that ranked nothing is skipped.
pub fn fuse(signals: &[Signal]) -> Vec<RankedDatasource> {
    let names: BTreeSet<&str> =
        signals.iter().flat_map(|signal| &signal.hits).map(|hit| hit.datasource.as_str()).collect();
    let mut fused: Vec<RankedDatasource> = names
        .into_iter()
        .map(|name| RankedDatasource {
            datasource: name.to_owned(),
            score: 0.0,
            similarity: f64::NEG_INFINITY,
            ranks: BTreeMap::new(),
        })
        .collect();
    let mut counted: HashMap<String, Vec<u32>> = HashMap::new();
    for signal in signals.iter().filter(|signal| !signal.hits.is_empty()) {
        let places = signal.places();
        let by_name: HashMap<&str, &SignalRank> =
            places.iter().map(|place| (place.best.datasource.as_str(), place)).collect();
        let after_last = places.len() as u32 + 1;
        for candidate in &mut fused {
            let mut rank = after_last;
            if let Some(place) = by_name.get(candidate.datasource.as_str()) {
                rank = place.rank;
                candidate.ranks.insert(signal.name, rank);
                candidate.similarity = candidate.similarity.max(place.best.similarity);
            }
            counted.entry(candidate.datasource.clone()).or_default().push(rank);
        }
    }
    for candidate in &mut fused {
        // Sum in the order of the ranks, so that candidates with the same ranks from different signals do not differ by
        // rounding.
        let mut ranks = counted.remove(&candidate.datasource).unwrap_or_default();
        ranks.sort_unstable();
        candidate.score = ranks.into_iter().map(|rank| 1.0 / f64::from(RRF_K + rank)).sum();
    }
    fused.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.datasource.cmp(&b.datasource)));
    fused
}

/// Fuses scores: the sum over the kinds of evidence of their z-scores, best first, ties to the smaller name. Each signal
/// is a kind, except that sample questions and verified queries form one kind, of which the more similar counts. What
/// people wrote (description, questions) and what the schema holds (tables, columns, words) have equal weight, shared
/// by the kinds that found anything. A datasource that a kind did not find gets the kind's mean, 0.
pub fn fuse_scores(signals: &[Signal]) -> Vec<RankedDatasource> {
    let names: BTreeSet<&str> =
        signals.iter().flat_map(|signal| &signal.hits).map(|hit| hit.datasource.as_str()).collect();
    let mut fused: Vec<RankedDatasource> = names
        .iter()
        .map(|name| RankedDatasource {
            datasource: name.to_string(),
            score: 0.0,
            similarity: f64::NEG_INFINITY,
            ranks: BTreeMap::new(),
        })
        .collect();
    let seeing: Vec<&Signal> = signals.iter().filter(|signal| !signal.hits.is_empty()).collect();
    for signal in &seeing {
        let places = signal.places();
        let by_name: HashMap<&str, &SignalRank> =
            places.iter().map(|place| (place.best.datasource.as_str(), place)).collect();
        for candidate in &mut fused {
            let Some(place) = by_name.get(candidate.datasource.as_str()) else { continue };
            if signal.name != WORDS {
                candidate.similarity = candidate.similarity.max(place.best.similarity);
            } else if place.best.similarity <= 0.0 {
                continue; // without a word of the question there is no rank
            }
            candidate.ranks.insert(signal.name, place.rank);
        }
    }
    let (questions, others): (Vec<&Signal>, Vec<&Signal>) =
        seeing.into_iter().partition(|signal| QUESTIONS.contains(&signal.name));
    let mut kinds: Vec<(bool, Vec<&Signal>)> =
        others.into_iter().map(|signal| (WRITTEN.contains(&signal.name), vec![signal])).collect();
    if !questions.is_empty() {
        kinds.push((true, questions));
    }
    for (written, signals) in &kinds {
        let share = kinds.iter().filter(|(other, _)| other == written).count() as f64;
        let best = |name: &str| {
            let hits = signals.iter().flat_map(|signal| &signal.hits).filter(|hit| hit.datasource == name);
            hits.map(|hit| hit.similarity).reduce(f64::max)
        };
        let scores: Vec<Option<f64>> = names.iter().map(|name| best(name)).collect();
        for (candidate, z) in fused.iter_mut().zip(z_scores(&scores)) {
            candidate.score += z / share;
        }
    }
    fused.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.datasource.cmp(&b.datasource)));
    fused
}

/// Why a candidate is not in the shortlist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropReason {
    /// Less similar than the floor.
    Floor,
    /// Beyond the number of candidates asked for.
    Limit,
}

impl DropReason {
    pub fn name(self) -> &'static str {
        match self {
            DropReason::Floor => "floor",
            DropReason::Limit => "limit",
        }
    }
}

/// Keeps, in fused order, at most `candidates` datasources whose similarity is at least `floor_ratio` times the best
/// one. Also returns the dropped ones, each with the reason.
pub fn shortlist(
    fused: Vec<RankedDatasource>,
    candidates: usize,
    floor_ratio: f64,
) -> (Vec<RankedDatasource>, Vec<(RankedDatasource, DropReason)>) {
    let best = fused.iter().map(|candidate| candidate.similarity).fold(f64::NEG_INFINITY, f64::max);
    let floor = floor_ratio * best;
    let (mut picks, mut dropped) = (Vec::new(), Vec::new());
    for candidate in fused {
        if candidate.similarity < floor {
            dropped.push((candidate, DropReason::Floor));
        } else if picks.len() >= candidates {
            dropped.push((candidate, DropReason::Limit));
        } else {
            picks.push(candidate);
        }
    }
    (picks, dropped)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signal(name: &'static str, hits: &[(&str, f64)]) -> Signal {
        let hits = hits.iter().enumerate().map(|(n, (datasource, similarity))| Hit {
            datasource: datasource.to_string(),
            id: format!("{datasource}{n}"),
            similarity: *similarity,
        });
        Signal { name, hits: hits.collect() }
    }

    #[test]
    fn ranks_by_the_best_entry() {
        let signal = signal("tables", &[("b", 0.9), ("b", 0.8), ("a", 0.7), ("c", 0.7)]);
        let places: Vec<(&str, u32)> =
            signal.places().iter().map(|place| (place.best.datasource.as_str(), place.rank)).collect();
        assert_eq!(places, [("b", 1), ("a", 2), ("c", 3)]);
    }

    #[test]
    fn sums_reciprocal_ranks_and_fills_the_gaps() {
        let signals = [
            signal("description", &[("a", 0.4), ("b", 0.3), ("c", 0.2)]),
            signal("examples", &[]),
            signal("tables", &[("c", 0.9)]),
        ];
        let fused = fuse(&signals);
        let of = |name: &str| fused.iter().find(|candidate| candidate.datasource == name).unwrap();
        assert_eq!(of("c").score, 1.0 / 63.0 + 1.0 / 61.0);
        assert_eq!(of("a").score, 1.0 / 61.0 + 1.0 / 62.0, "tables ranked one: the next rank is 2");
        assert_eq!(of("a").ranks, BTreeMap::from([("description", 1)]));
        assert_eq!(of("c").similarity, 0.9);
        assert_eq!(fused[0].datasource, "a");
    }

    #[test]
    fn sums_z_scores_by_kind() {
        let signals = [
            signal("description", &[("a", 0.9), ("b", 0.1)]),
            signal("examples", &[]),
            signal("tables", &[("a", 0.2), ("b", 0.4), ("c", 0.3)]),
            signal("words", &[("a", 5.0), ("b", 9.0), ("c", 7.0)]),
        ];
        let fused = fuse_scores(&signals);
        let of = |name: &str| fused.iter().find(|candidate| candidate.datasource == name).unwrap();
        let edge = 1.5_f64.sqrt();
        assert!((of("a").score - (1.0 - edge)).abs() < 1e-9, "{fused:?}");
        assert!((of("b").score - (edge - 1.0)).abs() < 1e-9);
        assert!(of("c").score.abs() < 1e-9, "what the description cannot see is at its mean");
        assert_eq!(of("b").similarity, 0.4, "words are no cosines");
        assert_eq!(of("b").ranks, BTreeMap::from([("description", 2), ("tables", 1), ("words", 1)]));
        assert_eq!(fused[0].datasource, "b");
        assert!(fuse_scores(&[]).is_empty());
    }

    #[test]
    fn equal_scores_go_to_the_smaller_name() {
        let signals = [signal("x", &[("b", 0.9), ("a", 0.8)]), signal("y", &[("a", 0.9), ("b", 0.8)])];
        assert_eq!(fuse(&signals)[0].datasource, "a");
    }

    #[test]
    fn the_same_ranks_give_the_same_score_by_whatever_signals() {
        let of = |name, order: [&'static str; 3]| signal(name, &[(order[0], 0.9), (order[1], 0.8), (order[2], 0.7)]);
        let signals =
            [of("w", ["a", "b", "c"]), of("x", ["b", "c", "a"]), of("y", ["c", "a", "b"]), of("z", ["a", "b", "c"])];
        let fused = fuse(&signals[..3]);
        assert!(fused.iter().all(|candidate| candidate.score == fused[0].score));
        let names: Vec<&str> = fused.iter().map(|candidate| candidate.datasource.as_str()).collect();
        assert_eq!(names, ["a", "b", "c"]);
    }

    #[test]
    fn drops_below_the_floor_before_the_limit() {
        let fused = fuse(&[signal("x", &[("a", 0.9), ("b", 0.8), ("c", 0.7), ("d", 0.1)])]);
        let (picks, dropped) = shortlist(fused, 2, 0.5);
        assert_eq!(picks.len(), 2);
        let reasons: Vec<(&str, DropReason)> =
            dropped.iter().map(|(candidate, why)| (candidate.datasource.as_str(), *why)).collect();
        assert_eq!(reasons, [("c", DropReason::Limit), ("d", DropReason::Floor)]);
    }

    #[test]
    fn nothing_found_gives_nothing() {
        assert!(fuse(&[signal("x", &[])]).is_empty());
        assert_eq!(shortlist(Vec::new(), 3, 0.5), (Vec::new(), Vec::new()));
    }
}
