//! Where params stand in SQL: `:name`.

use crate::sql::source_map::SourceMap;
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::tokenizer::{Span, Token, TokenWithSpan, Tokenizer, Whitespace};

/// Comments that a statement may have.
const COMMENTS: usize = 500;

/// A param's place in SQL, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placeholder {
    pub name: String,
    pub start: usize,
    pub end: usize,
}

/// The tokens of SQL, in which a placeholder is one token. Strings, comments, quoted names and `::cast` hold no
/// placeholders.
pub(crate) struct Tokens {
    pub tokens: Vec<TokenWithSpan>,
    pub placeholders: Vec<Placeholder>,
}

/// Tokenizes SQL. `Err` says where that fails, or where Postgres would find other tokens.
pub(crate) fn tokens(sql: &str) -> Result<Tokens, String> {
    // Nested comments take quadratic time.
    if sql.matches("/*").count() > COMMENTS {
        return Err(format!("it has more than {COMMENTS} comments"));
    }
    let found =
        Tokenizer::new(&PostgreSqlDialect {}, sql).tokenize_with_location().map_err(|error| error.to_string())?;
    let places = SourceMap::of(sql);
    if let Some((line, what)) = differs(sql, &found, &places) {
        return Err(format!("line {line}: {what}"));
    }
    let mut tokens: Vec<TokenWithSpan> = Vec::with_capacity(found.len());
    let mut placeholders = Vec::new();
    let mut found = found.into_iter().peekable();
    while let Some(token) = found.next() {
        let name = match (&token.token, found.peek()) {
            (Token::Colon, Some(next)) if next.span.start == token.span.end => match &next.token {
                Token::Word(word) if word.quote_style.is_none() => Some((word.value.clone(), next.span.end)),
                _ => None,
            },
            _ => None,
        };
        let start = if name.is_some() { places.byte(token.span.start) } else { 0 };
        match name {
            // After a word, the colon belongs to a slice: `a[1:n]`.
            Some((name, end)) if !sql[..start].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':') => {
                placeholders.push(Placeholder { name: name.clone(), start, end: places.byte(end) });
                tokens.push(TokenWithSpan {
                    token: Token::Placeholder(format!(":{name}")),
                    span: Span { start: token.span.start, end },
                });
                found.next();
            }
            _ => tokens.push(token),
        }
    }
    Ok(Tokens { tokens, placeholders })
}

/// Replaces each placeholder by `replacement` of its name, and inserts the texts of `inserts` at their bytes.
pub(crate) fn replace(
    sql: &str,
    placeholders: &[Placeholder],
    inserts: &[(usize, String)],
    replacement: impl Fn(&str) -> String,
) -> String {
    let mut edits: Vec<(usize, usize, String)> = placeholders
        .iter()
        .map(|placeholder| (placeholder.start, placeholder.end, replacement(&placeholder.name)))
        .chain(inserts.iter().map(|(at, text)| (*at, *at, text.clone())))
        .collect();
    edits.sort_by_key(|(start, ..)| *start);
    let mut text = String::with_capacity(sql.len() + 64);
    let mut from = 0;
    for (start, end, new) in edits {
        text.push_str(&sql[from..start]);
        // `u&:name` would become `u&'…'`, which is another way to write a text.
        if end > start && text.ends_with('&') {
            text.push(' ');
        }
        text.push_str(&new);
        from = end;
    }
    text.push_str(&sql[from..]);
    text
}

/// A text with something in place of its placeholders.
pub struct Rewritten {
    pub text: String,
    /// For each placeholder, in order: where it ends in the new text, and where in the one before.
    ends: Vec<(usize, usize)>,
}

impl Rewritten {
    pub fn new(sql: &str, placeholders: &[Placeholder], replacement: impl Fn(&str) -> String) -> Self {
        let mut rewritten = Self { text: String::with_capacity(sql.len() + 64), ends: Vec::new() };
        let mut from = 0;
        for placeholder in placeholders {
            let text = &mut rewritten.text;
            text.push_str(&sql[from..placeholder.start]);
            text.push_str(&replacement(&placeholder.name));
            from = placeholder.end;
            rewritten.ends.push((text.len(), from));
        }
        rewritten.text.push_str(&sql[from..]);
        rewritten
    }

    /// The byte in the text before that a byte of the new text outside of placeholders was.
    pub fn written(&self, at: usize) -> usize {
        let before = self.ends.partition_point(|(new, _)| *new <= at).checked_sub(1).map(|last| self.ends[last]);
        before.map_or(at, |(new, old)| at - new + old)
    }
}

