//! An option: what a channel does beyond what its past predicts.

use super::scale::MAX_DEVIATIONS;
use crate::numeric::{larger, row_count, sqrt_f32, within};
use crate::shape::{Length, Per};
use crate::state::state;

/// Rows over which the predictor forgets while it learns.
const MEMORY: f32 = 4000.0;
/// Start of the inverse correlation matrix: large, so that the first rows set the coefficients.
const START: f32 = 10.0;
/// Limit of its trace: a channel at rest must not wind it up.
const MAX_TRACE: f32 = 1000.0;
/// Errors beyond this many deviations teach the predictor no more than one of this size.
const CLIP: f32 = 5.0;
/// Rows before the spread of the residuals is trusted enough to clip by it.
const WARM_UP: u32 = 32;
/// Rows over which the spread of the residuals is averaged.
const SPREAD_MEMORY: u32 = 8000;
/// Least variance of the residuals, in variances of the channel.
const MIN_VARIANCE: f32 = 1e-8;

/// What a row may do to the predictors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) enum Update {
    /// They learn from it.
    Learn,
    /// They are fixed, and take it as their past.
    Follow,
    /// They take their own prediction as their past, and the row is forgotten: an outlier would
    /// otherwise come back in the residuals of the rows after it.
    Skip,
}

state! {
    /// The one-step residual of each channel in units of its own spread, cut at
    /// ±[`MAX_DEVIATIONS`].
    ///
    /// A linear predictor of TERMS − 1 lags and a level for each channel, learned by recursive
    /// least squares while the detector learns and fixed afterwards, so that it cannot learn a
    /// change of dynamics away; the spread of the residuals goes on being averaged, over about
    /// 8000 rows. 4·C·(TERMS² + 2·TERMS + 2) bytes.
    #[derive(Debug, Clone, PartialEq)]
    pub(crate) struct Predictors<C: Length; const TERMS> {
        predictors: Per<C, Predictor<TERMS>>,
    }
}

impl<C: Length, const TERMS: usize> Predictors<C, TERMS> {
    pub(crate) const SHAPE: () =
        assert!(TERMS >= 2 && TERMS <= 5, "from one to four lags, and the level");

    /// The residuals of standardised values, which change nothing yet. O(C·TERMS).
    pub(crate) fn residuals(&self, values: &Per<C, f32>) -> Per<C, f32> {
        let mut residuals = values.like(0.0);
        let predictors = self.predictors.iter().zip(values.iter());
        for (residual, (predictor, value)) in residuals.iter_mut().zip(predictors) {
            *residual = predictor.residual(*value);
        }
        residuals
    }

    /// Takes the values, of which the residuals are known, into the past. O(C·TERMS²).
    pub(crate) fn advance(&mut self, values: &Per<C, f32>, update: Update) {
        for (predictor, value) in self.predictors.iter_mut().zip(values.iter()) {
            predictor.advance(*value, update);
        }
    }
}

state! {
    /// The predictor of one channel.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(crate) struct Predictor<; const TERMS> {
        rows: u32,
        variance: f32 = 1.0,
        /// Past values, newest first; the last term is the constant 1 for the level.
        past: [f32; TERMS] = level_alone(),
        weights: [f32; TERMS],
        /// Inverse of the correlation matrix of the past, as recursive least squares keeps it.
        inverse: [[f32; TERMS]; TERMS] = start_matrix(),
    }
}

/// No past, and the 1 for the level.
const fn level_alone<const TERMS: usize>() -> [f32; TERMS] {
    let mut past = [0.0; TERMS];
    past[TERMS - 1] = 1.0;
    past
}

/// [`START`] times the unit matrix.
const fn start_matrix<const TERMS: usize>() -> [[f32; TERMS]; TERMS] {
    let mut inverse = [[0.0; TERMS]; TERMS];
    let mut term = 0;
    while term < TERMS {
        inverse[term][term] = START;
        term += 1;
    }
    inverse
}

impl<const TERMS: usize> Predictor<TERMS> {
    fn residual(&self, value: f32) -> f32 {
        let error = value - dot(&self.weights, &self.past);
        within(error / sqrt_f32(self.variance), MAX_DEVIATIONS)
    }

    fn advance(&mut self, value: f32, update: Update) {
        if self.rows == 0 {
            // No past yet: as if it had always been so.
            if let [lags @ .., _level] = &mut self.past[..] {
                lags.fill(value);
            }
        }
        let predicted = dot(&self.weights, &self.past);
        if update != Update::Skip {
            self.follow(value - predicted, update);
        }
        let [lags @ .., _level] = &mut self.past[..] else { return };
        // A predictor gone wild may predict anything; no row is beyond this limit.
        let predicted = within(predicted, MAX_DEVIATIONS);
        let mut newer = if update == Update::Skip { predicted } else { value };
        for lag in lags {
            core::mem::swap(lag, &mut newer);
        }
    }

    /// Takes the error of a prediction into account, in the weights only while learning.
    fn follow(&mut self, error: f32, update: Update) {
        // Roots are dear, and few errors are anywhere near the limit.
        let far = error * error > 0.99 * CLIP * CLIP * self.variance;
        let clipped = if far && self.rows >= WARM_UP {
            within(error, CLIP * sqrt_f32(self.variance))
        } else {
            error
        };
        if update == Update::Learn {
            self.learn(clipped);
        }
        self.rows = self.rows.saturating_add(1);
        let rate = 1.0 / row_count(self.rows.min(SPREAD_MEMORY));
        self.variance += (clipped * clipped - self.variance) * rate;
        self.variance = larger(self.variance, MIN_VARIANCE);
    }

