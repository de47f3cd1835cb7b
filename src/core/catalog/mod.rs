//! A schema as the server describes it.
//!
//! Rows of the system catalogs become a `Schema`: tables, columns, keys, comments and statistics. A datasource's options
//! say which tables and columns are in scope, and which columns hold personal data.

pub mod assemble;
pub(crate) mod check_values;
pub mod globs;
pub mod identifier;
pub mod identifier_words;
pub mod option_repair;
pub mod options;
pub mod overrides;
pub(crate) mod pii;
pub(crate) mod pii_words;
pub mod schema;
pub mod scope;
pub mod statistics;
pub mod structure_rows;