/// What Postgres would take apart in another way than the parser does, so that one would read as code what the other
/// reads as a text or a comment; with its line.
fn differs(sql: &str, tokens: &[TokenWithSpan], places: &SourceMap) -> Option<(u64, &'static str)> {
    let mut string_before = false;
    for (at, token) in tokens.iter().enumerate() {
        let text = sql.get(places.byte(token.span.start)..places.byte(token.span.end)).unwrap_or_default();
        let next = tokens.get(at + 1);
        let strange_space =
            || text.chars().any(|c| c.is_whitespace() && !matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{c}'));
        let what = match &token.token {
            Token::Whitespace(Whitespace::SingleLineComment { .. } | Whitespace::MultiLineComment(_)) => None,
            Token::Whitespace(_) => strange_space().then_some("it has a white space that Postgres does not know"),
            // Postgres joins strings on separate lines, and the first decides which escapes are valid in all of them.
            token if is_string(token) => string_before.then_some("two strings stand side by side"),
            Token::Word(word) if word.quote_style.is_some() => None,
            Token::Word(word) if word.value.eq_ignore_ascii_case("u") && quoted_after(&tokens[at + 1..]) => {
                Some("a quoted name has no U& here: write its characters")
            }
            _ if strange_space() => Some("it has a white space that Postgres does not know"),
            _ => {
                let plain = next.is_some_and(|next| !is_text(&next.token));
                let end = places.byte(token.span.end) + usize::from(plain);
                let text = sql.get(places.byte(token.span.start)..end).unwrap_or(text);
                (text.contains("/*") || text.contains("--"))
                    .then_some("a comment begins within an operator: put a space before it")
            }
        };
        if let Some(what) = what {
            return Some((token.span.start.line, what));
        }
        string_before = is_string(&token.token) || (string_before && matches!(token.token, Token::Whitespace(_)));
    }
    None
}

fn is_string(token: &Token) -> bool {
    matches!(
        token,
        Token::SingleQuotedString(_)
            | Token::EscapedStringLiteral(_)
            | Token::UnicodeStringLiteral(_)
            | Token::NationalStringLiteral(_)
            | Token::SingleQuotedByteStringLiteral(_)
            | Token::HexStringLiteral(_)
            | Token::DollarQuotedString(_)
    )
}

/// Whether a token is a string or a comment.
fn is_text(token: &Token) -> bool {
    let comment =
        matches!(token, Token::Whitespace(Whitespace::SingleLineComment { .. } | Whitespace::MultiLineComment(_)));
    comment || is_string(token)
}

/// Whether `&"name"` follows.
fn quoted_after(tokens: &[TokenWithSpan]) -> bool {
    let [ampersand, name, ..] = tokens else { return false };
    ampersand.token == Token::Ampersand && matches!(&name.token, Token::Word(word) if word.quote_style == Some('"'))
}

/// Whether the tokens hold more than white space, comments and semicolons.
pub(crate) fn says_something(tokens: &[TokenWithSpan]) -> bool {
    tokens.iter().any(|token| !matches!(token.token, Token::Whitespace(_) | Token::SemiColon | Token::EOF))
}

/// Whether a string in plain quotes has a backslash.
pub(crate) fn has_plain_backslash(sql: &str) -> bool {
    let found = Tokenizer::new(&PostgreSqlDialect {}, sql).tokenize().unwrap_or_default();
    found.iter().any(|token| matches!(token, Token::SingleQuotedString(text) if text.contains('\\')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(sql: &str) -> Vec<String> {
        tokens(sql).unwrap().placeholders.into_iter().map(|placeholder| placeholder.name).collect()
    }

    #[test]
    fn what_is_no_placeholder() {
        for sql in [
            "SELECT a::int",
            "SELECT ':x', E'\\':x', $$:x$$, $t$ :x $t$, \":x\", U&':x'",
            "SELECT 1 -- :x\n",
            "SELECT 1 /* :x /* :y */ :z */",
            "SELECT '{x}'",
            "SELECT a[1:n]",
            "SELECT f(a := 1)",
            "SELECT a[1:2]",
            "SELECT : x",
            "SELECT :'x', :\"x\"",
        ] {
            assert_eq!(found(sql), [""; 0], "{sql}");
        }
    }

    #[test]
    fn placeholders_have_their_bytes() {
        let sql = "SELECT 'é:z', :año\n, x=:Y::date, (:z) FROM t\r\nWHERE a>:z";
        let tokens = tokens(sql).unwrap();
        let texts: Vec<&str> = tokens.placeholders.iter().map(|found| &sql[found.start..found.end]).collect();
        assert_eq!(texts, [":año", ":Y", ":z", ":z"]);
        let bound = replace(sql, &tokens.placeholders, &[(7, "X".into())], |name| format!("<{name}>"));
        assert_eq!(bound, "SELECT X'é:z', <año>\n, x=<Y>::date, (<z>) FROM t\r\nWHERE a><z>");
        assert!(super::tokens("SELECT 'open").is_err());
    }

    #[test]
    fn what_postgres_would_take_apart_in_another_way() {
        for sql in [
            "SELECT a <@/* ' */ , b <@/* ' */ FROM t",
            "SELECT a <@-- '\n , b, '",
            "SELECT a ||/* ' */ b",
            "SELECT a -/* c */ b",
            "SELECT U&\"d\\0061t\" FROM t",
            "SELECT E'a'\n'\\' , b, ' '",
            "SELECT 'a' /* c */ 'b'",
            "SELECT a\u{a0}FROM t",
            "SELECT a\u{2003}b",
        ] {
            assert!(tokens(sql).is_err(), "{sql}");
        }
        for sql in [
            "SELECT a/* c */+ b -- d",
            "SELECT u & \"d\"",
            "SELECT a - -1, U&'\\0061', '/*', \"--\", 'a'||'b'",
            "SELECT a */* c */ b",
        ] {
            assert!(tokens(sql).is_ok(), "{sql}: {:?}", tokens(sql).err());
        }
    }
}
