//! Phrasings of a verified query, in which `{name}` stands for a param.

use std::collections::BTreeSet;

/// The distinct names in braces. Any other brace is part of the text.
pub(crate) fn params(phrasing: &str) -> BTreeSet<String> {
    pieces(phrasing).into_iter().filter_map(|piece| piece.err().map(str::to_owned)).collect()
}

/// Replaces each name in braces that `value` knows.
pub(crate) fn fill(phrasing: &str, value: impl Fn(&str) -> Option<String>) -> String {
    pieces(phrasing)
        .into_iter()
        .map(|piece| match piece {
            Ok(text) => text.to_owned(),
            Err(name) => value(name).unwrap_or_else(|| format!("{{{name}}}")),
        })
        .collect()
}

/// Splits a phrasing into texts (`Ok`) and names in braces (`Err`).
pub(crate) fn pieces(phrasing: &str) -> Vec<Result<&str, &str>> {
    let mut pieces = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(open) = phrasing[at..].find('{').map(|open| at + open) {
        let rest = &phrasing[open + 1..];
        let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        at = open + 1;
        if length > 0 && rest[length..].starts_with('}') {
            pieces.push(Ok(&phrasing[from..open]));
            pieces.push(Err(&rest[..length]));
            from = open + length + 2;
            at = from;
        }
    }
    pieces.push(Ok(&phrasing[from..]));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_are_filled() {
        let fill = |text: &str| fill(text, |name| (name == "n").then(|| "7".to_owned()));
        assert_eq!(fill("top {n} of {year} {} { n } {n"), "top 7 of {year} {} { n } {n");
        assert_eq!(fill("{{n}}"), "{7}");
        assert_eq!(params("{a} {b} {a} {b c} {}").into_iter().collect::<Vec<_>>(), ["a", "b"]);
    }
}
