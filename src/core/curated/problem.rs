//! A problem with a piece of curated content.

use crate::curated::content::Item;
use std::fmt;

/// A problem: `verified query "top": sql, line 3: column "x" does not exist`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub item: Item,
    /// The place in the item: `sql`, `params.n`.
    pub place: String,
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.item, self.without_item())
    }
}

impl Problem {
    /// A problem of a query's SQL or a metric's expression.
    pub fn of_sql(item: Item, message: String) -> Self {
        let place = if matches!(item, Item::Metric(_)) { "expression" } else { "sql" };
        Self { item, place: place.to_owned(), message }
    }

    /// The problem without the name of the item.
    pub fn without_item(&self) -> String {
        let between = if self.message.starts_with("line ") { ", " } else { ": " };
        format!("{}{between}{}", self.place, self.message)
    }
}
