//! Identifiers in words: `InvoiceLine`, `order_items` and `dtNasc` as a question would say them.

/// The words of an identifier, in lower case and separated by one space. A word ends at anything
/// that is neither letter nor digit, where a lower-case letter or digit meets an upper-case one
/// (`dtNasc`), before the last capital of a run that a lower-case letter follows (`HTTPServer`),
/// and between letters and digits (`address2`).
pub fn split_identifier(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    let mut words = String::with_capacity(name.len() + 8);
    for (at, &c) in chars.iter().enumerate() {
        if !c.is_alphanumeric() {
            if !words.is_empty() && !words.ends_with(' ') {
                words.push(' ');
            }
            continue;
        }
        let before = at.checked_sub(1).map(|before| chars[before]);
        let starts_word = before.is_some_and(|before| {
            let after_is_lower = chars.get(at + 1).is_some_and(|after| after.is_lowercase());
            (c.is_uppercase() && (before.is_lowercase() || before.is_numeric()))
                || (c.is_uppercase() && before.is_uppercase() && after_is_lower)
                || (c.is_numeric() && before.is_alphabetic())
                || (c.is_alphabetic() && before.is_numeric() && !c.is_uppercase())
        });
        if starts_word && !words.ends_with(' ') {
            words.push(' ');
        }
        words.extend(c.to_lowercase());
    }
    words.truncate(words.trim_end().len());
    words
}

#[cfg(test)]
mod tests {
    use super::split_identifier;

    #[test]
    fn splits_as_a_reader_would() {
        for (name, words) in [
            ("InvoiceLine", "invoice line"),
            ("order_items", "order items"),
            ("dtNasc", "dt nasc"),
            ("HTTPServer", "http server"),
            ("CUSTOMER", "customer"),
            ("CUSTOMER_ID", "customer id"),
            ("address2", "address 2"),
            ("iso3166code", "iso 3166 code"),
            ("größeInCm", "größe in cm"),
            ("a  b.c-d", "a b c d"),
            ("__x__", "x"),
            ("发票", "发票"),
            ("🦀", ""),
            ("", ""),
        ] {
            assert_eq!(split_identifier(name), words, "{name}");
        }
    }
}
