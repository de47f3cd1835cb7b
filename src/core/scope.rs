//! Which tables and columns a datasource takes in: globs on `schema.table` and
//! `schema.table.column`, case ignored, exclusion first.

use crate::name::TableName;
use crate::options::{Options, OptionsError};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

pub struct Scope {
    /// `None` takes in every table.
    include: Option<GlobSet>,
    exclude: GlobSet,
    exclude_columns: GlobSet,
}

impl Scope {
    pub fn new(options: &Options) -> Result<Self, OptionsError> {
        Ok(Self {
            include: if options.include.is_empty() {
                None
            } else {
                Some(glob_set("include", &options.include)?)
            },
            exclude: glob_set("exclude", &options.exclude)?,
            exclude_columns: glob_set("exclude_columns", &options.exclude_columns)?,
        })
    }

    /// Whether the table belongs to the datasource.
    pub fn takes_in(&self, table: &TableName) -> bool {
        self.include.as_ref().is_none_or(|include| include.is_match(plain(table))) && !self.excludes(table)
    }

    /// Whether the table is named by an exclusion, and so must not appear even as the far end of a
    /// foreign key.
    pub fn excludes(&self, table: &TableName) -> bool {
        self.exclude.is_match(plain(table))
    }

    pub fn excludes_column(&self, table: &TableName, column: &str) -> bool {
        !self.exclude_columns.is_empty() && self.exclude_columns.is_match(format!("{}.{column}", plain(table)))
    }
}

fn plain(table: &TableName) -> String {
    format!("{}.{}", table.schema, table.name)
}

fn glob_set(key: &str, globs: &[String]) -> Result<GlobSet, OptionsError> {
    let bad = |glob: &str, error: globset::Error| OptionsError::BadGlob {
        key: key.to_owned(),
        glob: glob.to_owned(),
        reason: error.kind().to_string(),
    };
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        // A table's name may hold a slash: it is a letter like any other here.
        let built = GlobBuilder::new(glob)
            .case_insensitive(true)
            .literal_separator(false)
            .backslash_escape(true)
            .build()
            .map_err(|error| bad(glob, error))?;
        set.add(built);
    }
    set.build().map_err(|error| bad(globs.first().map_or("", String::as_str), error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(include: &[&str], exclude: &[&str], exclude_columns: &[&str]) -> Scope {
        let own = |globs: &[&str]| globs.iter().map(|glob| glob.to_string()).collect();
        Scope::new(&Options {
            include: own(include),
            exclude: own(exclude),
            exclude_columns: own(exclude_columns),
            ..Options::default()
        })
        .unwrap()
    }

    #[test]
    fn exclusion_wins_and_case_is_ignored() {
        let scope = scope(&["shop.*"], &["SHOP.TMP_*"], &["*.*.password"]);
        let table = |name| TableName::new("Shop", name);
        assert!(scope.takes_in(&table("Orders")));
        assert!(!scope.takes_in(&table("tmp_orders")));
        assert!(!scope.takes_in(&TableName::new("other", "Orders")));
        assert!(scope.excludes(&table("tmp_a")) && !scope.excludes(&TableName::new("other", "Orders")));
        assert!(scope.excludes_column(&table("users"), "Password"));
        assert!(!scope.excludes_column(&table("users"), "name"));
    }

    #[test]
    fn without_globs_everything_is_in() {
        let scope = scope(&[], &[], &[]);
        assert!(scope.takes_in(&TableName::new("a/b", "c\\d")));
        assert!(!scope.excludes_column(&TableName::new("a", "b"), "c"));
    }
}
