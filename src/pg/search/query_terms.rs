//! A question as the lexical search reads it.

use crate::pg::server::error::Result;
use crate::pg::server::query;
use nl2sql_core::search::tsvector;

pub struct QueryTerms {
    /// The distinct stems of its words, without stop words.
    pub stems: Vec<String>,
    /// `a | b | c`, in the syntax of a text search query.
    any: String,
}

impl QueryTerms {
    pub fn new(text: &str) -> Result<Self> {
        let stems = query::read(
            "SELECT s.lexeme FROM (SELECT t.lexeme FROM unnest(to_tsvector('pg_catalog.english', $1)) t
                                   ORDER BY t.positions[1], t.lexeme COLLATE \"C\" LIMIT $2) s
             ORDER BY s.lexeme COLLATE \"C\"",
            &[tsvector::searchable_words(text).into(), (tsvector::MAX_WORDS as i64).into()],
            |row| row.must::<String>(1),
        )?;
        Ok(Self { any: tsvector::any_of(&stems), stems })
    }

    /// A text search query that matches any of the stems.
    pub fn any(&self) -> &str {
        &self.any
    }
}
