//! The small schema that unit tests share.

use crate::catalog::assemble::CatalogRows;
use crate::catalog::options::Options;
use crate::catalog::schema::Schema;
use crate::catalog::scope::Scope;
use serde_json::json;

/// Two tables, `shop.orders` referring to `shop.customers`.
pub(crate) fn catalog_rows() -> CatalogRows {
    CatalogRows {
        tables: serde_json::from_value(json!([
            {"oid": 2, "schema": "shop", "name": "orders", "kind": "table", "description": "What was bought", "row_count": 7, "owner": 10, "guarded": null},
            {"oid": 1, "schema": "shop", "name": "customers", "kind": "table", "description": null, "row_count": null, "owner": 10, "guarded": null},
        ]))
        .unwrap(),
        columns: serde_json::from_value(json!([
            {"table": 1, "name": "id", "type": "integer", "nullable": false, "description": null, "generated": "identity always", "labels": null},
            {"table": 1, "name": "email", "type": "text", "nullable": true, "description": "Where to write", "generated": null, "labels": null},
            {"table": 2, "name": "id", "type": "integer", "nullable": false, "description": null, "generated": null, "labels": null},
            {"table": 2, "name": "customerId", "type": "integer", "nullable": true, "description": null, "generated": null, "labels": null},
            {"table": 2, "name": "state", "type": "shop.state", "nullable": true, "description": null, "generated": null, "labels": ["open", "closed"]},
        ]))
        .unwrap(),
        primary_keys: serde_json::from_value(json!([
            {"table": 1, "columns": ["id"]}, {"table": 2, "columns": ["id"]},
        ]))
        .unwrap(),
        foreign_keys: serde_json::from_value(json!([
            {"table": 2, "name": "orders_customer", "columns": ["customerId"], "referred_schema": "shop",
             "referred_table": "customers", "referred_columns": ["id"], "unique": false},
            {"table": 2, "name": "far", "columns": ["id"], "referred_schema": "other",
             "referred_table": "t", "referred_columns": ["id"], "unique": true},
        ]))
        .unwrap(),
        checks: Vec::new(),
        structure_only: false,
    }
}

pub(crate) fn schema() -> Schema {
    catalog_rows().assemble(&Scope::new(&Options::default()).unwrap())
}
