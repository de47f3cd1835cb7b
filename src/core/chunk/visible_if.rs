//! What a role must be able to read for an entry to exist for it.

use crate::catalog::identifier::TableName;
use crate::sql::reads::Reads;

/// What a role must be able to read for an entry to exist for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VisibleIf {
    /// Any table or column of the datasource.
    Datasource,
    /// The table, or each of these columns of it. A table's own entry lists every column.
    Columns(TableName, Vec<String>),
    /// The key columns at both ends of a relationship.
    Relationship(TableName, Vec<String>, TableName, Vec<String>),
    /// All of these columns of all of these tables; any column of a table that is listed without columns.
    Several(Reads),
}
