//! Columns that a question hits.

use crate::search::bm25::bm25;
use crate::search::z_scores::z_scores;
use std::collections::{BTreeMap, HashSet};

/// What a search found of one column.
#[derive(Debug, Clone)]
pub struct ColumnEvidence {
    /// From 1 on, in the order of the snapshot.
    pub place: i16,
    /// Cosine similarity of its text to the question.
    pub similarity: f64,
    /// Words in its name, comment and synonyms.
    pub length: u64,
    /// How often it has each of the question's words.
    pub terms: BTreeMap<String, u64>,
}

/// The `most` best columns of the tables at `places`, by the sum of similarity and words as z-scores. Both are judged
/// among the columns of all tables. Returns the place of the table and the place of the column.
pub fn column_hits(tables: &[&[ColumnEvidence]], places: &[usize], most: usize) -> Vec<(usize, i16)> {
    let columns: Vec<(usize, &ColumnEvidence)> = tables
        .iter()
        .enumerate()
        .flat_map(|(place, columns)| columns.iter().map(move |column| (place, column)))
        .collect();
    let documents: Vec<(u64, &BTreeMap<String, u64>)> =
        columns.iter().map(|(_, column)| (column.length, &column.terms)).collect();
    let words = z_scores(&bm25(&documents).into_iter().map(Some).collect::<Vec<_>>());
    let near = z_scores(&columns.iter().map(|(_, column)| Some(column.similarity)).collect::<Vec<_>>());
    let places: HashSet<usize> = places.iter().copied().collect();
    let mut hits: Vec<usize> = (0..columns.len()).filter(|at| places.contains(&columns[*at].0)).collect();
    hits.sort_by(|a, b| (near[*b] + words[*b]).total_cmp(&(near[*a] + words[*a])).then_with(|| a.cmp(b)));
    hits.into_iter().take(most).map(|at| (columns[at].0, columns[at].1.place)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(place: i16, similarity: f64, words: &[&str]) -> ColumnEvidence {
        let terms = words.iter().map(|word| ((*word).to_owned(), 1)).collect();
        ColumnEvidence { place, similarity, length: 3, terms }
    }

    #[test]
    fn the_best_columns_of_the_given_tables() {
        let first = [column(1, 0.2, &[]), column(2, 0.6, &[])];
        let second = [column(1, 0.9, &["total"])];
        let third = [column(1, 0.2, &["total"]), column(2, 0.2, &[])];
        let tables = [first.as_slice(), &second, &third];
        // By hand, similarity and words as z-scores: (0, 2) has 0.63 - 0.82, (2, 1) has -0.77 + 1.22.
        assert_eq!(column_hits(&tables, &[0, 2], 2), [(2, 1), (0, 2)]);
        assert_eq!(column_hits(&tables, &[0, 1, 2], 1), [(1, 1)]);
        // Ties go to the earlier column.
        assert_eq!(column_hits(&tables, &[0, 2], 9), [(2, 1), (0, 2), (0, 1), (2, 2)]);
        assert!(column_hits(&[], &[], 3).is_empty());
    }
}
