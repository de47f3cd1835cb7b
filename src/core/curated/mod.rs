//! Content that people write: verified queries with typed params, metrics and glossary terms. It is read from a document,
//! validated against a snapshot, and a query's params are filled from a question.

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
