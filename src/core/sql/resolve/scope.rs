//! What a FROM clause offers: named rows with columns, and how an expression's names find them.

use crate::catalog::identifier::TableName;

/// Columns that every table has, though none of its columns is called so.
const SYSTEM_COLUMNS: [&str; 6] = ["ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"];

/// A column as expressions know it, and the tables' columns that it is: several where USING has merged them, none
/// where a subquery, which has read what it needs, computes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    pub name: String,
    pub sources: Vec<(TableName, String)>,
}

impl Column {
    pub fn computed(name: impl Into<String>) -> Self {
        Self { name: name.into(), sources: Vec::new() }
    }
}

/// Columns of a row source or of a query's result.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Columns {
    pub columns: Vec<Column>,
    /// It may have others, which only the server knows.
    pub open: bool,
}

impl Columns {
    pub fn open() -> Self {
        Self { columns: Vec::new(), open: true }
    }

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

    pub fn extend(&mut self, other: Columns) {
        self.columns.extend(other.columns);
        self.open |= other.open;
    }

    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Column> {
        self.columns.iter().filter(move |column| column.name == name)
    }

    fn of_a_table(&self) -> bool {
        self.columns.iter().any(|column| !column.sources.is_empty())
    }
}

/// A row source of a FROM clause, or the join of some that stands for them.
#[derive(Debug, Clone, PartialEq)]
pub struct FromItem {
    /// The name that qualifies its columns.
    pub name: String,
    /// The table that it is, where it has no other name: `schema.table.column` means it too.
    pub table: Option<TableName>,
    pub columns: Columns,
    /// Whether its name may qualify columns; not any more when the join that it is in has a name of its own.
    pub named: bool,
    /// Whether bare names mean its columns; not any more when a join has merged them with others.
    pub bare: bool,
}

impl FromItem {
    pub fn new(name: impl Into<String>, columns: Columns) -> Self {
        Self { name: name.into(), table: None, columns, named: true, bare: true }
    }
}

/// What the expressions of one query level see; outer levels lie around it.
#[derive(Debug, Clone, Default)]
pub struct Level {
    pub items: Vec<FromItem>,
}

/// What a bare name means on a level.
#[derive(Debug, PartialEq)]
pub enum Meaning<'a> {
    Column(&'a Column),
    /// Several columns, of which it can be but one.
    Ambiguous(Vec<&'a Column>),
    /// Perhaps a column of a row source whose columns only the server knows.
    Open,
    /// A column that a table has besides its own.
    System,
    Nothing,
}

/// The part of a level that an expression sees: the condition of a join sees only what it joins.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'l> {
    pub level: &'l Level,
    pub first: usize,
}

impl<'l> Seen<'l> {
    pub fn items(&self) -> &'l [FromItem] {
        self.level.items.get(self.first..).unwrap_or_default()
    }

    pub fn bare(&self, name: &str) -> Meaning<'l> {
        let items = self.items().iter().filter(|item| item.bare);
        let found: Vec<&Column> =
            items.clone().flat_map(|item| &item.columns.columns).filter(|column| column.name == name).collect();
        match found.as_slice() {
            [] if SYSTEM_COLUMNS.contains(&name) && items.clone().any(|item| item.columns.of_a_table()) => {
                Meaning::System
            }
            [] if items.clone().any(|item| item.columns.open) => Meaning::Open,
            [] => Meaning::Nothing,
            [column] => Meaning::Column(column),
            _ => Meaning::Ambiguous(found),
        }
    }

    /// Those that a name means, which should be one.
    pub fn named(&self, name: &str) -> Vec<&'l FromItem> {
        self.items().iter().filter(|item| item.named && item.name == name).collect()
    }

    pub fn table(&self, table: &TableName) -> Vec<&'l FromItem> {
        self.items().iter().filter(|item| item.named && item.table.as_ref() == Some(table)).collect()
    }
}
