//! Which tables and columns a datasource takes in: globs on `schema.table` and
//! `schema.table.column`, case ignored, exclusion first.

use crate::name::TableName;
use crate::options::{Options, OptionsError};
use glob::{MatchOptions, Pattern};

pub struct Scope {
    /// `None` takes in every table.
    include: Option<Globs>,
    exclude: Globs,
    exclude_columns: Globs,
}

impl Scope {
    pub fn new(options: &Options) -> Result<Self, OptionsError> {
        Ok(Self {
            include: if options.include.is_empty() {
                None
            } else {
                Some(Globs::new("include", &options.include)?)
            },
            exclude: Globs::new("exclude", &options.exclude)?,
            exclude_columns: Globs::new("exclude_columns", &options.exclude_columns)?,
        })
    }

    /// Whether the table belongs to the datasource.
    pub fn takes_in(&self, table: &TableName) -> bool {
        self.include.as_ref().is_none_or(|include| include.matches(&plain(table))) && !self.excludes(table)
    }

    /// Whether the table is named by an exclusion, and so must not appear even as the far end of a
    /// foreign key.
    pub fn excludes(&self, table: &TableName) -> bool {
        self.exclude.matches(&plain(table))
    }

    pub fn excludes_column(&self, table: &TableName, column: &str) -> bool {
        !self.exclude_columns.0.is_empty()
            && self.exclude_columns.matches(&format!("{}.{column}", plain(table)))
    }
}

fn plain(table: &TableName) -> String {
    format!("{}.{}", table.schema, table.name)
}

/// Patterns on letters, not bytes. Both sides are put in lower case, since the library ignores case in
/// ASCII alone.
struct Globs(Vec<Pattern>);

impl Globs {
    fn new(key: &str, globs: &[String]) -> Result<Self, OptionsError> {
        let patterns = globs.iter().map(|glob| {
            // Names have no directories: `**` says no more than `*`, which the library would refuse.
            let mut single = glob.to_lowercase();
            while single.contains("**") {
                single = single.replace("**", "*");
            }
            Pattern::new(&single).map_err(|error| OptionsError::BadGlob {
                key: key.to_owned(),
                glob: glob.clone(),
                reason: error.msg.to_owned(),
            })
        });
        patterns.collect::<Result<_, _>>().map(Self)
    }

    fn matches(&self, name: &str) -> bool {
        let any = MatchOptions {
            case_sensitive: true,
            require_literal_separator: false,
            require_literal_leading_dot: false,
        };
        let name = name.to_lowercase();
        self.0.iter().any(|pattern| pattern.matches_with(&name, any))
    }
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
    fn letters_count_not_bytes() {
        let table = |name| TableName::new("g", name);
        assert!(scope(&[], &["g.état"], &[]).excludes(&table("ÉTAT")));
        assert!(scope(&[], &[], &["*.*.GEHEIMü"]).excludes_column(&table("t"), "geheimÜ"));
        assert!(scope(&["g.?"], &[], &[]).takes_in(&table("é")));
        assert!(scope(&["g.[é]"], &[], &[]).takes_in(&table("é")));
        assert!(scope(&["**.a**"], &[], &[]).takes_in(&table("ab/c")));
    }

    #[test]
    fn without_globs_everything_is_in() {
        let scope = scope(&[], &[], &[]);
        assert!(scope.takes_in(&TableName::new("a/b", "c\\d")));
        assert!(!scope.excludes_column(&TableName::new("a", "b"), "c"));
    }
}
