//! A few rows of a table, as the caller may read them.

use crate::pg::server::error::Result;
use crate::pg::server::restricted::{RowSecurity, Source, read_as, read_as_caller};
use crate::pg::server::{query, settings};
use nl2sql_core::catalog::identifier::quote_identifier;
use nl2sql_core::catalog::schema::Table;
use serde_json::{Map, Value};

const REACH: &str = include_str!("../../../sql/profile/sample_reach.sql");

/// Values are cut to so many characters.
const LONGEST: usize = 80;

/// At most `rows` rows: an array of objects by column, values as text, personal ones masked. Gives why
/// there are none where they cannot be read. What the table's author wrote cannot change anything: the
/// context is read-only and restricted, and a caller that may do more than the database's users is not whom
/// the author's code runs as.
pub fn read(table: &Table, rows: i32) -> Result<std::result::Result<Value, String>> {
    let Some(reach) = reach(table)? else { return Ok(Err("it is not there any more".to_owned())) };
    if let Some(refused) = reach.refused {
        return Ok(Err(refused));
    }
    // What is no longer a column could be read as something else, such as the whole row.
    let columns: Vec<(&String, bool)> = table
        .columns()
        .map(|(column, metadata)| (&column.name, metadata.pii))
        .filter(|(name, _)| reach.columns.contains(name))
        .collect();
    if columns.is_empty() {
        return Ok(Ok(Value::Array(Vec::new())));
    }
    let sql = select(table, &columns, rows);
    let limit = settings::profile_timeout();
    let read = || query::read(&sql, &[], |row| row.must::<String>(1));
    let found = match reach.source {
        Some(source) => read_as(source, limit, RowSecurity::Applies, read)?,
        None => read_as_caller(limit, RowSecurity::Applies, read)?,
    };
    let found = match found {
        Ok(found) => found,
        Err(refused) => return Ok(Err(refused.message())),
    };
    let mut sample = Vec::with_capacity(found.len());
    for row in found {
        let values: Vec<Value> = serde_json::from_str(&row)?;
        let names = columns.iter().map(|(name, _)| name.to_string());
        sample.push(Value::Object(names.zip(values).collect::<Map<_, _>>()));
    }
    Ok(Ok(Value::Array(sample)))
}

/// Values are printed by their types' own output, not by casts, which anyone who owns a type can define.
fn select(table: &Table, columns: &[(&String, bool)], rows: i32) -> String {
    let values = columns.iter().map(|(name, pii)| {
        let value = format!("nl2sql.{}", quote_identifier(name));
        let shown = if *pii { "'***'".to_owned() } else { format!("left(format('%s', {value}), {LONGEST})") };
        format!("CASE WHEN {value} IS DISTINCT FROM NULL THEN {shown} END")
    });
    let values: Vec<String> = values.collect();
    format!("SELECT to_json(ARRAY[{}])::text FROM {} AS nl2sql LIMIT {rows}", values.join(", "), table.name)
}

/// How the caller may read a table's rows.
struct SampleReach {
    columns: Vec<String>,
    /// The table's owner reads in place of the caller.
    source: Option<Source>,
    refused: Option<String>,
}

/// A superuser reads as the table's owner, since its rights are what code that runs as it could use; row security
/// does not hold a superuser back, so a table whose owner it does is not read. A caller that may write the
/// server's files or run its programs reads plain tables alone, where no code of others runs.
fn reach(table: &Table) -> Result<Option<SampleReach>> {
    query::read_one(REACH, &[table.name.schema.as_str().into(), table.name.name.as_str().into()], |row| {
        let source = match row.must::<bool>(3)? {
            true => Some(Source { oid: row.must(1)?, owner: row.must(2)? }),
            false => None,
        };
        Ok(SampleReach { source, columns: row.must(4)?, refused: row.get(5)? })
    })
}
