//! From statistics to verdicts, and what follows an alarm.

use crate::bandwidth::MedianDistance;
use crate::delay::Delay;
use crate::map::FeatureMap;
use crate::numeric::{larger, row_count};
use crate::scale::Scale;
use crate::sincos::SinCos;

use super::attribution::attribute;
use super::config::Policy;
use super::outlier::Gate;
use super::stillness::Stillness;
use super::verdict::{Alarm, Change, Reading, Stage, Verdict};
use super::view::View;
use super::window::{Means, Window};
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
        let age = self.last_alarm.map_or(u64::MAX, |alarm| at.saturating_sub(alarm.row));
        self.settle(age);
        let beyond = self.stillness.iter().any(Stillness::is_stuck)
            || self.windows.iter().any(|window| window.ratio() > 1.0);
        self.quiet_rows = if beyond { 0 } else { self.quiet_rows.saturating_add(1) };
        if self.stage == Stage::Drift && !self.may_alarm_again(age) {
            return Verdict::Drifting;
        }
        self.stage = Stage::Monitoring;
        if !beyond {
            return Verdict::Healthy;
        }
        let alarm = self.describe(at);
        self.last_alarm = Some(alarm);
        self.stage = Stage::Drift;
        Verdict::Alarm(alarm)
    }

    /// The verdict on a row that was held back: as if it had not come, it neither raises an alarm
    /// nor counts as a quiet one.
    pub(super) fn passed_over(&self) -> Verdict {
        if self.stage == Stage::Drift { Verdict::Drifting } else { Verdict::Healthy }
    }

    /// Whether the policy lets another alarm be raised, `age` rows after the last.
    fn may_alarm_again(&mut self, age: u64) -> bool {
        let calm = self.windows.iter().all(Window::is_calm);
        let moving = self.stillness.iter().all(Stillness::is_calm);
        match self.config.policy {
            Policy::Latch => false,
            Policy::HoldOff(rows) => age >= u64::from(rows),
            Policy::OncePerChange(rows) => self.quiet_rows >= rows && calm && moving,
            Policy::Relearn { hold_off, .. } if age < u64::from(hold_off) => false,
            Policy::Relearn { .. } if calm => moving,
            Policy::Relearn { .. } => {
                self.follow();
                false
            }
        }
    }

    /// Makes the longest window the reference, keeping the old one until this one has settled.
    fn follow(&mut self) {
        let (Some(longest), Some(length)) = (self.windows.last(), self.config.scales.last()) else {
            return;
        };
        if self.previous.is_none() {
            self.previous = Some(self.reference);
        }
        let reference = &mut self.reference;
        for (point, mean) in reference.mean.points.iter_mut().zip(self.means.of(S - 1)) {
            *point = *mean;
        }
        longest.become_reference(*length, reference);
        let distances = self.means.distances(&reference.mean);
        let windows = self.windows.iter_mut().zip(&self.config.scales).zip(distances);
        for ((window, own), distance) in windows {
            window.share_with(reference.own, *own, *length, distance);
        }
    }

    /// Gives up the old reference, or goes back to it, once the new one has lasted: `age` rows
    /// after the last alarm.
    fn settle(&mut self, age: u64) {
        let (Policy::Relearn { settle, .. }, Some(previous)) = (self.config.policy, &self.previous)
        else {
            return;
        };
        if age < u64::from(settle) {
            return;
        }
        // No window, each against what is usual for it, tells the data from the old reference.
        let distances = self.means.distances(&previous.mean);
        let mut windows = self.windows.iter().zip(distances);
        if windows.all(|(window, distance)| window.would_be_calm(previous.own, distance)) {
            self.reference = *previous;
            for (window, distance) in self.windows.iter_mut().zip(distances) {
                window.share_in_part(0.0, previous.own, distance);
            }
        }
        self.previous = None;
    }

    fn describe(&self, at: u64) -> Alarm {
        let (window, length) = self.foremost();
        let (channel, change) = self.attribution();
        let since = window.calm_row.saturating_add(1).min(at);
        let (score, threshold) = (window.statistic, window.threshold);
        let mut alarm = Alarm { row: at, since, scale: length, score, threshold, channel, change };
        // The channel that has been still for longest, measured by what is plausible for it: what
        // a window says of a channel that is stuck (its level is off, its spread has gone) only
        // follows from that.
        let longest = |(_, a): &(usize, &Stillness), (_, b): &(usize, &Stillness)| {
            a.is_stuck().cmp(&b.is_stuck()).then(a.excess().total_cmp(&b.excess()))
        };
        let stillest = self.stillness.iter().enumerate().max_by(longest);
        if let Some((channel, stillness)) = stillest.filter(|(_, s)| s.is_implausible()) {
            alarm.channel = channel;
            alarm.change = Change::Stuck;
            alarm.since = at.saturating_sub(u64::from(stillness.run));
            if stillness.is_stuck() {
                alarm.scale = stillness.run;
                alarm.score = row_count(stillness.run);
                alarm.threshold = row_count(stillness.limit);
            }
        }
        alarm
    }

    /// The window nearest to, or farthest beyond, its threshold.
    fn foremost(&self) -> (&Window<C>, u32) {
        let mut best = (&self.windows[0], self.config.scales[0]);
        for (window, length) in self.windows.iter().zip(self.config.scales) {
            if window.ratio() > best.0.ratio() {
                best = (window, length);
            }
        }
        best
    }

    /// The channel that differs most from the reference now, and how, by the window that shows it
    /// best. More certain some rows after an alarm than on the row it was raised. O(S·C).
    #[must_use]
    pub fn attribution(&self) -> (usize, Change) {
        let (_, longest) = self.config.range();
        let shortest = SHORTEST_ATTRIBUTING.min(longest);
        let mut signs = [[0.0; 4]; C];
        for (window, length) in self.windows.iter().zip(self.config.scales) {
            if length < shortest {
                continue;
            }
            let own = window.unusual(&self.reference);
            for (sign, own) in signs.iter_mut().flatten().zip(own.iter().flatten()) {
                *sign = larger(*sign, *own);
            }
        }
        attribute(&signs)
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

    /// The statistic of the window nearest to, or farthest beyond, its threshold; while learning,
    /// of the shortest window.
    #[must_use]
    pub fn statistic(&self) -> f32 {
        self.foremost().0.statistic
    }

    /// The threshold of that window; 0 while learning.
    #[must_use]
    pub fn threshold(&self) -> f32 {
        self.foremost().0.threshold
    }

    /// What every window says, shortest first.
    #[must_use]
    pub fn readings(&self) -> [Reading; S] {
        let mut readings =
            self.config.scales.map(|scale| Reading { scale, statistic: 0.0, threshold: 0.0 });
        for (reading, window) in readings.iter_mut().zip(&self.windows) {
            reading.statistic = window.statistic;
            reading.threshold = window.threshold;
        }
        readings
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
        // Field by field, and from constants, so that no second detector, nor a part of one, has to
        // fit on the stack.
        self.stage = Stage::Scaling;
        self.scale = const { Scale::new() };
        self.distance = MedianDistance::new(self.config.anchor_spacing());
        self.view = V::start();
        self.delay = const { Delay::new() };
        self.gate = Gate::new();
        self.stillness = [Stillness::default(); C];
        self.count = 0;
        self.learned = 0;
        self.reference = const { Baseline::new() };
        self.means = const { Means::new() };
        self.windows.iter_mut().for_each(|window| *window = const { Window::new() });
        self.quiet_rows = 0;
        self.previous = None;
        self.last_alarm = None;
    }
}

