//! Scores on one scale.

/// The distance of each score from the mean, in standard deviations. `None`, which a signal did not see, is at the mean.
/// All are 0 if the scores are equal.
pub fn z_scores(scores: &[Option<f64>]) -> Vec<f64> {
    let seen: Vec<f64> = scores.iter().flatten().copied().collect();
    let count = seen.len().max(1) as f64;
    let mean = seen.iter().sum::<f64>() / count;
    let deviation = (seen.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / count).sqrt();
    // Equal scores may differ by rounding.
    let flat = deviation <= 1e-9 * mean.abs().max(1.0);
    let place = |score: f64| if flat { 0.0 } else { (score - mean) / deviation };
    scores.iter().map(|score| score.map_or(0.0, place)).collect()
}

/// Positions by score, best first; ties go to the earlier position.
pub fn order(scores: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then_with(|| a.cmp(b)));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_signal_cannot_see_is_at_its_mean() {
        let scores = z_scores(&[Some(1.0), None, Some(3.0)]);
        assert_eq!(scores, [-1.0, 0.0, 1.0]);
        assert_eq!(z_scores(&[Some(0.3), Some(0.3), None]), [0.0; 3]);
        assert_eq!(z_scores(&[]), [0.0; 0]);
        assert_eq!(z_scores(&[Some(7.0)]), [0.0]);
    }

    #[test]
    fn ties_go_to_the_earlier() {
        assert_eq!(order(&[1.0, 2.0, 2.0, f64::NAN]), [3, 1, 2, 0], "NaN counts as the greatest");
        assert_eq!(order(&[1.0, 2.0, 2.0]), [1, 2, 0]);
    }
}
