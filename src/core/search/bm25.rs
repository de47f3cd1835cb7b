//! BM25: how well the words of documents match the words of a question.

use std::collections::{BTreeMap, HashMap};

/// Constants that the authors recommend.
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// BM25 of each document (Robertson and Zaragoza, 2009), given its length in words and its counts of the question's
/// words. The frequency of words and the mean length come from these documents only, so that a score reveals nothing
/// about documents that the caller may not read.
pub fn bm25(documents: &[(u64, &BTreeMap<String, u64>)]) -> Vec<f64> {
    let count = documents.len() as f64;
    let usual = documents.iter().map(|(length, _)| *length as f64).sum::<f64>() / count.max(1.0);
    let mut frequency: HashMap<&str, f64> = HashMap::new();
    for (_, terms) in documents {
        for term in terms.keys() {
            *frequency.entry(term).or_default() += 1.0;
        }
    }
    documents
        .iter()
        .map(|(length, terms)| {
            let norm = K1 * (1.0 - B + B * *length as f64 / usual.max(1.0));
            terms
                .iter()
                .map(|(term, times)| {
                    let having = frequency[term.as_str()];
                    let rarity = (1.0 + (count - having + 0.5) / (having + 0.5)).ln();
                    let times = *times as f64;
                    rarity * times * (K1 + 1.0) / (times + norm)
                })
                .sum()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(terms: &[(&str, u64)]) -> BTreeMap<String, u64> {
        terms.iter().map(|(term, times)| (term.to_string(), *times)).collect()
    }

    #[test]
    fn rare_words_and_short_documents_count_more() {
        let documents = [terms(&[("rare", 1)]), terms(&[("usual", 1)]), terms(&[("usual", 1)]), terms(&[])];
        let scores = bm25(&[(5, &documents[0]), (5, &documents[1]), (50, &documents[2]), (5, &documents[3])]);
        assert!(scores[0] > scores[1] && scores[1] > scores[2] && scores[2] > 0.0 && scores[3] == 0.0);
        // By hand: idf = ln(1 + 3.5/1.5), norm = 1.2*(0.25 + 0.75*5/16.25), tf part = 2.2/(1 + norm).
        let norm = 1.2 * (0.25 + 0.75 * 5.0 / 16.25);
        assert!((scores[0] - (1.0_f64 + 3.5 / 1.5).ln() * 2.2 / (1.0 + norm)).abs() < 1e-12);
    }
}
