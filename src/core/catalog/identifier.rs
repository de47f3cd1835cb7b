//! Names as SQL writes them: quoting an identifier, and reading `schema.table` back.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// Words that `quote_ident` of Postgres 15 to 18 quotes although they look plain: every keyword
/// that is not in its unreserved category. A test in `tests/` compares the list with the server's
/// `pg_get_keywords()`.
const KEYWORDS: &str = " all analyse analyze and any array as asc asymmetric authorization between \
bigint binary bit boolean both case cast char character check coalesce collate collation column \
concurrently constraint create cross current_catalog current_date current_role current_schema \
current_time current_timestamp current_user dec decimal default deferrable desc distinct do else \
end except exists extract false fetch float for foreign freeze from full grant greatest group \
grouping having ilike in initially inner inout int integer intersect interval into is isnull join \
json json_array json_arrayagg json_exists json_object json_objectagg json_query json_scalar \
json_serialize json_table json_value lateral leading least left like limit localtime \
localtimestamp merge_action national natural nchar none normalize not notnull null nullif numeric \
offset on only or order out outer overlaps overlay placing position precision primary real \
references returning right row select session_user setof similar smallint some substring \
symmetric system_user table tablesample then time timestamp to trailing treat trim true union \
unique user using values varchar variadic verbose when where window with xmlattributes xmlconcat \
xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable ";

/// Quotes an identifier as the server's `quote_ident` does: unchanged if SQL reads it back as the same name,
/// otherwise in double quotes, with double quotes inside doubled.
pub fn quote_identifier(name: &str) -> String {
    let mut bytes = name.bytes();
    let plain = matches!(bytes.next(), Some(b'a'..=b'z' | b'_'))
        && bytes.all(|b| matches!(b, b'a'..=b'z' | b'_' | b'0'..=b'9'))
        && !KEYWORDS.contains(&format!(" {name} "));
    if plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// Text for a message: the first 64 characters, with `…` if there are more.
pub fn shown(text: &str) -> Cow<'_, str> {
    const MOST: usize = 64;
    let shown = match text.char_indices().nth(MOST) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
    };
    // A C string ends at a null character.
    if shown.contains('\0') { Cow::Owned(shown.replace('\0', "\\0")) } else { shown }
}

/// The first 300 characters of a message, with `…` if there are more.
pub fn cut(message: &str) -> Cow<'_, str> {
    const MOST: usize = 300;
    match message.char_indices().nth(MOST) {
        None => Cow::Borrowed(message),
        Some((end, _)) => Cow::Owned(format!("{}…", &message[..end])),
    }
}

/// A table's full name. Its `Display` is the relation key of the contract: `schema.table`, quoted
/// as SQL would quote it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TableName {
    pub schema: String,
    pub name: String,
}

impl TableName {
    pub fn new(schema: impl Into<String>, name: impl Into<String>) -> Self {
        Self { schema: schema.into(), name: name.into() }
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", quote_identifier(&self.schema), quote_identifier(&self.name))
    }
}

/// Splits a dotted name into its parts, folded and unquoted as SQL reads them. Returns `None` if the text is not a
/// dotted name. Unquoted parts may hold characters that SQL accepts only in quotes (`São Paulo`, `2019`).
pub(crate) fn parse_identifiers(text: &str) -> Option<Vec<String>> {
    let mut parts = Vec::new();
    let mut rest = text.trim();
    loop {
        let part;
        if let Some(quoted) = rest.strip_prefix('"') {
            let mut name = String::new();
            let mut chars = quoted.char_indices().peekable();
            let end = loop {
                match chars.next()? {
                    (_, '"') if matches!(chars.peek(), Some((_, '"'))) => {
                        chars.next();
                        name.push('"');
                    }
                    (at, '"') => break at + 1,
                    (_, c) => name.push(c),
                }
            };
            part = name;
            rest = quoted[end..].trim_start();
        } else {
            let end = rest.find(['.', '"']).unwrap_or(rest.len());
            part = rest[..end].trim().to_ascii_lowercase();
            rest = &rest[end..];
        }
        if part.is_empty() {
            return None;
        }
        parts.push(part);
        match rest.strip_prefix('.') {
            Some(after) => rest = after.trim_start(),
            None if rest.is_empty() => return Some(parts),
            None => return None,
        }
    }
}

