//! Preferred tables, which an option names. Reported only to callers who may read the options.

use crate::pg::datasource::Datasource;
use crate::pg::server::error::Result;
use crate::pg::server::query;
use nl2sql_core::catalog::identifier::{TableName, means_table};

/// Whether the current user may read the options of a datasource.
pub fn options_readable(datasource: &str) -> Result<bool> {
    let readable = query::read_one(
        "SELECT true FROM nl2sql.datasource_setting WHERE datasource = $1",
        &[datasource.into()],
        |row| row.must::<bool>(1),
    )?;
    Ok(readable.is_some())
}

/// Whether an option names the table as preferred.
pub fn is_preferred(stored: &Datasource, table: &TableName) -> bool {
    stored.options.preferred_tables.iter().any(|text| means_table(text, table))
}

/// Preferred tables that are missing from `tables`.
pub fn missing(stored: &Datasource, tables: &[TableName]) -> Vec<String> {
    let preferred = stored.options.preferred_tables.iter();
    preferred.filter(|text| !tables.iter().any(|table| means_table(text, table))).cloned().collect()
}

/// Preferred tables that are in `before` but not in `now`.
pub fn gone(datasource: &str, stored: &Datasource, before: &[TableName], now: &[TableName]) -> Result<Vec<String>> {
    if stored.options.preferred_tables.is_empty() || !options_readable(datasource)? {
        return Ok(Vec::new());
    }
    let held = |tables: &[TableName], text: &String| tables.iter().any(|table| means_table(text, table));
    let preferred = stored.options.preferred_tables.iter();
    Ok(preferred.filter(|text| held(before, text) && !held(now, text)).cloned().collect())
}
