//! Identifiers split into words: `InvoiceLine`, `order_items` and `dtNasc` as a question writes them.

/// Splits an identifier into lower-case words, separated by one space. Empty if it has neither letter nor digit. A word ends at anything that is neither, and before a capital that follows a
/// lower-case letter (`dtNasc`), that ends a run of capitals and begins a word (`HTTPServer`, but not
/// `CustomerIDs`), or that begins a word after a digit (`2019Sales`). Digits stay with the letters
/// before them (`address1`).
pub fn split_identifier(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    let lower = |at: usize| chars.get(at).is_some_and(|c| c.is_lowercase());
    let mut words = String::with_capacity(name.len() + 8);
    for (at, &c) in chars.iter().enumerate() {
        let ends_word = !c.is_alphanumeric();
        let begins_word = at > 0 && c.is_uppercase() && {
            let before = chars[at - 1];
            let plural = before.is_uppercase() && chars.get(at + 1) == Some(&'s') && !lower(at + 2);
            before.is_lowercase()
                || (before.is_uppercase() && lower(at + 1) && !plural)
                || (before.is_numeric() && lower(at + 1))
        };
        if (ends_word || begins_word) && !words.is_empty() && !words.ends_with(' ') {
            words.push(' ');
        }
        if !ends_word {
            words.extend(c.to_lowercase());
        }
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
            ("address2", "address2"),
            ("iso3166code", "iso3166code"),
            ("2019Sales", "2019 sales"),
            ("CustomerIDs", "customer ids"),
            ("IDs", "ids"),
            ("OP_CARRIER", "op carrier"),
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
