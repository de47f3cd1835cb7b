//! Globs of an option on `schema.table` and `schema.table.column`, case ignored.

use crate::catalog::identifier::TableName;
use glob::{MatchOptions, Pattern};

/// A glob that the library rejects.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BadGlob {
    pub option: &'static str,
    pub glob: String,
    pub reason: String,
}

/// An option's glob that no table or column matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnmatchedGlob {
    pub option: &'static str,
    pub glob: String,
}

pub(crate) fn plain(table: &TableName) -> String {
    format!("{}.{}", table.schema, table.name)
}

pub(crate) fn lower(name: &str) -> String {
    name.to_lowercase()
}

pub(crate) fn column_name(table: &TableName, column: &str) -> String {
    lower(&format!("{}.{column}", plain(table)))
}

pub(crate) fn matches(pattern: &Pattern, name: &str) -> bool {
    let any =
        MatchOptions { case_sensitive: true, require_literal_separator: false, require_literal_leading_dot: false };
    pattern.matches_with(name, any)
}

/// Globs of one option. Patterns and names are compared in lower case, because the library ignores case only in ASCII.
pub(crate) struct Globs {
    option: &'static str,
    globs: Vec<(String, Pattern)>,
}

impl Globs {
    pub(crate) fn new(option: &'static str, globs: &[String]) -> Result<Self, BadGlob> {
        let patterns = globs.iter().map(|glob| {
            // Names have no directories: `**` means `*`. The library rejects `**` inside a name.
            let mut single = lower(glob);
            while single.contains("**") {
                single = single.replace("**", "*");
            }
            match Pattern::new(&single) {
                Ok(pattern) => Ok((glob.clone(), pattern)),
                Err(error) => Err(BadGlob { option, glob: glob.clone(), reason: error.msg.to_owned() }),
            }
        });
        Ok(Self { option, globs: patterns.collect::<Result<_, _>>()? })
    }

    pub(crate) fn matches(&self, name: &str) -> bool {
        let name = lower(name);
        self.globs.iter().any(|(_, pattern)| matches(pattern, &name))
    }

    pub(crate) fn matches_column(&self, table: &TableName, column: &str) -> bool {
        !self.globs.is_empty() && self.matches(&format!("{}.{column}", plain(table)))
    }

    /// Whether one of the globs is the column's full name.
    pub(crate) fn names_column(&self, table: &TableName, column: &str) -> bool {
        !self.globs.is_empty() && {
            let name = column_name(table, column);
            self.globs.iter().any(|(glob, _)| lower(glob) == name)
        }
    }

    pub(crate) fn unmatched(&self, matched: impl Fn(&Pattern) -> bool) -> impl Iterator<Item = UnmatchedGlob> {
        let unmatched = |(glob, pattern): &(String, Pattern)| {
            (!matched(pattern)).then(|| UnmatchedGlob { option: self.option, glob: glob.clone() })
        };
        self.globs.iter().filter_map(unmatched).collect::<Vec<_>>().into_iter()
    }
}
