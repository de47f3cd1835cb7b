//! Snapshots as stored: one row for each table, immutable.

use crate::pg::datasource::lease::Lease;
use crate::pg::server::error::Result;
use crate::pg::server::identity::Owner;
use crate::pg::server::query;
use nl2sql_core::catalog::identifier::TableName;
use nl2sql_core::catalog::schema::{ENGINE_TYPE, Schema, Table};
use nl2sql_core::snapshot::fingerprint;
use pgrx::JsonB;
use pgrx::datum::DatumWithOid;

/// Stores the schema, unless an equal snapshot is kept, and returns its version.
pub fn store(_: &Owner, lease: &Lease, schema: &Schema) -> Result<String> {
    let datasource = lease.datasource();
    let content_hash = fingerprint::content_hash(datasource, schema);
    let known = query::read_one(
        "SELECT schema_version FROM nl2sql.snapshot WHERE datasource = $1 AND content_hash = $2",
        &[datasource.into(), content_hash.as_str().into()],
        |row| row.must::<String>(1),
    )?;
    if let Some(version) = known {
        return Ok(version);
    }
    let stored_at =
        query::read_one("SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYYMMDDHH24MISS')", &[], |row| {
            row.must::<String>(1)
        })?
        .unwrap_or_default();
    let version = fingerprint::schema_version(&stored_at, &content_hash);
    query::execute(
        "INSERT INTO nl2sql.snapshot (datasource, schema_version, fingerprint, content_hash, engine_type)
         VALUES ($1, $2, $3, $4, $5)
         -- As in relation::note: 40001 if the transaction's snapshot is older.
         ON CONFLICT DO NOTHING",
        &[
            datasource.into(),
            version.as_str().into(),
            fingerprint::fingerprint(datasource, schema).into(),
            content_hash.into(),
            ENGINE_TYPE.into(),
        ],
    )?;
    let mut columns: [Vec<String>; 5] = Default::default();
    for table in &schema.tables {
        columns[0].push(table.name.schema.clone());
        columns[1].push(table.name.name.clone());
        columns[2].push(serde_json::to_string(&table.contract)?);
        columns[3].push(serde_json::to_string(&table.metadata)?);
        columns[4].push(fingerprint::table_fingerprint(table));
    }
    let [schemas, names, contracts, metadata, fingerprints] = columns;
    query::execute(
        "INSERT INTO nl2sql.snapshot_table
             (datasource, schema_version, table_schema, table_name, contract, metadata, fingerprint)
         SELECT $1, $2, t.table_schema, t.table_name, t.contract::jsonb, t.metadata::jsonb, t.fingerprint
         FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
              AS t (table_schema, table_name, contract, metadata, fingerprint)",
        &[
            datasource.into(),
            version.as_str().into(),
            schemas.into(),
            names.into(),
            contracts.into(),
            metadata.into(),
            fingerprints.into(),
        ],
    )?;
    Ok(version)
}

/// Loads a snapshot.
pub fn load(_: &Owner, datasource: &str, version: &str) -> Result<Schema> {
    read(
        "SELECT table_schema, table_name, contract, metadata FROM nl2sql.snapshot_table
         WHERE datasource = $1 AND schema_version = $2
         ORDER BY table_schema COLLATE \"C\", table_name COLLATE \"C\"",
        &[datasource.into(), version.into()],
    )
}

/// Loads some of the tables of a snapshot.
pub fn load_tables(_: &Owner, datasource: &str, version: &str, tables: &[TableName]) -> Result<Schema> {
    let (schemas, names): (Vec<String>, Vec<String>) =
        tables.iter().map(|table| (table.schema.clone(), table.name.clone())).unzip();
    read(
        "SELECT s.table_schema, s.table_name, s.contract, s.metadata FROM nl2sql.snapshot_table s
         JOIN unnest($3::text[], $4::text[]) AS t (table_schema, table_name)
              ON t.table_schema = s.table_schema AND t.table_name = s.table_name
         WHERE s.datasource = $1 AND s.schema_version = $2
         ORDER BY s.table_schema COLLATE \"C\", s.table_name COLLATE \"C\"",
        &[datasource.into(), version.into(), schemas.into(), names.into()],
    )
}

fn read(sql: &str, args: &[DatumWithOid]) -> Result<Schema> {
    let tables = query::read(sql, args, |row| {
        Ok(Table {
            name: TableName::new(row.must::<String>(1)?, row.must::<String>(2)?),
            contract: serde_json::from_value::<_>(row.must::<JsonB>(3)?.0)?,
            metadata: serde_json::from_value::<_>(row.must::<JsonB>(4)?.0)?,
        })
    })?;
    Ok(Schema { tables })
}

/// Names of the tables of a snapshot.
pub fn tables(owner: &Owner, datasource: &str, version: &str) -> Result<Vec<TableName>> {
    Ok(table_fingerprints(owner, datasource, version)?.into_iter().map(|(table, _)| table).collect())
}

/// Names and fingerprints of the tables of a snapshot.
pub fn table_fingerprints(_: &Owner, datasource: &str, version: &str) -> Result<Vec<(TableName, String)>> {
    query::read(
        "SELECT table_schema, table_name, fingerprint FROM nl2sql.snapshot_table
         WHERE datasource = $1 AND schema_version = $2",
        &[datasource.into(), version.into()],
        |row| Ok((TableName::new(row.must::<String>(1)?, row.must::<String>(2)?), row.must::<String>(3)?)),
    )
}
