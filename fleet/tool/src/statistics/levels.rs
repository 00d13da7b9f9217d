//! Many tests at once: the level of Benjamini and Hochberg.

/// For each p-value the smallest false-discovery rate at which it is called: q ≤ level keeps the
/// expected part of wrong calls among all calls at the level, for independent tests and those that
/// depend positively on each other.
pub(crate) fn q_values(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*b].total_cmp(&p_values[*a]));
    let count = precise(p_values.len());
    let mut q_values = vec![1.0; p_values.len()];
    let mut least = 1.0_f64;
    for (place, index) in order.into_iter().enumerate() {
        let rank = precise(p_values.len() - place);
        least = least.min(p_values[index] * count / rank);
        q_values[index] = least;
    }
    q_values
}

#[expect(clippy::cast_precision_loss, reason = "no fleet has 2⁵³ devices")]
pub(crate) fn precise(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worked_example_of_the_paper() {
        // Benjamini and Hochberg 1995, section 3.2: four of fifteen at a level of 0.05.
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.0,
        ];
        let called = q_values(&p).iter().filter(|q| **q <= 0.05).count();
        assert_eq!(called, 4);
        let mut reversed = p;
        reversed.reverse();
        assert_eq!(q_values(&reversed).iter().filter(|q| **q <= 0.05).count(), 4);
        assert!(q_values(&[]).is_empty());
    }
}
