//! Limits of an item of curated content. They ensure that everything that is stored can be exported and imported again.

use crate::catalog::identifier::shown;
use crate::curated::content::{Item, VerifiedQuery};
use crate::curated::param::Param;
use crate::curated::problem::Problem;

/// The longest name of an item, in bytes.
pub(crate) const LONGEST_NAME: usize = 200;
/// The longest text, expression and value, in bytes.
pub(crate) const LONGEST_TEXT: usize = 10_000;
/// The longest reference to a table, in bytes.
pub(crate) const LONGEST_TABLE: usize = 1_000;
/// The most phrasings of a query, and the most synonyms and tables of a term.
pub(crate) const MOST_TEXTS: usize = 1_000;
pub(crate) const MOST_PARAMS: usize = 100;
const MOST_CHOICES: usize = 10_000;
/// The largest query as JSON, in MB. A document, which may be larger, must be able to hold any query.
const LARGEST: usize = 12;

/// Collects the problems of one item.
pub(crate) struct Problems {
    item: Item,
    pub problems: Vec<Problem>,
}

impl Problems {
    pub(crate) fn new(item: Item) -> Self {
        Self { item, problems: Vec::new() }
    }

    pub(crate) fn add(&mut self, place: impl Into<String>, message: impl Into<String>) {
        self.problems.push(Problem { item: self.item.clone(), place: place.into(), message: message.into() });
    }

    pub(crate) fn name(&mut self, place: &str, name: &str) {
        self.text_within(place, name, LONGEST_NAME);
    }

    /// Checks a phrase that questions are searched for.
    pub(crate) fn phrase(&mut self, place: &str, text: &str) {
        self.name(place, text);
        if !text.trim().is_empty() && !text.chars().any(char::is_alphanumeric) {
            self.add(place, format!("\"{}\" has no letter or digit, so that no question can contain it", shown(text)));
        }
    }

    pub(crate) fn text(&mut self, place: &str, text: &str) {
        self.text_within(place, text, LONGEST_TEXT);
    }

    fn text_within(&mut self, place: &str, text: &str, longest: usize) {
        if text.trim().is_empty() {
            self.add(place, "it must not be empty");
        } else if text.contains('\0') {
            self.add(place, "it holds a null character");
        }
        self.within(place, text, longest);
    }

    /// Checks a text that may be empty.
    pub(crate) fn description(&mut self, text: Option<&str>) {
        let text = text.unwrap_or_default();
        if text.contains('\0') {
            self.add("description", "it holds a null character");
        }
        self.within("description", text, LONGEST_TEXT);
    }

    pub(crate) fn within(&mut self, place: &str, text: &str, longest: usize) -> bool {
        let fits = text.len() <= longest;
        if !fits {
            self.add(place, format!("it is longer than {longest} bytes"));
        }
        fits
    }

    pub(crate) fn at_most(&mut self, place: &str, number: usize, most: usize) -> bool {
        let fits = number <= most;
        if !fits {
            self.add(place, format!("there are {number}, but at most {most} are allowed"));
        }
        fits
    }

    pub(crate) fn size(&mut self, query: &VerifiedQuery) {
        if serde_json::to_vec(query).is_ok_and(|json| json.len() > LARGEST << 20) {
            self.add("query", format!("as JSON it is longer than {LARGEST} MB"));
        }
    }

    pub(crate) fn param(&mut self, place: &str, param: &Param) {
        // Comparing too many choices takes too long.
        if !self.at_most(&format!("{place}, choices"), param.choices.len(), MOST_CHOICES) {
            return;
        }
        let values = [("default", &param.default), ("example", &param.example)];
        let values = values.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        for (name, value) in values.chain(param.choices.iter().map(|choice| ("an element of choices", choice))) {
            if value.as_str().is_some_and(|text| text.len() > LONGEST_TEXT) {
                self.add(place, format!("{name} is longer than {LONGEST_TEXT} bytes"));
            }
        }
        for problem in param.problems() {
            self.add(place, problem);
        }
    }

    pub(crate) fn or<T>(self, value: T) -> Result<T, Vec<Problem>> {
        if self.problems.is_empty() { Ok(value) } else { Err(self.problems) }
    }
}
