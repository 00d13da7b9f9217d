//! From statistics to verdicts, and what follows an alarm.

use crate::bandwidth::MedianDistance;
use crate::delay::Delay;
use crate::map::FeatureMap;
use crate::scale::{Scale, row_count};
use crate::sincos::SinCos;

use super::attribution::attribute;
use super::config::Policy;
use super::outlier::{Gate, Stillness};
use super::verdict::{Alarm, Change, Stage, Verdict};
use super::view::View;
use super::window::Window;
use super::{Baseline, Detector};

/// Shortest window that tells channels apart, in rows.
const SHORTEST_ATTRIBUTING: u32 = 16;
/// Length of the window, in rows, for which p-values are calibrated best.
const BEST_FOR_P_VALUE: u32 = 64;

impl<'m, M, V, const C: usize, const D: usize, const L: usize, const S: usize, B>
    Detector<'m, M, V, C, D, L, S, B>
where
    M: FeatureMap<D, L>,
    V: View<C>,
    B: SinCos,
{
    /// The verdict on row `at`, from the windows as they are.
    pub(super) fn decide(&mut self, at: u64) -> Verdict {
        let stuck = self.stillness.iter().any(Stillness::is_stuck);
        let beyond = stuck || self.windows.iter().any(|window| window.ratio() > 1.0);
        self.quiet_rows = if beyond { 0 } else { self.quiet_rows.saturating_add(1) };
        self.settle();
        if self.stage == Stage::Drift && !self.may_alarm_again() {
            return Verdict::Drifting;
        }
        self.stage = Stage::Monitoring;
        if !beyond {
            return Verdict::Healthy;
        }
        let alarm = self.describe(at);
        self.last_alarm = Some(alarm);
        self.stage = Stage::Drift;
        if let Policy::Relearn { .. } = self.config.policy {
            self.begin_again();
        }
        Verdict::Alarm(alarm)
    }

    /// Whether the policy lets another alarm be raised.
    fn may_alarm_again(&self) -> bool {
        match self.config.policy {
            Policy::Latch => false,
            Policy::HoldOff(rows) => self.quiet_rows >= rows,
            Policy::Relearn { hold_off, .. } => self.count >= hold_off,
        }
    }

    /// Starts a new reference and new windows, keeping the old reference until it has settled.
    fn begin_again(&mut self) {
        if self.previous.is_none() {
            self.previous = Some(self.reference);
        }
        self.reference = Baseline::new();
        self.count = 0;
        self.windows.iter_mut().for_each(Window::restart);
    }

    /// Gives up the old reference, or goes back to it, once the new one has lasted.
    fn settle(&mut self) {
        let (Policy::Relearn { settle, .. }, Some(previous)) = (self.config.policy, self.previous)
        else {
            return;
        };
        if self.count < settle {
            return;
        }
        self.previous = None;
        // No window, each against what is usual for it, tells the data from the old reference.
        let back = self.windows.iter().zip(self.config.scales).all(|(window, length)| {
            let distance = window.mean.squared_distance(&previous.mean);
            let statistic = distance / window.normaliser_against(previous.own);
            self.count <= length.saturating_mul(2) || statistic < window.threshold
        });
        if back {
            self.reference = previous;
            self.windows.iter_mut().for_each(Window::forget_reference);
        }
    }

    fn describe(&self, at: u64) -> Alarm {
        let stuck = self.stillness.iter().enumerate().find(|(_, stillness)| stillness.is_stuck());
        if let Some((channel, stillness)) = stuck {
            return Alarm {
                row: at,
                since: at.saturating_sub(u64::from(stillness.run)),
                scale: stillness.run,
                score: row_count(stillness.run),
                threshold: row_count(stillness.limit),
                channel,
                change: Change::Stuck,
            };
        }
        let (window, length) = self.foremost(0);
        let (channel, change) = self.attribution();
        Alarm {
            row: at,
            since: window.calm_row.saturating_add(1).min(at),
            scale: length,
            score: window.statistic,
            threshold: window.threshold,
            channel,
            change,
        }
    }

    /// The window farthest beyond its threshold of those at least `shortest` rows long, or of
    /// all if none is.
    fn foremost(&self, shortest: u32) -> (&Window<C, L>, u32) {
        let long_enough = self.config.scales.iter().any(|length| *length >= shortest);
        let mut best = (&self.windows[0], self.config.scales[0]);
        let mut largest = f32::NEG_INFINITY;
        for (window, length) in self.windows.iter().zip(self.config.scales) {
            if window.ratio() > largest && (length >= shortest || !long_enough) {
                largest = window.ratio();
                best = (window, length);
            }
        }
        best
    }

    /// The channel that differs most from the reference now, and how. More certain some rows
    /// after an alarm than on the row it was raised. O(C).
    #[must_use]
    pub fn attribution(&self) -> (usize, Change) {
        let (window, _) = self.foremost(SHORTEST_ATTRIBUTING);
        let signs = window.axes.signs(&self.reference.axes);
        attribute(&signs, &window.usual, window.normaliser(self.reference.own))
    }

    /// What the detector is doing.
    #[must_use]
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// Rows pushed in all.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Part done of scaling and learning together, from 0 to 1.
    #[must_use]
    pub fn progress(&self) -> f32 {
        let done = self.scale.rows().saturating_add(self.learned);
        let all = self.config.scaling_rows.saturating_add(self.config.learning_rows);
        (row_count(done) / row_count(all)).min(1.0)
    }

    /// The statistic of the window nearest to, or farthest beyond, its threshold; 0 while
    /// learning.
    #[must_use]
    pub fn statistic(&self) -> f32 {
        self.foremost(0).0.statistic
    }

    /// The threshold of that window; 0 while learning.
    #[must_use]
    pub fn threshold(&self) -> f32 {
        self.foremost(0).0.threshold
    }

    /// Statistic and threshold of every window, shortest first.
    #[must_use]
    pub fn readings(&self) -> [(f32, f32); S] {
        self.windows.map(|window| (window.statistic, window.threshold))
    }

    /// The probability, while all is well, of a statistic at least as large as the present one
    /// in the window nearest to 64 rows; `None` while learning.
    #[must_use]
    pub fn p_value(&self) -> Option<f32> {
        if matches!(self.stage, Stage::Scaling | Stage::Learning) {
            return None;
        }
        let nearest = |length: &u32| length.abs_diff(BEST_FOR_P_VALUE);
        let windows = self.windows.iter().zip(self.config.scales);
        let (window, length) = windows.min_by_key(|(_, length)| nearest(length))?;
        Some(window.null.p_value(length, window.statistic))
    }

    /// The last alarm raised, if any.
    #[must_use]
    pub fn last_alarm(&self) -> Option<Alarm> {
        self.last_alarm
    }

    /// The settings.
    #[must_use]
    pub fn config(&self) -> &super::Config<S> {
        &self.config
    }

    /// The map.
    #[must_use]
    pub fn map(&self) -> &'m M {
        self.map
    }

    /// Answers an alarm: monitoring goes on, and the next alarm may come at once.
    pub fn acknowledge(&mut self) {
        if self.stage == Stage::Drift {
            self.stage = Stage::Monitoring;
        }
    }

    /// Forgets everything learned and begins with scaling again; rows go on being counted.
    pub fn relearn(&mut self) {
        // Field by field, so that no second detector has to fit on the stack.
        self.stage = Stage::Scaling;
        self.scale = Scale::new();
        self.distance = MedianDistance::new(self.config.anchor_spacing());
        self.view = V::start();
        self.delay = Delay::new();
        self.gate = Gate::new();
        self.stillness = [Stillness::default(); C];
        self.count = 0;
        self.learned = 0;
        self.reference = Baseline::new();
        self.windows.iter_mut().for_each(|window| *window = Window::new());
        self.quiet_rows = 0;
        self.previous = None;
        self.last_alarm = None;
    }
}
