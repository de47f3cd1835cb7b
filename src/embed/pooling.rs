//! Turns token embeddings into one vector per text, for models whose graph does not do so itself.

use ndarray::{Array1, ArrayView2, ArrayView3, Axis};

/// The mean over the tokens of each text, normalized to length 1.
///
/// `tokens` is `[texts, tokens, dimension]`. All texts of a batch have the same length, so every token counts.
pub(crate) fn mean_over_tokens(tokens: ArrayView3<f32>) -> Vec<Vec<f32>> {
    let texts = tokens.axis_iter(Axis(0));
    // The sum has the direction of the mean.
    texts.map(|text| normalized(text.sum_axis(Axis(0)))).collect()
}

/// Each row of `vectors`, `[texts, dimension]`, normalized to length 1. A graph that pools may or may not normalize.
pub(crate) fn normalized_rows(vectors: ArrayView2<f32>) -> Vec<Vec<f32>> {
    vectors.rows().into_iter().map(|row| normalized(row.to_owned())).collect()
}

fn normalized(mut vector: Array1<f32>) -> Vec<f32> {
    let squares: f64 = vector.iter().map(|&v| f64::from(v) * f64::from(v)).sum();
    let length = squares.sqrt().max(1e-12);
    // Leave a vector alone that has length 1 within the precision of a float.
    if (length - 1.0).abs() > 1e-6 {
        vector.mapv_inplace(|v| (f64::from(v) / length) as f32);
    }
    vector.to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{arr2, arr3};

    #[test]
    fn the_mean_of_the_tokens_has_length_one() {
        let tokens = arr3(&[[[3.0, 0.0], [3.0, 8.0]], [[0.0, 1.0], [0.0, 5.0]]]);
        assert_eq!(mean_over_tokens(tokens.view()), [vec![0.6, 0.8], vec![0.0, 1.0]]);
    }

    #[test]
    fn a_unit_vector_keeps_its_bits_and_zero_stays_zero() {
        let vectors = arr2(&[[0.6000001, 0.8], [0.0, 0.0]]);
        assert_eq!(normalized_rows(vectors.view()), [vec![0.6000001, 0.8], vec![0.0, 0.0]]);
    }
}
