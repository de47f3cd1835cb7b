//! Finds values for a query's params in a question.
//!
//! `question` splits the question into words. Each param is a `slot` that words are tried in, `choices` finds listed
//! values, and `propose` fills the slots.

pub(crate) mod choices;
pub mod propose;
pub mod question;
pub(crate) mod slot;
