//! The numbers by which entries know their tables, and on which row security rests.

use super::error::Result;
use super::query;
use nl2sql_core::name::TableName;
use std::collections::HashMap;

/// Notes the tables of a datasource as last read, and those that it only refers to; gives every
/// number. Writes nothing where nothing changed. For the extension's owner.
pub fn note(datasource: &str, live: &[TableName], referred: &[TableName]) -> Result<HashMap<TableName, i32>> {
    let all: Vec<(&TableName, bool)> =
        live.iter().map(|table| (table, true)).chain(referred.iter().map(|table| (table, false))).collect();
    let schemas: Vec<String> = all.iter().map(|(table, _)| table.schema.clone()).collect();
    let names: Vec<String> = all.iter().map(|(table, _)| table.name.clone()).collect();
    let lives: Vec<bool> = all.iter().map(|(_, live)| *live).collect();
    query::execute(
        "INSERT INTO nl2sql.relation AS r (datasource, table_schema, table_name, live)
         SELECT $1, t.table_schema, t.table_name, bool_or(t.live)
         FROM unnest($2::text[], $3::text[], $4::boolean[]) AS t (table_schema, table_name, live)
         GROUP BY t.table_schema, t.table_name
         ON CONFLICT (datasource, table_schema, table_name) DO UPDATE SET live = excluded.live
         WHERE r.live <> excluded.live",
        &[datasource.into(), schemas.clone().into(), names.clone().into(), lives.into()],
    )?;
    query::execute(
        "UPDATE nl2sql.relation r SET live = false
         WHERE r.datasource = $1 AND r.live
           AND NOT EXISTS (SELECT FROM unnest($2::text[], $3::text[]) AS t (table_schema, table_name)
                           WHERE t.table_schema = r.table_schema AND t.table_name = r.table_name)",
        &[datasource.into(), schemas.into(), names.into()],
    )?;
    let numbers = query::read(
        "SELECT table_schema, table_name, id FROM nl2sql.relation WHERE datasource = $1",
        &[datasource.into()],
        |row| Ok((TableName::new(row.must::<String>(1)?, row.must::<String>(2)?), row.must::<i32>(3)?)),
    )?;
    Ok(numbers.into_iter().collect())
}

/// Forgets the tables that no entry of the datasource names any more. For the extension's owner.
pub fn forget_unused(datasource: &str) -> Result<()> {
    query::execute(
        "DELETE FROM nl2sql.relation r
         WHERE r.datasource = $1 AND NOT r.live
           AND NOT EXISTS (
               SELECT FROM nl2sql.build b
               JOIN nl2sql.entry e ON e.namespace = b.namespace AND e.build = b.id
               WHERE b.datasource = $1 AND (e.relation = r.id OR e.referred = r.id))
           AND NOT EXISTS (
               SELECT FROM nl2sql.snapshot_table t
               WHERE t.datasource = $1 AND t.table_schema = r.table_schema AND t.table_name = r.table_name)",
        &[datasource.into()],
    )
}
