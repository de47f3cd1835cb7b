//! Profiles the tables of a schema: from their rows where these may be read, else from what ANALYZE stored.

use crate::pg::profile::analyzed_statistics;
use crate::pg::profile::analyzed_statistics::keep_known;
use crate::pg::profile::column_statistics::Wanted;
use crate::pg::profile::table_reader::{TableReader, TableReading};
use crate::pg::server::error::Result;
use crate::pg::server::interrupt;
use crate::pg::server::restricted::Source;
use nl2sql_core::catalog::assemble::TableRow;
use nl2sql_core::catalog::options::{Options, Profile};
use nl2sql_core::catalog::schema::{Schema, Table};
use nl2sql_core::snapshot::issue::{Issue, Stage};
use pgrx::pg_sys::Oid;
use std::collections::HashMap;

/// Fills in the statistics of every column, and returns what could not be read.
pub fn profile(schema: &mut Schema, rows: &[TableRow], options: &Options) -> Result<Vec<Issue>> {
    let rows: HashMap<_, _> = rows.iter().map(|row| (row.table_name(), row)).collect();
    let mut issues = Vec::new();
    // Tables that take the catalog's figures instead.
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
    analyzed_statistics::fill_in(unread, options)?;
    Ok(issues)
}

/// Reads the table's rows; false if they were not read.
fn read(table: &mut Table, row: &TableRow, options: &Options, issues: &mut Vec<Issue>) -> Result<bool> {
    let limit = u64::try_from(options.max_profile_rows).unwrap_or(0);
    let too_many = |table: &Table| {
        let message =
            format!("it has more than {limit} rows (max_profile_rows): statistics of ANALYZE are used instead");
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
    let source = Source { oid: Oid::from(row.oid), owner: Oid::from(row.owner) };
    let found = match TableReader::new(source, table, &wanted, limit).read()? {
        TableReading::Read(found) => found,
        TableReading::TooMany => {
            issues.push(too_many(table));
            return Ok(false);
        }
        TableReading::Refused(refused) => {
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
        keep_known(metadata, statistics);
    }
    Ok(true)
}
