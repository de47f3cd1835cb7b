//! Params of a verified query: their types, constraints and SQL literals.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParamType {
    Int,
    Float,
    String,
    Date,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a param: type, default, min, max, choices, example")]
pub struct Param {
    #[serde(rename = "type")]
    pub param_type: ParamType,
    /// The value if the caller passes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Value>,
    /// The allowed values; empty allows any.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Value>,
    /// The value that replaces it in a phrasing that is embedded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<Value>,
}

impl ParamType {
    pub fn name(self) -> &'static str {
        match self {
            ParamType::Int => "int",
            ParamType::Float => "float",
            ParamType::String => "string",
            ParamType::Date => "date",
        }
    }

    fn expected(self) -> &'static str {
        match self {
            ParamType::Int => "a whole number",
            ParamType::Float => "a number",
            ParamType::String => "a string",
            ParamType::Date => "a date like 2012-01-31",
        }
    }

    /// Checks that a value has the type. `Err` says what it must be.
    fn check(self, value: &Value) -> Result<(), String> {
        let fits = match (self, value) {
            (ParamType::Int, Value::Number(number)) => number.as_i64().is_some(),
            (ParamType::Float, Value::Number(number)) => number.as_f64().is_some_and(f64::is_finite),
            (ParamType::String, Value::String(text)) => !text.contains('\0'),
            (ParamType::Date, Value::String(text)) => is_date(text),
            _ => false,
        };
        if fits { Ok(()) } else { Err(format!("must be {}, not {}", self.expected(), shown(value))) }
    }
}

/// Deserializes null, which an empty place in YAML is, as the default.
pub(crate) fn null_as_default<'de, D: serde::Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Choices that a message lists.
const LISTED: usize = 20;

/// A value quoted for a message.
pub fn shown(value: &Value) -> String {
    crate::catalog::identifier::shown(&value.to_string()).into_owned()
}

impl Param {
    pub fn new(param_type: ParamType) -> Self {
        Self { param_type, default: None, min: None, max: None, choices: Vec::new(), example: None }
    }

    /// Checks that a value is allowed. `Err` says what it must be.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        self.param_type.check(value)?;
        if !self.choices.is_empty() && !self.choices.iter().any(|choice| same(choice, value)) {
            let more = if self.choices.len() > LISTED { ", …" } else { "" };
            let choices: Vec<String> = self.choices.iter().take(LISTED).map(shown).collect();
            return Err(format!("must be one of {}{more}, not {}", choices.join(", "), shown(value)));
        }
        if let Some(min) = &self.min
            && less(value, min)
        {
            return Err(format!("must be at least {}, not {}", shown(min), shown(value)));
        }
        if let Some(max) = &self.max
            && less(max, value)
        {
            return Err(format!("must be at most {}, not {}", shown(max), shown(value)));
        }
        Ok(())
    }

    /// The problems of the param itself: type, default, min, max, choices and example must be consistent.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for (name, bound) in [("min", &self.min), ("max", &self.max)] {
            let Some(bound) = bound else { continue };
            if self.param_type == ParamType::String {
                problems.push(format!("{name} is for int, float and date, not for string"));
            } else if let Err(problem) = self.param_type.check(bound) {
                problems.push(format!("{name} {problem}"));
            }
        }
        problems.extend(self.choices.iter().filter_map(|choice| {
            self.param_type.check(choice).err().map(|problem| format!("an element of choices {problem}"))
        }));
        if !problems.is_empty() {
            return problems;
        }
        if let (Some(min), Some(max)) = (&self.min, &self.max)
            && less(max, min)
        {
            problems.push(format!("min {} is greater than max {}", shown(min), shown(max)));
        }
        let bounds = Param { min: self.min.clone(), max: self.max.clone(), ..Param::new(self.param_type) };
        problems.extend(
            self.choices.iter().filter_map(|choice| {
                bounds.check(choice).err().map(|problem| format!("an element of choices {problem}"))
            }),
        );
        problems.extend(repeated(&self.choices).map(|choice| format!("choices list {} twice", shown(choice))));
        for (name, value) in [("default", &self.default), ("example", &self.example)] {
            problems.extend(
                value.iter().filter_map(|value| self.check(value).err()).map(|problem| format!("{name} {problem}")),
            );
        }
        problems
    }

    /// The text that replaces it in a phrasing: its example, else its default. `None` if it has neither.
    pub fn sample(&self) -> Option<String> {
        self.example.as_ref().or(self.default.as_ref()).map(plain)
    }

    /// Whether all of its known values fit in four bytes: Postgres reads such a literal as `integer`.
    pub fn is_small(&self) -> bool {
        let known = [&self.default, &self.min, &self.max, &self.example].into_iter().flatten().chain(&self.choices);
        known.filter_map(Value::as_i64).all(|number| i32::try_from(number).is_ok())
    }
}

