//! One SQL statement: parsed, checked to do nothing but read, and resolved to the columns that it reads.

pub mod forbidden_functions;
pub mod parse;
pub mod placeholder;
pub mod reads;
pub mod resolve;
pub mod source_map;
