//! A database schema: the contract (structure) and the metadata (descriptions, statistics) of each table.

use crate::catalog::identifier::TableName;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

/// The engine that the schema was read from, as snapshots name it.
pub const ENGINE_TYPE: &str = "postgresql";

/// All tables of a datasource, sorted by schema and name in byte order, so that a snapshot does not depend on the
/// locale.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Schema {
    pub tables: Vec<Table>,
}

/// One table. `contract` and `metadata` are the two halves in which a snapshot stores it.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub name: TableName,
    pub contract: TableContract,
    pub metadata: TableMetadata,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TableKind {
    Table,
    PartitionedTable,
    View,
    MaterializedView,
    ForeignTable,
}

impl TableKind {
    /// The kind in words, for chunk texts.
    pub fn words(self) -> &'static str {
        match self {
            TableKind::Table | TableKind::PartitionedTable => "table",
            TableKind::View => "view",
            TableKind::MaterializedView => "materialized view",
            TableKind::ForeignTable => "foreign table",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableContract {
    pub kind: TableKind,
    pub primary_key: Vec<String>,
    pub columns: Vec<ColumnContract>,
    pub foreign_keys: Vec<ForeignKeyContract>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ColumnContract {
    pub name: String,
    #[serde(rename = "type")]
    pub data_type: String,
    pub nullable: bool,
    /// Part of the primary key.
    pub primary_key: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignKeyContract {
    pub name: String,
    pub columns: Vec<String>,
    pub referred_schema: String,
    pub referred_table: String,
    pub referred_columns: Vec<String>,
}

impl ForeignKeyContract {
    pub fn referred(&self) -> TableName {
        TableName::new(&self.referred_schema, &self.referred_table)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TableMetadata {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Counted when the columns were profiled, else the catalog's estimate; absent if neither is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_count: Option<i64>,
    /// One for each column of the contract, in the same order.
    pub columns: Vec<ColumnMetadata>,
    /// One for each foreign key of the contract, in the same order.
    pub foreign_keys: Vec<ForeignKeyMetadata>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ColumnMetadata {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// `identity always`, `identity by default`, `generated stored`, `generated virtual`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generated: Option<String>,
    /// Holds personal data: none of its values is stored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pii: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub synonyms: Vec<String>,
    /// Statistics of the values, as a snapshot shows them: see [`crate::catalog::statistics::Statistics`].
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub statistics: serde_json::Map<String, Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignKeyMetadata {
    pub cardinality: Cardinality,
}

/// How many rows of the referring table may point to one row of the referred one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cardinality {
    ManyToOne,
    OneToOne,
}

impl Cardinality {
    pub fn name(self) -> &'static str {
        match self {
            Cardinality::ManyToOne => "many_to_one",
            Cardinality::OneToOne => "one_to_one",
        }
    }
}

impl Schema {
    /// The tables, and those that their foreign keys refer to.
    pub fn named_tables(&self) -> BTreeSet<TableName> {
        self.tables
            .iter()
            .flat_map(|table| {
                let referred = table.contract.foreign_keys.iter().map(ForeignKeyContract::referred);
                std::iter::once(table.name.clone()).chain(referred)
            })
            .collect()
    }
}

impl Table {
    /// Columns with their metadata.
    pub fn columns(&self) -> impl Iterator<Item = (&ColumnContract, &ColumnMetadata)> {
        self.contract.columns.iter().zip(&self.metadata.columns)
    }

    /// Whether the range of a column is meaningful: a number, date or time that is not part of a key.
    pub fn measures(&self, column: &ColumnContract) -> bool {
        const MEASURED: [&str; 11] = [
            "smallint",
            "integer",
            "bigint",
            "numeric",
            "real",
            "double precision",
            "money",
            "date",
            "time",
            "timestamp",
            "interval",
        ];
        let in_key =
            column.primary_key || self.contract.foreign_keys.iter().any(|key| key.columns.contains(&column.name));
        let data_type = column.data_type.split('(').next().unwrap_or_default().trim_end();
        !in_key && MEASURED.iter().any(|known| data_type == *known || data_type.starts_with(&format!("{known} ")))
    }

    /// Foreign keys with their metadata.
    pub fn foreign_keys(&self) -> impl Iterator<Item = (&ForeignKeyContract, &ForeignKeyMetadata)> {
        self.contract.foreign_keys.iter().zip(&self.metadata.foreign_keys)
    }
}
