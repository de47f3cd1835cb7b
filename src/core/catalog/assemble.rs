//! From the rows of the reflection queries (`sql/reflect/*.sql`) to a [`Schema`].

use crate::catalog::check_values;
use crate::catalog::identifier::TableName;
use crate::catalog::pii::names_personal_data;
use crate::catalog::schema::*;
use crate::catalog::scope::Scope;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

#[derive(Debug, Clone, Deserialize)]
pub struct TableRow {
    pub oid: u32,
    pub schema: String,
    pub name: String,
    pub kind: TableKind,
    pub description: Option<String>,
    pub row_count: Option<i64>,
    /// The role that owns the table.
    pub owner: u32,
    /// Why no statistics of the table are kept: row security, for example, shows each reader other rows.
    pub guarded: Option<String>,
}

impl TableRow {
    pub fn table_name(&self) -> TableName {
        TableName::new(&self.schema, &self.name)
    }
}

#[derive(Debug, Clone, Deserialize)]
pub struct ColumnRow {
    pub table: u32,
    pub name: String,
    #[serde(rename = "type")]
    pub data_type: String,
    pub nullable: bool,
    pub description: Option<String>,
    pub generated: Option<String>,
    pub labels: Option<Vec<String>>,
    /// CHECK constraints of its domain, as the server prints them.
    pub checks: Option<Vec<String>>,
}

/// A CHECK constraint of a table, as the server prints it.
#[derive(Debug, Clone, Deserialize)]
pub struct CheckRow {
    pub table: u32,
    pub expression: String,
}

