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
mod tests {
    use super::*;
    use serde_json::json;

    fn query(params: Value, questions: &[&str]) -> VerifiedQuery {
        serde_json::from_value(json!({"id": "q", "questions": questions, "params": params, "sql": "SELECT 1"})).unwrap()
    }

    fn proposed(query: &VerifiedQuery, question: &str) -> Vec<(String, Value, &'static str)> {
        propose(query, &Question::of(question))
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
            assert_eq!(
                proposed(&top(), question),
                [("n".into(), n, "question"), ("year".into(), year, "question")],
                "{question}"
            );
        }
        assert_eq!(
            proposed(&top(), "top 700 customers in 1999"),
            [("n".into(), json!(10), "default"), ("year".into(), json!(null), "missing")]
        );
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
        assert_eq!(
            found,
            [
                ("country".into(), json!("United Kingdom"), "question"),
                ("share".into(), json!(2.5), "question"),
                ("since".into(), json!("2012-02-29"), "question"),
                ("who".into(), json!("O'Neill & Co"), "question"),
            ]
        );
        let found = proposed(&query, "don't know 2012-02-30 'n'");
        assert_eq!(found[2], ("since".into(), json!(null), "missing"));
        assert_eq!(found[3].1, "n");
        assert_eq!(proposed(&query, "above .5")[1].1, 0.5);
    }

    #[test]
    fn two_of_a_kind_are_taken_in_turn() {
        let query =
            query(json!({"from_year": {"type": "int"}, "to_year": {"type": "int"}}), &["{from_year} {to_year}"]);
        assert_eq!(
            proposed(&query, "between 2010 and 2012").into_iter().map(|(_, value, _)| value).collect::<Vec<_>>(),
            [json!(2010), json!(2012)]
        );
    }

    fn values(query: &VerifiedQuery, question: &str) -> Vec<Value> {
        proposed(query, question).into_iter().map(|(_, value, _)| value).collect()
    }

    #[test]
    fn a_number_of_four_digits_is_one_where_a_phrasing_has_it() {
        let orders = query(
            json!({"days": {"type": "int", "default": 1}, "amt": {"type": "float", "default": 0}}),
            &["orders within {days} days over {amt}"],
        );
        for (question, amt, days) in [
            ("orders over 2000", json!(2000), json!(1)),
            ("orders over 2000 within 1500 days", json!(2000), json!(1500)),
            ("orders over 12,345.5 within 1,500 days", json!(12345.5), json!(1500)),
            ("orders within 7,8 days over 1.234,50", json!(0), json!(1)),
            ("orders over 1,2,3 within 1.234.567 days", json!(0), json!(1)),
        ] {
            assert_eq!(values(&orders, question), [amt, days], "{question}");
        }
    }

    #[test]
    fn a_year_has_the_first_claim() {
        let year = json!({"type": "int", "min": 2000, "max": 2030});
        let any = query(
            json!({"n": {"type": "int", "default": 10}, "year": year}),
            &["top {n} customers in {year}", "in {n} days of {year}"],
        );
        for (question, n, year) in [
            ("top 7 customers in 2011", json!(7), json!(2011)),
            ("Which customers spent most in 2011?", json!(10), json!(2011)),
            ("2011 customers", json!(10), json!(2011)),
            ("in 1999", json!(10), json!(null)),
            ("top 1999 customers in 2011", json!(1999), json!(2011)),
            ("in 1999 days of 2011", json!(1999), json!(2011)),
        ] {
            assert_eq!(values(&any, question), [n, year], "{question}");
        }
        let both =
            query(json!({"amt": {"type": "float", "default": 1}, "year": year}), &["orders of {year} over {amt}"]);
        assert_eq!(values(&both, "orders over 2000 in 2011"), [json!(2000), json!(2011)]);
        assert_eq!(values(&both, "orders over 2000"), [json!(1), json!(2000)]);
    }

    #[test]
    fn dates_find_their_params() {
        let params = json!({"from_date": {"type": "date"}, "to_date": {"type": "date"}});
        let orders = query(params.clone(), &["orders from {from_date} until {to_date}"]);
        for question in
            ["orders until 2020-02-03 from 2020-01-05", "from 2020-01-05 until 2020-02-03", "2020-01-05 .. 2020-02-03"]
        {
            assert_eq!(values(&orders, question), ["2020-01-05", "2020-02-03"], "{question}");
        }
        assert_eq!(values(&orders, "orders until 2020-02-03"), [json!(null), json!("2020-02-03")]);
        // Without context, as the phrasing that names both has them.
        let params = json!({"end": params["to_date"], "start": params["from_date"]});
        let orders = query(params.clone(), &["orders until {end}", "orders from {start} to {end}"]);
        assert_eq!(values(&orders, "2020-01-05 .. 2020-02-03"), ["2020-02-03", "2020-01-05"]);
        assert_eq!(values(&query(params, &[]), "2020-01-05 .. 2020-02-03"), ["2020-01-05", "2020-02-03"]);
    }

    #[test]
    fn a_place_that_fits_on_both_sides_is_better() {
        let customers =
            query(json!({"a": {"type": "int"}, "n": {"type": "int"}}), &["{a} customers", "the top {n} customers"]);
        assert_eq!(values(&customers, "of 3 customers the top 5 customers"), [json!(3), json!(5)]);
        assert_eq!(values(&customers, "top 5 customers"), [json!(null), json!(5)]);
        let customers = query(json!({"n": {"type": "int"}}), &["the top {n} customers", "{n} clients"]);
        for question in [
            "top 3, then top 5 customers",
            "3 clients or the top 5 clients",
            "the first 3 of 7 customers, top 5 clients",
        ] {
            assert_eq!(values(&customers, question), [5], "{question}");
        }
    }

    /// It would not end if any of it took time with the square of the question, or the question times all choices.
    #[test]
    fn a_hostile_question_is_read() {
        let choices: Vec<String> = (0..3_000).map(|number| format!("gross lost {number}")).collect();
        let numbers: Vec<i64> = (0..3_000).map(|number| number * 7 + 50_000).collect();
        let phrasings: Vec<String> =
            (0..1_000).map(|number| format!("over {{n}} w{number} {{year}} over {{amt}} of {{who}} {{day}}")).collect();
        let phrasings: Vec<&str> = phrasings.iter().map(String::as_str).collect();
        let params = json!({
            "kind": {"type": "string", "choices": choices}, "amt": {"type": "float", "choices": numbers}, "n": {"type": "int", "max": 0},
            "year": {"type": "int", "max": 0}, "who": {"type": "string"}, "day": {"type": "date", "max": "0001-01-01"}
        });
        let query = query(params, &phrasings);
        for text in [
            "“",
            "‘",
            "lost ‘customers gross ",
            "gross ",
            "gross lost ",
            "over 1 ",
            "over 2011 ",
            "2020-01-01 ",
            "1,234",
            "a",
            "'",
            "'a' ",
            "over 1,234 w1 ",
            "\0'",
        ] {
            let text = text.repeat(5_000_000 / text.len());
            assert_eq!(propose(&query, &Question::of(&text)).len(), 6);
        }
    }

    proptest::proptest! {
        #[test]
        fn every_proposal_passes_its_check(question in "(?s).{0,60}|([a-z]{1,5} |[0-9]{1,5} |top |'[a-z ]{1,6}' ){0,10}") {
            for (name, proposal) in propose(&top(), &Question::of(&question)) {
                if let Some(value) = proposal.value {
                    proptest::prop_assert_eq!(top().params[&name].check(&value), Ok(()));
                }
            }
        }
    }
}
