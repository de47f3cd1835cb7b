//! Maximal marginal relevance.

use std::cmp::Ordering;

/// A candidate of the pool: an entry similar to the query.
#[derive(Debug, Clone)]
pub struct Candidate<'a> {
    pub id: &'a str,
    /// Cosine similarity to the query.
    pub similarity: f64,
    pub vector: &'a [f32],
}

#[derive(Debug, Clone, PartialEq)]
pub struct Pick {
    /// The candidate's index in the pool.
    pub at: usize,
    pub mmr_score: f64,
    /// The greatest similarity to an earlier pick; `None` for the first.
    pub redundancy: Option<f64>,
}

/// Picks at most `k` of `pool`, in the order of picking: first the most similar to the query, then
/// each time the greatest `lambda * similarity - (1 - lambda) * redundancy` (Carbonell and
/// Goldstein, SIGIR 1998). Ties go to the smaller id. `tick` is called before each pick, so that a
/// long selection can be cancelled.
pub fn select(pool: &[Candidate], k: usize, lambda: f64, tick: &mut dyn FnMut()) -> Vec<Pick> {
    let vectors: Vec<Vec<f32>> = pool.iter().map(|candidate| normalized(candidate.vector)).collect();
    let mut redundancy: Vec<Option<f64>> = vec![None; pool.len()];
    let mut left: Vec<usize> = (0..pool.len()).collect();
    let mut picks = Vec::with_capacity(k.min(pool.len()));
    while picks.len() < k && !left.is_empty() {
        tick();
        let first = picks.is_empty();
        let score = |at: usize| {
            let similarity = pool[at].similarity;
            if first {
                return similarity;
            }
            lambda * similarity - (1.0 - lambda) * redundancy[at].unwrap_or(0.0)
        };
        let better = |a: usize, b: usize| {
            score(a).total_cmp(&score(b)).then_with(|| pool[b].id.cmp(pool[a].id)) == Ordering::Greater
        };
        let mut best = 0;
        for at in 1..left.len() {
            if better(left[at], left[best]) {
                best = at;
            }
        }
        let at = left.swap_remove(best);
        picks.push(Pick {
            at,
            mmr_score: lambda * pool[at].similarity - (1.0 - lambda) * redundancy[at].unwrap_or(0.0),
            redundancy: redundancy[at],
        });
        if picks.len() < k {
            for &other in &left {
                let alike = f64::from(dot(&vectors[at], &vectors[other]));
                redundancy[other] = Some(redundancy[other].map_or(alike, |known| known.max(alike)));
            }
        }
    }
    picks
}

fn normalized(vector: &[f32]) -> Vec<f32> {
    let norm = dot(vector, vector).sqrt();
    if norm > 0.0 { vector.iter().map(|x| x / norm).collect() } else { vector.to_vec() }
}

/// Dot product in eight running sums, which the compiler vectorizes. The order of summation is fixed, so equal vectors
/// have equal results.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0f32; 8];
    let (a, b) = (&a[..a.len().min(b.len())], &b[..a.len().min(b.len())]);
    let (blocks_a, blocks_b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f32 = blocks_a.remainder().iter().zip(blocks_b.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in blocks_a.zip(blocks_b) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pool<'a>(items: &'a [(&'a str, f64, Vec<f32>)]) -> Vec<Candidate<'a>> {
        items.iter().map(|(id, similarity, vector)| Candidate { id, similarity: *similarity, vector }).collect()
    }

    fn ids(pool: &[Candidate], picks: &[Pick]) -> Vec<String> {
        picks.iter().map(|pick| pool[pick.at].id.to_owned()).collect()
    }

    #[test]
    fn trades_similarity_for_novelty() {
        let items = [("a", 0.9, vec![1.0, 0.0]), ("b", 0.89, vec![1.0, 0.01]), ("c", 0.5, vec![0.0, 1.0])];
        let pool = pool(&items);
        let picks = select(&pool, 2, 0.5, &mut || ());
        assert_eq!(ids(&pool, &picks), ["a", "c"]);
        assert_eq!(picks[0].redundancy, None);
        assert!((picks[0].mmr_score - 0.45).abs() < 1e-12);
        assert!((picks[1].mmr_score - 0.25).abs() < 1e-6);
        assert_eq!(ids(&pool, &select(&pool, 2, 1.0, &mut || ())), ["a", "b"]);
    }

    #[test]
    fn ties_go_to_the_smaller_id() {
        let items = [("b", 0.5, vec![1.0]), ("a", 0.5, vec![1.0]), ("c", 0.5, vec![1.0])];
        let pool = pool(&items);
        assert_eq!(ids(&pool, &select(&pool, 9, 0.7, &mut || ())), ["a", "b", "c"]);
    }

    #[test]
    fn an_empty_pool_gives_nothing() {
        assert!(select(&[], 3, 0.7, &mut || ()).is_empty());
    }

    /// The definition word for word, without the running maximum.
    fn naive(pool: &[Candidate], k: usize, lambda: f64) -> Vec<usize> {
        let mut picked: Vec<usize> = Vec::new();
        while picked.len() < k.min(pool.len()) {
            let best = (0..pool.len())
                .filter(|at| !picked.contains(at))
                .max_by(|&a, &b| {
                    let score = |at: usize| {
                        let redundancy = picked
                            .iter()
                            .map(|&p| f64::from(dot(&normalized(pool[p].vector), &normalized(pool[at].vector))))
                            .fold(f64::NEG_INFINITY, f64::max);
                        if picked.is_empty() {
                            pool[at].similarity
                        } else {
                            lambda * pool[at].similarity - (1.0 - lambda) * redundancy
                        }
                    };
                    score(a).total_cmp(&score(b)).then_with(|| pool[b].id.cmp(pool[a].id))
                })
                .unwrap();
            picked.push(best);
        }
        picked
    }

    proptest! {
        #[test]
        fn equals_the_definition(
            rows in prop::collection::vec((-1.0..1.0f64, prop::collection::vec(-1.0..1.0f32, 9)), 0..24),
            k in 1usize..30,
            lambda in 0.0..=1.0f64,
        ) {
            let named: Vec<(String, f64, Vec<f32>)> =
                rows.into_iter().enumerate().map(|(n, (s, v))| (format!("{n:02}"), s, v)).collect();
            let pool: Vec<Candidate> =
                named.iter().map(|(id, similarity, vector)| Candidate { id, similarity: *similarity, vector }).collect();
            let picks: Vec<usize> = select(&pool, k, lambda, &mut || ()).iter().map(|pick| pick.at).collect();
            prop_assert_eq!(picks, naive(&pool, k, lambda));
        }
    }
}
