//! Checks the arguments of SQL functions.

use crate::pg::server::error::{Error, Result};
use std::collections::HashSet;

/// An array argument: NULL, or elements that may be NULL.
pub type TextArray = Option<Vec<Option<String>>>;

/// Rejects NULL.
pub fn required<T>(name: &str, value: Option<T>) -> Result<T> {
    value.ok_or_else(|| Error::null(name))
}

/// Rejects NULL, the empty text and white space.
pub fn non_empty<'a>(name: &str, value: Option<&'a str>) -> Result<&'a str> {
    let value = required(name, value)?;
    if value.trim().is_empty() {
        return Err(Error::invalid(format!("{name} must not be empty")));
    }
    Ok(value)
}

/// An array without NULL elements, or `None` for NULL.
pub fn list(name: &str, value: TextArray) -> Result<Option<Vec<String>>> {
    let Some(items) = value else { return Ok(None) };
    items
        .into_iter()
        .map(|item| item.ok_or_else(|| Error::null(&format!("an element of {name}"))))
        .collect::<Result<_>>()
        .map(Some)
}

/// A [`list`] without duplicates, in the given order.
pub fn distinct_list(name: &str, value: TextArray) -> Result<Option<Vec<String>>> {
    let Some(mut items) = list(name, value)? else { return Ok(None) };
    let mut known = HashSet::new();
    items.retain(|item| known.insert(item.clone()));
    Ok(Some(items))
}

/// A [`list`] of trimmed texts without the empty ones; NULL is an empty list.
pub fn non_empty_items(name: &str, value: TextArray) -> Result<Vec<String>> {
    let items = list(name, value)?.unwrap_or_default();
    Ok(items.iter().map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).collect())
}

/// A [`list`] that a search filters by, sorted, without duplicates. Rejects the empty array; NULL filters nothing.
pub fn filter(name: &str, value: TextArray) -> Result<Option<Vec<String>>> {
    let Some(mut items) = list(name, value)? else { return Ok(None) };
    if items.is_empty() {
        return Err(Error::invalid(format!("{name} must not be empty")).hint("Pass NULL for no filter."));
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

/// A number from 0 to 1. Rejects NaN.
pub fn fraction(name: &str, value: Option<f64>) -> Result<f64> {
    let value = required(name, value)?;
    if !(0.0..=1.0).contains(&value) {
        return Err(Error::invalid(format!("{name} must be between 0 and 1, not {value}")));
    }
    Ok(value)
}
