//! Makes the text that pg_stat_statements holds parseable again. In it, constants are replaced by `$1`, also where SQL
//! allows no param, for example after `interval`.

use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The longest text that is read, in bytes.
const LONGEST: usize = 100_000;
/// The longest SQL that is made of it, in bytes.
const LONGEST_SQL: usize = 32_768;
/// Number of tokens of a statement that is read, without white space and comments.
const TOKENS: std::ops::RangeInclusive<usize> = 3..=500;
/// Types before a constant that a param of type date can replace.
const DATES: [&str; 3] = ["date", "timestamp", "timestamptz"];
/// Other types that may stand before a constant.
const TYPES: &[&str] = &[
    "bigint", "bit", "bool", "boolean", "box", "bytea", "cidr", "circle", "decimal", "float", "float4", "float8",
    "inet", "int", "int2", "int4", "int8", "integer", "interval", "json", "jsonb", "jsonpath", "macaddr", "money",
    "numeric", "point", "polygon", "real", "smallint", "text", "time", "timetz", "tsquery", "tsvector", "uuid",
    "varchar", "xml",
];

/// One statement on one line, without comments, with `:p1` for `$1`.
pub(crate) struct NormalizedSql {
    pub sql: String,
    /// Number of its placeholders; other names with a colon do not count.
    pub placeholders: usize,
    /// The placeholders that replace a date.
    pub dates: BTreeSet<String>,
    pieces: Vec<SqlToken>,
    /// Known literals of placeholders, by name.
    values: BTreeMap<String, String>,
}

/// A token and its bytes.
struct SqlToken {
    token: Token,
    bytes: Range<usize>,
}

/// A token of the original text, and what precedes it.
struct SourceToken<'a> {
    token: Token,
    text: &'a str,
    space: bool,
    line_break: bool,
}

impl NormalizedSql {
    /// Reads a text. Returns `None` if it is not a statement, too short or too long. `values` are literals to put back for
    /// placeholders, by name.
    pub(crate) fn read(text: &str, values: BTreeMap<String, String>) -> Option<Self> {
        if text.len() > LONGEST || text.contains('\0') {
            return None;
        }
        let tokens = Tokenizer::new(&PostgreSqlDialect {}, text).tokenize_with_location().ok()?;
        let mut read = significant(text, tokens);
        while read.last().is_some_and(|last| last.token == Token::SemiColon) {
            read.pop();
        }
        if !TOKENS.contains(&read.len()) {
            return None;
        }
        let mut made = Self { sql: String::new(), placeholders: 0, dates: BTreeSet::new(), pieces: Vec::new(), values };
        let mut at = 0;
        while at < read.len() {
            at += made.add(&read[at..])?;
        }
        (made.sql.len() <= LONGEST_SQL).then_some(made)
    }

    /// Adds the first token and those after it that belong to it. Returns their number.
    fn add(&mut self, rest: &[SourceToken]) -> Option<usize> {
        let first = &rest[0];
        // EXTRACT has lost its field, which must be a word.
        if let [_, open, field, from, ..] = rest
            && word(&first.token).is_some_and(|word| word == "extract")
            && (open.token == Token::LParen && word(&from.token).is_some_and(|word| word == "from"))
            && let Some(name) = constant(&field.token)?
        {
            if let Some(field) = self.values.get(&name).and_then(|value| plain_word(value)) {
                self.push(first.token.clone(), first.text, first.space, false);
                self.push(Token::LParen, "(", false, false);
                self.push(Token::make_word(&field, None), &field, false, false);
                self.push(from.token.clone(), from.text, true, false);
                return Some(4);
            }
            self.push(Token::make_word("date_part", None), "date_part", first.space, false);
            self.push(Token::LParen, "(", false, false);
            self.placeholder(&name, false);
            self.push(Token::Comma, ",", false, false);
            return Some(4);
        }
        let types = type_words(rest.iter().map(|read| &read.token));
        if types > 0
            && let Some(next) = rest.get(types)
            && let Some(name) = constant(&next.token)?
        {
            self.placeholder(&name, first.space);
            if word(&first.token).is_some_and(|word| DATES.contains(&word.as_str())) {
                self.dates.insert(name);
            } else {
                self.push(Token::DoubleColon, "::", false, false);
                for (read, place) in rest[..types].iter().zip(0..) {
                    self.push(read.token.clone(), read.text, read.space && place > 0, false);
                }
            }
            return Some(types + 1);
        }
        match constant(&first.token)? {
            Some(name) => self.placeholder(&name, first.space),
            None => self.push(first.token.clone(), first.text, first.space, first.line_break),
        }
        Some(1)
    }

