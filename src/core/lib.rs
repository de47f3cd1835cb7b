//! The logic of nl2sql: what a schema is, how it is named, versioned, cut into chunks, searched
//! and shown. Nothing here knows Postgres's calling convention, so all of it is tested without a
//! server.

pub mod access;
pub mod chunk;
pub mod description;
pub mod digest;
pub mod diff;
pub mod fingerprint;
pub mod fusion;
pub mod health;
pub mod issue;
pub mod join;
pub mod known_values;
pub mod mmr;
pub mod name;
pub mod near;
pub mod options;
pub mod pii;
pub mod profile;
pub mod prompt;
pub mod rank;
pub mod reflect;
pub mod schema;
pub mod scope;
pub mod select;
pub mod stems;
pub mod structure;
pub mod sub_query;
pub mod text;
pub mod value;
pub mod words;
