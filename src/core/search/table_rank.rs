//! Ranking tables for a question by three kinds of evidence (the table's own text, its best column's text,
//! the words they share with the question) and by the foreign keys between them.

use std::collections::{BTreeMap, HashMap};

/// Constants of BM25 as its authors recommend them (Robertson and Zaragoza, 2009).
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// Personalised PageRank: tables that walks start from, the rank over which their weight falls to 1/e,
/// the chance to start again, and steps until the walk has settled.
const SEEDS: usize = 20;
const FALL: f64 = 4.0;
const RESTART: f64 = 0.15;
const STEPS: usize = 20;
/// How much of a table's score is its own evidence; the rest is the walk's.
const OWN: f64 = 0.7;

/// What a search found of a table, or of whatever else is ranked: `None` is what it could not see.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TableSignals {
    /// Cosine similarity of the table's own text to the question.
    pub table: Option<f64>,
    /// That of its most similar column.
    pub column: Option<f64>,
    /// Words in its name, comments, columns and synonyms.
    pub length: u64,
    /// How often it has each of the question's words.
    pub terms: BTreeMap<String, u64>,
}

/// BM25 of each document. How rare a word is, and how long a document usually is, is judged by these
/// documents alone, so that what is not among them tells nothing.
pub fn bm25(documents: &[(u64, &BTreeMap<String, u64>)]) -> Vec<f64> {
    let count = documents.len() as f64;
    let usual = documents.iter().map(|(length, _)| *length as f64).sum::<f64>() / count.max(1.0);
    let mut frequency: HashMap<&str, f64> = HashMap::new();
    for (_, terms) in documents {
        for term in terms.keys() {
            *frequency.entry(term).or_default() += 1.0;
        }
    }
    documents
        .iter()
        .map(|(length, terms)| {
            let norm = K1 * (1.0 - B + B * *length as f64 / usual.max(1.0));
            terms
                .iter()
                .map(|(term, times)| {
                    let having = frequency[term.as_str()];
                    let rarity = (1.0 + (count - having + 0.5) / (having + 0.5)).ln();
                    let times = *times as f64;
                    rarity * times * (K1 + 1.0) / (times + norm)
                })
                .sum()
        })
        .collect()
}

/// How far each score is from the mean of those that there are, in standard deviations. What has none
/// is at the mean: a signal that cannot see it does not punish it.
pub fn z_scores(scores: &[Option<f64>]) -> Vec<f64> {
    let seen: Vec<f64> = scores.iter().flatten().copied().collect();
    let count = seen.len().max(1) as f64;
    let mean = seen.iter().sum::<f64>() / count;
    let deviation = (seen.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / count).sqrt();
    // Equal scores differ by rounding alone.
    let flat = deviation <= 1e-9 * mean.abs().max(1.0);
    let place = |score: f64| if flat { 0.0 } else { (score - mean) / deviation };
    scores.iter().map(|score| score.map_or(0.0, place)).collect()
}

/// The sum of the three kinds of evidence as z-scores; the least is 0.
pub fn fuse(evidence: &[TableSignals]) -> Vec<f64> {
    let words: Vec<(u64, &BTreeMap<String, u64>)> = evidence.iter().map(|found| (found.length, &found.terms)).collect();
    let signals = [
        z_scores(&evidence.iter().map(|found| found.table).collect::<Vec<_>>()),
        z_scores(&evidence.iter().map(|found| found.column).collect::<Vec<_>>()),
        z_scores(&bm25(&words).into_iter().map(Some).collect::<Vec<_>>()),
    ];
    let sums: Vec<f64> = (0..evidence.len()).map(|at| signals.iter().map(|signal| signal[at]).sum()).collect();
    let least = sums.iter().copied().fold(f64::INFINITY, f64::min);
    sums.into_iter().map(|sum| sum - least).collect()
}

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

/// Places by score, best first; ties go to the earlier.
pub fn order(scores: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then_with(|| a.cmp(b)));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(terms: &[(&str, u64)]) -> BTreeMap<String, u64> {
        terms.iter().map(|(term, times)| (term.to_string(), *times)).collect()
    }

    #[test]
    fn rare_words_and_short_documents_count_more() {
        let documents = [terms(&[("rare", 1)]), terms(&[("usual", 1)]), terms(&[("usual", 1)]), terms(&[])];
        let scores = bm25(&[(5, &documents[0]), (5, &documents[1]), (50, &documents[2]), (5, &documents[3])]);
        assert!(scores[0] > scores[1] && scores[1] > scores[2] && scores[2] > 0.0 && scores[3] == 0.0);
        // By hand: idf = ln(1 + 3.5/1.5), norm = 1.2*(0.25 + 0.75*5/16.25), tf part = 2.2/(1 + norm).
        let norm = 1.2 * (0.25 + 0.75 * 5.0 / 16.25);
        assert!((scores[0] - (1.0_f64 + 3.5 / 1.5).ln() * 2.2 / (1.0 + norm)).abs() < 1e-12);
    }

    #[test]
    fn what_a_signal_cannot_see_is_at_its_mean() {
        let scores = z_scores(&[Some(1.0), None, Some(3.0)]);
        assert_eq!(scores, [-1.0, 0.0, 1.0]);
        assert_eq!(z_scores(&[Some(0.3), Some(0.3), None]), [0.0; 3]);
        assert_eq!(z_scores(&[]), [0.0; 0]);
        assert_eq!(z_scores(&[Some(7.0)]), [0.0]);
    }

    #[test]
    fn evidence_adds_up() {
        let seen = |table, column, word: &str| TableSignals {
            table,
            column: Some(column),
            length: 4,
            terms: if word.is_empty() { BTreeMap::new() } else { terms(&[(word, 1)]) },
        };
        let scores = fuse(&[seen(Some(0.2), 0.2, ""), seen(Some(0.5), 0.6, "invoice"), seen(None, 0.4, "")]);
        assert_eq!(order(&scores), [1, 2, 0]);
        assert_eq!(scores[0], 0.0);
        assert!(fuse(&[]).is_empty());
    }

    #[test]
    fn joined_tables_gain() {
        // 0 is best; 1 is joined with it, 2 is not; both are alike by themselves.
        let scores = propagate(&[3.0, 1.0, 1.0], &[vec![1], vec![0], vec![]]);
        assert!(scores[0] > scores[1] && scores[1] > scores[2]);
        assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)));
        let alone = propagate(&[0.0, 0.0], &[vec![], vec![]]);
        assert!((alone[0] - 0.3).abs() < 1e-9 && (alone[1] - 0.3 * (-0.25_f64).exp()).abs() < 1e-9, "{alone:?}");
    }

    #[test]
    fn ties_go_to_the_earlier() {
        assert_eq!(order(&[1.0, 2.0, 2.0, f64::NAN]).len(), 4);
        assert_eq!(order(&[1.0, 2.0, 2.0]), [1, 2, 0]);
    }
}
