//! From a line and column of SQL to its byte.

use sqlparser::tokenizer::Location;

/// The bytes at which the characters and lines of a text start.
pub(crate) struct SourceMap<'a> {
    sql: &'a str,
    characters: Vec<usize>,
    /// The first character of each line.
    lines: Vec<usize>,
}

impl<'a> SourceMap<'a> {
    pub(crate) fn of(sql: &'a str) -> Self {
        let mut lines = vec![0];
        lines.extend(sql.chars().enumerate().filter(|(_, c)| *c == '\n').map(|(at, _)| at + 1));
        Self { sql, characters: sql.char_indices().map(|(at, _)| at).collect(), lines }
    }

    /// The byte of a location. Lines and columns count from 1, columns in characters.
    pub(crate) fn byte(&self, location: Location) -> usize {
        let from_one = |count: u64| usize::try_from(count).unwrap_or(usize::MAX).saturating_sub(1);
        let line = self.lines.get(from_one(location.line));
        let character = line.map(|first| first.saturating_add(from_one(location.column)));
        character.and_then(|character| self.characters.get(character)).copied().unwrap_or(self.sql.len())
    }
}
