//! The options of a datasource: which tables it includes and how much of them is read.

use crate::catalog::globs::{BadGlob, Globs};
use crate::catalog::identifier::shown;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use thiserror::Error;

/// Known keys, in the order in which an error lists them.
pub const KEYS: [&str; 9] = [
    "include",
    "exclude",
    "exclude_columns",
    "profile",
    "sample_values",
    "max_profile_rows",
    "pii",
    "preferred_tables",
    "server",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    Catalog,
    #[default]
    Stats,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Globs on `schema.table`; empty includes every table.
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    /// Globs on `schema.table.column`.
    pub exclude_columns: Vec<String>,
    pub profile: Profile,
    pub sample_values: bool,
    pub max_profile_rows: i64,
    /// Globs on `schema.table.column`, each with whether the columns that it matches hold personal data.
    pub pii: BTreeMap<String, bool>,
    pub preferred_tables: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            include: Vec::new(),
            exclude: Vec::new(),
            exclude_columns: Vec::new(),
            profile: Profile::default(),
            sample_values: false,
            max_profile_rows: 1_000_000,
            pii: BTreeMap::new(),
            preferred_tables: Vec::new(),
        }
    }
}

#[derive(Debug, Error, PartialEq, Eq)]
pub enum OptionsError {
    #[error("options must be a JSON object, not {0}")]
    NotAnObject(&'static str),
    #[error("unknown option \"{}\"", shown(.0))]
    UnknownKey(String),
    #[error("option \"{key}\" must be {expected}, not {found}")]
    WrongType { key: String, expected: &'static str, found: String },
    #[error("option \"{key}\" has an invalid glob \"{}\": {reason}", shown(.glob))]
    BadGlob { key: String, glob: String, reason: String },
    #[error("option \"server\" is not supported yet")]
    Server,
}

impl From<BadGlob> for OptionsError {
    fn from(bad: BadGlob) -> Self {
        Self::BadGlob { key: bad.option.to_owned(), glob: bad.glob, reason: bad.reason }
    }
}

impl Options {
    /// Parses the argument of `nl2sql_register`. `{}` returns the defaults.
    pub fn parse(value: &Value) -> Result<Self, OptionsError> {
        let Value::Object(object) = value else {
            return Err(OptionsError::NotAnObject(json_type(value)));
        };
        if let Some(unknown) = object.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(OptionsError::UnknownKey(unknown.clone()));
        }
        if object.contains_key("server") {
            return Err(OptionsError::Server);
        }
        let defaults = Self::default();
        let options = Self {
            include: texts(object, "include")?,
            exclude: texts(object, "exclude")?,
            exclude_columns: texts(object, "exclude_columns")?,
            profile: match object.get("profile") {
                None => defaults.profile,
                Some(Value::String(name)) if name == "catalog" => Profile::Catalog,
                Some(Value::String(name)) if name == "stats" => Profile::Stats,
                Some(other) => return Err(wrong("profile", "\"catalog\" or \"stats\"", other)),
            },
            sample_values: match object.get("sample_values") {
                None => defaults.sample_values,
                Some(Value::Bool(on)) => *on,
                Some(other) => return Err(wrong("sample_values", "true or false", other)),
            },
            max_profile_rows: match object.get("max_profile_rows") {
                None => defaults.max_profile_rows,
                Some(value) => value
                    .as_i64()
                    .filter(|rows| *rows >= 0)
                    .ok_or_else(|| wrong("max_profile_rows", "a whole number that is not negative", value))?,
            },
            pii: flags(object, "pii")?,
            preferred_tables: texts(object, "preferred_tables")?,
        };
        for (key, globs) in [
            ("include", &options.include),
            ("exclude", &options.exclude),
            ("exclude_columns", &options.exclude_columns),
            ("pii", &options.pii.keys().cloned().collect()),
        ] {
            Globs::new(key, globs)?;
        }
        Ok(options)
    }
}

fn texts(object: &Map<String, Value>, key: &str) -> Result<Vec<String>, OptionsError> {
    let expected = "an array of strings";
    match object.get(key) {
        None => Ok(Vec::new()),
        Some(Value::Array(items)) => items
            .iter()
            .map(|item| item.as_str().map(str::to_owned).ok_or_else(|| wrong(key, expected, item)))
            .collect(),
        Some(other) => Err(wrong(key, expected, other)),
    }
}

fn flags(object: &Map<String, Value>, key: &str) -> Result<BTreeMap<String, bool>, OptionsError> {
    let expected = "an object from column globs to true or false";
    match object.get(key) {
        None => Ok(BTreeMap::new()),
        Some(Value::Object(flags)) => flags
            .iter()
            .map(|(glob, flag)| Ok((glob.clone(), flag.as_bool().ok_or_else(|| wrong(key, expected, flag))?)))
            .collect(),
        Some(other) => Err(wrong(key, expected, other)),
    }
}

fn wrong(key: &str, expected: &'static str, found: &Value) -> OptionsError {
    let mut shown = found.to_string();
    if shown.chars().count() > 60 {
        shown = json_type(found).to_owned();
    }
    OptionsError::WrongType { key: key.to_owned(), expected, found: shown }
}

fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn reads_every_key() {
        let options = Options::parse(&json!({
            "include": ["a.*"], "exclude": ["*.tmp_*"], "exclude_columns": ["*.*.secret"],
            "profile": "catalog", "sample_values": true, "max_profile_rows": 5,
            "pii": {"a.b.c": true, "*.*.email": false},
            "preferred_tables": ["a.b"],
        }))
        .unwrap();
        assert_eq!(options.profile, Profile::Catalog);
        assert!(options.sample_values);
        assert_eq!(options.max_profile_rows, 5);
        assert!(!options.pii["*.*.email"]);
        assert_eq!(Options::parse(&json!({})).unwrap(), Options::default());
    }

    #[test]
    fn rejects_unknown_keys_and_types() {
        let error = |value| Options::parse(&value).unwrap_err();
        assert_eq!(error(json!([])), OptionsError::NotAnObject("an array"));
        assert_eq!(error(json!({"includes": []})), OptionsError::UnknownKey("includes".into()));
        assert_eq!(error(json!({"server": "x"})), OptionsError::Server);
        for (value, message) in [
            (json!({"include": "a"}), "option \"include\" must be an array of strings, not \"a\""),
            (json!({"include": [1]}), "option \"include\" must be an array of strings, not 1"),
            (json!({"profile": 7}), "option \"profile\" must be \"catalog\" or \"stats\", not 7"),
            (json!({"sample_values": "on"}), "option \"sample_values\" must be true or false, not \"on\""),
            (json!({"pii": ["a"]}), "option \"pii\" must be an object from column globs to true or false, not [\"a\"]"),
            (
                json!({"pii": {"a.b.c": 1}}),
                "option \"pii\" must be an object from column globs to true or false, not 1",
            ),
            (
                json!({"max_profile_rows": -1}),
                "option \"max_profile_rows\" must be a whole number that is not negative, not -1",
            ),
        ] {
            assert_eq!(error(value).to_string(), message);
        }
        assert!(matches!(error(json!({"exclude": ["a["]})), OptionsError::BadGlob { .. }));
    }
}
