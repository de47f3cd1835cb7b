//! Stems of words, as the server's text search writes them.

use std::collections::BTreeMap;

/// Words of a question that are looked for, at most: more than the embedding model reads.
pub const MAX_WORDS: usize = 256;
/// A longer word is none that a name or a comment has; in bytes.
const LONGEST_WORD: usize = 256;

/// The words of a question that can be looked for.
pub fn searchable_words(text: &str) -> String {
    let words = text.split_whitespace().filter(|word| word.len() <= LONGEST_WORD).take(4 * MAX_WORDS);
    words.collect::<Vec<_>>().join(" ")
}

/// A text search query that any of the stems satisfies: `'a' | 'b'`.
pub fn any_of(stems: &[String]) -> String {
    let quote = |stem: &String| format!("'{}'", stem.replace('\\', "\\\\").replace('\'', "''"));
    stems.iter().map(quote).collect::<Vec<_>>().join(" | ")
}

/// How often a `tsvector`, as the server prints it (`'invoic':1,4 'it''s':2`), has each of the wanted stems.
pub fn count(vector: &str, wanted: &[String]) -> BTreeMap<String, u64> {
    let mut counted = BTreeMap::new();
    let mut rest = vector;
    while let Some(start) = rest.find('\'') {
        let Some((stem, end)) = quoted(&rest[start + 1..]) else { break };
        rest = &rest[start + 1 + end..];
        let places = rest.split(' ').next().unwrap_or_default();
        if wanted.contains(&stem) {
            counted.insert(stem, 1 + places.matches(',').count() as u64);
        }
    }
    counted
}

/// A quoted stem without its quotes and escapes, and where it ends.
fn quoted(text: &str) -> Option<(String, usize)> {
    let mut stem = String::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' if matches!(chars.peek(), Some((_, '\''))) => {
                chars.next();
                stem.push('\'');
            }
            '\'' => return Some((stem, at + 1)),
            '\\' => stem.extend(chars.next().map(|(_, c)| c)),
            c => stem.push(c),
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
        let wanted = ["invoic", "it's", "a\\b", "line"].map(str::to_owned);
        let counted = count("'invoic':1,4,9 'it''s':2 'line' 'a\\\\b':3A 'other':5,6", &wanted);
        let expected = [("a\\b", 1), ("invoic", 3), ("it's", 1), ("line", 1)];
        assert_eq!(counted, expected.into_iter().map(|(stem, times)| (stem.to_owned(), times)).collect());
        assert!(count("", &wanted).is_empty() && count("'open", &wanted).is_empty());
        assert_eq!(any_of(&wanted), "'invoic' | 'it''s' | 'a\\\\b' | 'line'");
        assert_eq!(any_of(&[]), "");
    }
}
