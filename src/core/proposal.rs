//! Values for a verified query's params, read from a question where they are plain: a choice, an ISO date, a quoted
//! text, a year, the number after "top" or where a phrasing has the param.

use crate::curated::VerifiedQuery;
use crate::param::{Param, ParamType, is_date, plain};
use crate::placeholder;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Words after which a number says how many are wanted.
const RANKING: [&str; 8] = ["top", "first", "best", "last", "bottom", "highest", "lowest", "limit"];

/// Where a proposed value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Question,
    Default,
    /// The caller has to say.
    Missing,
}

impl Source {
    pub fn name(self) -> &'static str {
        match self {
            Source::Question => "question",
            Source::Default => "default",
            Source::Missing => "missing",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    pub value: Option<Value>,
    pub source: Source,
}

/// A word of the question.
struct Word<'a> {
    /// In lower case.
    text: String,
    /// As it stands.
    raw: &'a str,
    /// In quotes.
    quoted: bool,
    used: bool,
}

/// A value for every param. Each word of the question gives at most one.
pub fn propose(query: &VerifiedQuery, question: &str) -> BTreeMap<String, Proposal> {
    let mut words = words(question);
    let mut found: BTreeMap<String, Value> = BTreeMap::new();
    // What is surest comes first.
    type Read = fn(&str, &Param, &VerifiedQuery, &mut Vec<Word>) -> Option<Value>;
    let readings: [Read; 6] = [choice, date, in_context, quoted, year, ranked];
    for read in readings {
        for (name, param) in &query.params {
            if !found.contains_key(name)
                && let Some(value) = read(name, param, query, &mut words)
            {
                found.insert(name.clone(), value);
            }
        }
    }
    let proposal = |(name, param): (&String, &Param)| {
        let proposal = match (found.remove(name), &param.default) {
            (Some(value), _) => Proposal { value: Some(value), source: Source::Question },
            (None, Some(default)) => Proposal { value: Some(default.clone()), source: Source::Default },
            (None, None) => Proposal { value: None, source: Source::Missing },
        };
        (name.clone(), proposal)
    };
    query.params.iter().map(proposal).collect()
}

/// Words, numbers and dates of a question; a text in quotes is one.
fn words(question: &str) -> Vec<Word<'_>> {
    const QUOTES: [(char, char); 4] = [('"', '"'), ('\'', '\''), ('“', '”'), ('‘', '’')];
    let mut words = Vec::new();
    let mut rest = question;
    while let Some(first) = rest.chars().next() {
        let after = &rest[first.len_utf8()..];
        // An apostrophe within a word is not looked at here: a word is taken as a whole.
        if let Some((_, close)) = QUOTES.iter().find(|(open, _)| *open == first)
            && let Some(end) = after.find(*close)
            && end > 0
        {
            let raw = &after[..end];
            words.push(Word { text: raw.to_lowercase(), raw, quoted: true, used: false });
            rest = &after[end + close.len_utf8()..];
        } else if first.is_alphanumeric() || (matches!(first, '-' | '.') && after.starts_with(|c: char| c.is_ascii_digit())) {
            let end = after
                .char_indices()
                .find(|(at, c)| !(c.is_alphanumeric() || (joins(*c) && after[at + c.len_utf8()..].starts_with(char::is_alphanumeric))))
                .map_or(after.len(), |(at, _)| at);
            let raw = &rest[..first.len_utf8() + end];
            words.push(Word { text: raw.to_lowercase(), raw, quoted: false, used: false });
            rest = &after[end..];
        } else {
            rest = after;
        }
    }
    words
}

fn joins(c: char) -> bool {
    matches!(c, '-' | '.' | ',' | '\'' | '_' | '’')
}

/// A number or text of the param's type, where it may be one.
fn value(param: &Param, word: &Word) -> Option<Value> {
    let number = || word.raw.replace(',', "");
    let value = match param.param_type {
        ParamType::Int => json!(number().parse::<i64>().ok()?),
        ParamType::Float => {
            let text = number();
            let plain = text.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            let number: f64 = text.parse().ok().filter(|_| plain)?;
            text.parse::<i64>().map_or_else(|_| json!(number), |whole| json!(whole))
        }
        ParamType::Date => json!(word.raw.to_owned()),
        ParamType::String => json!(word.raw.to_owned()),
    };
    param.check(&value).ok().map(|()| value)
}

