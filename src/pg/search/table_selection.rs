//! The tables that are sent: those that the search picks, those of terms and metrics that the question uses, preferred
//! ones nearby, and those that join all these.

use crate::pg::datasource::{Datasource, preferred_tables};
use crate::pg::search::builds::Builds;
use crate::pg::search::rank_tables::Ranking;
use crate::pg::search::retrieval::RetrievalRequest;
use crate::pg::search::terms;
use crate::pg::search::terms::TermOrMetric;
use crate::pg::server::error::Result;
use nl2sql_core::search::table_selection::{ChosenTable, TableSelection, Via, preferred_near};

pub struct SelectedTables {
    /// In the order in which they were chosen.
    pub tables: Vec<ChosenTable>,
    /// Tables picked by the search, by their places in the ranking.
    pub picks: Vec<usize>,
    /// Terms and metrics that the question uses.
    pub used: Vec<TermOrMetric>,
}

impl SelectedTables {
    /// Places of the tables in the ranking.
    pub fn places(&self) -> Vec<usize> {
        self.tables.iter().map(|table| table.place).collect()
    }
}

pub fn select_tables(
    request: &RetrievalRequest,
    stored: &Datasource,
    builds: &Builds,
    ranking: &Ranking,
) -> Result<SelectedTables> {
    let picks: Vec<usize> = ranking.order.iter().copied().take(request.table_k).collect();
    let mut selection = TableSelection::default();
    selection.add_picks(&picks, |place| ranking.tables[place].score);
    let similarities: Vec<Option<f64>> = ranking.tables.iter().map(|table| table.evidence.signals.table).collect();
    let nearest = similarities.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
    let used = terms::used(builds, &request.text, Some(nearest))?;
    for (via, key) in used.iter().flat_map(|used| used.tables().into_iter().map(|key| (used.via(), key))) {
        let place = ranking.order.iter().find(|place| ranking.tables[**place].name.to_string() == key);
        place.into_iter().for_each(|place| selection.add(*place, via, true));
    }
    let is_preferred = |place: usize| preferred_tables::is_preferred(stored, &ranking.tables[place].name);
    for place in preferred_near(&similarities, &picks, is_preferred) {
        selection.add(place, Via::Preferred, true);
    }
    selection.connect(&ranking.neighbours);
    Ok(SelectedTables { tables: selection.into_tables(), picks, used })
}
