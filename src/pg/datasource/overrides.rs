//! Descriptions that users set with `nl2sql_describe`. They take precedence over comments.

use crate::pg::datasource::lease::Lease;
use crate::pg::datasource::{Datasource, lease};
use crate::pg::server::error::{Error, Result};
use crate::pg::server::identity::Owner;
use crate::pg::server::{identity, query};
use nl2sql_core::catalog::identifier::{TableName, find_table_or_bare};
use nl2sql_core::catalog::overrides::Override;
use nl2sql_core::catalog::schema::Schema;

/// Loads the descriptions of a datasource.
pub fn load(_: &Owner, datasource: &str) -> Result<Vec<Override>> {
    query::read(
        "SELECT table_schema, table_name, column_name, description, synonyms
         FROM nl2sql.description WHERE datasource = $1",
        &[datasource.into()],
        |row| {
            Ok(Override {
                table: TableName::new(row.must::<String>(1)?, row.must::<String>(2)?),
                column: row.get::<String>(3)?.filter(|column| !column.is_empty()),
                description: row.get(4)?,
                synonyms: row.must(5)?,
            })
        },
    )
}

/// What `nl2sql_describe` is asked to store. Without a description and synonyms, what was stored is deleted.
pub struct DescribeRequest<'a> {
    /// With or without its schema.
    pub table: &'a str,
    pub column: Option<&'a str>,
    pub description: Option<&'a str>,
    pub synonyms: Vec<String>,
}

impl DescribeRequest<'_> {
    fn deletes(&self) -> bool {
        self.description.is_none() && self.synonyms.is_empty()
    }
}

/// Stores a description of a table or column that exists for the current user, for whom `schema` is the current one.
/// A deletion may name a table or column that is gone.
pub fn describe(stored: &Datasource, schema: &Schema, request: DescribeRequest) -> Result<()> {
    let name = stored.about.name.as_str();
    if request.column.is_none() && !request.synonyms.is_empty() {
        return Err(Error::invalid("synonyms require column_name").hint("Name the column: column_name => '…'."));
    }
    let names = || schema.tables.iter().map(|table| &table.name);
    let table = match find_table_or_bare(request.table, names()) {
        Some(table) => table.clone(),
        None => described_before(name, &request)?.ok_or_else(|| {
            let known: Vec<String> = names().map(TableName::to_string).collect();
            Error::unknown("table", request.table, known.iter().map(String::as_str))
        })?,
    };
    if let Some(column) = request.column
        && !request.deletes()
    {
        check_column(schema, &table, column)?;
    }
    let given = Override {
        table,
        column: request.column.map(str::to_owned),
        description: request.description.map(str::to_owned),
        synonyms: request.synonyms,
    };
    identity::as_owner(|owner| {
        let lease = lease::take(owner, name, stored.id)?;
        save(owner, &lease, &given)
    })
}

fn check_column(schema: &Schema, table: &TableName, column: &str) -> Result<()> {
    let table = schema.tables.iter().find(|known| known.name == *table);
    let columns: Vec<&str> =
        table.into_iter().flat_map(|table| &table.contract.columns).map(|column| column.name.as_str()).collect();
    if columns.contains(&column) { Ok(()) } else { Err(Error::unknown("column", column, columns)) }
}

/// The table of a stored description that is to be deleted.
fn described_before(name: &str, request: &DescribeRequest) -> Result<Option<TableName>> {
    if !request.deletes() {
        return Ok(None);
    }
    let described = identity::as_owner(|owner| load(owner, name))?;
    Ok(find_table_or_bare(request.table, described.iter().map(|given| &given.table)).cloned())
}

/// Stores a description, or deletes it if it is empty.
fn save(_: &Owner, lease: &Lease, given: &Override) -> Result<()> {
    let datasource = lease.datasource();
    let (schema, name) = (given.table.schema.as_str(), given.table.name.as_str());
    let column = given.column.as_deref().unwrap_or("");
    if given.description.is_none() && given.synonyms.is_empty() {
        return query::execute(
            "DELETE FROM nl2sql.description
             WHERE datasource = $1 AND table_schema = $2 AND table_name = $3 AND column_name = $4",
            &[datasource.into(), schema.into(), name.into(), column.into()],
        );
    }
    query::execute(
        "INSERT INTO nl2sql.description (datasource, table_schema, table_name, column_name, description, synonyms)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (datasource, table_schema, table_name, column_name) DO UPDATE SET
             description = excluded.description,
             synonyms = excluded.synonyms,
             changed_at = now()",
        &[
            datasource.into(),
            schema.into(),
            name.into(),
            column.into(),
            given.description.clone().into(),
            given.synonyms.clone().into(),
        ],
    )
}
