//! What a channel's own past says of its next value.

use crate::numeric::{larger, row_count, smaller, sqrt_f32};
use crate::state::{FromOne, state};

/// Terms of a prediction: three rows, and three means.
const TERMS: usize = 6;
/// Entries of the normal equations: their lower triangle, and the right-hand side.
const TRIANGLE: usize = TERMS * (TERMS + 1) / 2;
/// Lengths of the exponentially weighted means, in rows. All else is measured from the slowest.
const LENGTHS: [f32; 4] = [8.0, 32.0, 128.0, 512.0];
/// Errors beyond so many deviations count less.
const FAR: f32 = 5.0;
/// Rows that are looked back at before a prediction means something.
const START: u32 = 64;
/// Rows from which all means are exponentially weighted.
const SETTLED: u32 = 512;
/// Rows that the variance counts as when another prediction takes over.
const CARRIED: u32 = 16;

state! {
    /// A linear prediction of the next value from the last three rows and from means over 8, 32
    /// and 128 rows, all measured from the mean over 512: it says nothing of the level, so a
    /// drift of the level does not look like one of anything else, and a signal that wanders is
    /// no special case. 172 bytes.
    ///
    /// Learned by least squares over running means, solved a few times while learning and then
    /// left alone: nothing can diverge, and nothing learns from a fault.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(crate) struct Predictor {
        triangle: [f32; TRIANGLE],
        right: [f32; TERMS],
        weights: [f32; TERMS],
        past: [f32; 3],
        means: [f32; 4],
        /// Mean squared error.
        variance: FromOne,
        /// 1/√variance.
        inverse_deviation: FromOne,
        variance_rows: u32,
        rows: u32,
    }
}

// All of it `inline`: else what iterators are made of would be compiled here once for all programs
// that are optimised for size, and inlined in none.
impl Predictor {
    /// Room that is not in use before the first row.
    pub(crate) fn spare(&mut self) -> &mut [f32] {
        &mut self.triangle
    }

    fn terms(&self) -> [f32; TERMS] {
        let [a, b, c] = self.past;
        let [d, e, f, slow] = self.means;
        [a - slow, b - slow, c - slow, d - slow, e - slow, f - slow]
    }

    /// What is expected next, in standardised units.
    #[inline]
    pub(crate) fn expected(&self) -> f32 {
        let [.., slow] = self.means;
        let products =
            self.terms().into_iter().zip(self.weights).map(|(term, weight)| term * weight);
        slow + products.sum::<f32>()
    }

    /// What stands for a reading that is missing or not to be looked back at: what was expected, but
    /// within what is looked back at now. Predictions from predictions could grow without bound.
    #[inline]
    pub(crate) fn substitute(&self) -> f32 {
        let [a, b, c] = self.past;
        let [d, e, f, slow] = self.means;
        let known = [b, c, d, e, f, slow];
        let (mut low, mut high) = (a, a);
        for value in known {
            low = smaller(value, low);
            high = larger(value, high);
        }
        smaller(larger(self.expected(), low), high)
    }

    /// Begins to look back anew, as for another device, and keeps what was learned.
    pub(crate) fn restart(&mut self) {
        self.rows = 0;
    }

    /// Looks back at the last `rows` values as if they had been so much lower.
    pub(crate) fn lower(&mut self, by: f32, rows: u32) {
        let rows = rows.clamp(3, SETTLED);
        self.past.iter_mut().for_each(|value| *value -= by);
        for (mean, length) in self.means.iter_mut().zip(LENGTHS) {
            let before = (0..rows).fold(1.0, |part, _| part * (1.0 - 2.0 / (length + 1.0)));
            *mean -= by * (1.0 - before);
        }
    }

    /// Means over 128 and 512 rows.
    pub(crate) fn long_means(&self) -> (f32, f32) {
        let [.., long, slow] = self.means;
        (long, slow)
    }

    /// Whether there is too little to look back at.
    #[inline]
    pub(crate) fn is_starting(&self) -> bool {
        self.rows < START
    }

    /// 1/deviation of the errors.
    #[inline]
    pub(crate) fn inverse_deviation(&self) -> f32 {
        self.inverse_deviation.get()
    }

    /// Takes a value into what is looked back at.
    #[inline]
    pub(crate) fn advance(&mut self, value: f32) {
        self.rows = self.rows.saturating_add(1);
        if self.rows == 1 {
            (self.past, self.means) = ([value; 3], [value; 4]);
        }
        let [a, b, _] = self.past;
        self.past = [value, a, b];
        // Later on, it is less than any of the weights below.
        let least = if self.rows < SETTLED { 1.0 / row_count(self.rows) } else { 0.0 };
        for (mean, length) in self.means.iter_mut().zip(LENGTHS) {
            *mean += larger(2.0 / (length + 1.0), least) * (value - *mean);
        }
    }

