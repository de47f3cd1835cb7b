//! One SQL statement: parsed, checked to do nothing but read, and resolved to the columns that it reads.

pub(crate) mod forbidden_functions;
pub mod parse;
pub(crate) mod placeholder;
pub mod reads;
pub mod resolve;
pub(crate) mod source_map;
