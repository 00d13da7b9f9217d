//! How far apart rows are: the bandwidth of a kernel, where none is given.

/// At most `most` of `count` rows, evenly spread.
pub fn evenly<T>(
    rows: impl Iterator<Item = T>,
    count: usize,
    most: usize,
) -> impl Iterator<Item = T> {
    rows.step_by(count.div_ceil(most).max(1))
}

/// The median distance of at most `most` of `count` rows, evenly spread; where it is 0, the smallest
/// above 0, and nothing where all rows are equal. O(most²).
pub fn median<'r>(rows: impl Iterator<Item = &'r [f64]>, count: usize, most: usize) -> Option<f64> {
    let some: Vec<&[f64]> = evenly(rows, count, most).collect();
    let mut distances = Vec::new();
    for (index, a) in some.iter().enumerate() {
        for b in &some[..index] {
            let squared: f64 = a.iter().zip(*b).map(|(a, b)| (a - b).powi(2)).sum();
            distances.push(squared.sqrt());
        }
    }
    distances.sort_unstable_by(f64::total_cmp);
    let middle = distances.get(distances.len() / 2).copied().filter(|middle| *middle > 0.0);
    middle.or_else(|| distances.iter().copied().find(|distance| *distance > 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_of_distances_above_0() {
        let median_of = |values: &[f64], most| median(values.chunks(1), values.len(), most);
        assert_eq!(median_of(&[0.0, 1.0, 3.0], 9), Some(2.0));
        // Of every second row.
        assert_eq!(median_of(&[0.0, 1.0, 3.0, 9.0], 2), Some(3.0));
        // Most distances are 0.
        assert_eq!(median_of(&[5.0, 5.0, 5.0, 5.0, 7.0], 9), Some(2.0));
        assert_eq!(median_of(&[5.0, 5.0], 9), None);
        assert_eq!(median_of(&[], 9), None);
    }
}
