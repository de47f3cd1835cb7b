//! `nl2sql_describe`.

use crate::pg::datasource::{lease, overrides};
use crate::pg::server::argument;
use crate::pg::server::argument::TextArray;
use crate::pg::server::error::{Error, OrRaise, Result};
use crate::pg::server::identity;
use crate::pg::server::identity::Owner;
use crate::pg::snapshot::drift;
use crate::pg::{datasource, snapshot};
use nl2sql_core::catalog::identifier::find_table_or_bare;
use nl2sql_core::catalog::overrides::Override;
use nl2sql_core::catalog::schema::Table;
use pgrx::prelude::*;

#[pg_extern]
fn nl2sql_describe(
    datasource: Option<&str>,
    table_name: Option<&str>,
    description: Option<&str>,
    column_name: Option<&str>,
    synonyms: TextArray,
) {
    describe(datasource, table_name, description, column_name, synonyms).or_raise();
}

fn describe(
    datasource: Option<&str>,
    table_name: Option<&str>,
    description: Option<&str>,
    column_name: Option<&str>,
    synonyms: TextArray,
) -> Result<()> {
    identity::check_writable("nl2sql_describe()");
    let name = argument::required("datasource", datasource)?;
    let wanted = argument::spoken("table_name", table_name)?;
    datasource::check_known(name)?;
    let Some(stored) = identity::as_owner(|owner| datasource::load(owner, name))? else {
        return Err(datasource::unknown(name, &[]));
    };
    let words = argument::list("synonyms", synonyms)?.unwrap_or_default();
    let words: Vec<String> = words.iter().map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect();
    if column_name.is_none() && !words.is_empty() {
        return Err(Error::invalid("synonyms are of a column").hint("Name the column: column_name => '…'."));
    }
    let description = description.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    // What takes something back may name what is no longer there.
    let taken_back = description.is_none() && words.is_empty();
    let now = snapshot::visible(drift::current(&stored)?.schema);
    let table = find_table_or_bare(wanted, now.tables.iter().map(|table| &table.name)).cloned();
    let table = match table {
        Some(table) => table,
        None => identity::as_owner(|owner| described_before(owner, name, wanted, taken_back))?.ok_or_else(|| {
            let known: Vec<String> = now.tables.iter().map(|table| table.name.to_string()).collect();
            Error::unknown("table", wanted, known.iter().map(String::as_str))
        })?,
    };
    let columns = now.tables.iter().find(|known| known.name == table).map(column_names).unwrap_or_default();
    if let Some(column) = column_name
        && !taken_back
        && !columns.contains(&column)
    {
        return Err(Error::unknown("column", column, columns));
    }
    let given = Override { table, column: column_name.map(str::to_owned), description, synonyms: words };
    identity::as_owner(|owner| {
        let lease = lease::take(owner, name, stored.id)?;
        overrides::save(owner, &lease, &given)
    })
}

fn column_names(table: &Table) -> Vec<&str> {
    table.contract.columns.iter().map(|column| column.name.as_str()).collect()
}

fn described_before(
    owner: &Owner,
    name: &str,
    wanted: &str,
    taken_back: bool,
) -> Result<Option<nl2sql_core::catalog::identifier::TableName>> {
    if !taken_back {
        return Ok(None);
    }
    let described = overrides::load(owner, name)?;
    Ok(find_table_or_bare(wanted, described.iter().map(|given| &given.table)).cloned())
}
