//! What a statement reads: its tables and columns, as the server would resolve their names.

use crate::catalog::identifier::{TableName, quote_identifier, shown};
use crate::catalog::schema::{Schema, Table};
use crate::similar_names::near_names;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::rc::Rc;

/// What a statement reads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<TableReads>", into = "Vec<TableReads>")]
pub struct Reads {
    /// Its tables, and the columns of each. One of which it reads only how many rows there are has none.
    pub tables: BTreeMap<TableName, BTreeSet<String>>,
    /// Those of which it reads all columns that there are whenever it runs: by a star, or as rows.
    pub whole: BTreeSet<TableName>,
    /// Those that it names without their schema: what such a name goes on meaning.
    pub bare: BTreeSet<TableName>,
}

/// Stands for all columns of a table wherever rights on columns are listed; no column's name is empty.
pub const ALL_COLUMNS: &str = "";

/// As stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct TableReads {
    schema: String,
    name: String,
    columns: BTreeSet<String>,
    #[serde(default, skip_serializing_if = "is_false")]
    whole: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    bare: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl From<Vec<TableReads>> for Reads {
    fn from(tables: Vec<TableReads>) -> Self {
        let mut reads = Self::default();
        for TableReads { schema, name, columns, whole, bare } in tables {
            let table = TableName::new(schema, name);
            if whole {
                reads.whole.insert(table.clone());
            }
            if bare {
                reads.bare.insert(table.clone());
            }
            reads.tables.insert(table, columns);
        }
        reads
    }
}

impl From<Reads> for Vec<TableReads> {
    fn from(reads: Reads) -> Self {
        let Reads { tables, whole, bare } = reads;
        let read = |(table, columns): (TableName, _)| {
            let (whole, bare) = (whole.contains(&table), bare.contains(&table));
            TableReads { schema: table.schema, name: table.name, columns, whole, bare }
        };
        tables.into_iter().map(read).collect()
    }
}

impl Reads {
    pub fn add_table(&mut self, table: &TableName) {
        self.tables.entry(table.clone()).or_default();
    }

    pub fn add(&mut self, table: &TableName, column: &str) {
        self.tables.entry(table.clone()).or_default().insert(column.to_owned());
    }

    /// Notes that `written` names the table, where that is without its schema.
    pub fn note_bare(&mut self, written: &str, table: &TableName) {
        if crate::catalog::identifier::parse_identifiers(written).is_some_and(|parts| parts.len() == 1) {
            self.bare.insert(table.clone());
        }
    }

    /// `schema.table.column` of each, quoted as SQL would quote it.
    pub fn columns(&self) -> Vec<String> {
        let columns =
            self.tables.iter().flat_map(|(table, columns)| columns.iter().map(move |column| column_key(table, column)));
        columns.collect()
    }
}

/// `schema.table.column`, quoted as SQL would quote it.
pub fn column_key(table: &TableName, column: &str) -> String {
    format!("{table}.{}", quote_identifier(column))
}

/// What a statement can name: the tables of a schema, unqualified ones through `path`.
#[derive(Clone)]
pub struct Names<'a> {
    /// The datasource's schemas, in the order in which they are looked through.
    pub path: &'a [String],
    tables: Rc<BTreeMap<&'a TableName, &'a Table>>,
    /// Tables that have more columns than the schema says.
    wider: Rc<HashSet<TableName>>,
    /// What the statement read when it was written down: its names go on meaning that.
    before: Option<&'a Reads>,
}

impl<'a> Names<'a> {
    pub fn new(path: &'a [String], schema: &'a Schema) -> Self {
        let tables = schema.tables.iter().map(|table| (&table.name, table)).collect();
        Self { path, tables: Rc::new(tables), wider: Rc::default(), before: None }
    }

    /// With tables that have columns which the schema leaves out: all columns of one cannot be read.
    pub fn with_wider(self, wider: HashSet<TableName>) -> Self {
        Self { wider: Rc::new(wider), ..self }
    }

    /// For a statement that was found to read this before.
    pub fn reading(&self, before: Option<&'a Reads>) -> Self {
        Self { before, ..self.clone() }
    }

    pub fn is_wider(&self, table: &TableName) -> bool {
        self.wider.contains(table)
    }

    /// The table that a name means; `Err` says that there is none, with near ones.
    pub fn find(&self, schema: Option<&str>, name: &str) -> Result<&'a Table, String> {
        let found = match schema {
            Some(schema) => self.tables.get(&TableName::new(schema, name)),
            None => match self.pinned(name) {
                Some(table) => self.tables.get(table),
                None => self.path.iter().find_map(|schema| self.tables.get(&TableName::new(schema, name))),
            },
        };
        found.copied().ok_or_else(|| {
            let schema = schema.or_else(|| self.pinned(name).map(|table| table.schema.as_str()));
            let wanted = schema.map_or_else(|| name.to_owned(), |schema| format!("{schema}.{name}"));
            let keys: Vec<String> = match schema {
                Some(_) => self.tables.keys().map(|table| format!("{}.{}", table.schema, table.name)).collect(),
                None => self.tables.keys().map(|table| table.name.clone()).collect(),
            };
            let near = near_names(&wanted, keys.iter().map(String::as_str));
            format!("table \"{}\" does not exist{}", shown(&wanted), perhaps(&near))
        })
    }

    /// The table that a name without a schema meant before, and goes on meaning.
    fn pinned(&self, name: &str) -> Option<&'a TableName> {
        self.before.and_then(|reads| reads.bare.iter().find(|table| table.name == name))
    }

    pub fn is_pinned(&self, name: &str) -> bool {
        self.pinned(name).is_some()
    }

    pub fn table(&self, name: &TableName) -> Option<&'a Table> {
        self.tables.get(name).copied()
    }

    pub fn tables(&self) -> impl Iterator<Item = &'a TableName> + Clone {
        self.tables.keys().copied()
    }
}

/// What the names of a statement read now (`named`) and did not read `before`: since its text is the same, they have come
/// to mean something else. A star that has more columns is none of that.
pub fn captured(before: &Reads, named: &Reads) -> Option<Reads> {
    let mut new = Reads::default();
    for (table, columns) in &named.tables {
        let known = before.tables.get(table);
        columns
            .iter()
            .filter(|column| !known.is_some_and(|known| known.contains(*column)))
            .for_each(|column| new.add(table, column));
    }
    (!new.tables.is_empty()).then_some(new)
}

/// ` (near it: a, b)`.
pub fn perhaps(near: &[&str]) -> String {
    if near.is_empty() { String::new() } else { format!(" (near it: {})", near.join(", ")) }
}
