//! Similar names, for errors that suggest what the caller may have meant.

/// Returns at most three of `known` that are similar to `name`, most similar first: Jaro-Winkler similarity in lower
/// case of at least 0.7, ties in name order.
pub fn near_names<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    if name.len() > 256 {
        return Vec::new(); // no name is this long, and comparing takes quadratic time
    }
    let lower = name.to_lowercase();
    let mut scored: Vec<(f64, &str)> = known
        .into_iter()
        .map(|known| (strsim::jaro_winkler(&lower, &known.to_lowercase()), known))
        .filter(|(score, _)| *score >= 0.7)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    scored.dedup_by_key(|(_, known)| *known);
    scored.truncate(3);
    scored.into_iter().map(|(_, known)| known).collect()
}

#[cfg(test)]
mod tests {
    use super::near_names;

    #[test]
    fn lists_the_likeliest_first_and_nothing_far() {
        let known = ["chinook", "support", "webanalytics", "chinook_old"];
        assert_eq!(near_names("chinok", known), ["chinook", "chinook_old"]);
        assert_eq!(near_names("Support", known), ["support"]);
        assert!(near_names("zzz", known).is_empty());
        assert_eq!(near_names("chinok", ["chinook", "chinook"]), ["chinook"]);
    }
}