/// The first word not yet used that gives a value.
fn first(words: &mut [Word], wanted: impl Fn(&Word) -> Option<Value>) -> Option<Value> {
    let (at, value) = words.iter().enumerate().filter(|(_, word)| !word.used).find_map(|(at, word)| Some((at, wanted(word)?)))?;
    words[at].used = true;
    Some(value)
}

fn choice(_: &str, param: &Param, _: &VerifiedQuery, words: &mut Vec<Word>) -> Option<Value> {
    // The longest first: "United States" before "States".
    let mut choices: Vec<(Vec<String>, &Value)> = param
        .choices
        .iter()
        .map(|choice| (self::words(&plain(choice)).into_iter().map(|word| word.text).collect::<Vec<_>>(), choice))
        .filter(|(words, _)| !words.is_empty())
        .collect();
    choices.sort_by_key(|(words, _)| std::cmp::Reverse(words.len()));
    for (wanted, choice) in choices {
        let text = wanted.join(" ");
        let place = (0..words.len()).find_map(|at| {
            if words[at].quoted && words[at].text == text && !words[at].used {
                return Some((at, 1));
            }
            let run = words.get(at..at + wanted.len())?;
            run.iter().zip(&wanted).all(|(word, wanted)| !word.used && word.text == *wanted).then_some((at, wanted.len()))
        });
        if let Some((at, length)) = place {
            words[at..at + length].iter_mut().for_each(|word| word.used = true);
            return Some(choice.clone());
        }
    }
    None
}

fn date(_: &str, param: &Param, _: &VerifiedQuery, words: &mut Vec<Word>) -> Option<Value> {
    let wanted = param.param_type == ParamType::Date;
    wanted.then(|| first(words, |word| value(param, word).filter(|_| is_date(word.raw)))).flatten()
}

fn quoted(_: &str, param: &Param, _: &VerifiedQuery, words: &mut Vec<Word>) -> Option<Value> {
    let wanted = param.param_type == ParamType::String && param.choices.is_empty();
    wanted.then(|| first(words, |word| value(param, word).filter(|_| word.quoted))).flatten()
}

/// Four digits, for a param that is a year by its name or its bounds.
fn year(name: &str, param: &Param, _: &VerifiedQuery, words: &mut Vec<Word>) -> Option<Value> {
    if !is_year(name, param) {
        return None;
    }
    first(words, |word| value(param, word).filter(|_| looks_like_a_year(word)))
}

fn is_year(name: &str, param: &Param) -> bool {
    let bound = |bound: &Option<Value>| bound.as_ref().and_then(Value::as_i64);
    let named = crate::words::split_identifier(name).split(' ').any(|word| word == "year" || word == "years");
    let bounded = bound(&param.min).is_some_and(|min| min >= 1000) && bound(&param.max).is_some_and(|max| max <= 9999);
    param.param_type == ParamType::Int && (named || bounded)
}

fn looks_like_a_year(word: &Word) -> bool {
    word.raw.len() == 4 && word.raw.bytes().all(|byte| byte.is_ascii_digit())
}

/// The number after "top" and its kind, for a whole number that is no year.
fn ranked(name: &str, param: &Param, _: &VerifiedQuery, words: &mut Vec<Word>) -> Option<Value> {
    if param.param_type != ParamType::Int || is_year(name, param) {
        return None;
    }
    let at = (1..words.len()).find(|at| !words[*at].used && RANKING.contains(&words[at - 1].text.as_str()) && value(param, &words[*at]).is_some())?;
    words[at].used = true;
    value(param, &words[at])
}

