//! A question split into words, in which numbers and dates are recognized.

/// Words of a question that are read, at most.
const WORDS: usize = 10_000;

const QUOTES: [(char, char); 4] = [('"', '"'), ('\'', '\''), ('“', '”'), ('‘', '’')];

/// A question split into words.
pub struct Question<'a> {
    pub(crate) words: Vec<Word<'a>>,
}

pub(crate) struct Word<'a> {
    /// In lower case.
    pub text: String,
    /// The original text.
    pub raw: &'a str,
    /// In quotes.
    pub quoted: bool,
}

impl<'a> Question<'a> {
    pub fn of(text: &'a str) -> Self {
        Self { words: words(text).take(WORDS).collect() }
    }
}

impl Word<'_> {
    /// The number without its thousands separators: 7, -0.5, 12,345.6. `1,5` is ambiguous and not a number.
    pub(crate) fn number(&self) -> Option<String> {
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let unsigned = self.raw.strip_prefix('-').unwrap_or(self.raw);
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
        let is_whole = match whole.split_once(',') {
            None => digits(whole),
            Some((first, rest)) => {
                let first_fits = (1..=3).contains(&first.len()) && digits(first) && !first.starts_with('0');
                first_fits && rest.split(',').all(|group| group.len() == 3 && digits(group))
            }
        };
        (is_whole && digits(fraction) && self.raw.ends_with(|c: char| c.is_ascii_digit()))
            .then(|| self.raw.replace(',', ""))
    }

    pub(crate) fn has_four_digits(&self) -> bool {
        self.raw.len() == 4 && self.raw.bytes().all(|byte| byte.is_ascii_digit())
    }
}

/// The words of a text. A quoted text is one word.
pub(crate) fn words(text: &str) -> Words<'_> {
    Words { text, at: 0, closing: [Some(0); QUOTES.len()] }
}

pub(crate) struct Words<'a> {
    text: &'a str,
    at: usize,
    /// The byte where each kind of quote closes next, as far as it was searched for; `None` if it closes nowhere. Without
    /// this, every open quote would be searched for to the end of the text.
    closing: [Option<usize>; QUOTES.len()],
}

impl<'a> Iterator for Words<'a> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Word<'a>> {
        loop {
            let first = self.text[self.at..].chars().next()?;
            let after = self.at + first.len_utf8();
            // An apostrophe inside a word does not get here, because a word is read as a whole.
            if let Some((end, close)) = self.quoted(first, after) {
                self.at = end + close.len_utf8();
                return Some(word(&self.text[after..end], true));
            }
            let start = self.at;
            self.at = self.word_end(first, after).unwrap_or(after);
            if self.at > after || first.is_alphanumeric() {
                return Some(word(&self.text[start..self.at], false));
            }
        }
    }
}

impl Words<'_> {
    /// The byte where a quoted text that `first` opens ends, and the quote that closes it.
    fn quoted(&mut self, first: char, after: usize) -> Option<(usize, char)> {
        let kind = QUOTES.iter().position(|(open, _)| *open == first)?;
        let close = QUOTES[kind].1;
        if self.closing[kind]? < after {
            self.closing[kind] = self.text[after..].find(close).map(|at| after + at);
        }
        self.closing[kind].filter(|end| *end > after).map(|end| (end, close))
    }

    /// The byte where a word that `first` starts ends.
    fn word_end(&self, first: char, after: usize) -> Option<usize> {
        let rest = &self.text[after..];
        let begins =
            first.is_alphanumeric() || (matches!(first, '-' | '.') && rest.starts_with(|c: char| c.is_ascii_digit()));
        let goes_on = |at: usize, c: char| {
            c.is_alphanumeric() || (joins(c) && rest[at + c.len_utf8()..].starts_with(char::is_alphanumeric))
        };
        begins.then(|| {
            rest.char_indices().find(|(at, c)| !goes_on(*at, *c)).map_or(self.text.len(), |(at, _)| after + at)
        })
    }
}

fn word(raw: &str, quoted: bool) -> Word<'_> {
    Word { text: raw.to_lowercase(), raw, quoted }
}

fn joins(c: char) -> bool {
    matches!(c, '-' | '.' | ',' | '\'' | '_' | '’')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<(&str, bool)> {
        words(text).map(|word| (word.raw, word.quoted)).collect()
    }

    #[test]
    fn words_are_split() {
        let plain = |words: &[&'static str]| words.iter().map(|word| (*word, false)).collect::<Vec<_>>();
        assert_eq!(
            split("Don't  say, o’clock: -5 .5 1,234.5! (x_y) a- -"),
            plain(&["Don't", "say", "o’clock", "-5", ".5", "1,234.5", "x_y", "a"])
        );
        assert_eq!(
            split("of “a b” and 'c' \"d e"),
            [("of", false), ("a b", true), ("and", false), ("c", true), ("d", false), ("e", false)]
        );
        assert_eq!(split("“a ‘b’ “c”"), [("a ‘b’ “c", true)]);
        assert_eq!(split("'a' 'b' 'c"), [("a", true), ("b", true), ("c", false)]);
        assert_eq!(split("'' \"\""), []);
        assert_eq!(words("ÄRGER").next().map(|word| word.text).as_deref(), Some("ärger"));
    }

    #[test]
    fn a_comma_groups_thousands() {
        let number = |raw: &str| word(raw, false).number();
        for (raw, plain) in [
            ("7", "7"),
            ("-7", "-7"),
            (".5", ".5"),
            ("12,345", "12345"),
            ("1,234,567.89", "1234567.89"),
            ("-999,000", "-999000"),
        ] {
            assert_eq!(number(raw).as_deref(), Some(plain), "{raw}");
        }
        for raw in [
            "7,8",
            "1,2,3",
            "1.234,50",
            "1.234.567",
            "1234,567",
            "1,23",
            "1,234,56",
            "1,2345",
            "0,123",
            ",123",
            "1,,234",
            "1,234,",
            ".123,456",
            "1.",
            "--1",
            "1e5",
            "1_000",
            "１",
            "5-7",
            "",
            "-",
            ".",
            "x",
        ] {
            assert_eq!(number(raw), None, "{raw}");
        }
    }

    #[test]
    fn a_long_text_is_no_question() {
        let text = "a ".repeat(WORDS) + "b";
        let question = Question::of(&text);
        assert_eq!(question.words.len(), WORDS);
        assert!(question.words.iter().all(|word| word.text == "a"));
        // Each takes hours if every open quote is searched for to the end.
        for text in ["“", "‘", "\"\"", "lost ‘customers gross ", "'“\"‘", "“’ ", "'a' “", "-", "1,234", "é’"]
        {
            let repeats = 5_000_000 / text.len();
            assert!(words(&text.repeat(repeats)).count() <= 3 * repeats, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn words_are_parts_of_the_text(text in "(?s).{0,40}|[a1 '\"“”‘’,.-]{0,40}") {
            let mut from = 0;
            for word in words(&text) {
                let at = text[from..].find(word.raw);
                proptest::prop_assert!(at.is_some() && !word.raw.is_empty());
                from += at.unwrap_or(0) + word.raw.len();
            }
        }
    }
}
