//! Values for a query's params, found in a question.

pub mod choices;
pub mod proposal;
pub mod question;
pub mod slot;
