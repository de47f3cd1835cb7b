//! The tables that are sent to a planner, and why.

use crate::search::join_path;
use std::collections::HashSet;

/// A pick whose score is at least this share of the best one's is sent with the columns that name its rows.
const SURE: f64 = 0.5;
/// A preferred table may be this much less similar than the least similar pick.
const PREFERRED_MARGIN: f64 = 0.05;

/// Why a table is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Via {
    /// The datasource is small and sent whole.
    Small,
    Search,
    Term,
    Metric,
    Preferred,
    /// It joins others.
    Join,
    /// The search found nothing, so the whole snapshot is sent.
    Full,
}

impl Via {
    pub fn name(self) -> &'static str {
        match self {
            Via::Small => "small",
            Via::Search => "search",
            Via::Term => "term",
            Via::Metric => "metric",
            Via::Preferred => "preferred",
            Via::Join => "join",
            Via::Full => "full",
        }
    }
}

/// A table by its place in the ranking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenTable {
    pub place: usize,
    pub via: Via,
    /// Whether the columns that name its rows are sent, too.
    pub sure: bool,
}

/// Tables in the order in which they were chosen. The first reason to choose a table counts.
#[derive(Debug, Default)]
pub struct TableSelection {
    tables: Vec<ChosenTable>,
    places: HashSet<usize>,
}

impl TableSelection {
    pub fn add(&mut self, place: usize, via: Via, sure: bool) {
        if self.places.insert(place) {
            self.tables.push(ChosenTable { place, via, sure });
        }
    }

    /// Adds the picks of the search, best first.
    pub fn add_picks(&mut self, picks: &[usize], score: impl Fn(usize) -> f64) {
        let best = picks.first().map_or(0.0, |place| score(*place));
        for &place in picks {
            let sure = Some(&place) == picks.first() || score(place) >= SURE * best;
            self.add(place, Via::Search, sure);
        }
    }

    /// Adds the tables that join the chosen ones. `neighbours[i]` are the tables that table `i` is joined with.
    pub fn connect(&mut self, neighbours: &[Vec<usize>]) {
        let chosen: Vec<usize> = self.tables.iter().map(|table| table.place).collect();
        for place in join_path::connect(&chosen, neighbours) {
            self.add(place, Via::Join, false);
        }
    }

    pub fn into_tables(self) -> Vec<ChosenTable> {
        self.tables
    }
}

/// Preferred tables that were not picked and are nearly as similar to the question as the least similar pick.
pub fn preferred_near(
    similarities: &[Option<f64>],
    picks: &[usize],
    is_preferred: impl Fn(usize) -> bool,
) -> Vec<usize> {
    let least = picks.iter().filter_map(|place| similarities[*place]).fold(f64::INFINITY, f64::min);
    let near = |place: &usize| similarities[*place].is_some_and(|found| found >= least - PREFERRED_MARGIN);
    (0..similarities.len()).filter(|place| !picks.contains(place) && is_preferred(*place)).filter(near).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_counts() {
        let mut selection = TableSelection::default();
        let scores = [0.1, 1.0, 0.5, 0.4];
        selection.add_picks(&[1, 2, 3], |place| scores[place]);
        selection.add(2, Via::Term, true);
        selection.add(4, Via::Metric, true);
        // 1 and 4 are joined by way of 5; 2 and 3 by nothing.
        selection.connect(&[vec![], vec![5], vec![], vec![], vec![5], vec![1, 4]]);
        let tables: Vec<(usize, &str, bool)> =
            selection.into_tables().into_iter().map(|table| (table.place, table.via.name(), table.sure)).collect();
        let expected =
            [(1, "search", true), (2, "search", true), (3, "search", false), (4, "metric", true), (5, "join", false)];
        assert_eq!(tables, expected);
    }

    #[test]
    fn preferred_tables_must_be_nearly_as_similar() {
        let similarities = [Some(0.6), Some(0.4), Some(0.36), Some(0.34), None];
        assert_eq!(preferred_near(&similarities, &[0, 1], |_| true), [2]);
        assert_eq!(preferred_near(&similarities, &[0], |_| true), [0; 0]);
        assert_eq!(preferred_near(&similarities, &[0, 1], |place| place != 2), [0; 0]);
    }
}
