//! What a statement reads: its tables and columns, as the server would resolve their names.

use crate::name::{TableName, quote_identifier, shown};
use crate::near::near_names;
use crate::resolve::Resolver;
use crate::schema::{Schema, Table};
use crate::statement::{self, Statement};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

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
pub struct Names<'a> {
    /// The datasource's schemas, in the order in which they are looked through.
    pub path: &'a [String],
    tables: BTreeMap<&'a TableName, &'a Table>,
}

impl<'a> Names<'a> {
    pub fn new(path: &'a [String], schema: &'a Schema) -> Self {
        Self { path, tables: schema.tables.iter().map(|table| (&table.name, table)).collect() }
    }

    /// The table that a name means; `Err` says that there is none, with near ones.
    pub fn find(&self, schema: Option<&str>, name: &str) -> Result<&'a Table, String> {
        let found = match schema {
            Some(schema) => self.tables.get(&TableName::new(schema, name)),
            None => self.path.iter().find_map(|schema| self.tables.get(&TableName::new(schema, name))),
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

    pub fn table(&self, name: &TableName) -> Option<&'a Table> {
        self.tables.get(name).copied()
    }

    pub fn tables(&self) -> impl Iterator<Item = &'a TableName> + Clone {
        self.tables.keys().copied()
    }
}

/// ` (near it: a, b)`.
pub fn perhaps(near: &[&str]) -> String {
    if near.is_empty() { String::new() } else { format!(" (near it: {})", near.join(", ")) }
}

/// What was found of a statement.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Found {
    pub reads: Reads,
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
