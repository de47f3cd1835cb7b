//! Decides which texts go through the model together.

use std::ops::Range;

/// Most tokens in one run of the model.
const MAX_BATCH_TOKENS: usize = 192;

/// Returns the order in which to embed texts of `lengths` tokens, and the ranges of that order that form batches.
///
/// All texts of a batch have the same length. Padding would cost time, and would make the last bits of a vector depend
/// on the other texts of its batch.
pub(crate) fn plan(lengths: &[usize]) -> (Vec<usize>, Vec<Range<usize>>) {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|&text| lengths[text]);
    let mut batches = Vec::new();
    let mut start = 0;
    while start < order.len() {
        let length = lengths[order[start]];
        let max_texts = (MAX_BATCH_TOKENS / length.max(1)).max(1);
        let mut end = start + 1;
        while end < order.len() && end - start < max_texts && lengths[order[end]] == length {
            end += 1;
        }
        batches.push(start..end);
        start = end;
    }
    (order, batches)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_texts_make_no_batch() {
        assert_eq!(plan(&[]), (vec![], vec![]));
    }

    #[test]
    fn a_batch_has_texts_of_one_length() {
        let (order, batches) = plan(&[5, 3, 5, 3, 4]);
        assert_eq!(order, [1, 3, 4, 0, 2]);
        assert_eq!(batches, [0..2, 2..3, 3..5]);
    }

    #[test]
    fn a_batch_has_a_token_limit_and_a_long_text_is_a_batch_of_its_own() {
        let lengths = vec![100; 7];
        let (_, batches) = plan(&lengths);
        assert!(batches.iter().all(|b| b.len() * 100 <= MAX_BATCH_TOKENS));
        assert_eq!(batches.iter().map(ExactSizeIterator::len).sum::<usize>(), 7);
        assert_eq!(plan(&[5000]).1.len(), 1);
    }
}
