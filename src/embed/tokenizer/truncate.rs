//! Truncates a long text before it is tokenized. Only the first few hundred tokens count, and tokenizing takes time in
//! proportion to the length.

/// Bytes to try first. 254 tokens of English or of identifiers take about 1,200 bytes.
const FIRST_LIMIT: usize = 4 << 10;
/// Bytes at which a text always ends. Matters only for a text whose first 64 KiB hold fewer tokens than the model
/// keeps, for example one of control characters, or of words of hundreds of letters.
const LAST_LIMIT: usize = 64 << 10;

/// The prefixes of `text` to try, each longer than the one before. The last one is the whole text, or its first 64 KiB.
///
/// A prefix ends before white space, so its words are words of the whole text. A prefix that yields as many tokens as
/// the model keeps therefore yields the same tokens as the whole text.
pub(crate) fn prefixes(text: &str) -> impl Iterator<Item = &str> {
    let text = if text.len() > FIRST_LIMIT { text.trim_start() } else { text };
    let mut next = Some(FIRST_LIMIT);
    std::iter::from_fn(move || {
        let limit = next?;
        next = if limit >= text.len() || limit >= LAST_LIMIT { None } else { Some(limit * 4) };
        Some(prefix(text, limit))
    })
}

/// At most `limit` bytes of `text`, up to white space if there is any.
fn prefix(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text;
    }
    let cut = &text[..text.floor_char_boundary(limit)];
    if text[cut.len()..].starts_with(char::is_whitespace) {
        return cut;
    }
    match cut.rfind(char::is_whitespace) {
        Some(0) | None => cut,
        Some(end) => &cut[..end],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_not_cut() {
        assert_eq!(prefixes("  a b ").collect::<Vec<_>>(), ["  a b "]);
        assert_eq!(prefixes("").collect::<Vec<_>>(), [""]);
    }

    #[test]
    fn a_long_text_is_cut_between_words() {
        let text = "word ".repeat(200_000);
        let lengths: Vec<_> = prefixes(&text).map(str::len).collect();
        assert_eq!(lengths, [4094, 16384, 65534]);
        assert!(prefixes(&text).all(|b| b.ends_with("word")));
    }

    #[test]
    fn an_endless_word_is_cut_between_characters() {
        let text = "é".repeat(500_000) + "x";
        let lengths: Vec<_> = prefixes(&text).map(str::len).collect();
        assert_eq!(lengths, [FIRST_LIMIT, 4 * FIRST_LIMIT, LAST_LIMIT]);
    }

    #[test]
    fn the_last_prefix_of_a_medium_text_is_the_whole_text() {
        let text = "ab ".repeat(3000);
        assert_eq!(prefixes(&text).last(), Some(text.as_str()));
    }

    #[test]
    fn leading_space_does_not_use_up_the_limit() {
        let text = " ".repeat(1 << 20) + "word";
        assert_eq!(prefixes(&text).collect::<Vec<_>>(), ["word"]);
    }
}
