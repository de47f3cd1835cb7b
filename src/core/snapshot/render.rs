//! A schema as JSON, as `nl2sql_snapshot` returns it.

use crate::catalog::schema::{Schema, Table};
use serde_json::{Value, json};

/// A schema as `nl2sql_snapshot` shows it: contract and metadata of each table in one object.
pub fn render_tables(schema: &Schema) -> Value {
    schema.tables.iter().map(render_table).collect()
}

/// One table's definition. Absent descriptions, counts and flags are null, lists are empty.
pub fn render_table(table: &Table) -> Value {
    let columns: Vec<Value> = table
        .columns()
        .map(|(column, metadata)| {
            json!({
                "name": column.name,
                "type": column.data_type,
                "nullable": column.nullable,
                "primary_key": column.primary_key,
                "generated": metadata.generated,
                "description": metadata.description,
                "pii": metadata.pii,
                "synonyms": metadata.synonyms,
                "statistics": metadata.statistics,
            })
        })
        .collect();
    let foreign_keys: Vec<Value> = table
        .foreign_keys()
        .map(|(key, metadata)| {
            json!({
                "name": key.name,
                "columns": key.columns,
                "referred_schema": key.referred_schema,
                "referred_table": key.referred_table,
                "referred_columns": key.referred_columns,
                "cardinality": metadata.cardinality,
            })
        })
        .collect();
    json!({
        "schema": table.name.schema,
        "name": table.name.name,
        "kind": table.contract.kind,
        "description": table.metadata.description,
        "row_count": table.metadata.row_count,
        "primary_key": table.contract.primary_key,
        "columns": columns,
        "foreign_keys": foreign_keys,
    })
}