/// Whether `text` names this table, with or without its schema, quoted or not.
pub fn means_table(text: &str, table: &TableName) -> bool {
    *text == table.name
        || text == table.to_string()
        || text == format!("{}.{}", table.schema, table.name)
        || match parse_identifiers(text).as_deref() {
            Some([name]) => *name == table.name,
            Some([schema, name]) => *schema == table.schema && *name == table.name,
            _ => false,
        }
}

/// Finds the table among `known` that `text` names. A name without a schema must belong to one table only.
pub fn find_table_or_bare<'a>(text: &str, known: impl Iterator<Item = &'a TableName> + Clone) -> Option<&'a TableName> {
    find_table(text, known.clone()).or_else(|| {
        let mut meant = known.filter(|table| means_table(text, table));
        meant.next().filter(|_| meant.next().is_none())
    })
}

/// Finds the table among `known` that `text` names: first by its relation key, then by the name that SQL reads in
/// it, then as `schema.table` without quotes.
pub fn find_table<'a>(text: &str, known: impl Iterator<Item = &'a TableName> + Clone) -> Option<&'a TableName> {
    known.clone().find(|table| table.to_string() == text).or_else(|| {
        let read = parse_identifiers(text);
        known
            .clone()
            .find(|table| matches!(read.as_deref(), Some([s, n]) if *s == table.schema && *n == table.name))
            .or_else(|| known.clone().find(|table| format!("{}.{}", table.schema, table.name) == text))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_what_sql_would_read_otherwise() {
        for plain in ["album", "_x", "a1", "order_items", "name", "type"] {
            assert_eq!(quote_identifier(plain), plain);
        }
        for (name, quoted) in [
            ("Album", "\"Album\""),
            ("order", "\"order\""),
            ("1a", "\"1a\""),
            ("a b", "\"a b\""),
            ("a\"b", "\"a\"\"b\""),
            ("a.b", "\"a.b\""),
            ("naïve", "\"naïve\""),
            ("", "\"\""),
            ("a$b", "\"a$b\""),
        ] {
            assert_eq!(quote_identifier(name), quoted);
        }
    }

    #[test]
    fn shows_the_beginning_of_what_is_no_name() {
        assert_eq!(shown("naïve"), "naïve");
        assert_eq!(shown(&"é".repeat(64)), "é".repeat(64));
        assert_eq!(shown("a\0b"), "a\\0b");
        assert_eq!(shown(&"é".repeat(65)), format!("{}…", "é".repeat(64)));
    }

    #[test]
    fn reads_what_it_writes() {
        for (schema, name) in [("s", "t"), ("S", "T"), ("a.b", "c\"d"), ("🦀", "x y"), ("order", " lead"), ("a", "\"")]
        {
            let table = TableName::new(schema, name);
            assert_eq!(parse_identifiers(&table.to_string()), Some(vec![schema.to_owned(), name.to_owned()]));
        }
    }

    #[test]
    fn folds_and_refuses_as_sql_does() {
        assert_eq!(parse_identifiers("Chinook . Album"), Some(vec!["chinook".into(), "album".into()]));
        for bad in ["", ".", "a.", ".a", "\"a", "a\"b\"", "\"\".a"] {
            assert_eq!(parse_identifiers(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_table_is_meant_with_or_without_its_schema() {
        let album = TableName::new("Chi.nook", "Album");
        for text in ["Album", "\"Album\"", "Chi.nook.Album", "\"Chi.nook\".\"Album\"", " \"Chi.nook\" . \"Album\" "] {
            assert!(means_table(text, &album), "{text}");
        }
        for text in ["album", "other.Album", "", "Chi.nook"] {
            assert!(!means_table(text, &album), "{text}");
        }
    }

    #[test]
    fn finds_a_table_by_key_then_by_sql_then_by_bare_text() {
        let known = [TableName::new("c", "Album"), TableName::new("c", "album"), TableName::new("d", "Track")];
        assert_eq!(find_table("c.\"Album\"", known.iter()), Some(&known[0]));
        assert_eq!(find_table("C.ALBUM", known.iter()), Some(&known[1]));
        assert_eq!(find_table("d.Track", known.iter()), Some(&known[2]));
        assert_eq!(find_table("d.\"track\"", known.iter()), None);
        assert_eq!(find_table_or_bare("Track", known.iter()), Some(&known[2]));
        assert_eq!(find_table_or_bare("\"Album\"", known.iter()), Some(&known[0]));
        let twice = [TableName::new("c", "t"), TableName::new("d", "t")];
        assert_eq!(find_table_or_bare("t", twice.iter()), None);
    }
}
