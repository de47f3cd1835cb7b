//! A param of a verified query that needs a value from a question.

use crate::curated::fill_params::question::Word;
use crate::curated::param::{Param, ParamType, is_date};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

/// The way in which a value is searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SlotKind {
    Year,
    /// A number that is not a year.
    Number,
    Date,
    Text,
    /// A date or text with choices, which are searched for first.
    Chosen,
}

impl SlotKind {
    fn of(name: &str, param: &Param) -> Self {
        match param.param_type {
            ParamType::Int if is_year(name, param) => SlotKind::Year,
            ParamType::Int | ParamType::Float => SlotKind::Number,
            _ if !param.choices.is_empty() => SlotKind::Chosen,
            ParamType::Date => SlotKind::Date,
            ParamType::String => SlotKind::Text,
        }
    }
}

/// A param that needs a value.
pub(crate) struct Slot<'a> {
    pub name: &'a str,
    pub param: &'a Param,
    pub kind: SlotKind,
    /// The choices that are numbers, by their bits, for a fast lookup.
    numbers: HashSet<u64>,
    /// The words before and after it in phrasings, each with the index of the first such phrasing.
    pub before: HashMap<String, usize>,
    pub after: HashMap<String, usize>,
    pub found: Option<Value>,
}

impl<'a> Slot<'a> {
    pub(crate) fn of((name, param): (&'a String, &'a Param)) -> Self {
        let numbers = param.choices.iter().filter_map(bits).collect();
        Self {
            name,
            param,
            kind: SlotKind::of(name, param),
            numbers,
            before: HashMap::new(),
            after: HashMap::new(),
            found: None,
        }
    }

    /// The value that the word has for the param, if it is allowed.
    pub(crate) fn value(&self, word: &Word) -> Option<Value> {
        let value = match self.param.param_type {
            ParamType::Int => json!(word.number()?.parse::<i64>().ok()?),
            ParamType::Float => {
                let text = word.number()?;
                text.parse::<i64>()
                    .map_or_else(|_| text.parse::<f64>().map(|number| json!(number)), |whole| Ok(json!(whole)))
                    .ok()?
            }
            ParamType::Date => json!(is_date(word.raw).then_some(word.raw)?),
            ParamType::String => json!(word.quoted.then_some(word.raw)?),
        };
        if self.kind == SlotKind::Year && !word.has_four_digits() {
            return None;
        }
        // The full check would go through all choices.
        let may_be = self.numbers.is_empty() || bits(&value).is_some_and(|bits| self.numbers.contains(&bits));
        (may_be && self.param.check(&value).is_ok()).then_some(value)
    }
}

/// The bits of a number for lookup. 2 and 2.0 are equal.
fn bits(value: &Value) -> Option<u64> {
    value.as_f64().map(|number| (number + 0.0).to_bits())
}

/// Whether a whole number is a year, by the param's name or its bounds.
fn is_year(name: &str, param: &Param) -> bool {
    let bound = |bound: &Option<Value>| bound.as_ref().and_then(Value::as_i64);
    let named = crate::catalog::identifier_words::split_identifier(name)
        .split(' ')
        .any(|word| word == "year" || word == "years");
    let bounded = bound(&param.min).is_some_and(|min| min >= 1000) && bound(&param.max).is_some_and(|max| max <= 9999);
    named || bounded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curated::fill_params::question::Question;

    #[test]
    fn a_word_is_checked() {
        for (name, param, word, value) in [
            ("n", json!({"type": "int", "max": 2000}), "1,500", json!(1500)),
            ("n", json!({"type": "int", "max": 2000}), "2,500", json!(null)),
            ("n", json!({"type": "int", "choices": [500, 1500]}), "1,500", json!(1500)),
            ("n", json!({"type": "int", "choices": [500, 1500]}), "1,600", json!(null)),
            ("n", json!({"type": "int"}), "1.0", json!(null)),
            ("x", json!({"type": "float", "choices": [0, 2.0]}), "2", json!(2)),
            ("x", json!({"type": "float", "choices": [0, 2.5]}), "-0.0", json!(-0.0)),
            ("x", json!({"type": "float"}), "9".repeat(400).as_str(), json!(null)),
            ("sales_year", json!({"type": "int"}), "2011", json!(2011)),
            ("sales_year", json!({"type": "int"}), "2,011", json!(null)),
            ("yearly", json!({"type": "int"}), "2,011", json!(2011)),
            ("day", json!({"type": "date"}), "2011-02-29", json!(null)),
            ("who", json!({"type": "string"}), "'Ann'", json!("Ann")),
            ("who", json!({"type": "string"}), "Ann", json!(null)),
        ] {
            let param: Param = serde_json::from_value(param).unwrap_or_else(|error| panic!("{name}: {error}"));
            let name = name.to_owned();
            assert_eq!(
                Slot::of((&name, &param)).value(&Question::of(word).words[0]).unwrap_or_default(),
                value,
                "{name} {word}"
            );
        }
    }
}
