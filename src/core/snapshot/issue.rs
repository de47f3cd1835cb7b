//! Problems that a build reports but that do not stop it.

use crate::catalog::identifier::TableName;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Reading the structure.
    Reflect,
    /// Counting rows.
    Estimate,
    /// Statistics of columns.
    Profile,
    /// Values of columns.
    Values,
    /// Curated content that no longer fits the schema.
    Curated,
}

/// One problem of a build. Messages name objects and states, never data.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Issue {
    /// Relation key; absent for curated content, which the message names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    pub stage: Stage,
    pub message: String,
}

impl Issue {
    pub fn table(table: &TableName, stage: Stage, message: impl Into<String>) -> Self {
        Self { table: Some(table.to_string()), column: None, stage, message: message.into() }
    }

    pub fn curated(message: impl Into<String>) -> Self {
        Self { table: None, column: None, stage: Stage::Curated, message: message.into() }
    }

    pub fn column(table: &TableName, column: &str, stage: Stage, message: impl Into<String>) -> Self {
        Self { column: Some(column.to_owned()), ..Self::table(table, stage, message) }
    }
}
