//! Values for a query's params, found in a question.

pub mod choices;
pub mod propose;
pub mod question;
pub mod slot;
