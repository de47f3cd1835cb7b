//! Personalized PageRank over foreign keys.

use crate::search::z_scores::order;

/// Tables that walks start from, the number of ranks over which their weight falls to 1/e, the probability of a
/// restart, and the number of steps, after which the walk has converged.
const SEEDS: usize = 20;
const FALL: f64 = 4.0;
const RESTART: f64 = 0.15;
const STEPS: usize = 20;
/// Share of a table's score that is its own evidence. The rest comes from the walk.
const OWN: f64 = 0.7;

/// Lets the best tables raise the scores of tables that foreign keys join them with: 0.7 times a table's own score plus
/// 0.3 times a personalized PageRank from the best tables (Haveliwala 2002), both divided by their maximum. Scores are
/// from 0 to 1. `neighbours[i]` lists the tables that table `i` is joined with.
pub fn propagate(scores: &[f64], neighbours: &[Vec<usize>]) -> Vec<f64> {
    let mut start = vec![0.0; scores.len()];
    for (rank, at) in order(scores).into_iter().take(SEEDS).enumerate() {
        start[at] = (-(rank as f64) / FALL).exp();
    }
    let total: f64 = start.iter().sum();
    start.iter_mut().for_each(|weight| *weight /= total.max(f64::MIN_POSITIVE));
    let mut walk = start.clone();
    for _ in 0..STEPS {
        let mut next = vec![0.0; walk.len()];
        let mut stranded = 0.0;
        for (at, share) in walk.iter().enumerate().filter(|(_, share)| **share > 0.0) {
            if neighbours[at].is_empty() {
                stranded += share;
            }
            for &neighbour in &neighbours[at] {
                next[neighbour] += share / neighbours[at].len() as f64;
            }
        }
        for (next, start) in next.iter_mut().zip(&start) {
            *next = RESTART * start + (1.0 - RESTART) * (*next + stranded * start);
        }
        walk = next;
    }
    let (scores, walk) = (shares(scores), shares(&walk));
    scores.iter().zip(walk).map(|(own, walk)| OWN * own + (1.0 - OWN) * walk).collect()
}

fn shares(scores: &[f64]) -> Vec<f64> {
    let greatest = scores.iter().copied().fold(0.0, f64::max);
    scores.iter().map(|score| if greatest > 0.0 { score / greatest } else { 0.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_tables_gain() {
        // 0 is best; 1 is joined with it, 2 is not; both are alike by themselves.
        let scores = propagate(&[3.0, 1.0, 1.0], &[vec![1], vec![0], vec![]]);
        assert!(scores[0] > scores[1] && scores[1] > scores[2]);
        assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)));
        let alone = propagate(&[0.0, 0.0], &[vec![], vec![]]);
        assert!((alone[0] - 0.3).abs() < 1e-9 && (alone[1] - 0.3 * (-0.25_f64).exp()).abs() < 1e-9, "{alone:?}");
    }
}
