//! The logic of nl2sql: what a schema is, how it is named, versioned, cut into chunks, searched
//! and shown. Nothing here knows Postgres's calling convention, so all of it is tested without a
//! server.

pub mod access;
pub mod binding;
pub mod chunk;
pub mod curated;
pub mod description;
pub mod diff;
pub mod digest;
pub mod document;
pub mod expression;
pub mod fingerprint;
pub mod from_clause;
pub mod from_item;
pub mod fusion;
pub mod glossary;
pub mod health;
pub mod issue;
pub mod join;
pub mod known_values;
pub mod mmr;
pub mod name;
pub mod near;
pub mod options;
pub mod output_name;
pub mod param;
pub mod pii;
pub mod placeholder;
pub mod profile;
pub mod prompt;
pub mod proposal;
pub mod rank;
pub mod reads;
pub mod reflect;
pub mod resolve;
pub mod schema;
pub mod scope;
pub mod select;
pub mod statement;
pub mod stems;
pub mod structure;
pub mod sub_query;
pub mod text;
pub mod validate;
pub mod value;
pub mod words;
