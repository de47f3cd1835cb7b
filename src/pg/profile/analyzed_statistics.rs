//! Statistics that ANALYZE stored.

use crate::pg::server::error::Result;
use crate::pg::server::query;
use nl2sql_core::catalog::options::Options;
use nl2sql_core::catalog::schema::{ColumnMetadata, Table};
use nl2sql_core::catalog::statistics::{Statistics, common_values};
use pgrx::pg_sys::Oid;
use serde::Deserialize;
use std::collections::HashMap;

const ANALYZED: &str = include_str!("../../../sql/profile/analyzed.sql");

#[derive(Deserialize)]
struct AnalyzedColumn {
    table: u32,
    name: String,
    null_share: f64,
    /// As in pg_stats: a negative number is minus the share of the rows.
    distinct_count: f64,
    values: Option<Vec<String>>,
    frequencies: Option<Vec<f64>>,
}

/// Fills in the statistics of tables whose rows are not read.
pub fn fill_in(mut tables: HashMap<u32, &mut Table>, options: &Options) -> Result<()> {
    if tables.is_empty() {
        return Ok(());
    }
    let oids: Vec<Oid> = tables.keys().map(|oid| Oid::from(*oid)).collect();
    let known: Vec<AnalyzedColumn> = query::read_json(ANALYZED, &[oids.into(), options.sample_values.into()])?;
    for found in known {
        let Some(table) = tables.get_mut(&found.table) else { continue };
        let rows = table.metadata.row_count;
        let place = table.contract.columns.iter().position(|column| column.name == found.name);
        if let Some(metadata) = place.and_then(|place| table.metadata.columns.get_mut(place)) {
            let statistics = found.statistics(rows, metadata.pii);
            keep_known(metadata, statistics);
        }
    }
    Ok(())
}

impl AnalyzedColumn {
    fn statistics(self, rows: Option<i64>, pii: bool) -> Statistics {
        let distinct = if self.distinct_count < 0.0 {
            rows.map(|rows| (-self.distinct_count * rows as f64).round())
        } else {
            Some(self.distinct_count)
        };
        let values = self.values.filter(|_| !pii).map(|values| {
            let complete = self.distinct_count == values.len() as f64;
            common_values(values, &self.frequencies.unwrap_or_default(), complete)
        });
        Statistics {
            null_share: Some((self.null_share * 1e4).round() / 1e4),
            distinct_count: distinct.map(|count| count as u64),
            estimated: true,
            values,
            ..Statistics::default()
        }
    }
}

/// Sets the statistics of a column; values that are known without reading data stay.
pub fn keep_known(metadata: &mut ColumnMetadata, statistics: Statistics) {
    let known = std::mem::take(&mut metadata.statistics);
    metadata.statistics = statistics.into_map();
    metadata.statistics.extend(known);
}
