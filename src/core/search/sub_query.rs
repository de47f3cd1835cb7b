//! The argument `sub_query`: what an application knows about the question besides its words.

use serde_json::Value;
use std::collections::HashSet;
use thiserror::Error;

/// Known keys, in the order in which an error lists them.
pub const KEYS: [&str; 5] = ["intent", "filters", "group_by", "expected_schema", "metrics"];

#[derive(Debug, Error, PartialEq, Eq)]
pub enum SubQueryError {
    #[error("sub_query must be a JSON object")]
    NotAnObject,
    #[error("sub_query has an unknown key \"{0}\"")]
    UnknownKey(String),
}

/// The text to embed: the question, then every distinct text of the sub-query, one a line.
pub fn text(question: &str, sub_query: Option<&Value>) -> Result<String, SubQueryError> {
    let mut parts = DistinctTexts::default();
    parts.add(question);
    if let Some(sub_query) = sub_query {
        let Value::Object(fields) = sub_query else { return Err(SubQueryError::NotAnObject) };
        if let Some(unknown) = fields.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(SubQueryError::UnknownKey(crate::catalog::identifier::shown(unknown).into_owned()));
        }
        for key in KEYS {
            collect_texts(fields.get(key).unwrap_or(&Value::Null), &mut parts);
        }
    }
    Ok(parts.texts.join("\n"))
}

/// Distinct texts in order.
#[derive(Default)]
struct DistinctTexts {
    texts: Vec<String>,
    known: HashSet<String>,
}

impl DistinctTexts {
    fn add(&mut self, text: &str) {
        let text = text.trim();
        if !text.is_empty() && self.known.insert(text.to_owned()) {
            self.texts.push(text.to_owned());
        }
    }
}

/// Collects texts, numbers and the keys of objects at any depth.
fn collect_texts(value: &Value, parts: &mut DistinctTexts) {
    match value {
        Value::String(text) => parts.add(text),
        Value::Number(number) => parts.add(&number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| collect_texts(item, parts)),
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            parts.add(name);
            collect_texts(value, parts);
        }),
        Value::Null | Value::Bool(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn adds_texts_numbers_and_keys() {
        let sub_query = json!({
            "group_by": ["country"], "intent": " count customers ", "metrics": null,
            "filters": [{"column": "year", "value": 2013}, "country"],
        });
        assert_eq!(
            text("How many?", Some(&sub_query)).unwrap(),
            "How many?\ncount customers\ncolumn\nyear\nvalue\n2013\ncountry"
        );
        assert_eq!(text("How many?", None).unwrap(), "How many?");
        assert_eq!(text("x", Some(&json!({"where": 1}))), Err(SubQueryError::UnknownKey("where".into())));
        assert_eq!(text("x", Some(&json!([]))), Err(SubQueryError::NotAnObject));
    }
}
