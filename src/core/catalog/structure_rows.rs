//! Converts the result of `sql/catalog/structure.sql`, which reads the structure only, into [`CatalogRows`].

use crate::catalog::assemble::{CatalogRows, ColumnRow, ForeignKeyRow, PrimaryKeyRow, TableRow};
use crate::catalog::schema::TableKind;
use serde::Deserialize;
use std::collections::HashMap;

/// Each row is a JSON array of the fields in this order.
#[derive(Debug, Deserialize)]
pub struct StructureRow {
    tables: Vec<StructureTable>,
    types: Vec<StructureType>,
    columns: Vec<StructureColumn>,
    primary_keys: Vec<(u32, Vec<i16>)>,
    foreign_keys: Vec<StructureForeignKey>,
}

#[derive(Debug, Deserialize)]
struct StructureTable {
    oid: u32,
    schema: String,
    name: String,
    kind: TableKind,
}

#[derive(Debug, Deserialize)]
struct StructureColumn {
    table: u32,
    number: i16,
    name: String,
    type_id: u32,
    type_modifier: i32,
    not_null: bool,
}

#[derive(Debug, Deserialize)]
struct StructureType {
    id: u32,
    modifier: i32,
    name: String,
    /// A domain that rejects null.
    required: bool,
}

#[derive(Debug, Deserialize)]
struct StructureForeignKey {
    table: u32,
    name: String,
    columns: Vec<i16>,
    referred: u32,
    referred_columns: Vec<i16>,
    /// Schema, table and columns referred to, if that table is not among `tables`.
    outside: Option<(String, String, Vec<String>)>,
}

impl From<StructureRow> for CatalogRows {
    fn from(structure: StructureRow) -> Self {
        let tables: HashMap<u32, (String, String)> =
            structure.tables.iter().map(|table| (table.oid, (table.schema.clone(), table.name.clone()))).collect();
        let names: HashMap<(u32, i16), String> =
            structure.columns.iter().map(|column| ((column.table, column.number), column.name.clone())).collect();
        let types: HashMap<(u32, i32), StructureType> =
            structure.types.into_iter().map(|found| ((found.id, found.modifier), found)).collect();
        let named = |table: u32, numbers: &[i16]| -> Vec<String> {
            numbers.iter().filter_map(|number| names.get(&(table, *number)).cloned()).collect()
        };
        let foreign_keys = structure.foreign_keys.iter().filter_map(|key| {
            let (referred_schema, referred_table, referred_columns) = match &key.outside {
                Some(outside) => outside.clone(),
                None => {
                    let (schema, name) = tables.get(&key.referred)?.clone();
                    (schema, name, named(key.referred, &key.referred_columns))
                }
            };
            Some(ForeignKeyRow {
                table: key.table,
                name: key.name.clone(),
                columns: named(key.table, &key.columns),
                referred_schema,
                referred_table,
                referred_columns,
                unique: false,
            })
        });
        let foreign_keys = foreign_keys.collect();
        let primary_keys = structure
            .primary_keys
            .iter()
            .map(|(table, numbers)| PrimaryKeyRow { table: *table, columns: named(*table, numbers) })
            .collect();
        let table_row = |table: StructureTable| TableRow {
            oid: table.oid,
            schema: table.schema,
            name: table.name,
            kind: table.kind,
            description: None,
            row_count: None,
            owner: 0,
            guarded: None,
        };
        let column_row = |column: StructureColumn| {
            let found = types.get(&(column.type_id, column.type_modifier))?;
            Some(ColumnRow {
                table: column.table,
                name: column.name,
                data_type: found.name.clone(),
                nullable: !(column.not_null || found.required),
                description: None,
                generated: None,
                labels: None,
                checks: None,
            })
        };
        CatalogRows {
            tables: structure.tables.into_iter().map(table_row).collect(),
            columns: structure.columns.into_iter().filter_map(column_row).collect(),
            primary_keys,
            foreign_keys,
            checks: Vec::new(),
            structure_only: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::options::Options;
    use crate::catalog::scope::Scope;
    use crate::snapshot::fingerprint::fingerprint;
    use serde_json::json;

    #[test]
    fn the_fingerprint_equals_that_of_the_full_read() {
        let structure: StructureRow = serde_json::from_value(json!({
            "tables": [[2, "shop", "orders", "table"], [1, "shop", "customers", "table"]],
            "types": [[23, -1, "integer", false], [25, -1, "text", false], [99, -1, "shop.state", false]],
            "columns": [[1, 1, "id", 23, -1, true], [1, 2, "email", 25, -1, false], [2, 1, "id", 23, -1, true],
                        [2, 3, "customerId", 23, -1, false], [2, 4, "state", 99, -1, false]],
            "primary_keys": [[1, [1]], [2, [1]]],
            "foreign_keys": [[2, "orders_customer", [3], 1, [1], null],
                             [2, "far", [1], 9, [5], ["other", "t", ["id"]]]],
        }))
        .unwrap();
        let scope = Scope::new(&Options::default()).unwrap();
        let read = CatalogRows::from(structure).assemble(&scope);
        assert_eq!(fingerprint("shop", &read), fingerprint("shop", &crate::fixture::schema()));
    }
}
