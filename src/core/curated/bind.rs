//! Binding: replaces the params of a verified query's SQL by checked values.

use crate::catalog::identifier::{TableName, shown};
use crate::catalog::schema::{ColumnContract, ColumnMetadata, Schema, Table, TableContract, TableKind, TableMetadata};
use crate::curated::content::VerifiedQuery;
use crate::curated::param::literal;
use crate::curated::validate;
use crate::sql::analysis::Analyst;
use crate::sql::reads;
use crate::sql::reads::{Names, Reads};
use crate::sql::statement_text;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use thiserror::Error;

#[derive(Debug, Error, PartialEq, Eq)]
pub enum BindError {
    #[error("params must be a JSON object")]
    NotAnObject,
    #[error("verified query \"{query}\" has no param \"{}\"", shown(name))]
    Unknown { query: String, name: String, known: Vec<String> },
    #[error("param \"{name}\" {problem}")]
    Wrong { name: String, problem: String },
    #[error("verified query \"{query}\" needs a value for {}", names.join(", "))]
    Missing { query: String, names: Vec<String> },
    /// The message names no tables or columns, because the caller may not be allowed to read them.
    #[error("verified query \"{query}\" no longer fits the schema")]
    Unfit { query: String },
    #[error("the SQL of verified query \"{query}\" cannot be parsed: {problem}")]
    Sql { query: String, problem: String },
}

/// Returns the value of every param: the given value, checked, else the default. A value may also be given as
/// `{"value": …}`, the form that `nl2sql_match` returns.
pub fn values(query: &VerifiedQuery, given: &Value) -> Result<BTreeMap<String, Value>, BindError> {
    let none = Map::new();
    let given = match given {
        Value::Object(given) => given,
        Value::Null => &none,
        _ => return Err(BindError::NotAnObject),
    };
    if let Some(name) = given.keys().find(|name| !query.params.contains_key(*name)) {
        let known = query.params.keys().cloned().collect();
        return Err(BindError::Unknown { query: query.id.clone(), name: name.clone(), known });
    }
    let mut values = BTreeMap::new();
    let mut missing = Vec::new();
    for (name, param) in &query.params {
        let value = match given.get(name) {
            Some(Value::Object(proposal)) if proposal.contains_key("value") => proposal.get("value"),
            other => other,
        };
        match value.filter(|value| !value.is_null()) {
            Some(value) => {
                param.check(value).map_err(|problem| BindError::Wrong { name: name.clone(), problem })?;
                values.insert(name.clone(), value.clone());
            }
            None => match &param.default {
                Some(default) => drop(values.insert(name.clone(), default.clone())),
                None => missing.push(name.clone()),
            },
        }
    }
    if missing.is_empty() { Ok(values) } else { Err(BindError::Missing { query: query.id.clone(), names: missing }) }
}

/// Returns the SQL with literals for the params and with every table qualified, so that it reads what was verified
/// whatever the `search_path` is. `stored` is what the query read when it was verified, `columns` are the current columns
/// of its tables.
pub fn bind(
    query: &VerifiedQuery,
    stored: &Reads,
    columns: &BTreeMap<TableName, Vec<String>>,
    path: &[String],
    values: &BTreeMap<String, Value>,
    analyst: &mut dyn Analyst,
) -> Result<String, BindError> {
    let unfit = || BindError::Unfit { query: query.id.clone() };
    let placeholders = statement_text::placeholders(&query.sql)
        .map_err(|problem| BindError::Sql { query: query.id.clone(), problem })?;
    if placeholders.iter().any(|place| !query.params.contains_key(&place.name)) {
        return Err(unfit());
    }
    let prepared = validate::prepared(query, &placeholders);
    let schema = schema(columns);
    let analysis = analyst.analyze(&prepared, &Names::new(path, &schema).reading(Some(stored)));
    if !analysis.problems.is_empty() || reads::captured(stored, &analysis.named).is_some() {
        return Err(unfit());
    }
    Ok(prepared.bound(&query.sql, &placeholders, &analysis, |name| match (query.params.get(name), values.get(name)) {
        (Some(param), Some(value)) => literal(param.param_type, value),
        // Not a param: validation has rejected it.
        _ => format!(":{name}"),
    }))
}

