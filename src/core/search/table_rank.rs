//! Ranks tables for a question by three kinds of evidence: the table's own text, its best column's text, and the words
//! that they share with the question.

use crate::search::bm25::bm25;
use crate::search::z_scores::z_scores;
use std::collections::BTreeMap;

/// What a search found about a table, or anything else that is ranked. `None` means that the search did not see it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TableSignals {
    /// Cosine similarity of the table's own text to the question.
    pub table: Option<f64>,
    /// Cosine similarity of its most similar column.
    pub column: Option<f64>,
    /// Number of words in its name, comments, columns and synonyms.
    pub length: u64,
    /// How often each word of the question occurs.
    pub terms: BTreeMap<String, u64>,
}

/// The sum of the three kinds of evidence as z-scores, shifted so that the least is 0. One score for each table.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::z_scores::order;

    fn terms(terms: &[(&str, u64)]) -> BTreeMap<String, u64> {
        terms.iter().map(|(term, times)| (term.to_string(), *times)).collect()
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
}