#[derive(Debug, Clone, Deserialize)]
pub struct PrimaryKeyRow {
    pub table: u32,
    pub columns: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct ForeignKeyRow {
    pub table: u32,
    pub name: String,
    pub columns: Vec<String>,
    pub referred_schema: String,
    pub referred_table: String,
    pub referred_columns: Vec<String>,
    /// The referring columns hold each value at most once.
    pub unique: bool,
}

/// The catalog rows of the tables in a datasource's scope.
pub struct CatalogRows {
    pub tables: Vec<TableRow>,
    pub columns: Vec<ColumnRow>,
    pub primary_keys: Vec<PrimaryKeyRow>,
    pub foreign_keys: Vec<ForeignKeyRow>,
    pub checks: Vec<CheckRow>,
    /// Only the structure was read: descriptions, counts and personal data are not needed.
    pub structure_only: bool,
}

impl CatalogRows {
    /// Assembles the rows into a schema. Columns keep their order; tables and foreign keys are sorted by name. An
    /// excluded table or column takes with it the foreign keys that name it, and a primary key that it is part of.
    pub fn assemble(self, scope: &Scope) -> Schema {
        let mut tables: HashMap<u32, Table> = self.tables.into_iter().map(|row| (row.oid, empty_table(row))).collect();
        // Many tables have columns of the same name.
        let mut personal: HashMap<String, bool> = HashMap::new();
        for row in self.columns {
            let Some(table) = tables.get_mut(&row.table) else { continue };
            if !scope.excludes_column(&table.name, &row.name) {
                let pii = !self.structure_only && {
                    let by_name = personal.entry(row.name.clone()).or_insert_with_key(|name| names_personal_data(name));
                    scope.is_personal(&table.name, &row.name, *by_name)
                };
                add_column(table, row, pii);
            }
        }
        for row in self.checks {
            let Some(table) = tables.get_mut(&row.table) else { continue };
            for (column, values) in check_values::listed_values(&row.expression) {
                add_values(table, &column, values);
            }
        }
        for row in self.primary_keys {
            let Some(table) = tables.get_mut(&row.table) else { continue };
            if !row.columns.iter().any(|column| scope.excludes_column(&table.name, column)) {
                for column in &mut table.contract.columns {
                    column.primary_key = row.columns.contains(&column.name);
                }
                table.contract.primary_key = row.columns;
            }
        }
        let mut foreign_keys = self.foreign_keys;
        foreign_keys.sort_by(|a, b| a.name.cmp(&b.name));
        let known: HashSet<TableName> = tables.values().map(|table| table.name.clone()).collect();
        let schemas: HashSet<&str> = known.iter().map(|table| table.schema.as_str()).collect();
        for row in foreign_keys {
            let Some(table) = tables.get_mut(&row.table) else { continue };
            let referred = TableName::new(&row.referred_schema, &row.referred_table);
            // A foreign key may lead to a table of a schema that is not indexed. A table of an indexed schema that is
            // not among the tables is out of scope.
            let hidden = scope.excludes(&referred)
                || (schemas.contains(referred.schema.as_str()) && !known.contains(&referred))
                || row.columns.iter().any(|column| scope.excludes_column(&table.name, column))
                || row.referred_columns.iter().any(|column| scope.excludes_column(&referred, column));
            if !hidden {
                add_foreign_key(table, row);
            }
        }
        let mut tables: Vec<Table> = tables.into_values().collect();
        tables.sort_by(|a, b| a.name.cmp(&b.name));
        Schema { tables }
    }
}

fn empty_table(row: TableRow) -> Table {
    Table {
        name: row.table_name(),
        contract: TableContract {
            kind: row.kind,
            primary_key: Vec::new(),
            columns: Vec::new(),
            foreign_keys: Vec::new(),
        },
        metadata: TableMetadata { description: row.description, row_count: row.row_count, ..TableMetadata::default() },
    }
}

/// Keeps no value of a column that holds personal data, not even a possible one.
fn add_column(table: &mut Table, row: ColumnRow, pii: bool) {
    let mut statistics = Map::new();
    let of_domain = || {
        let checks = row.checks.iter().flatten();
        checks.flat_map(|check| check_values::listed_values(check)).find(|(column, _)| column == "value")
    };
    if let Some(values) = row.labels.clone().or_else(|| of_domain().map(|(_, values)| values))
        && !pii
    {
        statistics.insert("values".to_owned(), Value::from(values));
    }
    table.contract.columns.push(ColumnContract {
        name: row.name,
        data_type: row.data_type,
        nullable: row.nullable,
        primary_key: false,
    });
    table.metadata.columns.push(ColumnMetadata {
        description: row.description,
        generated: row.generated,
        pii,
        synonyms: Vec::new(),
        statistics,
    });
}

/// Adds the values that a CHECK constraint lists, unless values of the column are known already.
fn add_values(table: &mut Table, column: &str, values: Vec<String>) {
    let place = table.contract.columns.iter().position(|known| known.name == column);
    if let Some(metadata) = place.and_then(|place| table.metadata.columns.get_mut(place))
        && !metadata.pii
        && !metadata.statistics.contains_key("values")
    {
        metadata.statistics.insert("values".to_owned(), Value::from(values));
    }
}

fn add_foreign_key(table: &mut Table, row: ForeignKeyRow) {
    table.contract.foreign_keys.push(ForeignKeyContract {
        name: row.name,
        columns: row.columns,
        referred_schema: row.referred_schema,
        referred_table: row.referred_table,
        referred_columns: row.referred_columns,
    });
    let cardinality = if row.unique { Cardinality::OneToOne } else { Cardinality::ManyToOne };
    table.metadata.foreign_keys.push(ForeignKeyMetadata { cardinality });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::options::Options;
    use crate::fixture::{catalog_rows, schema};
    use serde_json::json;

    #[test]
    fn puts_tables_in_order_with_their_keys() {
        let schema = schema();
        let names: Vec<String> = schema.tables.iter().map(|table| table.name.to_string()).collect();
        assert_eq!(names, ["shop.customers", "shop.orders"]);
        let orders = &schema.tables[1];
        assert_eq!(orders.contract.primary_key, ["id"]);
        assert!(orders.contract.columns[0].primary_key && !orders.contract.columns[1].primary_key);
        let keys: Vec<&str> = orders.contract.foreign_keys.iter().map(|key| key.name.as_str()).collect();
        assert_eq!(keys, ["far", "orders_customer"]);
        assert_eq!(orders.metadata.foreign_keys[0].cardinality, Cardinality::OneToOne);
        assert_eq!(orders.metadata.columns[2].statistics["values"], json!(["open", "closed"]));
    }

    #[test]
    fn lists_of_checks_are_known_values() {
        let mut rows = catalog_rows();
        rows.checks = serde_json::from_value(json!([
            {"table": 2, "expression": "((\"customerId\" = ANY (ARRAY[1, 2])) AND (state = 'open'::shop.state))"},
            {"table": 1, "expression": "(email = ANY (ARRAY['a@b'::text]))"},
        ]))
        .unwrap();
        rows.columns[2].checks = Some(vec!["(VALUE > 0)".into(), "(VALUE = ANY (ARRAY[7, 8]))".into()]);
        let schema = rows.assemble(&Scope::new(&Options::default()).unwrap());
        let values =
            |table: usize, column: usize| schema.tables[table].metadata.columns[column].statistics.get("values");
        assert_eq!(values(1, 0), Some(&json!(["7", "8"])));
        assert_eq!(values(1, 1), Some(&json!(["1", "2"])));
        assert_eq!(values(1, 2), Some(&json!(["open", "closed"])), "labels are known already");
        assert!(schema.tables[0].metadata.columns[1].pii);
        assert_eq!(values(0, 1), None, "an e-mail address is personal");
    }

    #[test]
    fn an_excluded_column_takes_its_keys_along() {
        let options = Options { exclude_columns: vec!["shop.customers.id".into()], ..Options::default() };
        let schema = catalog_rows().assemble(&Scope::new(&options).unwrap());
        assert_eq!(schema.tables[0].contract.columns.len(), 1);
        assert!(schema.tables[0].contract.primary_key.is_empty());
        let keys: Vec<&str> = schema.tables[1].contract.foreign_keys.iter().map(|key| key.name.as_str()).collect();
        assert_eq!(keys, ["far"]);
    }

    #[test]
    fn an_excluded_table_is_not_even_referred_to() {
        let options = Options { exclude: vec!["other.*".into()], ..Options::default() };
        let schema = catalog_rows().assemble(&Scope::new(&options).unwrap());
        assert_eq!(schema.tables[1].contract.foreign_keys.len(), 1);
        let mut rows = catalog_rows();
        rows.tables.retain(|row| row.name != "customers");
        let schema = rows.assemble(&Scope::new(&Options::default()).unwrap());
        assert_eq!(schema.tables[0].contract.foreign_keys[0].name, "far");
    }
}