/// The tables as a schema in which names are resolved.
fn schema(columns: &BTreeMap<TableName, Vec<String>>) -> Schema {
    let tables = columns.iter().map(|(name, columns)| Table {
        name: name.clone(),
        contract: TableContract {
            kind: TableKind::Table,
            primary_key: Vec::new(),
            columns: columns
                .iter()
                .map(|column| ColumnContract {
                    name: column.clone(),
                    data_type: String::new(),
                    nullable: true,
                    primary_key: false,
                })
                .collect(),
            foreign_keys: Vec::new(),
        },
        metadata: TableMetadata { columns: vec![ColumnMetadata::default(); columns.len()], ..TableMetadata::default() },
    });
    Schema { tables: tables.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::analysis::tests::Stub;
    use crate::sql::parse;
    use crate::sql::placeholder::tokens;
    use proptest::prelude::*;
    use serde_json::json;
    use sqlparser::tokenizer::Token;

    fn query() -> VerifiedQuery {
        serde_json::from_value(json!({
            "id": "q", "questions": ["{n} {year} {who} {day} {share}"],
            "params": {
                "n": {"type": "int", "default": 10, "min": -100, "max": 100}, "year": {"type": "int", "min": 2009},
                "who": {"type": "string", "default": "x"}, "day": {"type": "date", "default": "2012-01-31"}, "share": {"type": "float", "default": 0.5}
            },
            "sql": "SELECT ':n', a -:n FROM orders WHERE y = :year AND w=:who||'s' AND d>=:day AND s<:share -- :who\nLIMIT :n"
        }))
        .unwrap()
    }

    fn reads() -> Reads {
        serde_json::from_value(
            json!([{"schema": "Shop", "name": "orders", "columns": ["a", "d", "s", "w", "y"], "bare": true}]),
        )
        .unwrap()
    }

    fn columns(names: &[&str]) -> BTreeMap<TableName, Vec<String>> {
        BTreeMap::from([(TableName::new("Shop", "orders"), names.iter().map(|name| (*name).to_owned()).collect())])
    }

    fn bound(given: Value) -> Result<String, String> {
        let query = query();
        let values = values(&query, &given).map_err(|error| error.to_string())?;
        bind(&query, &reads(), &columns(&["a", "d", "s", "w", "y"]), &["Shop".into()], &values, &mut Stub)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn values_replace_params() {
        assert_eq!(
            bound(json!({"year": 2011, "n": -7, "who": {"value": "O'\\"}})).unwrap(),
            "SELECT ':n', a -(-7) FROM \"Shop\".orders WHERE y = 2011 AND w=E'O''\\\\'||'s' AND d>=DATE '2012-01-31' AND s<0.5 -- :who\nLIMIT (-7)"
        );
    }

    #[test]
    fn errors_name_the_param() {
        for (given, problem) in [
            (json!({}), "verified query \"q\" needs a value for year"),
            (json!({"year": null}), "verified query \"q\" needs a value for year"),
            (json!({"year": 2011, "m": 1}), "verified query \"q\" has no param \"m\""),
            (
                json!({"year": 2011, "n": "7; DROP TABLE x"}),
                "param \"n\" must be a whole number, not \"7; DROP TABLE x\"",
            ),
            (json!({"year": 2008}), "param \"year\" must be at least 2009, not 2008"),
            (json!({"year": 2011, "n": {"foo": 4}}), "param \"n\" must be a whole number, not {\"foo\":4}"),
            (json!([]), "params must be a JSON object"),
        ] {
            assert_eq!(bound(given).unwrap_err(), problem);
        }
    }

    /// Tokens with their texts; white space left out.
    fn shape(sql: &str) -> Vec<Token> {
        tokens(sql)
            .unwrap()
            .tokens
            .into_iter()
            .map(|token| token.token)
            .filter(|token| !matches!(token, Token::Whitespace(_)))
            .collect()
    }

    proptest! {
        /// Whatever the text, it is one string token, and every other token is as it was.
        #[test]
        fn no_text_leaves_its_literal(who in "(?s)[^\\x00]{0,40}|['\"\\\\;$/*:\\-\\n eE]{0,12}|\\$\\$|\\$t\\$|'; DROP TABLE x; --|\\\\'|/\\*|--|:n|U&'") {
            let harmless = shape(&bound(json!({"year": 2011, "who": "x"})).unwrap());
            let hostile = shape(&bound(json!({"year": 2011, "who": who.clone()})).unwrap());
            prop_assert_eq!(harmless.len(), hostile.len());
            let mut differing = harmless.iter().zip(&hostile).filter(|(a, b)| a != b);
            if let Some((_, token)) = differing.next() {
                let text = match token { Token::SingleQuotedString(text) | Token::EscapedStringLiteral(text) => Some(text), _ => None };
                prop_assert_eq!(text, Some(&who));
            }
            prop_assert!(differing.next().is_none());
        }

        #[test]
        fn numbers_are_one_expression(n in -100_i64..=100, share in proptest::num::f64::NORMAL) {
            let sql = bound(json!({"year": 2011, "n": n, "share": share})).unwrap();
            prop_assert!(parse::parse(&sql).is_ok(), "{}", sql);
            prop_assert!(!sql.contains("--7") && sql.contains("LIMIT"));
        }
    }
}
