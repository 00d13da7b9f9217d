//! What a channel's own past says of its next value.

use crate::numeric::{Number, Rate, Real, larger, row_count, within};
use crate::state::{FromOne, NonNegative, state};

/// Terms of a prediction: three rows, and three means.
const TERMS: usize = 6;
/// Entries of the normal equations: their lower triangle, and the right-hand side.
const TRIANGLE: usize = TERMS * (TERMS + 1) / 2;
/// Lengths of the exponentially weighted means, in rows. All else is measured from the slowest.
const LENGTHS: [u32; 4] = [8, 32, 128, 512];
const RATES: [Rate; 4] =
    [Rate::of_window(8), Rate::of_window(32), Rate::of_window(128), Rate::of_window(512)];
/// Errors beyond this many deviations count less.
const FAR: f32 = 5.0;
/// Rows of history that a prediction needs.
const START: u32 = 64;
/// Rows from which all means are exponentially weighted.
const SETTLED: u32 = 512;
/// No term weighs more.
const LARGEST_WEIGHT: f32 = 16.0;
/// No error varies less.
const LEAST_VARIANCE: f32 = 1e-8;
/// Rows that the variance counts as when another prediction takes over.
const CARRIED: u32 = 16;

/// No saved product of two values is larger: see the detector's limit of values.
const LARGEST_PRODUCT: f32 = 1e18;

state! {
    /// A linear prediction of the next value from the last three rows and from means over 8, 32
    /// and 128 rows, all measured from the mean over 512: it says nothing of the level, so a
    /// drift of the level does not look like one of anything else, and a signal that wanders is
    /// no special case. 172 bytes.
    ///
    /// Learned by least squares over running means, solved a few times while learning and then
    /// left alone: nothing can diverge, and nothing learns from a fault.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(crate) struct Predictor<N: Number> {
        triangle: [N::Product; TRIANGLE] => up to LARGEST_PRODUCT,
        right: [N::Product; TERMS] => up to LARGEST_PRODUCT,
        weights: [N; TERMS] => up to LARGEST_WEIGHT,
        past: [N; 3],
        means: [N; 4],
        /// Mean squared error.
        variance: NonNegative<N::Product>,
        /// 1/√variance.
        inverse_deviation: FromOne<N> => allowed |_, it: &FromOne<N>| it.is_inverse_deviation(),
        variance_rows: u32,
        rows: u32,
    }
}

// All of it `inline`: else what iterators are made of would be compiled here once for all programs
// that are optimised for size, and inlined in none.
impl<N: Number> Predictor<N> {
    /// Room that is not in use before the first row.
    pub(crate) fn spare(&mut self) -> &mut [N::Product] {
        &mut self.triangle
    }

    #[inline]
    fn terms(&self) -> [N; TERMS] {
        let [a, b, c] = self.past;
        let [d, e, f, slow] = self.means;
        [a - slow, b - slow, c - slow, d - slow, e - slow, f - slow]
    }

    /// What is expected next, in standardised units.
    #[inline]
    pub(crate) fn expected(&self) -> N {
        let [.., slow] = self.means;
        N::sum_of_products(slow, self.terms(), &self.weights)
    }

    /// What takes the place of a reading that is missing or a glitch: the prediction, but within the
    /// range of the present history. Predictions from predictions could grow without bound.
    #[inline]
    pub(crate) fn substitute(&self) -> N {
        let [a, b, c] = self.past;
        let [d, e, f, slow] = self.means;
        let known = [b, c, d, e, f, slow];
        let (mut low, mut high) = (a, a);
        for value in known {
            low = value.or_less(low);
            high = value.or_more(high);
        }
        self.expected().or_more(low).or_less(high)
    }

    /// Empties the history, as for another device, and keeps what was learned.
    pub(crate) fn restart(&mut self) {
        self.rows = 0;
    }

    /// Lowers the last `rows` values of the history, as if they had been measured from another level.
    pub(crate) fn lower(&mut self, by: f32, rows: u32) {
        let rows = rows.clamp(3, SETTLED);
        self.past.iter_mut().for_each(|value| *value -= N::of(by));
        for (mean, length) in self.means.iter_mut().zip(LENGTHS) {
            let rate = 2.0 / (row_count(length) + 1.0);
            let before = (0..rows).fold(1.0, |part, _| part * (1.0 - rate));
            *mean -= N::of(by * (1.0 - before));
        }
    }

    /// Means over 128 and 512 rows.
    pub(crate) fn long_means(&self) -> (f32, f32) {
        let [.., long, slow] = self.means;
        (long.value(), slow.value())
    }

    /// Whether the history is too short for a prediction.
    #[inline]
    pub(crate) fn is_starting(&self) -> bool {
        self.rows < START
    }

    /// An error in deviations.
    #[inline]
    pub(crate) fn in_deviations(&self, error: N) -> N {
        error.times(self.inverse_deviation.get())
    }

