//! Descriptions that users set with `nl2sql_describe`. They take precedence over comments.

use crate::pg::datasource::lease::Lease;
use crate::pg::server::error::Result;
use crate::pg::server::identity::Owner;
use crate::pg::server::query;
use nl2sql_core::catalog::identifier::TableName;
use nl2sql_core::catalog::overrides::Override;

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

/// Stores a description, or deletes it if it is empty.
pub fn save(_: &Owner, lease: &Lease, given: &Override) -> Result<()> {
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
