//! Personalized PageRank over foreign keys.

use crate::search::z_scores::order;

/// Personalised PageRank: tables that walks start from, the rank over which their weight falls to 1/e,
/// the chance to start again, and steps until the walk has settled.
const SEEDS: usize = 20;
const FALL: f64 = 4.0;
const RESTART: f64 = 0.15;
const STEPS: usize = 20;
/// How much of a table's score is its own evidence; the rest is the walk's.
const OWN: f64 = 0.7;

/// Lets the best tables lend to those that foreign keys join them with: seven tenths of a table's score are
/// its own, three tenths a personalised PageRank from the best (Haveliwala 2002). Both are taken as shares
/// of the greatest. `neighbours[i]` are the tables that table `i` is joined with.
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
