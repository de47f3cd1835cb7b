//! What a FROM clause offers: named rows with columns, and how an expression's names find them.

use crate::name::TableName;
use std::collections::BTreeSet;

/// A column as expressions know it, and the table's column that it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    pub name: String,
    /// `None`: computed by a subquery, which has read what it needs.
    pub source: Option<(TableName, String)>,
}

impl Column {
    pub fn computed(name: impl Into<String>) -> Self {
        Self { name: name.into(), source: None }
    }
}

/// Columns of a subquery or a function.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Columns {
    pub columns: Vec<Column>,
    /// It may have others, which only the server knows.
    pub open: bool,
}

impl Columns {
    /// Those that a column list gives other names, the first ones first.
    pub fn renamed(mut self, names: &[String]) -> Self {
        for (at, name) in names.iter().enumerate() {
            match self.columns.get_mut(at) {
                Some(column) => column.name.clone_from(name),
                None => self.columns.push(Column::computed(name)),
            }
        }
        self
    }

    /// As another query sees them: what they are made of has been read.
    pub fn computed(self) -> Self {
        let columns = self.columns.into_iter().map(|column| Column::computed(column.name)).collect();
        Self { columns, open: self.open }
    }
}

/// A row source of a FROM clause.
#[derive(Debug, Clone, PartialEq)]
pub struct FromItem {
    /// The name that qualifies its columns.
    pub name: String,
    /// The table that it is, where it has no other name: `schema.table.column` means it too.
    pub table: Option<TableName>,
    pub columns: Columns,
    /// Not reached by its own name any more, since the join that it is in has one.
    pub hidden: bool,
}

/// What the expressions of one query level see; outer levels lie around it.
#[derive(Debug, Clone, Default)]
pub struct Level {
    pub items: Vec<FromItem>,
    /// Columns that a join has merged: their bare names are not ambiguous.
    pub merged: BTreeSet<String>,
    /// Names that the select list gives, where they may be used.
    pub output: BTreeSet<String>,
}

/// What a bare name means on a level.
#[derive(Debug, PartialEq)]
pub enum Meaning<'a> {
    Columns(Vec<&'a Column>),
    /// Several columns, of which it can be but one.
    Ambiguous(Vec<&'a Column>),
    /// Perhaps a column of a row source whose columns only the server knows.
    Open,
    Nothing,
}

impl Level {
    pub fn bare(&self, name: &str) -> Meaning<'_> {
        let items = self.items.iter().filter(|item| !item.hidden);
        let found: Vec<&Column> =
            items.clone().flat_map(|item| &item.columns.columns).filter(|column| column.name == name).collect();
        match found.len() {
            0 if items.clone().any(|item| item.columns.open) => Meaning::Open,
            0 => Meaning::Nothing,
            1 => Meaning::Columns(found),
            _ if self.merged.contains(name) => Meaning::Columns(found),
            _ => Meaning::Ambiguous(found),
        }
    }

    pub fn item(&self, name: &str) -> Option<&FromItem> {
        self.items.iter().find(|item| !item.hidden && item.name == name)
    }

    pub fn table(&self, table: &TableName) -> Option<&FromItem> {
        self.items.iter().find(|item| !item.hidden && item.table.as_ref() == Some(table))
    }
}