/// A string without quotes, any other value as JSON.
pub fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The first value that occurs twice. Only values with the same text, or numbers with the same `f64`, are compared.
fn repeated(values: &[Value]) -> Option<&Value> {
    let mut known: HashMap<String, Vec<&Value>> = HashMap::new();
    values.iter().find(|value| {
        // Zero is one number, whatever its sign.
        let key = value.as_f64().map_or_else(|| value.to_string(), |number| (number + 0.0).to_string());
        let candidates = known.entry(key).or_default();
        let twice = candidates.iter().any(|other| same(other, value));
        candidates.push(value);
        twice
    })
}

fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(_), Value::Number(_)) => !less(a, b) && !less(b, a),
        _ => a == b,
    }
}

/// Compares two values of one type. Dates sort as their texts do.
fn less(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => match (x.as_i64(), y.as_i64()) {
            (Some(x), Some(y)) => x < y,
            _ => x.as_f64() < y.as_f64(),
        },
        (Value::String(x), Value::String(y)) => x < y,
        _ => false,
    }
}

/// The SQL literal of a checked value. It is one expression in any context, and no character of the value can end it.
pub fn literal(param_type: ParamType, value: &Value) -> String {
    match (param_type, value) {
        (ParamType::Date, Value::String(text)) => format!("DATE '{text}'"),
        (_, Value::String(text)) => quote(text),
        (_, Value::Number(number)) => {
            let text = match number.as_i64() {
                // A whole number of type float must not divide as an integer.
                Some(number) if param_type == ParamType::Float => format!("{number}.0"),
                Some(number) => number.to_string(),
                // With a point or an exponent, so that it is not an integer.
                None => format!("{:?}", number.as_f64().unwrap_or_default()),
            };
            // Two minus signs would start a comment.
            if text.starts_with('-') { format!("({text})") } else { text }
        }
        _ => "NULL".to_owned(),
    }
}

/// A string literal that is correct whatever `standard_conforming_strings` is.
fn quote(text: &str) -> String {
    let doubled = text.replace('\'', "''");
    if text.contains('\\') { format!("E'{}'", doubled.replace('\\', "\\\\")) } else { format!("'{doubled}'") }
}

