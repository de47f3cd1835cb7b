//! Values for a query's params, found in a question.

pub(crate) mod choices;
pub mod propose;
pub mod question;
pub(crate) mod slot;
