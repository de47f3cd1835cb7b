//! Statistics of every column: gathered from the rows, or taken from what ANALYZE has found.

#[allow(unsafe_code)]
pub mod column_statistics;
pub mod sample;
#[allow(unsafe_code)]
pub mod scan;

use crate::pg::profile::column_statistics::Wanted;
use crate::pg::profile::scan::{Found, scan};
use crate::pg::server::error::Result;
use crate::pg::server::restricted::{Refused, RowSecurity, Source, read_as};
use crate::pg::server::{interrupt, query, settings};
use nl2sql_core::catalog::assemble::TableRow;
use nl2sql_core::catalog::options::{Options, Profile};
use nl2sql_core::catalog::schema::{ColumnMetadata, Schema, Table};
use nl2sql_core::catalog::statistics::{Statistics, common_values};
use nl2sql_core::snapshot::issue::{Issue, Stage};
use pgrx::pg_sys::Oid;
use serde::Deserialize;
use std::collections::HashMap;
use std::time::{Duration, Instant};

const CATALOGUE: &str = include_str!("../../../sql/profile/catalogue.sql");

/// Fills in what is known of the values of every column, and gives what could not be read.
pub fn profile(schema: &mut Schema, rows: &[TableRow], options: &Options) -> Result<Vec<Issue>> {
    let rows: HashMap<_, _> = rows.iter().map(|row| (row.table_name(), row)).collect();
    let mut issues = Vec::new();
    // Those for which the catalogue's figures stand in.
    let mut unread: HashMap<u32, &mut Table> = HashMap::new();
    for table in &mut schema.tables {
        interrupt::check();
        let Some(row) = rows.get(&table.name) else { continue };
        if let Some(reason) = &row.guarded {
            issues.push(Issue::table(&table.name, Stage::Profile, format!("{reason}: no statistics are kept")));
            continue;
        }
        if options.profile == Profile::Stats && read(table, row, options, &mut issues)? {
            continue;
        }
        unread.insert(row.oid, table);
    }
    from_catalogue(unread, options)?;
    Ok(issues)
}

/// Reads the table's rows; false where that was not to be.
fn read(table: &mut Table, row: &TableRow, options: &Options, issues: &mut Vec<Issue>) -> Result<bool> {
    let limit = u64::try_from(options.max_profile_rows).unwrap_or(0);
    let too_many = |table: &Table| {
        let message = format!("it has more than {limit} rows (max_profile_rows): the catalogue's figures stand in");
        Issue::table(&table.name, Stage::Profile, message)
    };
    if row.row_count.is_some_and(|rows| u64::try_from(rows).is_ok_and(|rows| rows > limit)) {
        issues.push(too_many(table));
        return Ok(false);
    }
    let wanted: Vec<Wanted> = table
        .columns()
        .map(|(column, metadata)| Wanted {
            name: column.name.clone(),
            extremes: !metadata.pii,
            values: options.sample_values && !metadata.pii && !metadata.statistics.contains_key("values"),
        })
        .collect();
    let reader = Reader {
        source: Source { oid: Oid::from(row.oid), owner: Oid::from(row.owner) },
        table,
        wanted: &wanted,
        limit,
        deadline: deadline(),
    };
    let found = match reader.all()? {
        Outcome::Found(found) => found,
        Outcome::TooMany => {
            issues.push(too_many(table));
            return Ok(false);
        }
        Outcome::Refused(refused) => {
            let stage = if row.row_count.is_none() && wanted.is_empty() { Stage::Estimate } else { Stage::Profile };
            issues.push(Issue::table(&table.name, stage, refused.message()));
            return Ok(false);
        }
    };
    issues.extend(
        found
            .refused
            .iter()
            .map(|(at, refused)| Issue::column(&table.name, &wanted[*at].name, Stage::Profile, refused.message())),
    );
    table.metadata.row_count = i64::try_from(found.rows).ok();
    for (metadata, statistics) in table.metadata.columns.iter_mut().zip(found.columns) {
        keep(metadata, statistics);
    }
    Ok(true)
}

fn deadline() -> Option<Instant> {
    settings::profile_timeout().map(|limit| Instant::now() + limit)
}

