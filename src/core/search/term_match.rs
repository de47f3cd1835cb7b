//! Terms that a question uses.

/// Whether a question contains a word or phrase as whole words. Letter case and a plural `s` are ignored.
pub fn mentions(question: &str, phrase: &str) -> bool {
    let (question, phrase) = (words(question), words(phrase));
    !phrase.is_empty() && question.windows(phrase.len()).any(|run| run == phrase.as_slice())
}

fn words(text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| singular(word).to_owned()).collect()
}

/// Removes a plural `s` (`rates`), but not the end of `loss` or `bus`.
fn singular(word: &str) -> &str {
    match word.strip_suffix('s') {
        Some(stem) if stem.chars().count() >= 3 && !stem.ends_with(['s', 'u', 'i']) => stem,
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::mentions;

    #[test]
    fn whole_words_are_matched() {
        for (question, phrase) in [
            ("What is our churn rate?", "churn rate"),
            ("Churn-rates of 2012", "churn rate"),
            ("net_revenue by year", "net revenue"),
            ("how much GMV did we make", "gmv"),
        ] {
            assert!(mentions(question, phrase), "{question}: {phrase}");
        }
        for (question, phrase) in [
            ("churned rates", "churn"),
            ("rate of churn", "churn rate"),
            ("anything", ""),
            ("anything", " - "),
            ("loss", "los"),
        ] {
            assert!(!mentions(question, phrase), "{question}: {phrase}");
        }
    }
}
