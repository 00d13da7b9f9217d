//! Windows of several lengths against one reference: what detector and coupling monitor share.

use crate::numeric::{exp, f64_of, larger, ln, rounded, row_count, smaller};
use crate::shape::Per;
use crate::state::{NonNegative, State, state};

use super::bank::Bank;
use super::config::{Calibration, Reference};
use super::null::Null;

/// Of W windows' false alarms, many coincide: they count as this power of W.
const SHARED_ALARMS: f64 = 0.7;

/// What a monitor's settings say of its windows.
pub(crate) struct Rules<'c> {
    /// Their lengths in rows.
    pub(crate) windows: &'c [u32],
    pub(crate) learning_rows: u32,
    pub(crate) mean_time_between_false_alarms: f32,
    pub(crate) reference: Reference,
    pub(crate) calibration: Calibration,
    /// Whether the kernel is much wider than the data.
    pub(crate) wide: bool,
}

impl Rules<'_> {
    /// The mean time between false alarms of one window, if that of all together is as promised.
    fn time_per_window(&self) -> f32 {
        let shared = exp(SHARED_ALARMS * ln(f64_of(self.windows.len())));
        self.mean_time_between_false_alarms * rounded(shared)
    }

    /// The threshold of a window of `length` rows.
    pub(crate) fn threshold(&self, null: &Null, length: u32) -> f32 {
        let block = Null::block_of(length, self.learning_rows);
        null.threshold(length, block, self.time_per_window(), self.wide)
    }
}

state! {
    /// The mean that windows are compared with.
    #[derive(Debug, Clone, PartialEq)]
    pub(crate) struct Baseline<X: State> {
        pub(crate) mean: X,
        /// Σa²: the sum of the squared weights of its rows.
        pub(crate) weight_squares: NonNegative,
        pub(crate) rows: u32,
    }
}

state! {
    /// Reference, windows, and what the windows usually do.
    #[derive(Debug, Clone, PartialEq)]
    pub(crate) struct Comparison<K: Bank> {
        /// Rows since reference and windows began.
        pub(crate) count: u32,
        pub(crate) reference: Baseline<K::Mean>,
        pub(crate) bank: K,
        pub(crate) windows: Per<K::W, Window>,
    }
}

state! {
    /// One window but for its mean: what it usually does, and its threshold. 60 bytes.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(crate) struct Window {
        /// Σa²: the sum of the squared weights of its rows.
        pub(crate) weight_squares: NonNegative,
        /// Σab: the sum of the products of its rows' weights here and in the reference.
        overlap: f32,
        /// R: the squared distance from the reference over its expectation for independent rows
        /// with unit variance.
        pub(crate) statistic: NonNegative,
        /// 0 while learning.
        pub(crate) threshold: NonNegative,
        pub(crate) null: Null,
        /// The last row on which R was below its mean.
        pub(crate) calm_row: u64,
    }
}

impl<K: Bank> Comparison<K> {
    /// Brings reference and windows up to date with row `at`; while `learning`, as a healthy one.
    #[inline]
    pub(crate) fn push(&mut self, rules: &Rules<'_>, at: u64, row: &K::Row, learning: bool) {
        self.count = self.count.saturating_add(1);
        let reference_rate = self.reference_rate(rules);
        if reference_rate > 0.0 {
            let Baseline { mean, weight_squares, rows } = &mut self.reference;
            *rows = rows.saturating_add(1);
            K::blend(mean, row, reference_rate);
            let keep = 1.0 - reference_rate;
            weight_squares.0 = keep * keep * weight_squares.0 + reference_rate * reference_rate;
        }
        let mut rates = self.windows.like(0.0);
        for (rate, length) in rates.iter_mut().zip(rules.windows) {
            *rate = rate_at(*length, self.count);
        }
        let distances = self.bank.blend_and_measure(&rates, row, &self.reference.mean);
        let reference_squares = self.reference.weight_squares.0;
        let windows = self.windows.iter_mut().zip(rules.windows);
        for ((window, length), (rate, distance)) in windows.zip(rates.iter().zip(distances.iter()))
        {
            window.weigh(*rate, reference_rate);
            if !is_ripe(*length, self.count) {
                window.statistic.0 = 0.0;
                window.calm_row = at;
                continue;
            }
            window.statistic.0 = distance / window.normaliser(reference_squares);
            let block = Null::block_of(*length, rules.learning_rows);
            if learning {
                window.null.push(window.statistic.0, block, u32::MAX);
            } else if let Calibration::Adaptive(memory) = rules.calibration {
                let healthy = smaller(window.statistic.0, window.threshold.0);
                if window.null.push(healthy, block, memory) {
                    window.threshold.0 = rules.threshold(&window.null, *length);
                }
            }
            if window.statistic.0 < window.null.mean {
                window.calm_row = at;
            }
        }
    }