/// Values that are known without reading data stay.
fn keep(metadata: &mut ColumnMetadata, statistics: Statistics) {
    let known = std::mem::take(&mut metadata.statistics);
    metadata.statistics = statistics.into_map();
    metadata.statistics.extend(known);
}

struct Reader<'a> {
    source: Source,
    table: &'a Table,
    wanted: &'a [Wanted],
    limit: u64,
    deadline: Option<Instant>,
}

enum Outcome {
    Found(Columns),
    TooMany,
    Refused(Refused),
}

struct Columns {
    rows: u64,
    columns: Vec<Statistics>,
    /// Columns that could not be read, by their place.
    refused: Vec<(usize, Refused)>,
}

impl Reader<'_> {
    /// All columns in one pass. Where that fails, the columns that are to blame are found by halving,
    /// and the others are read without them.
    fn all(&self) -> Result<Outcome> {
        let refused = match self.pass(self.wanted)? {
            Ok(None) => return Ok(Outcome::TooMany),
            Ok(Some(Found { rows, columns })) => {
                return Ok(Outcome::Found(Columns { rows, columns, refused: Vec::new() }));
            }
            Err(refused) => refused,
        };
        if self.wanted.is_empty() || !refused.may_be_of_a_column() {
            return Ok(Outcome::Refused(refused));
        }
        let rows = match self.pass(&[])? {
            Ok(Some(found)) => found.rows,
            Ok(None) => return Ok(Outcome::TooMany),
            Err(refused) => return Ok(Outcome::Refused(refused)),
        };
        let mut found = Columns { rows, columns: Vec::new(), refused: Vec::new() };
        self.halves(0, self.wanted.len(), refused, &mut found)?;
        Ok(Outcome::Found(found))
    }

    /// The columns from `from` to `to`, which cannot be read together.
    fn halves(&self, from: usize, to: usize, refused: Refused, found: &mut Columns) -> Result<()> {
        if to - from == 1 {
            found.refused.push((from, refused));
            found.columns.push(Statistics::default());
            return Ok(());
        }
        let middle = from + (to - from) / 2;
        for (from, to) in [(from, middle), (middle, to)] {
            match self.pass(&self.wanted[from..to])? {
                Ok(Some(half)) => found.columns.extend(half.columns),
                Ok(None) => found.columns.extend(vec![Statistics::default(); to - from]),
                Err(Refused::TimeOut) => {
                    found.columns.extend(vec![Statistics::default(); to - from]);
                    found.refused.extend((from..to).map(|at| (at, Refused::TimeOut)));
                }
                Err(refused) => self.halves(from, to, refused, found)?,
            }
        }
        Ok(())
    }

    fn pass(&self, wanted: &[Wanted]) -> Result<std::result::Result<Option<Found>, Refused>> {
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        if left == Some(Duration::ZERO) {
            return Ok(Err(Refused::TimeOut));
        }
        let found = read_as(self.source, left, RowSecurity::Refuses, || {
            scan(&self.table.name, self.source, wanted, self.limit)
        })?;
        // What catches the cancelling of its queries may go on beyond the limit.
        let late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        Ok(if late { Err(Refused::TimeOut) } else { found })
    }
}

#[derive(Deserialize)]
struct Known {
    table: u32,
    name: String,
    null_share: f64,
    /// As in pg_stats: below 0, minus the share of the rows.
    distinct_count: f64,
    values: Option<Vec<String>>,
    frequencies: Option<Vec<f64>>,
}

/// What ANALYZE has found of tables that are not read.
fn from_catalogue(mut tables: HashMap<u32, &mut Table>, options: &Options) -> Result<()> {
    if tables.is_empty() {
        return Ok(());
    }
    let oids: Vec<Oid> = tables.keys().map(|oid| Oid::from(*oid)).collect();
    let known: Vec<Known> = query::read_json(CATALOGUE, &[oids.into(), options.sample_values.into()])?;
    for found in known {
        let Some(table) = tables.get_mut(&found.table) else { continue };
        let rows = table.metadata.row_count;
        let place = table.contract.columns.iter().position(|column| column.name == found.name);
        if let Some(metadata) = place.and_then(|place| table.metadata.columns.get_mut(place)) {
            let statistics = found.statistics(rows, metadata.pii);
            keep(metadata, statistics);
        }
    }
    Ok(())
}

impl Known {
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
