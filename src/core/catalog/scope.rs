//! Which tables and columns a datasource includes, and which columns hold personal data: globs on `schema.table` and
//! `schema.table.column`. Case is ignored, and exclusion wins.

use crate::catalog::globs::{Globs, UnmatchedGlob, column_name, lower, matches, plain};
use crate::catalog::identifier::TableName;
use crate::catalog::options::{Options, OptionsError};

pub struct Scope {
    /// `None` includes every table.
    include: Option<Globs>,
    exclude: Globs,
    exclude_columns: Globs,
    personal: Globs,
    impersonal: Globs,
}

impl Scope {
    pub fn new(options: &Options) -> Result<Self, OptionsError> {
        Ok(Self {
            include: if options.include.is_empty() { None } else { Some(Globs::new("include", &options.include)?) },
            exclude: Globs::new("exclude", &options.exclude)?,
            exclude_columns: Globs::new("exclude_columns", &options.exclude_columns)?,
            personal: Globs::new("pii", &globs_of(options, true))?,
            impersonal: Globs::new("pii", &globs_of(options, false))?,
        })
    }

    /// Whether the table belongs to the datasource.
    pub fn takes_in(&self, table: &TableName) -> bool {
        self.include.as_ref().is_none_or(|include| include.matches(&plain(table))) && !self.excludes(table)
    }

    /// Whether an exclusion names the table. An excluded table does not appear even as the target of a foreign key.
    pub(crate) fn excludes(&self, table: &TableName) -> bool {
        self.exclude.matches(&plain(table))
    }

    pub fn excludes_column(&self, table: &TableName, column: &str) -> bool {
        self.exclude_columns.matches_column(table, column)
    }

    /// Whether the column holds personal data: `by_name`, unless an option decides. If two globs disagree, one that
    /// is the column's full name wins, otherwise the column is personal.
    pub(crate) fn is_personal(&self, table: &TableName, column: &str, by_name: bool) -> bool {
        let named = |globs: &Globs| globs.names_column(table, column);
        if named(&self.personal) != named(&self.impersonal) {
            return named(&self.personal);
        }
        self.personal.matches_column(table, column) || (by_name && !self.impersonal.matches_column(table, column))
    }

    /// The globs that match none of these tables (all tables of the schemas) or none of these columns.
    pub fn unmatched<'a>(
        &self,
        tables: &[TableName],
        columns: impl Iterator<Item = (&'a TableName, &'a str)> + Clone,
    ) -> Vec<UnmatchedGlob> {
        let plain: Vec<String> = tables.iter().map(|table| lower(&plain(table))).collect();
        let mut unmatched = Vec::new();
        for globs in self.include.iter().chain([&self.exclude]) {
            unmatched.extend(globs.unmatched(|pattern| plain.iter().any(|name| matches(pattern, name))));
        }
        for globs in [&self.exclude_columns, &self.personal, &self.impersonal] {
            unmatched.extend(globs.unmatched(|pattern| {
                columns.clone().any(|(table, column)| matches(pattern, &column_name(table, column)))
            }));
        }
        unmatched
    }
}

fn globs_of(options: &Options, personal: bool) -> Vec<String> {
    options.pii.iter().filter(|(_, flag)| **flag == personal).map(|(glob, _)| glob.clone()).collect()
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
    fn options_decide_what_is_personal() {
        let pii = [("s.t.*", false), ("s.t.nick", true), ("*.u.*", true), ("s.u.e_mail", false)];
        let options = Options {
            pii: pii.into_iter().map(|(glob, personal)| (glob.to_owned(), personal)).collect(),
            ..Options::default()
        };
        let scope = Scope::new(&options).unwrap();
        let personal = |table, column: &str| scope.is_personal(&TableName::new("s", table), column, column == "e_mail");
        assert!(personal("v", "e_mail") && !personal("v", "amount"), "by the name");
        assert!(!personal("t", "e_mail"), "an option says it is not");
        assert!(personal("t", "Nick"), "named in full, against the glob");
        assert!(personal("u", "amount"));
        assert!(!personal("u", "e_mail"), "named in full, against the glob");
    }

    #[test]
    fn globs_that_match_nothing_are_found() {
        let scope = scope(&["shop.*", "shp.*"], &["*.tmp_*"], &["*.*.secret", "shop.orders.ID"]);
        let orders = TableName::new("shop", "orders");
        let unmatched = scope.unmatched(std::slice::from_ref(&orders), [(&orders, "id"), (&orders, "n")].into_iter());
        let found: Vec<_> = unmatched.iter().map(|one| (one.option, one.glob.as_str())).collect();
        assert_eq!(found, [("include", "shp.*"), ("exclude", "*.tmp_*"), ("exclude_columns", "*.*.secret")]);
    }

    #[test]
    fn without_globs_everything_is_in() {
        let scope = scope(&[], &[], &[]);
        assert!(scope.takes_in(&TableName::new("a/b", "c\\d")));
        assert!(!scope.excludes_column(&TableName::new("a", "b"), "c"));
    }
}