    fn placeholder(&mut self, name: &str, space: bool) {
        if let Some(value) = self.values.get(name).cloned() {
            let text = value.starts_with('\'');
            let token =
                if text { Token::SingleQuotedString(value.clone()) } else { Token::Number(value.clone(), false) };
            return self.push(token, &value, space, false);
        }
        let text = format!(":{name}");
        self.push(Token::Placeholder(text.clone()), &text, space, false);
        self.placeholders += 1;
    }

    fn push(&mut self, token: Token, text: &str, space: bool, line_break: bool) {
        let before = self.pieces.last().map(|piece| &piece.token);
        let needed = separate(self.sql.chars().next_back(), text.chars().next(), before, &token);
        let tight = before == Some(&Token::LParen) || matches!(token, Token::RParen | Token::Comma);
        let strings = matches!((before, &token), (Some(Token::SingleQuotedString(_)), Token::SingleQuotedString(_)));
        if line_break && strings {
            self.sql.push('\n');
        } else if before.is_some() && (needed || (space && !tight)) {
            self.sql.push(' ');
        }
        let start = self.sql.len();
        self.sql.push_str(text);
        self.pieces.push(SqlToken { token, bytes: start..self.sql.len() });
    }

    /// The bytes of the literal that starts at a byte, with its minus (`signed`) or type (`typed`).
    pub(crate) fn literal(&self, start: usize, signed: bool, typed: bool) -> Option<Range<usize>> {
        let at = self.pieces.binary_search_by_key(&start, |piece| piece.bytes.start).ok()?;
        let before = &self.pieces[..at];
        let first = if typed {
            let types = |count: &usize| {
                let words = before.len().checked_sub(*count).map(|from| &before[from..]);
                words.is_some_and(|words| type_words(words.iter().map(|piece| &piece.token)) == *count)
            };
            at - [4, 2, 1].iter().find(|count| types(count))?
        } else if signed && before.last().is_some_and(|piece| matches!(piece.token, Token::Minus | Token::Plus)) {
            at - 1
        } else {
            at
        };
        Some(self.pieces[first].bytes.start..self.pieces[at].bytes.end)
    }
}

/// The tokens except white space and comments. Bytes are found from lines and columns in one pass.
fn significant(text: &str, tokens: Vec<TokenWithSpan>) -> Vec<SourceToken<'_>> {
    let mut chars = text.char_indices();
    let mut now = Location { line: 1, column: 1 };
    let mut byte = |target: Location| {
        while (now.line, now.column) < (target.line, target.column) {
            match chars.next() {
                Some((_, '\n')) => now = Location { line: now.line + 1, column: 1 },
                Some(_) => now.column += 1,
                None => break,
            }
        }
        chars.offset()
    };
    let mut read: Vec<SourceToken> = Vec::new();
    let mut end = 0;
    for TokenWithSpan { token, span } in tokens {
        if matches!(token, Token::Whitespace(_) | Token::EOF) {
            continue;
        }
        let start = byte(span.start);
        let gap = text.get(end..start).unwrap_or_default();
        end = byte(span.end);
        read.push(SourceToken {
            token,
            text: text.get(start..end).unwrap_or_default(),
            space: !gap.is_empty(),
            line_break: gap.contains('\n'),
        });
    }
    read
}

/// The name for a `$1`. The outer `None` means a placeholder that Postgres does not have.
fn constant(token: &Token) -> Option<Option<String>> {
    let Token::Placeholder(text) = token else { return Some(None) };
    let number = text.strip_prefix('$')?;
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| Some(format!("p{number}")))
}

/// The word in a string literal that EXTRACT takes as its field.
fn plain_word(literal: &str) -> Option<String> {
    let word = literal.strip_prefix('\'')?.strip_suffix('\'')?;
    let plain = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    plain.then(|| word.to_owned())
}

/// An unquoted word in lower case.
fn word(token: &Token) -> Option<String> {
    match token {
        Token::Word(word) if word.quote_style.is_none() => Some(word.value.to_ascii_lowercase()),
        _ => None,
    }
}

/// The number of tokens that name a type before a constant.
fn type_words<'t>(tokens: impl Iterator<Item = &'t Token>) -> usize {
    let words: Vec<String> = tokens.take(4).map_while(word).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["time" | "timestamp", "with" | "without", "time", "zone"] => 4,
        ["double", "precision", ..] | ["character", "varying", ..] => 2,
        [first, ..] if DATES.contains(first) || TYPES.contains(first) => 1,
        _ => 0,
    }
}

