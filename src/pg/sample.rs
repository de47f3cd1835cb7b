//! A few rows of a table, as the caller may read them.

use super::error::Result;
use super::restricted::{RowSecurity, Source, read_as, read_as_caller};
use super::{query, settings};
use nl2sql_core::name::quote_identifier;
use nl2sql_core::schema::Table;
use serde_json::{Map, Value};

/// Values are cut to so many characters.
const LONGEST: usize = 80;

/// At most `rows` rows: an array of objects by column, values as text, personal ones masked. Gives why
/// there are none where they cannot be read. What the table's author wrote cannot change anything: the
/// context is read-only and restricted, and a caller that may do more than a table's author is not whom
/// the author's code runs as.
pub fn read(table: &Table, rows: i32) -> Result<std::result::Result<Value, String>> {
    let columns: Vec<String> = table
        .columns()
        .map(|(column, metadata)| {
            let name = quote_identifier(&column.name);
            if metadata.pii {
                format!("CASE WHEN {name} IS NOT NULL THEN '***' END")
            } else {
                format!("left({name}::text, {LONGEST})")
            }
        })
        .collect();
    if columns.is_empty() {
        return Ok(Ok(Value::Array(Vec::new())));
    }
    let sql = format!("SELECT json_build_array({})::text FROM {} LIMIT {rows}", columns.join(", "), table.name);
    let rows = || query::read(&sql, &[], |row| row.must::<String>(1));
    let limit = settings::profile_timeout();
    let found = match of_another(table)? {
        Some(source) => read_as(source, limit, RowSecurity::Applies, rows)?,
        None => read_as_caller(limit, RowSecurity::Applies, rows)?,
    };
    let found = match found {
        Ok(found) => found,
        Err(refused) => return Ok(Err(refused.message())),
    };
    let mut sample = Vec::with_capacity(found.len());
    for row in found {
        let values: Vec<Value> = serde_json::from_str(&row)?;
        let names = table.contract.columns.iter().map(|column| column.name.clone());
        sample.push(Value::Object(names.zip(values).collect::<Map<_, _>>()));
    }
    Ok(Ok(Value::Array(sample)))
}

/// The table, where its owner reads it in place of the caller: a superuser, whose rights code that runs as it
/// could use. Row security does not hold a superuser back, so the rows are the same.
fn of_another(table: &Table) -> Result<Option<Source>> {
    query::read_one(
        "SELECT c.oid, c.relowner
         FROM pg_class c
         JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE n.nspname = $1 AND c.relname = $2
           AND EXISTS (SELECT FROM pg_roles r WHERE r.rolname = current_user AND r.rolsuper)",
        &[table.name.schema.as_str().into(), table.name.name.as_str().into()],
        |row| Ok(Source { oid: row.must(1)?, owner: row.must(2)? }),
    )
}
