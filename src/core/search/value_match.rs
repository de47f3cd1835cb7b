//! Values that a question names: `rock`, `Brazil`, `cancelled`.

use crate::catalog::identifier_words::split_identifier;

/// Similarity of a column whose value the question names: that of a text equal to the question, …
const EXACT: f64 = 1.0;
/// … and a little less with a typing error.
const NEAR: f64 = 0.9;
/// Shorter words often differ by one letter only. In characters.
const SHORTEST_NEAR: usize = 6;
/// Words of a value, at most.
const MOST_WORDS: usize = 5;
/// Values that are common words of questions.
const COMMON: &str =
    " a all an and any are as at be by do for from in is it me no not of off on or other so the to up us was yes ";

/// A question prepared for comparison with values.
pub struct ValueMatcher {
    /// Runs of one to five words, in lower case.
    runs: Vec<String>,
}

/// A value that the question names.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueMatch {
    pub value: String,
    /// 1 for the exact value, 0.9 with a typing error.
    pub similarity: f64,
}

impl ValueMatcher {
    pub fn new(question: &str) -> Self {
        let words = plain_words(question);
        let mut runs = Vec::new();
        for from in 0..words.len() {
            for to in from + 1..=words.len().min(from + MOST_WORDS) {
                runs.push(words[from..to].join(" "));
            }
        }
        Self { runs }
    }

    /// The best match among a column's values: exact matches first, then the longer value, then the earlier one. Numbers,
    /// single letters and common words do not match.
    pub fn best(&self, values: &[String]) -> Option<ValueMatch> {
        let found = values.iter().filter_map(|value| self.compare(value));
        found.reduce(|best, next| {
            let order = next.similarity.total_cmp(&best.similarity);
            if order.then_with(|| next.value.len().cmp(&best.value.len())).is_gt() { next } else { best }
        })
    }

    fn compare(&self, value: &str) -> Option<ValueMatch> {
        let plain = plain_words(value).join(" ");
        if plain.chars().filter(|c| c.is_alphabetic()).count() < 2 || COMMON.contains(&format!(" {plain} ")) {
            return None;
        }
        let similarity = if self.runs.contains(&plain) {
            EXACT
        } else if plain.chars().count() >= SHORTEST_NEAR
            && self.runs.iter().any(|run| run.chars().count() >= SHORTEST_NEAR && nearly(run, &plain))
        {
            NEAR
        } else {
            return None;
        };
        Some(ValueMatch { value: value.to_owned(), similarity })
    }
}

/// Whether the texts begin with the same letter and differ by one letter that is added, missing, other or transposed, or
/// by a plural `es`.
fn nearly(run: &str, value: &str) -> bool {
    run.len().abs_diff(value.len()) <= 2
        && run.chars().next() == value.chars().next()
        && (strsim::damerau_levenshtein(run, value) <= 1 || run.strip_suffix("es") == Some(value))
}

fn plain_words(text: &str) -> Vec<String> {
    // "in progress" matches `in_progress`.
    let text = if text.contains(' ') { text.to_lowercase() } else { split_identifier(text) };
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(question: &str, values: &[&str]) -> Option<(String, f64)> {
        let values: Vec<String> = values.iter().map(|value| value.to_string()).collect();
        ValueMatcher::new(question).best(&values).map(|found| (found.value, found.similarity))
    }

    #[test]
    fn exact_then_nearly() {
        let genres = ["Rock", "Rock And Roll", "Jazz", "Hip Hop/Rap"];
        assert_eq!(named("How many rock tracks?", &genres), Some(("Rock".into(), 1.0)));
        assert_eq!(named("who plays ROCK AND ROLL", &genres), Some(("Rock And Roll".into(), 1.0)));
        assert_eq!(named("hip-hop / rap albums", &genres), Some(("Hip Hop/Rap".into(), 1.0)));
        assert_eq!(named("orders from Brasil", &["Brazil", "Chile"]), Some(("Brazil".into(), 0.9)));
        assert_eq!(named("orders that were canceled", &["cancelled", "open"]), Some(("cancelled".into(), 0.9)));
        assert_eq!(named("what is in progress?", &["in_progress"]), Some(("in_progress".into(), 1.0)));
        assert_eq!(named("all refunds", &["refund"]), Some(("refund".into(), 0.9)));
    }

    #[test]
    fn numbers_and_common_words_do_not_match() {
        assert_eq!(named("orders of all customers in 2013", &["all", "2013", "a", "in", ""]), None);
        assert_eq!(named("a rack of tracks", &["Rock"]), None, "short words differ by a letter");
        assert_eq!(named("", &["Rock"]), None);
        assert_eq!(named("orders from Chile", &["China"]), None);
        assert_eq!(named("seven people and which child", &["Steven", "Chile"]), None);
    }
}
