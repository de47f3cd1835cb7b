//! The fingerprint of a schema's structure, and the version of a snapshot.

use crate::catalog::schema::{ENGINE_TYPE, Schema, Table};
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// SHA-256 of a text, in lower-case hex.
pub(crate) fn sha256_hex(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// JSON with sorted keys and no white space: equal values have equal bytes. `serde_json` sorts the keys of an object as
/// long as its feature `preserve_order` is off, which a test checks.
pub(crate) fn canonical_json(value: &Value) -> String {
    value.to_string()
}

/// SHA-256 of the structure, in lower-case hex: datasource, engine type, tables, columns with type, nullability and key
/// flag, and foreign keys. Columns and keys are sorted by name, because their position does not matter to a query.
pub fn fingerprint(datasource: &str, schema: &Schema) -> String {
    let tables = schema.tables.iter().map(TableStructure::of).collect();
    hash(&SchemaStructure { datasource, engine_type: ENGINE_TYPE, tables })
}

/// SHA-256 of one table's structure: equal in two snapshots if and only if the table has not drifted.
pub fn table_fingerprint(table: &Table) -> String {
    hash(&TableStructure::of(table))
}

/// The hashed structure. Fields are in the order of keys in canonical JSON.
#[derive(Serialize)]
struct SchemaStructure<'a> {
    datasource: &'a str,
    engine_type: &'a str,
    tables: Vec<TableStructure<'a>>,
}

#[derive(Serialize)]
struct TableStructure<'a> {
    columns: Vec<ColumnStructure<'a>>,
    foreign_keys: Vec<ForeignKeyStructure<'a>>,
    name: &'a str,
    schema: &'a str,
}

#[derive(Serialize)]
struct ColumnStructure<'a> {
    name: &'a str,
    nullable: bool,
    primary_key: bool,
    #[serde(rename = "type")]
    data_type: &'a str,
}

#[derive(Serialize)]
struct ForeignKeyStructure<'a> {
    columns: &'a [String],
    name: &'a str,
    referred_columns: &'a [String],
    referred_schema: &'a str,
    referred_table: &'a str,
}

impl<'a> TableStructure<'a> {
    fn of(table: &'a Table) -> Self {
        let columns = table.contract.columns.iter().map(|column| ColumnStructure {
            name: &column.name,
            nullable: column.nullable,
            primary_key: column.primary_key,
            data_type: &column.data_type,
        });
        let foreign_keys = table.contract.foreign_keys.iter().map(|key| ForeignKeyStructure {
            columns: &key.columns,
            name: &key.name,
            referred_columns: &key.referred_columns,
            referred_schema: &key.referred_schema,
            referred_table: &key.referred_table,
        });
        let (mut columns, mut foreign_keys): (Vec<_>, Vec<_>) = (columns.collect(), foreign_keys.collect());
        columns.sort_unstable_by_key(|column| column.name);
        foreign_keys.sort_unstable_by_key(|key| key.name);
        Self { columns, foreign_keys, name: &table.name.name, schema: &table.name.schema }
    }
}

fn hash(structure: &impl Serialize) -> String {
    // Strings, flags and lists always serialize.
    sha256_hex(&serde_json::to_string(structure).unwrap_or_default())
}

/// SHA-256 of contract and metadata as canonical JSON: equal if and only if the snapshots are.
pub fn content_hash(datasource: &str, schema: &Schema) -> String {
    let tables: Vec<Value> = schema
        .tables
        .iter()
        .map(|table| {
            json!({
                "schema": table.name.schema,
                "name": table.name.name,
                "contract": table.contract,
                "metadata": table.metadata,
            })
        })
        .collect();
    let content = json!({ "datasource": datasource, "engine_type": ENGINE_TYPE, "tables": tables });
    sha256_hex(&canonical_json(&content))
}

/// `YYYYMMDDhhmmss_<hash8>`, from the UTC time of storing (`YYYYMMDDhhmmss`) and a content hash.
pub fn schema_version(stored_at: &str, content_hash: &str) -> String {
    format!("{stored_at}_{}", &content_hash[..8])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::schema;

    #[test]
    fn canonical_json_sorts_keys() {
        let value: Value = serde_json::from_str(r#"{"b": 1, "a": {"z": [1, 2], "y": "ü"}}"#).unwrap();
        assert_eq!(canonical_json(&value), r#"{"a":{"y":"ü","z":[1,2]},"b":1}"#);
    }

    #[test]
    fn is_the_same_on_every_machine() {
        // Frozen, and computed apart from this code (Python's json and hashlib): a change here makes every stored snapshot look drifted.
        assert_eq!(fingerprint("shop", &schema()), "e9d04e473b5004ec61ff345be4149cf3dbdc072ae59b7899620335a955f8ef4f");
        assert_eq!(schema_version("20261130101112", "89abcdef0123"), "20261130101112_89abcdef");
    }

    #[test]
    fn the_place_of_a_column_makes_no_difference() {
        let base = schema();
        let mut moved = base.clone();
        moved.tables[1].contract.columns.reverse();
        moved.tables[1].contract.foreign_keys.reverse();
        assert_eq!(fingerprint("shop", &base), fingerprint("shop", &moved));
        assert_eq!(table_fingerprint(&base.tables[1]), table_fingerprint(&moved.tables[1]));
        assert_ne!(content_hash("shop", &base), content_hash("shop", &moved));
    }

    #[test]
    fn structure_alone_makes_the_fingerprint() {
        let base = schema();
        let (mut described, mut retyped, mut renamed) = (base.clone(), base.clone(), base.clone());
        described.tables[0].metadata.description = Some("who buys".into());
        described.tables[0].metadata.row_count = Some(1);
        assert_eq!(fingerprint("shop", &base), fingerprint("shop", &described));
        assert_ne!(content_hash("shop", &base), content_hash("shop", &described));
        retyped.tables[0].contract.columns[1].nullable = false;
        assert_ne!(fingerprint("shop", &base), fingerprint("shop", &retyped));
        renamed.tables[1].contract.foreign_keys[0].referred_table = "u".into();
        assert_ne!(fingerprint("shop", &base), fingerprint("shop", &renamed));
        assert_ne!(fingerprint("shop", &base), fingerprint("store", &base));
    }
}