/// Whether the text is `YYYY-MM-DD` and an existing day of the years 1 to 9999.
pub(crate) fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = |from: usize, to: usize| -> Option<u32> {
        let part = bytes.get(from..to)?;
        part.iter()
            .all(u8::is_ascii_digit)
            .then(|| part.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0')))
    };
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return false;
    }
    let (Some(year), Some(month), Some(day)) = (digits(0, 4), digits(5, 7), digits(8, 10)) else { return false };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        1..=12 => 31,
        _ => return false,
    };
    year >= 1 && (1..=days).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn param(value: Value) -> Param {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn values_are_checked() {
        let year = param(json!({"type": "int", "min": 2009, "max": 2013}));
        assert_eq!(year.check(&json!(2011)), Ok(()));
        assert_eq!(year.check(&json!(2008)).unwrap_err(), "must be at least 2009, not 2008");
        assert_eq!(year.check(&json!("2011")).unwrap_err(), "must be a whole number, not \"2011\"");
        for wrong in [json!(2010.5), json!(null), json!([2010]), json!(true), json!(1e30)] {
            assert!(year.check(&wrong).is_err(), "{wrong}");
        }
        let share = param(json!({"type": "float", "max": 1}));
        assert!(
            share.check(&json!(1)).is_ok() && share.check(&json!(-0.5)).is_ok() && share.check(&json!(1.01)).is_err()
        );
        let state = param(json!({"type": "string", "choices": ["open", "closed"]}));
        assert_eq!(state.check(&json!("gone")).unwrap_err(), "must be one of \"open\", \"closed\", not \"gone\"");
        assert!(param(json!({"type": "string"})).check(&json!("a\0b")).is_err());
        let day = param(json!({"type": "date", "min": "2012-02-29"}));
        assert!(day.check(&json!("2012-02-29")).is_ok() && day.check(&json!("2012-02-28")).is_err());
        for wrong in ["2011-02-29", "2012-13-01", "2012-1-01", "12-01-2012", "2012-01-01'", "0000-01-01", "２012-01-0"]
        {
            assert!(day.check(&json!(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_param_must_be_consistent() {
        let problems = |value: Value| param(value).problems();
        assert!(problems(json!({"type": "int", "choices": [9007199254740992_i64, 9007199254740993_i64]})).is_empty());
        assert!(
            problems(json!({"type": "int", "default": 10, "min": 1, "max": 100, "choices": [5, 10], "example": 5}))
                .is_empty()
        );
        for (value, problem) in [
            (json!({"type": "int", "default": "10"}), "default must be a whole number, not \"10\""),
            (json!({"type": "int", "default": 0, "min": 1}), "default must be at least 1, not 0"),
            (json!({"type": "int", "min": 5, "max": 1}), "min 5 is greater than max 1"),
            (json!({"type": "string", "min": "a"}), "min is for int, float and date, not for string"),
            (json!({"type": "int", "choices": [1, 2], "example": 3}), "example must be one of 1, 2, not 3"),
            (json!({"type": "int", "choices": [1, 9], "max": 5}), "an element of choices must be at most 5, not 9"),
            (json!({"type": "date", "max": "soon"}), "max must be a date like 2012-01-31, not \"soon\""),
            (json!({"type": "float", "choices": [1, 1.0]}), "choices list 1.0 twice"),
            (json!({"type": "float", "choices": [-0.0, 0]}), "choices list 0 twice"),
            (json!({"type": "string", "choices": ["1", "a", "1"]}), "choices list \"1\" twice"),
        ] {
            assert_eq!(problems(value), [problem]);
        }
    }

    #[test]
    fn literals_are_escaped() {
        for (param_type, value, sql) in [
            (ParamType::Int, json!(7), "7"),
            (ParamType::Int, json!(-7), "(-7)"),
            (ParamType::Float, json!(1e300), "1e300"),
            (ParamType::Float, json!(-0.5), "(-0.5)"),
            (ParamType::Float, json!(2), "2.0"),
            (ParamType::String, json!("O'Neill"), "'O''Neill'"),
            (ParamType::String, json!("\\'; DROP"), "E'\\\\''; DROP'"),
            (ParamType::Date, json!("2012-01-31"), "DATE '2012-01-31'"),
        ] {
            assert_eq!(literal(param_type, &value), sql);
        }
    }

    #[test]
    fn samples_are_examples_then_defaults() {
        assert_eq!(param(json!({"type": "int", "default": 5, "example": 3})).sample().as_deref(), Some("3"));
        assert_eq!(param(json!({"type": "string", "default": "open"})).sample().as_deref(), Some("open"));
        assert_eq!(param(json!({"type": "int"})).sample(), None);
        assert!(param(json!({"type": "int", "max": 2147483647})).is_small());
        assert!(!param(json!({"type": "int", "max": 2147483648_i64})).is_small());
    }
}
