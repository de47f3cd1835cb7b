//! Queries through SPI, with their rows as Rust values.

use crate::pg::server::error::Result;
use pgrx::datum::{DatumWithOid, FromDatum, IntoDatum};
use pgrx::prelude::*;
use pgrx::spi::SpiHeapTupleData;
use serde::de::DeserializeOwned;

/// A row. Its columns are numbered from 1.
pub struct Row<'a>(SpiHeapTupleData<'a>);

impl Row<'_> {
    pub fn get<T: FromDatum + IntoDatum>(&self, column: usize) -> Result<Option<T>> {
        Ok(self.0.get(column)?)
    }

    /// A column that is never NULL.
    pub fn must<T: FromDatum + IntoDatum>(&self, column: usize) -> Result<T> {
        self.get(column)?.ok_or_else(|| pgrx::spi::Error::InvalidPosition.into())
    }
}

/// Runs a read-only query as the current user.
pub fn read<T>(sql: &str, args: &[DatumWithOid], mut row: impl FnMut(Row) -> Result<T>) -> Result<Vec<T>> {
    Spi::connect(|client| {
        let table = client.select(sql, None, args)?;
        let mut rows = Vec::with_capacity(table.len());
        for found in table {
            rows.push(row(Row(found))?);
        }
        Ok(rows)
    })
}

/// The first row of a read-only query.
pub fn read_one<T>(sql: &str, args: &[DatumWithOid], row: impl FnMut(Row) -> Result<T>) -> Result<Option<T>> {
    Ok(read(sql, args, row)?.into_iter().next())
}

/// Reads typed rows from a query that returns a JSON array as text.
pub fn read_json<T: DeserializeOwned>(sql: &str, args: &[DatumWithOid]) -> Result<Vec<T>> {
    let text = read_one(sql, args, |row| row.must::<String>(1))?.unwrap_or_else(|| "[]".to_owned());
    Ok(serde_json::from_str(&text)?)
}

/// Runs a statement that may write, and returns its rows.
pub fn write<T>(sql: &str, args: &[DatumWithOid], mut row: impl FnMut(Row) -> Result<T>) -> Result<Vec<T>> {
    Spi::connect_mut(|client| {
        let table = client.update(sql, None, args)?;
        let mut rows = Vec::with_capacity(table.len());
        for found in table {
            rows.push(row(Row(found))?);
        }
        Ok(rows)
    })
}

/// Runs a statement that returns no rows.
pub fn execute(sql: &str, args: &[DatumWithOid]) -> Result<()> {
    write(sql, args, |_| Ok(())).map(drop)
}
