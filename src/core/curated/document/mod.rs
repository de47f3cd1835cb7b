//! The document that curated content is imported from and exported to: YAML, and so JSON.
//!
//! `yaml` reads and writes it. When the parser rejects one, `location` finds the datasource, piece and key that a line
//! belongs to, and `error` describes the problem.

mod error;
mod location;
pub mod yaml;
