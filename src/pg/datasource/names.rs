//! Names of the datasources that exist for the current user.

use crate::pg::server::error::{Error, Result};
use crate::pg::server::{argument, query};

/// All of them, in order.
pub fn names() -> Result<Vec<String>> {
    query::read("SELECT name FROM nl2sql.datasource ORDER BY name COLLATE \"C\"", &[], |row| row.must(1))
}

/// The datasource that the caller named, or all that exist for the current user.
pub fn named(wanted: Option<&str>) -> Result<Vec<String>> {
    let Some(name) = wanted else { return names() };
    let name = argument::non_empty("datasource", Some(name))?;
    check_known(name)?;
    Ok(vec![name.to_owned()])
}

/// Fails with 42704 if the datasource does not exist for the current user.
pub fn check_known(name: &str) -> Result<()> {
    let known = names()?;
    if known.iter().any(|known| known == name) {
        return Ok(());
    }
    Err(unknown(name, &known))
}

pub fn unknown(name: &str, known: &[String]) -> Error {
    let error = Error::unknown("datasource", name, known.iter().map(String::as_str));
    if error.hint.is_some() {
        return error;
    }
    error.hint("Run: SELECT datasource FROM nl2sql.datasources;")
}

/// Checks the name of a datasource. Like any name in Postgres, it has at most 63 bytes.
pub fn check_name(name: Option<&str>) -> Result<&str> {
    let name = argument::non_empty("datasource", name)?;
    if name.len() > 63 {
        return Err(Error::invalid(format!("datasource must be at most 63 bytes, not {}", name.len())));
    }
    Ok(name)
}