    /// Takes a value into the history.
    #[inline]
    pub(crate) fn advance(&mut self, value: N) {
        self.rows = self.rows.saturating_add(1);
        if self.rows == 1 {
            (self.past, self.means) = ([value; 3], [value; 4]);
        }
        let [a, b, _] = self.past;
        self.past = [value, a, b];
        if self.rows < SETTLED {
            return self.fill(value);
        }
        for (mean, rate) in self.means.iter_mut().zip(RATES) {
            *mean += (value - *mean).part(rate);
        }
    }

    /// The same while the means are of fewer rows than they will be.
    #[inline(never)]
    fn fill(&mut self, value: N) {
        let share = N::share_of(self.rows);
        for (mean, (length, rate)) in self.means.iter_mut().zip(LENGTHS.into_iter().zip(RATES)) {
            let step = value - *mean;
            // 1/rows is more than 2/(length + 1).
            let few = self.rows.saturating_mul(2) < length + 1;
            *mean += if few { step.share(share) } else { step.part(rate) };
        }
    }

    /// Takes a healthy value that was `error` away from what was expected.
    #[inline]
    pub(crate) fn learn(&mut self, value: N, error: N) {
        if self.rows > 3 {
            let [.., slow] = self.means;
            let terms = self.terms();
            let (squared, far) = (error.product(error), N::of(FAR).times(self.deviation()));
            let is_far = error.size() > far;
            let solved = self.weights.iter().any(|weight| weight.size() > N::ZERO);
            let weight = (solved && is_far).then(|| far.over(error.size()));
            let weighted = |a: N| weight.map_or(a, |weight| weight.times(a));
            let share = N::share_of(self.rows - 3);
            let mut entries = self.triangle.iter_mut();
            for (row, a) in terms.iter().enumerate() {
                let a = weighted(*a);
                for (b, entry) in terms.iter().take(row + 1).zip(entries.by_ref()) {
                    *entry += (a.product(*b) - *entry).share(share);
                }
            }
            for (right, a) in self.right.iter_mut().zip(terms) {
                *right += (weighted(a).product(value - slow) - *right).share(share);
            }
            let cut =
                if self.variance_rows > CARRIED && is_far { far.product(far) } else { squared };
            self.variance_rows = self.variance_rows.saturating_add(1);
            let before = self.variance.0;
            let variance = before + (cut - before).share(N::share_of(self.variance_rows));
            self.variance.0 = variance.or_more(N::Product::of(LEAST_VARIANCE));
            let deviation = self.deviation();
            self.inverse_deviation.set(N::of(1.0).over(deviation));
        }
        self.advance(value);
    }

    /// Deviation of the errors.
    fn deviation(&self) -> N {
        N::root_of(self.variance.0)
    }

    /// Predicts from now on by all that was learned: a decomposition L·D·L' without roots, with a little
    /// added to the diagonal.
    #[inline]
    pub(crate) fn solve(&mut self) {
        // The rows of L·D, and 1/D.
        let (mut factor, mut inverse) = ([[0.0_f32; TERMS]; TERMS], [0.0_f32; TERMS]);
        let ridge = 1.0001 + 2.0 / row_count(self.rows.max(4) - 3);
        let mut entries = self.triangle.iter().map(|entry| entry.value());
        let mut weights = [0.0_f32; TERMS];
        for (row, right) in self.right.iter().enumerate() {
            let Some((above, [current, ..])) = factor.split_at_mut_checked(row) else { break };
            for (column, other) in above.iter().enumerate() {
                let sum = entries.next().unwrap_or(0.0) - dot(current, other, &inverse, column);
                set(current, column, sum);
            }
            let sum = ridge * entries.next().unwrap_or(0.0) + 1e-5;
            let sum = larger(sum - dot(current, current, &inverse, row), 1e-7);
            set(&mut inverse, row, 1.0 / sum);
            let sum = right.value() - dot(current, &weights, &inverse, row);
            set(&mut weights, row, sum);
        }
        for row in (0..TERMS).rev() {
            let below = factor.iter().zip(weights).skip(row + 1);
            let known: f32 = below.map(|(factors, weight)| at(factors, row) * weight).sum();
            let weight = (at(&weights, row) - known) * at(&inverse, row);
            set(&mut weights, row, weight);
        }
        self.weights = weights.map(|weight| N::of(within(weight, LARGEST_WEIGHT)));
        self.variance_rows = self.variance_rows.min(CARRIED);
    }
}

/// The sum of the first products of three lists.
#[inline]
fn dot(a: &[f32; TERMS], b: &[f32; TERMS], c: &[f32; TERMS], count: usize) -> f32 {
    a.iter().zip(b).zip(c).take(count).map(|((a, b), c)| a * b * c).sum()
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
    use crate::numeric::sqrt_f32;
    use crate::state::Initial;

    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn what_can_be_predicted_is() {
        // An autoregression of the second order, about a level far from 0.
        let (mut predictor, mut word) = (Predictor::<f32>::INITIAL, 1_u32);
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
        assert!((predictor.in_deviations(sqrt_f32(errors[1])) - 1.0).abs() < 0.05);
    }
}
