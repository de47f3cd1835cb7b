//! Lexemes of the server's text search: how queries and vectors of them are written.

use std::collections::BTreeMap;

/// Words of a question that are searched for, at most: more than the embedding model reads.
pub const MAX_WORDS: usize = 256;
/// Longer words do not occur in names or comments; in bytes.
const LONGEST_WORD: usize = 256;

/// The words of a question that can be searched for, separated by one space.
pub fn searchable_words(text: &str) -> String {
    let words = text.split_whitespace().filter(|word| word.len() <= LONGEST_WORD).take(4 * MAX_WORDS);
    words.collect::<Vec<_>>().join(" ")
}

/// A `tsquery` that matches any of the lexemes: `'a' | 'b'`.
pub fn any_of(lexemes: &[String]) -> String {
    let quote = |lexeme: &String| format!("'{}'", lexeme.replace('\\', "\\\\").replace('\'', "''"));
    lexemes.iter().map(quote).collect::<Vec<_>>().join(" | ")
}

/// Counts how often each of the given lexemes occurs in a `tsvector` as the server prints it (`'invoic':1,4 'it''s':2`).
pub fn count(vector: &str, lexemes: &[String]) -> BTreeMap<String, u64> {
    let mut counted = BTreeMap::new();
    let mut rest = vector;
    while let Some(start) = rest.find('\'') {
        let Some((lexeme, end)) = quoted(&rest[start + 1..]) else { break };
        rest = &rest[start + 1 + end..];
        let places = rest.split(' ').next().unwrap_or_default();
        if lexemes.contains(&lexeme) {
            counted.insert(lexeme, 1 + places.matches(',').count() as u64);
        }
    }
    counted
}

/// A quoted lexeme without its quotes and escapes, and the byte where it ends.
fn quoted(text: &str) -> Option<(String, usize)> {
    let mut lexeme = String::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' if matches!(chars.peek(), Some((_, '\''))) => {
                chars.next();
                lexeme.push('\'');
            }
            '\'' => return Some((lexeme, at + 1)),
            '\\' => lexeme.extend(chars.next().map(|(_, c)| c)),
            c => lexeme.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_questions_are_cut() {
        let long = "x".repeat(257);
        assert_eq!(searchable_words(&format!(" a {long}\n b ")), "a b");
        assert_eq!(searchable_words(&"w ".repeat(5000)).split(' ').count(), 4 * MAX_WORDS);
    }

    #[test]
    fn counts_places() {
        let lexemes = ["invoic", "it's", "a\\b", "line"].map(str::to_owned);
        let counted = count("'invoic':1,4,9 'it''s':2 'line' 'a\\\\b':3A 'other':5,6", &lexemes);
        let expected = [("a\\b", 1), ("invoic", 3), ("it's", 1), ("line", 1)];
        assert_eq!(counted, expected.into_iter().map(|(lexeme, times)| (lexeme.to_owned(), times)).collect());
        assert!(count("", &lexemes).is_empty() && count("'open", &lexemes).is_empty());
        assert_eq!(any_of(&lexemes), "'invoic' | 'it''s' | 'a\\\\b' | 'line'");
        assert_eq!(any_of(&[]), "");
    }
}
