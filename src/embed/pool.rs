//! From token embeddings to one vector a text, for models whose graph does not.

use ndarray::{Array1, ArrayView2, ArrayView3, Axis};

/// The mean over the tokens of each text, scaled to length 1.
///
/// `tokens` is `[texts, tokens, dimension]`. A batch holds texts of one length, so
/// that every token counts.
pub(crate) fn mean(tokens: ArrayView3<f32>) -> Vec<Vec<f32>> {
    let texts = tokens.axis_iter(Axis(0));
    texts.map(|text| unit(sum(text))).collect()
}

/// Each row of `vectors`, `[texts, dimension]`, scaled to length 1. A sentence
/// embedding that a graph pools itself may or may not be.
pub(crate) fn rows(vectors: ArrayView2<f32>) -> Vec<Vec<f32>> {
    vectors.rows().into_iter().map(|row| unit(row.to_owned())).collect()
}

/// The sum, which has the direction of the mean.
fn sum(tokens: ArrayView2<f32>) -> Array1<f32> {
    tokens.sum_axis(Axis(0))
}

fn unit(mut vector: Array1<f32>) -> Vec<f32> {
    let squares: f64 = vector.iter().map(|&v| f64::from(v) * f64::from(v)).sum();
    let length = squares.sqrt().max(1e-12);
    // A vector that has length 1 as far as a float can tell stays as it is.
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
        assert_eq!(mean(tokens.view()), [vec![0.6, 0.8], vec![0.0, 1.0]]);
    }

    #[test]
    fn a_unit_vector_keeps_its_bits_and_zero_stays_zero() {
        let vectors = arr2(&[[0.6000001, 0.8], [0.0, 0.0]]);
        assert_eq!(rows(vectors.view()), [vec![0.6000001, 0.8], vec![0.0, 0.0]]);
    }
}
