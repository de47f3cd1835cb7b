//! One pass over a table's rows that gathers the statistics of all its columns.

use crate::pg::profile::column_statistics::{Column, Memory, Wanted};
use crate::pg::server::error::{Error, Result};
use crate::pg::server::interrupt;
use crate::pg::server::restricted::Source;
use nl2sql_core::catalog::identifier::{TableName, quote_identifier};
use nl2sql_core::catalog::statistics::Statistics;
use pgrx::pg_sys::{self, Datum};
use pgrx::prelude::*;
use std::ffi::CString;

/// Rows that are fetched at a time, at most: fewer where they are wide.
const BATCH: i64 = 500;
const BATCH_BYTES: usize = 8 << 20;

/// Statistics of the columns that were wanted, in their order.
pub struct Found {
    pub rows: u64,
    pub columns: Vec<Statistics>,
}

/// Reads the table; `None` where it has more than `limit` rows. In the context that
/// `restricted::read_as` makes.
pub fn scan(table: &TableName, source: Source, wanted: &[Wanted], limit: u64) -> Result<Option<Found>> {
    let names: Vec<String> = wanted.iter().map(|column| format!("nl2sql.{}", quote_identifier(&column.name))).collect();
    let sql = CString::new(format!("SELECT {} FROM {table} AS nl2sql", names.join(", "))).unwrap_or_default();
    // SAFETY: a cursor of SPI's is read in batches. Each row is taken apart by the cursor's own
    // descriptor into arrays of its width; what a row's functions allocate goes with the batch.
    Spi::connect(|_| unsafe {
        let portal = pg_sys::SPI_cursor_open_with_args(
            std::ptr::null(),
            sql.as_ptr(),
            0,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            std::ptr::null(),
            true,
            0,
        );
        // What the type's functions run must not close it.
        pg_sys::PinPortal(portal);
        check_reads(portal, source)?;
        let kept = Memory::new();
        let row_memory = Memory::new();
        let mut batch = 16;
        let descriptor = (*portal).tupDesc;
        let attributes = pgrx::PgTupleDesc::from_pg_copy(descriptor);
        let mut columns: Vec<Column> = wanted
            .iter()
            .zip(attributes.iter())
            .map(|(wanted, attribute)| Column::new(attribute.atttypid, attribute.attcollation, wanted))
            .collect();
        let mut values = vec![Datum::from(0); wanted.len()];
        let mut nulls = vec![false; wanted.len()];
        let mut rows = 0;
        loop {
            interrupt::check();
            pg_sys::SPI_cursor_fetch(portal, true, batch);
            let (fetched, tuples) = (pg_sys::SPI_processed, pg_sys::SPI_tuptable);
            rows += fetched;
            if fetched == 0 || rows > limit {
                break;
            }
            let used = pg_sys::MemoryContextMemAllocated((*tuples).tuptabcxt, true);
            batch = if used < BATCH_BYTES / 4 {
                BATCH.min(batch * 2)
            } else if used > BATCH_BYTES {
                1.max(batch / 4)
            } else {
                batch
            };
            let outer = pg_sys::MemoryContextSwitchTo(row_memory.0);
            for row in 0..fetched as usize {
                let tuple = *(*tuples).vals.add(row);
                pg_sys::heap_deform_tuple(tuple, descriptor, values.as_mut_ptr(), nulls.as_mut_ptr());
                for (at, column) in columns.iter_mut().enumerate() {
                    if nulls[at] {
                        column.nulls += 1;
                    } else {
                        column.add(values[at], &kept);
                    }
                }
                pg_sys::MemoryContextReset(row_memory.0);
            }
            pg_sys::MemoryContextSwitchTo(outer);
            pg_sys::SPI_freetuptable(tuples);
        }
        pg_sys::UnpinPortal(portal);
        pg_sys::SPI_cursor_close(portal);
        if rows > limit {
            return Ok(None);
        }
        let columns = columns.into_iter().map(|column| column.finish(rows)).collect();
        Ok(Some(Found { rows, columns }))
    })
}

/// Fails where the query reads another table than the one that is locked: one that took its name just now.
/// SAFETY: the portal was just opened.
unsafe fn check_reads(portal: pg_sys::Portal, source: Source) -> Result<()> {
    // SAFETY: the portal of a SELECT holds one planned statement.
    let statement = unsafe { (*(*(*portal).stmts).elements).ptr_value }.cast::<pg_sys::PlannedStmt>();
    // SAFETY: as above; the list holds oids.
    if unsafe { pg_sys::list_member_oid((*statement).relationOids, source.oid) } {
        return Ok(());
    }
    Err(Error::new(PgSqlErrorCode::ERRCODE_OBJECT_IN_USE, "the table was changed while the schema was read"))
}