// Thousands of rows each: too slow when interpreted.
#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use crate::detector::{Config, Raw};
    use crate::{Error, Fourier, Kernel, Parameter, Sampling};
    use rand_core::{Rng, SeedableRng};
    use rand_xorshift::XorShiftRng;
    use std::vec::Vec;

    static MAP: Fourier<1, 16> = match Fourier::new(Kernel::GAUSSIAN, Sampling::Auto, 1) {
        Ok(map) => map,
        Err(_) => panic!(),
    };
    type Small = Detector<'static, Fourier<1, 16>, Raw, 1, 1, 16, 2>;

    /// A detector that has learned uniform noise, and the noise.
    struct Bench {
        detector: Small,
        rng: XorShiftRng,
    }

    impl Bench {
        fn new(policy: Policy) -> Self {
            let config = Config {
                scaling_rows: 64,
                learning_rows: 2048,
                policy,
                ..Config::rows(1e7).with_scales([4, 64])
            };
            let detector = Detector::new(&MAP, config).unwrap();
            let mut bench = Self { detector, rng: XorShiftRng::seed_from_u64(5) };
            bench.run(64 + 2048, 0.0);
            assert_eq!(bench.detector.stage(), Stage::Monitoring);
            bench
        }

        /// The rows, counted from the first of these, on which alarms were raised.
        fn run(&mut self, rows: usize, level: f32) -> Vec<usize> {
            let mut alarms = Vec::new();
            for row in 0..rows {
                let noise = self.rng.next_u32() as f32 / u32::MAX as f32;
                if let Verdict::Alarm(_) = self.detector.push(&[noise + level]).unwrap() {
                    alarms.push(row);
                }
            }
            alarms
        }
    }

    #[test]
    fn a_latched_alarm_waits_for_its_answer() {
        let mut bench = Bench::new(Policy::Latch);
        assert_eq!(bench.run(100, 1.0).len(), 1);
        assert_eq!(bench.run(1000, 0.0).len(), 0);
        assert_eq!(bench.run(100, 1.0).len(), 0);
        bench.run(200, 0.0);
        assert_eq!(bench.detector.stage(), Stage::Drift);
        bench.detector.acknowledge();
        assert_eq!(bench.run(100, 0.0).len(), 0);
        assert_eq!(bench.run(100, 1.0).len(), 1);
    }

    #[test]
    fn a_lasting_change_alarms_once_and_again_only_after_calm_rows() {
        let mut bench = Bench::new(Policy::OncePerChange(50));
        assert_eq!(bench.run(500, 1.0).len(), 1);
        // Back for less than the hold-off, the windows' own memory included: the same episode.
        assert_eq!(bench.run(30, 0.0).len(), 0);
        assert_eq!(bench.run(100, 1.0).len(), 0);
        assert_eq!(bench.run(500, 0.0).len(), 0);
        assert_eq!(bench.detector.stage(), Stage::Monitoring);
        assert_eq!(bench.run(100, 1.0).len(), 1);
    }

    #[test]
    fn half_way_to_the_threshold_is_not_calm() {
        let mut detector = Bench::new(Policy::OncePerChange(50)).detector;
        let [Reading { threshold, .. }, _] = detector.readings();
        let mean = detector.windows[0].null.mean;
        let mut at = detector.rows();
        let mut hold = |statistic: f32, rows: u64| {
            detector.windows.iter_mut().for_each(|window| window.statistic = 0.0);
            detector.windows[0].statistic = statistic;
            at += rows;
            (at - rows..at).map(|row| detector.decide(row)).last().unwrap()
        };
        assert!(matches!(hold(1.1 * threshold, 1), Verdict::Alarm(_)));
        assert_eq!(hold(0.9 * threshold, 500), Verdict::Drifting);
        let half_way = 0.5 * (mean + threshold);
        assert_eq!(hold(1.01 * half_way, 1), Verdict::Drifting);
        assert_eq!(hold(0.99 * half_way, 1), Verdict::Healthy);
        assert!(matches!(hold(1.1 * threshold, 1), Verdict::Alarm(_)));
    }

    #[test]
    fn a_lasting_regime_becomes_the_reference() {
        let mut bench = Bench::new(Policy::Relearn { hold_off: 100, settle: 400 });
        let learned = bench.detector.reference;
        assert_eq!(bench.run(90, 1.0).len(), 1);
        assert_eq!(bench.detector.reference, learned);
        assert_eq!(bench.run(1000, 1.0).len(), 0);
        assert_eq!(bench.detector.stage(), Stage::Monitoring);
        assert!(bench.detector.previous.is_none());
        let moved = bench.detector.reference.mean.squared_distance(&learned.mean);
        assert!(moved > 0.1, "{moved}");
        // The way back is a change like any other.
        assert_eq!(bench.run(300, 0.0).len(), 1);
    }

    #[test]
    fn after_a_passing_regime_the_old_reference_is_taken_up_again() {
        let mut bench = Bench::new(Policy::Relearn { hold_off: 100, settle: 400 });
        let learned = bench.detector.reference;
        assert_eq!(bench.run(250, 1.0).len(), 1);
        assert_eq!(bench.detector.previous, Some(learned));
        assert_ne!(bench.detector.reference, learned);
        assert_eq!(bench.run(300, 0.0).len(), 1);
        assert_eq!(bench.detector.previous, Some(learned));
        assert_eq!(bench.run(300, 0.0).len(), 0);
        assert_eq!(bench.detector.reference, learned);
        assert!(bench.detector.previous.is_none());
        assert_eq!(bench.run(2000, 0.0).len(), 0);
        assert_eq!(bench.run(100, 1.0).len(), 1);
    }

    #[test]
    fn a_disturbance_shorter_than_the_hold_off_moves_nothing() {
        let mut bench = Bench::new(Policy::Relearn { hold_off: 300, settle: 400 });
        let learned = bench.detector.reference;
        assert_eq!(bench.run(20, 1.0).len(), 1);
        assert_eq!(bench.run(500, 0.0).len(), 0);
        assert_eq!(bench.detector.reference, learned);
        assert_eq!(bench.run(20, 1.0).len(), 1);
    }

    #[test]
    fn the_old_reference_is_kept_until_the_new_one_is_whole() {
        let with = |settle| {
            let policy = Policy::Relearn { hold_off: 100, settle };
            Config { policy, ..Config::rows(1e4).with_scales([4, 64]) }.check()
        };
        assert_eq!(with(163), Err(Error::OutOfRange(Parameter::HoldOff)));
        assert_eq!(with(164), Ok(()));
    }

    #[test]
    fn a_lone_outlier_leaves_no_trace() {
        let mut with = Bench::new(Policy::Latch);
        let mut without = with.detector.clone();
        let mut rng = with.rng.clone();
        for outlier in [2.0, -1e3, 1e12] {
            assert_eq!(with.detector.push(&[outlier]), Ok(Verdict::Healthy));
            for _ in 0..20 {
                let noise = rng.next_u32() as f32 / u32::MAX as f32;
                assert_eq!(with.detector.push(&[noise]), without.push(&[noise]));
                assert_eq!(with.detector.readings(), without.readings());
            }
        }
        // Two of them do.
        with.detector.push(&[1e12]).unwrap();
        with.detector.push(&[1e12]).unwrap();
        assert_ne!(with.detector.readings(), without.readings());
    }

    #[test]
    fn a_channel_that_stops_is_called_stuck_whatever_fired_first() {
        for value in [0.02, 0.5] {
            let mut bench = Bench::new(Policy::Latch);
            let onset = bench.detector.rows();
            while bench.detector.last_alarm().is_none() {
                bench.detector.push(&[value]).unwrap();
            }
            let alarm = bench.detector.last_alarm().unwrap();
            assert_eq!((alarm.change, alarm.channel, alarm.since), (Change::Stuck, 0, onset));
            assert!(alarm.severity() >= 1.0, "{alarm:?}");
        }
    }

    #[test]
    fn repeats_while_a_drift_lasts_only_if_asked_to() {
        for (policy, expected) in [(Policy::HoldOff(50), 2..=4), (Policy::Latch, 1..=1)] {
            let mut bench = Bench::new(policy);
            let alarms = bench.run(150, 10.0).len();
            assert!(expected.contains(&alarms), "{policy:?}");
        }
    }

    #[test]
    fn after_constant_data_any_movement_alarms() {
        for constant in [0.0, 5.0, -1e6] {
            let mut detector = Bench::new(Policy::Latch).detector;
            detector.relearn();
            let mut rng = XorShiftRng::seed_from_u64(9);
            let mut verdicts = Vec::new();
            for row in 0..4000 {
                let moved = (rng.next_u32() % 1000) as f32;
                let value = if row < 3000 { constant } else { constant + moved };
                verdicts.push(detector.push(&[value]).unwrap());
            }
            let first = verdicts.iter().position(|v| matches!(v, Verdict::Alarm(_)));
            assert!(first.is_some_and(|row| (3000..3050).contains(&row)), "{constant} {first:?}");
        }
    }
}