    /// Takes a healthy value that was `error` away from what was expected.
    #[inline]
    pub(crate) fn learn(&mut self, value: f32, error: f32) {
        if self.rows > 3 {
            let [.., slow] = self.means;
            let terms = self.terms();
            let (squared, limit) = (error * error, FAR * FAR * self.variance.get());
            let solved = self.weights.iter().any(|weight| weight.abs() > 0.0);
            let weight = if solved && squared > limit { sqrt_f32(limit / squared) } else { 1.0 };
            let rate = 1.0 / row_count(self.rows - 3);
            let mut entries = self.triangle.iter_mut();
            for (row, a) in terms.iter().enumerate() {
                for (b, entry) in terms.iter().take(row + 1).zip(entries.by_ref()) {
                    *entry += rate * (weight * a * b - *entry);
                }
            }
            for (right, a) in self.right.iter_mut().zip(terms) {
                *right += rate * (weight * a * (value - slow) - *right);
            }
            let cut = if self.variance_rows > CARRIED { smaller(squared, limit) } else { squared };
            self.variance_rows = self.variance_rows.saturating_add(1);
            let before = self.variance.get();
            let variance = before + (cut - before) / row_count(self.variance_rows);
            let variance = larger(variance, 1e-8);
            self.variance.set(variance);
            self.inverse_deviation.set(1.0 / sqrt_f32(variance));
        }
        self.advance(value);
    }

    /// Predicts from now on by all that was learned: Cholesky's decomposition, with a little
    /// added to the diagonal.
    #[inline]
    pub(crate) fn solve(&mut self) {
        let mut factor = [[0.0_f32; TERMS]; TERMS];
        let ridge = 1.0001 + 2.0 / row_count(self.rows.max(4) - 3);
        let mut entries = self.triangle.iter().copied();
        for row in 0..TERMS {
            let Some((above, [current, ..])) = factor.split_at_mut_checked(row) else { break };
            for (column, other) in above.iter().enumerate() {
                let sum = entries.next().unwrap_or(0.0) - dot(current, other, column);
                set(current, column, sum / at(other, column));
            }
            let sum = ridge * entries.next().unwrap_or(0.0) + 1e-5 - dot(current, current, row);
            set(current, row, sqrt_f32(larger(sum, 1e-7)));
        }
        let mut forward = [0.0_f32; TERMS];
        for (row, (factors, right)) in factor.iter().zip(self.right).enumerate() {
            let sum = right - dot(factors, &forward, row);
            set(&mut forward, row, sum / at(factors, row));
        }
        for row in (0..TERMS).rev() {
            let below = factor.iter().zip(self.weights).skip(row + 1);
            let known: f32 = below.map(|(factors, weight)| at(factors, row) * weight).sum();
            let diagonal = factor.get(row).map_or(1.0, |factors| at(factors, row));
            set(&mut self.weights, row, (at(&forward, row) - known) / diagonal);
        }
        self.variance_rows = self.variance_rows.min(CARRIED);
    }
}

/// The product of the first numbers of two lists.
#[inline]
fn dot(a: &[f32; TERMS], b: &[f32; TERMS], count: usize) -> f32 {
    a.iter().zip(b).take(count).map(|(a, b)| a * b).sum()
}

/// A number of a list; the index is always inside, and the check spares the proof of it.
fn at(values: &[f32; TERMS], index: usize) -> f32 {
    values.get(index).copied().unwrap_or(1.0)
}

/// Sets a number of a list, as [`at`] gets it.
fn set(values: &mut [f32; TERMS], index: usize, value: f32) {
    if let Some(place) = values.get_mut(index) {
        *place = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Initial;

    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn what_can_be_predicted_is() {
        // An autoregression of the second order, about a level far from 0.
        let (mut predictor, mut word) = (Predictor::INITIAL, 1_u32);
        let (mut last, mut before) = (0.0_f32, 0.0_f32);
        let mut errors = [0.0_f32; 2];
        for row in 0..6000 {
            word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let noise = (word >> 8) as f32 / 8_388_608.0 - 1.0;
            let next = 1.2 * last - 0.5 * before + noise;
            (before, last) = (last, next);
            let value = next + 5.0;
            let error = value - predictor.expected();
            predictor.learn(value, error);
            if row == 2000 {
                predictor.solve();
            }
            if row > 2000 {
                errors[0] += error * error / 4000.0;
                errors[1] += noise * noise / 4000.0;
            }
        }
        assert!(errors[0] < 1.05 * errors[1], "{errors:?}");
        assert!((predictor.inverse_deviation() * sqrt_f32(errors[1]) - 1.0).abs() < 0.05);
    }
}
