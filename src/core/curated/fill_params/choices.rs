//! Finds one of a param's choices in a question.

use crate::curated::fill_params::question::{Question, words};
use crate::curated::param::{Param, plain};
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;

/// A choice with more words is found only in quotes.
const CHOICE_WORDS: usize = 100;

/// Choices as a trie of their words.
#[derive(Default)]
struct ChoiceTrie {
    next: HashMap<String, ChoiceTrie>,
    /// The choice that ends here.
    choice: Option<usize>,
}

/// Finds the longest choice that the question contains, and its words: "United States" before "States". Words that are
/// `used` do not count.
pub(crate) fn longest_choice<'a>(
    param: &'a Param,
    question: &Question,
    used: &[bool],
) -> Option<(Range<usize>, &'a Value)> {
    if param.choices.is_empty() {
        return None;
    }
    let (mut choices, mut whole) = (ChoiceTrie::default(), HashMap::new());
    for (order, choice) in param.choices.iter().enumerate() {
        let words: Vec<String> = words(&plain(choice)).map(|word| word.text).collect();
        whole.entry(words.join(" ")).or_insert((words.len(), order));
        if (1..=CHOICE_WORDS).contains(&words.len()) {
            let end = words.into_iter().fold(&mut choices, |choices, word| choices.next.entry(word).or_default());
            end.choice.get_or_insert(order);
        }
    }
    let mut best = None;
    let mut found = |length: usize, order: usize, words: Range<usize>| {
        let rank = (Reverse(length), order);
        if best.as_ref().is_none_or(|(best, _)| rank < *best) {
            best = Some((rank, words));
        }
    };
    for (at, word) in question.words.iter().enumerate().filter(|(at, _)| !used[*at]) {
        if let Some((length, order)) = whole.get(&word.text).filter(|(length, _)| word.quoted && *length > 0) {
            found(*length, *order, at..at + 1);
        }
        let mut here = &choices;
        for (end, word) in question.words.iter().enumerate().skip(at).take_while(|(end, _)| !used[*end]) {
            let Some(next) = here.next.get(&word.text) else { break };
            here = next;
            if let Some(order) = here.choice {
                found(end + 1 - at, order, at..end + 1);
            }
        }
    }
    best.map(|((_, order), words)| (words, &param.choices[order]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curated::param::ParamType;

    #[test]
    fn the_longest_choice_is_taken() {
        let long = "x ".repeat(200).trim().to_owned();
        let mut param = Param::new(ParamType::String);
        param.choices = ["States", "a b", "United States", "b c", "c", &long].map(Value::from).into();
        let taken = |text: &str| {
            let question = Question::of(text);
            longest_choice(&param, &question, &vec![false; question.words.len()])
                .map(|(words, choice)| (words, plain(choice)))
        };
        for (question, words, choice) in [
            ("states of the united states", 3..5, "United States"),
            ("a b c", 0..2, "a b"),
            ("c, b c", 1..3, "b c"),
            ("is it 'a b'", 2..3, "a b"),
            (&format!("'{long}'"), 0..1, &long),
        ] {
            assert_eq!(taken(question), Some((words, choice.to_owned())), "{question}");
        }
        assert_eq!(taken("united, a, b'c'"), None);
        assert_eq!(longest_choice(&param, &Question::of("the states"), &[false, true]), None);
    }
}
