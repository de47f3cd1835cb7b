//! Statements that must pass, with what they read, and statements that must be refused, with what is said: both as
//! lists, mostly of what Postgres's documentation of SELECT shows. tests/database/sql/statements.rs asks a server whether
//! the lists are right.

use nl2sql_core::catalog::identifier::TableName;
use nl2sql_core::catalog::schema::{ColumnContract, Schema, Table, TableContract, TableKind, TableMetadata};
use nl2sql_core::sql::parse;
use nl2sql_core::sql::reads;
use nl2sql_core::sql::reads::Names;
use sqlparser::ast::{ObjectName, Statement};
use sqlparser::{dialect::PostgreSqlDialect, parser::Parser};
use std::collections::{BTreeMap, BTreeSet};

const AT_LEAST: usize = 200;

/// A block of a list: a line that begins with `>`, then a statement.
struct Entry {
    line: usize,
    /// What the first line says.
    says: String,
    sql: String,
}

/// Blocks stand apart by empty lines; lines that begin with `!` are for the server, with `#` for nobody.
fn entries(text: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut apart = true;
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.starts_with(['#', '!'])) {
        match line.strip_prefix('>') {
            Some(says) => entries.push(Entry { line: at + 1, says: says.trim().to_owned(), sql: String::new() }),
            None if line.is_empty() => {}
            None => {
                assert!(!apart, "line {}: a statement begins with a line of `>`", at + 1);
                if let Some(entry) = entries.last_mut() {
                    entry.sql.push_str(line);
                    entry.sql.push('\n');
                }
            }
        }
        apart = line.is_empty();
    }
    entries.iter_mut().for_each(|entry| entry.sql.truncate(entry.sql.trim_end().len()));
    entries
}

/// `table: column, column; schema.table:`.
fn listed(says: &str) -> BTreeMap<String, BTreeSet<String>> {
    let tables = says.split(';').map(str::trim).filter(|part| !part.is_empty());
    let read = |part: &str| {
        let (table, columns) = part.split_once(':').unwrap_or_else(|| panic!("{part} has no colon"));
        (
            table.to_owned(),
            columns.split(',').map(str::trim).filter(|column| !column.is_empty()).map(str::to_owned).collect(),
        )
    };
    tables.map(read).collect()
}

fn schema() -> Schema {
    let parsed = Parser::parse_sql(&PostgreSqlDialect {}, include_str!("statements/schema.sql")).unwrap();
    let mut tables: Vec<Table> = parsed
        .into_iter()
        .filter_map(|statement| match statement {
            Statement::CreateTable(table) => {
                Some(relation(&table.name, table.columns.iter().map(|column| column.name.value.clone())))
            }
            Statement::CreateView(view) => {
                Some(relation(&view.name, view.columns.iter().map(|column| column.name.value.clone())))
            }
            _ => None,
        })
        .collect();
    tables.sort_by(|a, b| a.name.cmp(&b.name));
    Schema { tables }
}

fn relation(name: &ObjectName, columns: impl Iterator<Item = String>) -> Table {
    let parts: Vec<&str> = name.0.iter().map(|part| part.as_ident().unwrap().value.as_str()).collect();
    let [schema, name] = parts.as_slice() else { panic!("{parts:?}") };
    let column = |name| ColumnContract { name, data_type: "text".to_owned(), nullable: true, primary_key: false };
    let columns = columns.map(column).collect();
    let contract = TableContract { kind: TableKind::Table, primary_key: Vec::new(), columns, foreign_keys: Vec::new() };
    Table { name: TableName::new(*schema, *name), contract, metadata: TableMetadata::default() }
}

/// What a statement reads, in the way of the list; `Err` holds all that is wrong with it.
fn found(sql: &str, schema: &Schema) -> Result<BTreeMap<String, BTreeSet<String>>, String> {
    let path = ["public".to_owned(), "archive".to_owned()];
    let names = Names::new(&path, schema);
    let found = reads::resolve(sql, &parse::parse(sql)?, &names);
    if !found.problems.is_empty() {
        return Err(found.problems.join("; "));
    }
    let short = |table: TableName| {
        if table.schema == "public" { table.name } else { format!("{}.{}", table.schema, table.name) }
    };
    Ok(found.reads.tables.into_iter().map(|(table, columns)| (short(table), columns)).collect())
}

fn all_right(entries: &[Entry], wrong: Vec<String>) {
    assert!(entries.len() >= AT_LEAST, "there are {}, and not {AT_LEAST}", entries.len());
    let different: BTreeSet<&str> = entries.iter().map(|entry| entry.sql.as_str()).collect();
    assert_eq!(different.len(), entries.len(), "one stands there twice");
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), entries.len(), wrong.join("\n"));
}

#[test]
fn what_must_pass() {
    let (entries, schema) = (entries(include_str!("statements/passing.txt")), schema());
    let wrong = entries.iter().filter_map(|entry| match found(&entry.sql, &schema) {
        Ok(reads) if reads == listed(&entry.says) => None,
        Ok(reads) => Some(format!("line {}: reads {reads:?}", entry.line)),
        Err(refusal) => Some(format!("line {}: {refusal}", entry.line)),
    });
    all_right(&entries, wrong.collect());
}

#[test]
fn what_must_be_refused() {
    let (entries, schema) = (entries(include_str!("statements/refused.txt")), schema());
    let wrong = entries.iter().filter_map(|entry| match found(&entry.sql, &schema) {
        Ok(_) => Some(format!("line {}: passes: {}", entry.line, entry.sql)),
        Err(refusal) if !entry.says.is_empty() && refusal.contains(&entry.says) => None,
        Err(refusal) => Some(format!("line {}: {refusal}", entry.line)),
    });
    all_right(&entries, wrong.collect());
}

/// Statements that grow without end are refused before they do.
#[test]
fn what_would_grow_is_refused() {
    let doubling: String = (1..60).map(|n| format!(", c{n} AS (SELECT * FROM c{0} a, c{0} b)", n - 1)).collect();
    let wide = format!("WITH c0 AS (SELECT * FROM films){doubling} SELECT count(*) FROM c59");
    let joined: String =
        (1..60).map(|n| format!(", c{n} AS (SELECT * FROM c{0} a JOIN c{0} b USING (code))", n - 1)).collect();
    let joined = format!("WITH c0 AS (SELECT * FROM films){joined} SELECT count(*) FROM c59");
    let columns: Vec<String> = (0..1600).map(|n| format!("1 a{n}")).collect();
    let many = format!("WITH c AS (SELECT {}) SELECT 1 FROM {}", columns.join(","), vec!["c"; 2500].join(","));
    let names = format!(
        "WITH c AS (SELECT {}) SELECT {} FROM c a, c b, c d, c e",
        columns.join(","),
        vec!["x"; 4000].join(",")
    );
    for sql in [wide, joined, many, names] {
        let refusal = found(&sql, &schema()).unwrap_err();
        assert!(refusal.contains("at most 1664 columns") || refusal.contains("too many columns"), "{refusal:.300}");
    }
}
