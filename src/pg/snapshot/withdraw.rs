//! Withdraws versions that hold values which may no longer be kept.

use crate::pg::datasource::lease::Lease;
use crate::pg::server::error::Result;
use crate::pg::server::identity::Owner;
use crate::pg::server::query;
use crate::pg::snapshot;
use nl2sql_core::catalog::assemble::TableRow;
use nl2sql_core::catalog::schema::Schema;
use std::collections::HashSet;

const WITHDRAWN: &str = include_str!("../../../sql/snapshot/withdrawn.sql");

/// Removes every version but `live`, with its builds, that holds values of a column whose values may not be kept now:
/// an option has since declared it personal, or statistics of its table are no longer kept.
pub fn withdraw(_: &Owner, lease: &Lease, live: &str, schema: &Schema, rows: &[TableRow]) -> Result<()> {
    let datasource = lease.datasource();
    let guarded: HashSet<_> = rows.iter().filter(|row| row.guarded.is_some()).map(TableRow::table_name).collect();
    let (mut schemas, mut tables, mut columns, mut personal) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for table in &schema.tables {
        let all = guarded.contains(&table.name);
        for (column, metadata) in table.columns().filter(|(_, metadata)| all || metadata.pii) {
            schemas.push(table.name.schema.clone());
            tables.push(table.name.name.clone());
            columns.push(column.name.clone());
            personal.push(metadata.pii);
        }
    }
    if columns.is_empty() {
        return Ok(());
    }
    let versions = query::read(
        WITHDRAWN,
        &[datasource.into(), live.into(), schemas.into(), tables.into(), columns.into(), personal.into()],
        |row| row.must::<String>(1),
    )?;
    if versions.is_empty() {
        return Ok(());
    }
    tracing::info!(
        datasource,
        versions = versions.len(),
        "versions withdrawn: they held values that may no longer be kept"
    );
    snapshot::removing(|| {
        for statement in [
            "DELETE FROM nl2sql.entry e USING nl2sql.build b
             WHERE e.namespace = b.namespace AND e.build = b.id AND b.datasource = $1 AND b.schema_version = ANY ($2)",
            "DELETE FROM nl2sql.pointer WHERE datasource = $1 AND schema_version = ANY ($2)",
            "DELETE FROM nl2sql.build WHERE datasource = $1 AND schema_version = ANY ($2)",
            "DELETE FROM nl2sql.snapshot WHERE datasource = $1 AND schema_version = ANY ($2)",
        ] {
            query::execute(statement, &[datasource.into(), versions.clone().into()])?;
        }
        Ok(())
    })
}