    /// The weight of this row in the reference.
    fn reference_rate(&self, rules: &Rules<'_>) -> f32 {
        let next = self.reference.rows.saturating_add(1);
        match rules.reference {
            Reference::Learned if self.reference.rows >= rules.learning_rows => 0.0,
            Reference::Learned => 1.0 / row_count(next),
            Reference::Moving(memory) => 1.0 / row_count(next.min(memory)),
        }
    }

    /// Ends learning: sets the thresholds.
    pub(crate) fn arm(&mut self, rules: &Rules<'_>) {
        for (window, length) in self.windows.iter_mut().zip(rules.windows) {
            window.threshold.0 = rules.threshold(&window.null, *length);
        }
    }

    /// Whether a window is beyond its threshold.
    pub(crate) fn is_beyond(&self) -> bool {
        self.windows.iter().any(|window| window.ratio() > 1.0)
    }

    /// Whether all windows are nearer to their usual mean than to their threshold.
    pub(crate) fn is_calm(&self) -> bool {
        self.windows.iter().all(Window::is_calm)
    }

    /// The window nearest to, or farthest beyond, its threshold, by its place.
    pub(crate) fn foremost(&self) -> usize {
        let mut best = (0, f32::NEG_INFINITY);
        for (place, window) in self.windows.iter().enumerate() {
            if window.ratio() > best.1 {
                best = (place, window.ratio());
            }
        }
        best.0
    }
}

impl Window {
    /// E‖window − reference‖² for independent rows with unit variance.
    #[inline]
    pub(crate) fn normaliser(&self, reference_squares: f32) -> f32 {
        larger(self.weight_squares.0 - 2.0 * self.overlap + reference_squares, 1e-9)
    }

    /// Takes the weights of a new row, here and in the reference, into account.
    #[inline]
    fn weigh(&mut self, rate: f32, reference_rate: f32) {
        let keep = 1.0 - rate;
        self.weight_squares.0 = keep * keep * self.weight_squares.0 + rate * rate;
        self.overlap = keep * (1.0 - reference_rate) * self.overlap + rate * reference_rate;
    }

    /// Makes the weights of this window, of `length` rows, those of a reference, which goes on at
    /// the same rate.
    pub(crate) fn become_reference<X: State>(&self, length: u32, reference: &mut Baseline<X>) {
        reference.weight_squares = self.weight_squares;
        reference.rows = length / 2;
    }

    /// From now on compared with a reference that was a window of `other` rows; this one has
    /// `length`, and is at this squared distance from it.
    pub(crate) fn share_with(&mut self, squares: f32, length: u32, other: u32, distance: f32) {
        let (rate, other) = (rate_of(length), rate_of(other));
        self.overlap = rate * other / (rate + other - rate * other);
        self.statistic.0 = distance / self.normaliser(squares);
    }

    /// From now on compared with a reference in which the present one has this weight, and which
    /// otherwise shares no rows with this window.
    pub(crate) fn share_in_part(&mut self, weight: f32, squares: f32, distance: f32) {
        self.overlap *= weight;
        self.statistic.0 = distance / self.normaliser(squares);
    }

    /// Whether this window would be calm, compared with a reference that shares no rows with it.
    pub(crate) fn would_be_calm(&self, squares: f32, distance: f32) -> bool {
        let statistic = distance / larger(self.weight_squares.0 + squares, 1e-9);
        2.0 * statistic <= self.null.mean + self.threshold.0
    }

    /// Statistic over threshold: beyond 1 is an alarm. 0 while there is no threshold.
    #[inline]
    pub(crate) fn ratio(&self) -> f32 {
        if self.threshold.0 > 0.0 { self.statistic.0 / self.threshold.0 } else { 0.0 }
    }

    /// Whether the statistic is nearer to its usual mean than to its threshold.
    #[inline]
    pub(crate) fn is_calm(&self) -> bool {
        2.0 * self.statistic.0 <= self.null.mean + self.threshold.0
    }
}

/// Whether a window of `length` rows has, after `count` rows, forgotten that it began empty.
#[inline]
pub(crate) fn is_ripe(length: u32, count: u32) -> bool {
    count > length.saturating_mul(2).max(16)
}

/// The weight of row `count` in a window of `length` rows, which is at first a plain mean.
#[inline]
fn rate_at(length: u32, count: u32) -> f32 {
    larger(rate_of(length), 1.0 / row_count(count))
}

/// The weight of the newest row in a window of `length` rows.
#[inline]
fn rate_of(length: u32) -> f32 {
    2.0 / (row_count(length) + 1.0)
}
