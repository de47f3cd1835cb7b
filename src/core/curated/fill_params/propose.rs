//! Proposes values for a verified query's params from a question: a choice, an ISO date, a quoted text, a year, the
//! number after "top", or the word at the place where a phrasing has the param.

use crate::curated::content::VerifiedQuery;
use crate::curated::fill_params::choices::longest_choice;
use crate::curated::fill_params::question::{Question, words};
use crate::curated::fill_params::slot::{Slot, SlotKind};
use crate::curated::param::{Param, ParamType};
use crate::curated::phrasing;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// Words after which a number says how many rows are wanted.
const RANKING: [&str; 8] = ["top", "first", "best", "last", "bottom", "highest", "lowest", "limit"];

/// Words that precede years and other numbers alike, so that they do not distinguish them.
const PREPOSITIONS: [&str; 17] = [
    "in", "since", "of", "from", "to", "until", "till", "for", "by", "at", "on", "before", "after", "during",
    "through", "between", "and",
];

/// Where a proposed value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueSource {
    Question,
    Default,
    /// The caller must supply it.
    Missing,
}

impl ValueSource {
    pub fn name(self) -> &'static str {
        match self {
            ValueSource::Question => "question",
            ValueSource::Default => "default",
            ValueSource::Missing => "missing",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct ProposedValue {
    pub value: Option<Value>,
    pub source: ValueSource,
}

/// Proposes a value for every param. Each word of the question is used for at most one.
pub fn propose(query: &VerifiedQuery, question: &Question) -> BTreeMap<String, ProposedValue> {
    let mut filler = SlotFiller::of(query, question);
    // The most certain kinds come first, and years before numbers that may be the same four digits.
    filler.choices();
    filler.in_context(SlotKind::Date);
    filler.in_order(SlotKind::Date, |_, _| true);
    filler.in_context(SlotKind::Year);
    filler.in_order(SlotKind::Text, |_, _| true);
    filler.years();
    filler.in_context(SlotKind::Number);
    filler.ranked();
    let proposal = |slot: Slot| {
        let proposal = match (slot.found, &slot.param.default) {
            (Some(value), _) => ProposedValue { value: Some(value), source: ValueSource::Question },
            (None, Some(default)) => ProposedValue { value: Some(default.clone()), source: ValueSource::Default },
            (None, None) => ProposedValue { value: None, source: ValueSource::Missing },
        };
        (slot.name.to_owned(), proposal)
    };
    filler.slots.into_iter().map(proposal).collect()
}

/// Fills the params of one query from a question.
struct SlotFiller<'a> {
    question: &'a Question<'a>,
    /// Which words have been used.
    used: Vec<bool>,
    /// Sorted by name.
    slots: Vec<Slot<'a>>,
    /// For each phrasing, the first position of each name.
    named: Vec<HashMap<&'a str, usize>>,
}

impl<'a> SlotFiller<'a> {
    fn of(query: &'a VerifiedQuery, question: &'a Question<'a>) -> Self {
        let slots = query.params.iter().map(Slot::of).collect();
        let mut filler = Self { question, used: vec![false; question.words.len()], slots, named: Vec::new() };
        query.questions.iter().for_each(|phrasing| filler.phrasing(phrasing));
        filler
    }

    fn phrasing(&mut self, phrasing: &'a str) {
        let pieces = phrasing::pieces(phrasing);
        let mut named = HashMap::new();
        for (at, piece) in pieces.iter().enumerate() {
            let Err(name) = piece else { continue };
            named.entry(*name).or_insert(at);
            let Ok(found) = self.slots.binary_search_by(|slot| slot.name.cmp(name)) else { continue };
            let text =
                |at: Option<usize>| at.and_then(|at| pieces.get(at)).and_then(|piece| piece.ok()).unwrap_or_default();
            let (before, after) = (words(text(at.checked_sub(1))).last(), words(text(Some(at + 1))).next());
            let slot = &mut self.slots[found];
            for (place, word) in [(&mut slot.before, before), (&mut slot.after, after)] {
                if let Some(word) = word {
                    place.entry(word.text).or_insert(self.named.len());
                }
            }
        }
        self.named.push(named);
    }

    fn take(&mut self, which: usize, words: Range<usize>, value: Value) {
        self.used[words].fill(true);
        self.slots[which].found = Some(value);
    }

