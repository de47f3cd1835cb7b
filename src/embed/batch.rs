//! Which texts go through the model together.

use std::ops::Range;

/// Tokens of one run of the model.
const TOKENS: usize = 192;

/// The order in which texts of `lengths` tokens are embedded, and the runs of it
/// that make a batch.
///
/// All texts of a batch have the same length. So there is no padding, which would
/// cost time and would make the last bits of a vector depend on the texts beside it.
pub(crate) fn plan(lengths: &[usize]) -> (Vec<usize>, Vec<Range<usize>>) {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|&text| lengths[text]);
    let mut batches = Vec::new();
    let mut start = 0;
    while start < order.len() {
        let length = lengths[order[start]];
        let most = (TOKENS / length.max(1)).max(1);
        let mut end = start + 1;
        while end < order.len() && end - start < most && lengths[order[end]] == length {
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
    fn nothing_makes_no_batch() {
        assert_eq!(plan(&[]), (vec![], vec![]));
    }

    #[test]
    fn a_batch_is_of_one_length() {
        let (order, batches) = plan(&[5, 3, 5, 3, 4]);
        assert_eq!(order, [1, 3, 4, 0, 2]);
        assert_eq!(batches, [0..2, 2..3, 3..5]);
    }

    #[test]
    fn a_batch_has_so_many_tokens_and_a_long_text_is_one_by_itself() {
        let lengths = vec![100; 7];
        let (_, batches) = plan(&lengths);
        assert!(batches.iter().all(|b| b.len() * 100 <= TOKENS));
        assert_eq!(batches.iter().map(ExactSizeIterator::len).sum::<usize>(), 7);
        assert_eq!(plan(&[5000]).1.len(), 1);
    }
}
