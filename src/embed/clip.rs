//! Cuts a long text before it is tokenized: only the first few hundred tokens
//! count, and tokenizing takes time in proportion to the length.

/// Bytes that are tried first. 254 tokens of English or of identifiers are some
/// 1,200 bytes.
pub(crate) const FIRST: usize = 4 << 10;
/// Bytes after which a text ends, whatever is in it. It matters only for a text
/// whose first 64 KiB hold fewer tokens than are kept: a wall of control
/// characters, say, or words of hundreds of letters.
const LAST: usize = 64 << 10;

/// The beginnings of `text` to try, each longer than the one before. The last is
/// all of it, or its first 64 KiB.
///
/// A beginning ends before white space. The words in it are then words of the whole
/// text, so that when it gives as many tokens as are kept, it gives the same tokens
/// as the whole.
pub(crate) fn beginnings(text: &str) -> impl Iterator<Item = &str> {
    let text = if text.len() > FIRST { text.trim_start() } else { text };
    let mut next = Some(FIRST);
    std::iter::from_fn(move || {
        let limit = next?;
        next = if limit >= text.len() || limit >= LAST { None } else { Some(limit * 4) };
        Some(beginning(text, limit))
    })
}

/// At most `limit` bytes of `text`, up to white space if there is any.
fn beginning(text: &str, limit: usize) -> &str {
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
    fn a_short_text_is_taken_whole() {
        assert_eq!(beginnings("  a b ").collect::<Vec<_>>(), ["  a b "]);
        assert_eq!(beginnings("").collect::<Vec<_>>(), [""]);
    }

    #[test]
    fn a_long_text_is_cut_between_words() {
        let text = "word ".repeat(200_000);
        let lengths: Vec<_> = beginnings(&text).map(str::len).collect();
        assert_eq!(lengths, [4094, 16384, 65534]);
        assert!(beginnings(&text).all(|b| b.ends_with("word")));
    }

    #[test]
    fn a_word_without_end_is_cut_between_characters() {
        let text = "é".repeat(500_000) + "x";
        let lengths: Vec<_> = beginnings(&text).map(str::len).collect();
        assert_eq!(lengths, [FIRST, 4 * FIRST, LAST]);
    }

    #[test]
    fn the_last_beginning_of_a_middling_text_is_all_of_it() {
        let text = "ab ".repeat(3000);
        assert_eq!(beginnings(&text).last(), Some(text.as_str()));
    }

    #[test]
    fn leading_space_does_not_use_up_the_limit() {
        let text = " ".repeat(1 << 20) + "word";
        assert_eq!(beginnings(&text).collect::<Vec<_>>(), ["word"]);
    }
}