    fn choices(&mut self) {
        for which in 0..self.slots.len() {
            if let Some((words, choice)) = longest_choice(self.slots[which].param, self.question, &self.used) {
                self.take(which, words, choice.clone());
            }
        }
    }

    /// The empty slots of a kind, in the order of the phrasing that names most of them.
    fn left(&self, kind: SlotKind) -> Vec<usize> {
        let mut left: Vec<usize> = (0..self.slots.len())
            .filter(|which| self.slots[*which].found.is_none() && self.slots[*which].kind == kind)
            .collect();
        if left.len() > 1 {
            let count = |named: &&HashMap<&str, usize>| {
                left.iter().filter(|which| named.contains_key(self.slots[**which].name)).count()
            };
            // The first phrasing with the most names.
            if let Some(named) = self.named.iter().rev().max_by_key(count) {
                left.sort_by_key(|which| named.get(self.slots[*which].name).copied().unwrap_or(usize::MAX));
            }
        }
        left
    }

    /// Fills slots with the first unused words that have a value for them.
    fn in_order(&mut self, kind: SlotKind, may: impl Fn(&Param, usize) -> bool) {
        for which in self.left(kind) {
            let slot = &self.slots[which];
            let words =
                self.question.words.iter().enumerate().filter(|(at, _)| !self.used[*at] && may(slot.param, *at));
            let found = words.map(|(at, word)| (at, slot.value(word))).find_map(|(at, value)| Some((at, value?)));
            if let Some((at, value)) = found {
                self.take(which, at..at + 1, value);
            }
        }
    }

    /// Fills slots with words in the same context as in a phrasing: first between the same two words, then next to one.
    fn in_context(&mut self, kind: SlotKind) {
        for sides in [2, 1] {
            for which in self.left(kind) {
                let slot = &self.slots[which];
                let places = (0..self.used.len()).filter(|at| !self.used[*at]).filter_map(|at| {
                    let phrasing = self.fit(slot, at).filter(|fit| fit.0 == sides)?.1;
                    Some((phrasing, at, slot.value(&self.question.words[at])?))
                });
                if let Some((_, at, value)) = places.min_by_key(|(phrasing, at, _)| (*phrasing, *at)) {
                    self.take(which, at..at + 1, value);
                }
            }
        }
    }

    /// The number of neighbors of a word that a phrasing has, too, and the first such phrasing.
    fn fit(&self, slot: &Slot, at: usize) -> Option<(usize, usize)> {
        let words = &self.question.words;
        let before = at.checked_sub(1).and_then(|at| slot.before.get_key_value(&words[at].text));
        let after = words.get(at + 1).and_then(|word| slot.after.get_key_value(&word.text));
        let sides = || before.into_iter().chain(after);
        let mere = sides().all(|(word, _)| PREPOSITIONS.contains(&word.as_str()));
        if mere && slot.kind == SlotKind::Number && self.may_be_a_year(at) {
            return None;
        }
        sides().map(|(_, phrasing)| *phrasing).min().map(|phrasing| (sides().count(), phrasing))
    }

    /// Whether the word looks like a year and the query has a param for one.
    fn may_be_a_year(&self, at: usize) -> bool {
        let word = &self.question.words[at];
        word.has_four_digits()
            && ("1900"..="2100").contains(&word.raw)
            && self.slots.iter().any(|slot| slot.kind == SlotKind::Year)
    }

    /// Fills years with four digits, first with those that do not fit another param by context.
    fn years(&mut self) {
        if self.left(SlotKind::Year).is_empty() {
            return;
        }
        let others = self.left(SlotKind::Number);
        let elsewhere = |at: usize| {
            let wants = |slot: &Slot| self.fit(slot, at).is_some() && slot.value(&self.question.words[at]).is_some();
            others.iter().any(|which| wants(&self.slots[*which]))
        };
        let elsewhere: Vec<bool> = (0..self.used.len()).map(elsewhere).collect();
        self.in_order(SlotKind::Year, |_, at| !elsewhere[at]);
        self.in_order(SlotKind::Year, |_, _| true);
    }

    /// Fills whole numbers that are not years with the number after "top" or a similar word.
    fn ranked(&mut self) {
        let question = self.question;
        let after_ranking = |at: usize| at > 0 && RANKING.contains(&question.words[at - 1].text.as_str());
        self.in_order(SlotKind::Number, |param, at| param.param_type == ParamType::Int && after_ranking(at));
    }
}

#[cfg(test)]
mod tests;
