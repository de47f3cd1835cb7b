//! A problem with a piece of curated content.

use crate::curated::content::Item;
use std::fmt;

/// Something that is wrong: `verified query "top": sql, line 3: column "x" does not exist`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub item: Item,
    /// Where in it: `sql`, `params.n`.
    pub place: String,
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.item, self.without_item())
    }
}

impl Problem {
    /// Of the SQL of a query, or the expression of a metric.
    pub fn of_sql(item: Item, message: String) -> Self {
        let place = if matches!(item, Item::Metric(_)) { "expression" } else { "sql" };
        Self { item, place: place.to_owned(), message }
    }

    /// Without the name of the item.
    pub fn without_item(&self) -> String {
        let between = if self.message.starts_with("line ") { ", " } else { ": " };
        format!("{}{between}{}", self.place, self.message)
    }
}
