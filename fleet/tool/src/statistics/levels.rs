//! Many tests at once: the level of Benjamini and Hochberg.

/// For each p-value the smallest false-discovery rate at which it is called: q ≤ level keeps the
/// expected part of wrong calls among all calls at the level, for independent tests and those that
/// depend positively on each other. What was not tested does not count as a test.
pub(crate) fn q_values(p_values: &[Option<f64>]) -> Vec<Option<f64>> {
    let tested = p_values.iter().enumerate().filter_map(|(index, p)| Some((index, (*p)?)));
    let mut order: Vec<(usize, f64)> = tested.collect();
    order.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let count = order.len();
    let mut q_values = vec![None; p_values.len()];
    let mut least = 1.0_f64;
    for (place, (index, p)) in order.into_iter().enumerate() {
        least = least.min(p * precise(count) / precise(count - place));
        q_values[index] = Some(least);
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
        let mut p = p.map(Some).to_vec();
        let called =
            |p: &[Option<f64>]| q_values(p).into_iter().flatten().filter(|q| *q <= 0.05).count();
        assert_eq!(called(&p), 4);
        p.reverse();
        assert_eq!(called(&p), 4);
        // What was not tested neither counts nor is called; tests that find nothing do count.
        let mut more = p.clone();
        more.resize(60, None);
        assert_eq!(q_values(&more)[..15], q_values(&p));
        assert!(q_values(&more)[15..].iter().all(Option::is_none));
        p.resize(60, Some(1.0));
        assert!(called(&p) < 4);
        assert!(q_values(&[]).is_empty());
    }
}