    /// One step of recursive least squares with forgetting.
    fn learn(&mut self, error: f32) {
        const KEEP: f32 = 1.0 - 1.0 / MEMORY;
        let mut gain = [0.0; TERMS];
        for (g, row) in gain.iter_mut().zip(&self.inverse) {
            *g = dot(row, &self.past);
        }
        let scale = 1.0 / (KEEP + dot(&gain, &self.past));
        for (weight, g) in self.weights.iter_mut().zip(&gain) {
            *weight += g * scale * error;
        }
        let mut trace = 0.0;
        for (i, (row, g)) in self.inverse.iter_mut().zip(&gain).enumerate() {
            for (j, (entry, other)) in row.iter_mut().zip(&gain).enumerate() {
                *entry = (*entry - g * other * scale) / KEEP;
                if i == j {
                    *entry = larger(*entry, 1e-9);
                    trace += *entry;
                }
            }
        }
        if !trace.is_finite() || self.weights.iter().any(|weight| !weight.is_finite()) {
            self.inverse = start_matrix();
            self.weights = [0.0; TERMS];
        } else if trace > MAX_TRACE {
            let shrink = MAX_TRACE / trace;
            self.inverse.iter_mut().flatten().for_each(|entry| *entry *= shrink);
        }
    }
}

fn dot<const N: usize>(a: &[f32; N], b: &[f32; N]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Fixed;
    use crate::state::Initial;
    use rand_core::{Rng, SeedableRng};
    use rand_xorshift::XorShiftRng;

    /// The predictors of one channel.
    type One<const TERMS: usize> = Predictors<Fixed<1>, TERMS>;

    fn push<const TERMS: usize>(one: &mut One<TERMS>, value: f32, update: Update) -> f32 {
        let values = Per([value]);
        let Per([residual]) = one.residuals(&values);
        one.advance(&values, update);
        residual
    }

    fn noise(rng: &mut XorShiftRng) -> f32 {
        (0..12).map(|_| rng.next_u32() as f32 / u32::MAX as f32).sum::<f32>() - 6.0
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn whitens_an_autoregressive_signal() {
        let mut rng = XorShiftRng::seed_from_u64(1);
        let mut innovation = One::<4>::INITIAL;
        let (mut x, mut before) = (0.0_f32, 0.0_f32);
        let (mut squares, mut products, mut last) = (0.0, 0.0, 0.0);
        for row in 0..6000 {
            let next = 1.6 * x - 0.8 * before + 0.2 * noise(&mut rng);
            (before, x) = (x, next);
            let update = if row < 3000 { Update::Learn } else { Update::Follow };
            let residual = push(&mut innovation, x, update);
            if row >= 3000 {
                squares += residual * residual;
                products += residual * last;
            }
            last = residual;
        }
        let (variance, correlation) = (squares / 3000.0, products / squares);
        assert!((variance - 1.0).abs() < 0.1, "{variance}");
        assert!(correlation.abs() < 0.05, "{correlation}");
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn a_fixed_predictor_does_not_learn_a_change_away() {
        let mut rng = XorShiftRng::seed_from_u64(2);
        let mut innovation = One::<4>::INITIAL;
        for _ in 0..2000 {
            push(&mut innovation, noise(&mut rng), Update::Learn);
        }
        let weights = innovation.predictors[0].weights;
        for _ in 0..2000 {
            push(&mut innovation, noise(&mut rng) + 3.0, Update::Follow);
        }
        assert_eq!(innovation.predictors[0].weights, weights);
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn a_row_skipped_leaves_no_echo() {
        let mut rng = XorShiftRng::seed_from_u64(4);
        let mut innovation = One::<4>::INITIAL;
        let mut x = 0.0;
        let mut next = |rng: &mut XorShiftRng| {
            x = 0.9 * x + 0.4 * noise(rng);
            x
        };
        for _ in 0..2000 {
            push(&mut innovation, next(&mut rng), Update::Learn);
        }
        let mut echoing = innovation.clone();
        let outlier = next(&mut rng) + 100.0;
        let variance = innovation.predictors[0].variance;
        let residual = push(&mut innovation, outlier, Update::Skip);
        assert_eq!(innovation.predictors[0].variance, variance);
        assert!(residual > 50.0);
        push(&mut echoing, outlier, Update::Follow);
        let after = next(&mut rng);
        let clean = push(&mut innovation, after, Update::Follow);
        let echo = push(&mut echoing, after, Update::Follow);
        assert!(clean.abs() < 8.0 && echo.abs() > 50.0, "{clean} {echo}");
    }

    #[test]
    fn stays_finite_whatever_comes() {
        let mut innovation = One::<5>::INITIAL;
        let wild = [0.0, 1e5, -1e5, 0.0, 0.0, 0.0, 1e5, 1e-30, 1e5, 1e5, -1e5];
        for round in 0..if cfg!(miri) { 50 } else { 2000 } {
            let update = [Update::Learn, Update::Follow, Update::Skip];
            let value = wild[round % wild.len()];
            let residual = push(&mut innovation, value, update[round % 3]);
            assert!(residual.is_finite() && residual.abs() <= MAX_DEVIATIONS);
            assert!(innovation.predictors[0].weights.iter().all(|w| w.is_finite()));
        }
    }
}
