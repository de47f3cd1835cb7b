//! Content that people write: verified queries with typed params, metrics and glossary terms.
//!
//! `document` reads it, `validate` checks it against a snapshot, `fill_params` finds values for a query's params in a
//! question, `bind` puts values into its SQL, and `impact` finds what a change of the schema breaks.

pub mod bind;
pub mod content;
pub mod document;
pub mod fill_params;
pub mod impact;
pub(crate) mod limits;
pub mod param;
pub(crate) mod phrasing;
pub mod problem;
pub mod validate;