/// The number that stands where a phrasing has the param: after the same word, or before it.
fn in_context(name: &str, param: &Param, query: &VerifiedQuery, words: &mut Vec<Word>) -> Option<Value> {
    if !matches!(param.param_type, ParamType::Int | ParamType::Float) {
        return None;
    }
    for question in &query.questions {
        let pieces = placeholder::pieces(question);
        for (at, piece) in pieces.iter().enumerate() {
            if *piece != Err(name) {
                continue;
            }
            let beside = |piece: Option<&Result<&str, &str>>, last: bool| match piece {
                Some(Ok(text)) => {
                    let words = self::words(text);
                    if last { words.into_iter().next_back() } else { words.into_iter().next() }.map(|word| word.text)
                }
                _ => None,
            };
            let (before, after) = (at.checked_sub(1).and_then(|at| beside(pieces.get(at), true)), beside(pieces.get(at + 1), false));
            let fits = |at: usize| {
                let word_before = at.checked_sub(1).map(|at| words[at].text.as_str());
                let word_after = words.get(at + 1).map(|word| word.text.as_str());
                (before.is_some() && before.as_deref() == word_before) || (after.is_some() && after.as_deref() == word_after)
            };
            // A year is no number of things, and the other way round.
            let sort = |word: &Word| is_year(name, param) == looks_like_a_year(word);
            let place = (0..words.len()).find(|at| !words[*at].used && sort(&words[*at]) && fits(*at) && value(param, &words[*at]).is_some());
            if let Some(at) = place {
                words[at].used = true;
                return value(param, &words[at]);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(params: Value, questions: &[&str]) -> VerifiedQuery {
        serde_json::from_value(json!({"id": "q", "questions": questions, "params": params, "sql": "SELECT 1"})).unwrap()
    }

    fn proposed(query: &VerifiedQuery, question: &str) -> Vec<(String, Value, &'static str)> {
        propose(query, question)
            .into_iter()
            .map(|(name, proposal)| (name, proposal.value.unwrap_or_default(), proposal.source.name()))
            .collect()
    }

    fn top() -> VerifiedQuery {
        query(
            json!({"n": {"type": "int", "default": 10, "min": 1, "max": 100}, "year": {"type": "int", "min": 2009, "max": 2013, "example": 2012}}),
            &["Who are our top {n} customers by revenue in {year}?", "Best {n} customers in {year}"],
        )
    }

    #[test]
    fn numbers_find_their_params() {
        for (question, n, year) in [
            ("top 7 customers in 2011", json!(7), json!(2011)),
            ("Which 12 customers spent the most in 2009?", json!(12), json!(2009)),
            ("in 2013, the best 3 customers", json!(3), json!(2013)),
            ("first 5 of 2010", json!(5), json!(2010)),
        ] {
            assert_eq!(proposed(&top(), question), [("n".into(), n, "question"), ("year".into(), year, "question")], "{question}");
        }
        assert_eq!(proposed(&top(), "top 700 customers in 1999"), [("n".into(), json!(10), "default"), ("year".into(), json!(null), "missing")]);
        assert_eq!(proposed(&top(), "customers of 2011")[1].1, 2011);
    }

    #[test]
    fn texts_dates_and_choices() {
        let query = query(
            json!({
                "country": {"type": "string", "choices": ["USA", "United Kingdom", "Kingdom"]}, "who": {"type": "string"},
                "since": {"type": "date", "min": "2000-01-01"}, "share": {"type": "float", "default": 0.5}
            }),
            &["{who} of {country} since {since} above {share} percent"],
        );
        let found = proposed(&query, "orders of \"O'Neill & Co\" from the united kingdom since 2012-02-29, above 2.5");
        assert_eq!(found, [
            ("country".into(), json!("United Kingdom"), "question"),
            ("share".into(), json!(2.5), "question"),
            ("since".into(), json!("2012-02-29"), "question"),
            ("who".into(), json!("O'Neill & Co"), "question"),
        ]);
        let found = proposed(&query, "don't know 2012-02-30 'n'");
        assert_eq!(found[2], ("since".into(), json!(null), "missing"));
        assert_eq!(found[3].1, "n");
        assert_eq!(proposed(&query, "above .5")[1].1, 0.5);
    }

    #[test]
    fn two_of_a_kind_are_taken_in_turn() {
        let query = query(json!({"from_year": {"type": "int"}, "to_year": {"type": "int"}}), &["{from_year} {to_year}"]);
        assert_eq!(proposed(&query, "between 2010 and 2012").into_iter().map(|(_, value, _)| value).collect::<Vec<_>>(), [json!(2010), json!(2012)]);
    }

    proptest::proptest! {
        #[test]
        fn every_proposal_passes_its_check(question in "(?s).{0,60}|([a-z]{1,5} |[0-9]{1,5} |top |'[a-z ]{1,6}' ){0,10}") {
            for (name, proposal) in propose(&top(), &question) {
                if let Some(value) = proposal.value {
                    proptest::prop_assert_eq!(top().params[&name].check(&value), Ok(()));
                }
            }
        }
    }
}
