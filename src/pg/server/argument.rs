//! Checks of what a caller passed, in the first lines of every function.

use crate::pg::server::error::{Error, Result};

/// A list argument as Postgres hands it over: NULL, or elements that may be NULL.
pub type TextArray = Option<Vec<Option<String>>>;

pub fn required<T>(name: &str, value: Option<T>) -> Result<T> {
    value.ok_or_else(|| Error::null(name))
}

/// A text that says something: not NULL, not blank.
pub fn spoken<'a>(name: &str, value: Option<&'a str>) -> Result<&'a str> {
    let value = required(name, value)?;
    if value.trim().is_empty() {
        return Err(Error::invalid(format!("{name} must not be empty")));
    }
    Ok(value)
}

/// A list without NULLs; NULL stays `None`.
pub fn list(name: &str, value: TextArray) -> Result<Option<Vec<String>>> {
    let Some(items) = value else { return Ok(None) };
    items
        .into_iter()
        .map(|item| item.ok_or_else(|| Error::null(&format!("an element of {name}"))))
        .collect::<Result<_>>()
        .map(Some)
}

/// A filter: a list that names at least one thing, without repetition. NULL filters nothing.
pub fn filter(name: &str, value: TextArray) -> Result<Option<Vec<String>>> {
    let Some(mut items) = list(name, value)? else { return Ok(None) };
    if items.is_empty() {
        return Err(Error::invalid(format!("{name} must not be empty")).hint("Pass NULL to filter nothing."));
    }
    items.sort();
    items.dedup();
    Ok(Some(items))
}

pub fn at_least_one(name: &str, value: Option<i32>) -> Result<usize> {
    let value = required(name, value)?;
    usize::try_from(value)
        .ok()
        .filter(|value| *value >= 1)
        .ok_or_else(|| Error::invalid(format!("{name} must be at least 1, not {value}")))
}

/// A share from 0 to 1; NaN is none.
pub fn share(name: &str, value: Option<f64>) -> Result<f64> {
    let value = required(name, value)?;
    if !(0.0..=1.0).contains(&value) {
        return Err(Error::invalid(format!("{name} must be between 0 and 1, not {value}")));
    }
    Ok(value)
}