/// Whether two tokens need a space between them to stay two: `5AND`, `:p1AND`, `a[1::p1]`.
fn separate(last: Option<char>, first: Option<char>, before: Option<&Token>, token: &Token) -> bool {
    let name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '\'' | '"');
    let placeholder = |token: &Token| matches!(token, Token::Placeholder(_));
    let colon = before == Some(&Token::Colon) || before.is_some_and(placeholder) && *token == Token::Colon;
    let begins = first.is_some_and(name) || placeholder(token);
    (last.is_some_and(name) && begins) || (colon && (placeholder(token) || *token == Token::Colon))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sql(text: &str) -> Option<String> {
        NormalizedSql::read(text, BTreeMap::new()).map(|read| read.sql)
    }

    #[test]
    fn one_line_with_placeholders() {
        for (text, read) in [
            ("SELECT a\n  FROM t -- c\r\n\tWHERE b = $1;", "SELECT a FROM t WHERE b = :p1"),
            ("SELECT a FROM t WHERE b IN ($1 /*, ... */)", "SELECT a FROM t WHERE b IN (:p1)"),
            ("SELECT 'é  $1', \"A  b\",$2::int", "SELECT 'é  $1', \"A  b\",:p2::int"),
            ("SELECT a[$1:$2] FROM t", "SELECT a[:p1 : :p2] FROM t"),
            ("SELECT a FROM t WHERE b=5AND c='x'OR d", "SELECT a FROM t WHERE b=5 AND c='x' OR d"),
            ("SELECT 'a'\n  'b' ;;", "SELECT 'a'\n'b'"),
            ("SELECT now() - interval $1", "SELECT now() - :p1::interval"),
            ("SELECT now() - INTERVAL $1 day", "SELECT now() - :p1::INTERVAL day"),
            ("SELECT a > timestamp with time zone $1", "SELECT a > :p1"),
            ("SELECT b AT TIME ZONE $1", "SELECT b AT TIME ZONE :p1"),
            ("SELECT EXTRACT($1 FROM d) FROM t", "SELECT date_part(:p1, d) FROM t"),
            ("SELECT extract(year FROM d) FROM t", "SELECT extract(year FROM d) FROM t"),
        ] {
            assert_eq!(sql(text).as_deref(), Some(read), "{text}");
        }
        assert!(NormalizedSql::read("SELECT a > date $7", BTreeMap::new()).unwrap().dates.contains("p7"));
    }

    #[test]
    fn known_values_are_put_back() {
        let values =
            [("p1", "'year'"), ("p2", "'x y'"), ("p3", "5")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        let read =
            NormalizedSql::read("SELECT Extract($1 from a), extract($2 FROM b), c=$3 AND d=$4", values.into()).unwrap();
        assert_eq!(read.sql, "SELECT Extract(year from a), date_part('x y', b), c=5 AND d=:p4");
        assert_eq!(read.placeholders, 1);
    }

    #[test]
    fn what_is_not_read() {
        let long = format!("SELECT {}1", "1,".repeat(250));
        for text in
            ["", "SELECT", "SELECT 1; -- c", "SELECT 'open", "SELECT \0 1", "SELECT $x$", "SELECT a, $b FROM t", &long]
        {
            assert_eq!(sql(text), None, "{text}");
        }
        assert!(sql(&long.replacen("1,", "", 2)).is_some());
        assert_eq!(sql(&format!("SELECT 1 -- {}", "x".repeat(100_000))), None);
        assert_eq!(sql(&format!("SELECT 1, '{}'", "x".repeat(40_000))), None);
    }

    #[test]
    fn literals_have_their_bytes() {
        let text =
            NormalizedSql::read("SELECT a = -5, timestamp without time zone 'x', date 'y'", BTreeMap::new()).unwrap();
        let found = |needle, signed, typed| {
            let start = text.sql.find(needle).unwrap();
            text.literal(start, signed, typed).map(|bytes| &text.sql[bytes])
        };
        assert_eq!(found("5", true, false), Some("-5"));
        assert_eq!(found("5", false, false), Some("5"));
        assert_eq!(found("'x'", false, true), Some("timestamp without time zone 'x'"));
        assert_eq!(found("'y'", false, true), Some("date 'y'"));
        assert_eq!(found("5", false, true), None);
    }
}
