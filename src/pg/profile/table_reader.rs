//! Reads the rows of a table, without the columns that cannot be read.

use crate::pg::profile::column_statistics::Wanted;
use crate::pg::profile::scan::{Found, scan};
use crate::pg::server::error::Result;
use crate::pg::server::restricted::{Refused, RowSecurity, Source, read_as};
use crate::pg::server::settings;
use nl2sql_core::catalog::schema::Table;
use nl2sql_core::catalog::statistics::Statistics;
use std::time::{Duration, Instant};

/// Reads the rows of one table.
pub struct TableReader<'a> {
    source: Source,
    table: &'a Table,
    wanted: &'a [Wanted],
    limit: u64,
    deadline: Option<Instant>,
}

/// What came of reading a table.
pub enum TableReading {
    Read(ReadColumns),
    /// It has more rows than the limit.
    TooMany,
    Refused(Refused),
}

pub struct ReadColumns {
    pub rows: u64,
    pub columns: Vec<Statistics>,
    /// Columns that could not be read, by their place.
    pub refused: Vec<(usize, Refused)>,
}

impl<'a> TableReader<'a> {
    /// The time limit runs from now on.
    pub fn new(source: Source, table: &'a Table, wanted: &'a [Wanted], limit: u64) -> Self {
        let deadline = settings::profile_timeout().map(|limit| Instant::now() + limit);
        Self { source, table, wanted, limit, deadline }
    }

    /// Reads all columns in one pass. If that fails, halving finds the columns that are to blame, and the others are
    /// read without them.
    pub fn read(&self) -> Result<TableReading> {
        let refused = match self.pass(self.wanted)? {
            Ok(None) => return Ok(TableReading::TooMany),
            Ok(Some(Found { rows, columns })) => {
                return Ok(TableReading::Read(ReadColumns { rows, columns, refused: Vec::new() }));
            }
            Err(refused) => refused,
        };
        if self.wanted.is_empty() || !refused.may_be_of_a_column() {
            return Ok(TableReading::Refused(refused));
        }
        let rows = match self.pass(&[])? {
            Ok(Some(found)) => found.rows,
            Ok(None) => return Ok(TableReading::TooMany),
            Err(refused) => return Ok(TableReading::Refused(refused)),
        };
        let mut found = ReadColumns { rows, columns: Vec::new(), refused: Vec::new() };
        self.halves(0, self.wanted.len(), refused, &mut found)?;
        Ok(TableReading::Read(found))
    }

    /// Reads the columns from `from` to `to`, which cannot be read together.
    fn halves(&self, from: usize, to: usize, refused: Refused, found: &mut ReadColumns) -> Result<()> {
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
        // A function that catches the cancellation of its query can run past the limit.
        let late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        Ok(if late { Err(Refused::TimeOut) } else { found })
    }
}
