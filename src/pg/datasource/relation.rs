//! The numbers by which entries refer to their tables. Row security relies on them.

use crate::pg::datasource::lease::Lease;
use crate::pg::server::error::Result;
use crate::pg::server::identity::Owner;
use crate::pg::server::query;
use nl2sql_core::catalog::identifier::TableName;
use pgrx::datum::DatumWithOid;
use std::collections::HashMap;

/// Stores which tables a datasource has now, and returns their numbers. Writes only rows that change.
pub fn note(_: &Owner, lease: &Lease, tables: &[TableName]) -> Result<HashMap<TableName, i32>> {
    let datasource = lease.datasource();
    let schemas: Vec<String> = tables.iter().map(|table| table.schema.clone()).collect();
    let names: Vec<String> = tables.iter().map(|table| table.name.clone()).collect();
    let args: [DatumWithOid; 3] = [datasource.into(), schemas.into(), names.into()];
    query::execute(
        "INSERT INTO nl2sql.relation (datasource, table_schema, table_name, live)
         SELECT $1, t.table_schema, t.table_name, true
         FROM unnest($2::text[], $3::text[]) AS t (table_schema, table_name)
         WHERE (t.table_schema, t.table_name) NOT IN (
             SELECT r.table_schema, r.table_name FROM nl2sql.relation r WHERE r.datasource = $1)
         -- A conflict is possible only if the transaction's snapshot is older; it then fails with 40001.
         ON CONFLICT (datasource, table_schema, table_name) DO NOTHING",
        &args,
    )?;
    query::execute(
        "UPDATE nl2sql.relation r SET live = NOT r.live
         WHERE r.datasource = $1
           AND r.live <> ((r.table_schema, r.table_name) IN (
               SELECT t.table_schema, t.table_name
               FROM unnest($2::text[], $3::text[]) AS t (table_schema, table_name)))",
        &args,
    )?;
    let numbers = query::read(
        "SELECT table_schema, table_name, id FROM nl2sql.relation WHERE datasource = $1 AND live",
        &[datasource.into()],
        |row| Ok((TableName::new(row.must::<String>(1)?, row.must::<String>(2)?), row.must::<i32>(3)?)),
    )?;
    Ok(numbers.into_iter().collect())
}

/// The numbers of all tables that the datasource has or had.
pub fn numbers(_: &Owner, datasource: &str) -> Result<HashMap<TableName, i32>> {
    let numbers = query::read(
        "SELECT table_schema, table_name, id FROM nl2sql.relation WHERE datasource = $1",
        &[datasource.into()],
        |row| Ok((TableName::new(row.must::<String>(1)?, row.must::<String>(2)?), row.must::<i32>(3)?)),
    )?;
    Ok(numbers.into_iter().collect())
}

/// Deletes the numbers of tables that the datasource, its entries and its kept snapshots no longer name.
pub fn forget_unused(_: &Owner, lease: &Lease) -> Result<()> {
    let datasource = lease.datasource();
    query::execute(
        "WITH entries AS (
             SELECT e.relation, e.referred FROM nl2sql.build b
             JOIN nl2sql.entry e ON e.namespace = b.namespace AND e.build = b.id
             WHERE b.datasource = $1 AND e.relation IS NOT NULL)
         DELETE FROM nl2sql.relation r
         WHERE r.datasource = $1 AND NOT r.live
           AND r.id NOT IN (SELECT relation FROM entries
                            UNION SELECT referred FROM entries WHERE referred IS NOT NULL)
           AND (r.table_schema, r.table_name) NOT IN (
               SELECT t.table_schema, t.table_name FROM nl2sql.snapshot_table t WHERE t.datasource = $1)",
        &[datasource.into()],
    )
}
