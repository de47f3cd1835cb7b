//! Names for what a schema is: the fingerprint of its structure, and the version of a snapshot.

use crate::schema::{ENGINE_TYPE, Schema};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// SHA-256 of a text, in lower-case hex.
pub fn sha256_hex(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// JSON with sorted keys and no white space: the same bytes for equal values, on every machine.
/// (`serde_json` sorts an object's keys as long as its `preserve_order` feature is off, which a
/// test holds it to.)
pub fn canonical_json(value: &Value) -> String {
    value.to_string()
}

/// SHA-256 of the structure alone: datasource, engine type, sorted tables, columns with type,
/// nullability and key flag, foreign keys.
pub fn fingerprint(datasource: &str, schema: &Schema) -> String {
    let tables: Vec<Value> = schema
        .tables
        .iter()
        .map(|table| {
            json!({
                "schema": table.name.schema,
                "name": table.name.name,
                "columns": table.contract.columns,
                "foreign_keys": table.contract.foreign_keys,
            })
        })
        .collect();
    let structure = json!({ "datasource": datasource, "engine_type": ENGINE_TYPE, "tables": tables });
    sha256_hex(&canonical_json(&structure))
}

/// SHA-256 of contract and metadata as canonical JSON: equal exactly for equal snapshots.
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

/// `YYYYMMDDhhmmss_<hash8>`, from the UTC time of storing and a content hash.
pub fn schema_version(stored_at: &str, content_hash: &str) -> String {
    format!("{stored_at}_{}", &content_hash[..8])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reflect::tests::schema;

    #[test]
    fn canonical_json_sorts_keys() {
        let value: Value = serde_json::from_str(r#"{"b": 1, "a": {"z": [1, 2], "y": "ü"}}"#).unwrap();
        assert_eq!(canonical_json(&value), r#"{"a":{"y":"ü","z":[1,2]},"b":1}"#);
    }

    #[test]
    fn is_the_same_on_every_machine() {
        // Frozen, and computed apart from this code (Python's json and hashlib): a change here makes every stored snapshot look drifted.
        assert_eq!(
            fingerprint("shop", &schema()),
            "0739823002269e963287d79eb814ba29bc470b273248cdb965d78eeb43666457"
        );
        assert_eq!(schema_version("20261130101112", "89abcdef0123"), "20261130101112_89abcdef");
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
