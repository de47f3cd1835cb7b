//! One SQL statement: what the server is asked about it and what it finds, the places of its params, and what sqlparser
//! makes of a mined one.

pub mod analysis;
pub mod parse;
pub(crate) mod placeholder;
pub mod reads;
pub(crate) mod source_map;
pub(crate) mod statement_text;
