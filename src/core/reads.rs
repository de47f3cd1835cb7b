//! What a statement reads: its tables and columns, as the server would resolve their names.

use crate::name::{TableName, quote_identifier, shown};
use crate::near::near_names;
use crate::resolve::Resolver;
use crate::schema::{Schema, Table};
use crate::statement::{self, Statement};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::rc::Rc;

/// The tables that a statement reads, and the columns of each. One of which it reads only how many rows there are
/// has none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<TableReads>", into = "Vec<TableReads>")]
pub struct Reads(pub BTreeMap<TableName, BTreeSet<String>>);

/// As stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct TableReads {
    schema: String,
    name: String,
    columns: BTreeSet<String>,
}

impl From<Vec<TableReads>> for Reads {
    fn from(tables: Vec<TableReads>) -> Self {
        Self(tables.into_iter().map(|table| (TableName::new(table.schema, table.name), table.columns)).collect())
    }
}

impl From<Reads> for Vec<TableReads> {
    fn from(reads: Reads) -> Self {
        reads.0.into_iter().map(|(table, columns)| TableReads { schema: table.schema, name: table.name, columns }).collect()
    }
}

impl Reads {
    pub fn add_table(&mut self, table: &TableName) {
        self.0.entry(table.clone()).or_default();
    }

    pub fn add(&mut self, table: &TableName, column: &str) {
        self.0.entry(table.clone()).or_default().insert(column.to_owned());
    }

    /// `schema.table.column` of each, quoted as SQL would quote it.
    pub fn columns(&self) -> Vec<String> {
        let columns = self.0.iter().flat_map(|(table, columns)| columns.iter().map(move |column| column_key(table, column)));
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
            None => {
                let before = self.before.into_iter().flat_map(|reads| reads.0.keys()).filter(|table| table.name == name);
                let known = before.filter_map(|table| self.tables.get(table)).min_by_key(|table| self.place(&table.name.schema));
                known.or_else(|| self.path.iter().find_map(|schema| self.tables.get(&TableName::new(schema, name))))
            }
        };
        found.copied().ok_or_else(|| {
            let wanted = schema.map_or_else(|| name.to_owned(), |schema| format!("{schema}.{name}"));
            let keys: Vec<String> = match schema {
                Some(_) => self.tables.keys().map(|table| format!("{}.{}", table.schema, table.name)).collect(),
                None => self.tables.keys().map(|table| table.name.clone()).collect(),
            };
            let near = near_names(&wanted, keys.iter().map(String::as_str));
            format!("table \"{}\" does not exist{}", shown(&wanted), perhaps(&near))
        })
    }

    /// Where on the path a schema is; one that is not on it comes last.
    fn place(&self, schema: &str) -> usize {
        self.path.iter().position(|known| known == schema).unwrap_or(usize::MAX)
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
    for (table, columns) in &named.0 {
        let known = before.0.get(table);
        columns.iter().filter(|column| !known.is_some_and(|known| known.contains(*column))).for_each(|column| new.add(table, column));
    }
    (!new.0.is_empty()).then_some(new)
}

/// ` (near it: a, b)`.
pub fn perhaps(near: &[&str]) -> String {
    if near.is_empty() { String::new() } else { format!(" (near it: {})", near.join(", ")) }
}

/// What was found of a statement.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Found {
    pub reads: Reads,
    /// Those of the columns that a name reads, or a join by shared columns, not a star or a whole row.
    pub named: Reads,
    /// Unqualified names of tables: the byte before which the schema belongs, and the schema.
    pub unqualified: Vec<(usize, String)>,
    /// Names that cannot be resolved, with their places.
    pub problems: Vec<String>,
    /// Of those, the columns that an unqualified name may mean.
    pub ambiguous: Reads,
}

/// Resolves the names of a statement.
pub fn resolve(sql: &str, statement: &Statement, names: &Names) -> Found {
    let mut resolver = Resolver::new(sql, names);
    resolver.statement(&statement.query);
    resolver.found
}

/// Resolves an expression over the rows of one table; with the statement that computes it.
pub fn resolve_expression(expression: &str, table: &TableName, names: &Names) -> Result<(String, Found), String> {
    statement::parse_expression(expression)?;
    let sql = format!("SELECT {expression}\nFROM {table}");
    let statement = statement::parse(&sql)?;
    let found = resolve(&sql, &statement, names);
    Ok((sql, found))
}

/// The statement with the schema before every name of a table that has none, so that it reads the same whatever
/// the `search_path`.
pub fn qualify(sql: &str, found: &Found, statement: &Statement, replacement: impl Fn(&str) -> String) -> String {
    crate::placeholder::replace(sql, &statement.placeholders, &found.unqualified, replacement)
}
