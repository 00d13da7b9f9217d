//! From statistics to verdicts, and what follows an alarm.

use crate::condition::{Stillness, View};
use crate::features::FeatureMap;
use crate::features::sincos::SinCos;
use crate::numeric::{larger, row_count};
use crate::shape::Length;
use crate::state::State;

use super::attribution::{attribute, evidence};
use super::comparison::Comparison;
use super::config::Policy;
use super::detector::{Detector, Memory};
use super::verdict::{Alarm, Change, Stage, Verdict, WindowStatus};

/// Shortest window that tells channels apart, in rows.
const SHORTEST_ATTRIBUTING: u32 = 16;
/// Length of the window, in rows, for which p-values are calibrated best.
const BEST_FOR_P_VALUE: u32 = 64;

impl<'m, M, V, W> Detector<'m, M, V, W>
where
    M: FeatureMap<Inputs = V::Inputs, Backend: SinCos>,
    V: View,
    W: Length,
{
    /// The verdict on row `at`, from the windows as they are.
    #[inline(never)]
    pub(super) fn decide(&mut self, at: u64) -> Verdict {
        let age = self.state.last_alarm.map_or(u64::MAX, |alarm| at.saturating_sub(alarm.row));
        self.settle(age);
        let stuck = self.state.condition.stillness.iter().any(|stillness| stillness.is_too_long());
        let beyond = stuck || self.state.comparison.is_beyond();
        self.state.quiet_rows = if beyond { 0 } else { self.state.quiet_rows.saturating_add(1) };
        if self.state.stage == Stage::Drift && !self.may_alarm_again(age) {
            return Verdict::Drifting;
        }
        self.state.stage = Stage::Monitoring;
        if !beyond {
            return Verdict::Healthy;
        }
        let alarm = self.describe(at);
        self.state.last_alarm = Some(alarm);
        self.state.stage = Stage::Drift;
        Verdict::Alarm(alarm)
    }

    /// The verdict on a row that was held back: as if it had not come, it neither raises an alarm
    /// nor counts as a quiet one.
    pub(super) fn passed_over(&self) -> Verdict {
        if self.state.stage == Stage::Drift { Verdict::Drifting } else { Verdict::Healthy }
    }

    /// Whether the policy lets another alarm be raised, `age` rows after the last.
    fn may_alarm_again(&mut self, age: u64) -> bool {
        let calm = self.state.comparison.is_calm();
        let moving = self.state.condition.stillness.iter().all(|stillness| stillness.is_calm());
        match self.config.policy {
            Policy::Latch => false,
            Policy::HoldOff(rows) => age >= u64::from(rows),
            Policy::OncePerChange(rows) => self.state.quiet_rows >= rows && calm && moving,
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
        let Memory { comparison, previous, .. } = &mut self.state;
        let Comparison { reference, bank, windows, .. } = comparison;
        let lengths = self.config.lengths();
        let (Some(longest), Some(length)) = (windows.last(), lengths.last()) else {
            return;
        };
        if previous.get().is_none() {
            previous.set(reference);
        }
        bank.copy_into(windows.len().saturating_sub(1), &mut reference.mean);
        longest.become_reference(*length, reference);
        let distances = bank.distances(&reference.mean);
        let windows = windows.iter_mut().zip(lengths).zip(distances.iter());
        for ((window, own), distance) in windows {
            window.share_with(reference.weight_squares.0, *own, *length, *distance);
        }
    }

    /// Gives up the old reference, or goes back to it, once the new one has lasted: `age` rows
    /// after the last alarm.
    fn settle(&mut self, age: u64) {
        let Memory { comparison, previous, .. } = &mut self.state;
        let (Policy::Relearn { settle, .. }, Some(old)) = (self.config.policy, previous.get())
        else {
            return;
        };
        if age < u64::from(settle) {
            return;
        }
        // No window, each against what is usual for it, tells the data from the old reference.
        let Comparison { reference, bank, windows, .. } = comparison;
        let (squares, distances) = (old.weight_squares.0, bank.distances(&old.mean));
        let mut each = windows.iter().zip(distances.iter());
        if each.all(|(window, distance)| window.would_be_calm(squares, *distance)) {
            reference.copy_from(old);
            for (window, distance) in windows.iter_mut().zip(distances.iter()) {
                window.share_in_part(0.0, squares, *distance);
            }
        }
        previous.clear();
    }

    fn describe(&self, at: u64) -> Alarm {
        let foremost = self.foremost();
        let (channel, change) = self.attribution();
        let calm_row = self.state.comparison.windows.get(self.state.comparison.foremost());
        let since = calm_row.map_or(0, |window| window.calm_row).saturating_add(1).min(at);
        let WindowStatus { window, statistic: score, threshold } = foremost;
        let mut alarm = Alarm { row: at, since, window, score, threshold, channel, change };
        // The channel that has been still for longest, measured by what is plausible for it: what
        // a window says of a channel that is stuck (its level is off, its spread has gone) only
        // follows from that.
        let longest = |(_, a): &(usize, &Stillness), (_, b): &(usize, &Stillness)| {
            a.is_too_long().cmp(&b.is_too_long()).then(a.excess().total_cmp(&b.excess()))
        };
        let stillest = self.state.condition.stillness.iter().enumerate().max_by(longest);
        if let Some((channel, stillness)) = stillest.filter(|(_, s)| s.is_implausible()) {
            alarm.channel = channel;
            alarm.change = Change::Stuck;
            alarm.since = at.saturating_sub(u64::from(stillness.run));
            if stillness.is_too_long() {
                alarm.window = stillness.run;
                alarm.score = row_count(stillness.run);
                alarm.threshold = row_count(stillness.limit);
            }
        }
        alarm
    }

    /// The channel that differs most from the reference now, and how, by the window that shows it
    /// best. More certain some rows after an alarm than on the row it was raised. O(W·C).
    #[must_use]
    pub fn attribution(&self) -> (usize, Change) {
        let (_, longest) = self.config.range();
        let shortest = SHORTEST_ATTRIBUTING.min(longest);
        let Comparison { reference, bank, windows, .. } = &self.state.comparison;
        let mut largest = self.state.condition.scaling.gains.like([0.0; 4]);
        let windows = windows.iter().zip(self.config.lengths()).zip(bank.axes.iter());
        for (((window, length), axes), usual) in windows.zip(self.state.attribution.usual.iter()) {
            if *length < shortest {
                continue;
            }
            let normaliser = window.normaliser(reference.weight_squares.0);
            let axes = axes.iter().zip(reference.mean.axes.iter()).zip(usual.iter());
            for (largest, ((axis, reference), usual)) in largest.iter_mut().zip(axes) {
                let found = evidence(axis, reference).into_iter().zip(usual);
                for (largest, (value, usual)) in largest.iter_mut().zip(found) {
                    *largest = larger(*largest, value / larger(usual * normaliser, 1e-12));
                }
            }
        }
        attribute(&largest)
    }

    /// What the detector is doing.
    #[must_use]
    pub fn stage(&self) -> Stage {
        self.state.stage
    }

    /// Rows pushed in all.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.state.rows
    }

    /// Part done of scaling and learning together, from 0 to 1.
    #[must_use]
    pub fn progress(&self) -> f32 {
        let done = self.state.condition.scaling.scale.rows().saturating_add(self.state.learned);
        let all = self.config.scaling_rows.saturating_add(self.config.learning_rows);
        (row_count(done) / row_count(all)).min(1.0)
    }

    /// Rows still to be learned from until monitoring begins: 0 once it has.
    #[must_use]
    pub fn rows_to_learn(&self) -> u64 {
        let Memory { stage, learned, condition, .. } = &self.state;
        let scaling =
            u64::from(self.config.scaling_rows.saturating_sub(condition.scaling.scale.rows()));
        let learning = u64::from(self.config.learning_rows.saturating_sub(*learned));
        let history = condition.view.delay().missing(condition.channels());
        match stage {
            Stage::Scaling => scaling + history + learning,
            Stage::Learning => history + learning,
            Stage::Monitoring | Stage::Drift => 0,
        }
    }

    /// The window nearest to, or farthest beyond, its threshold; while learning, the shortest.
    #[must_use]
    pub fn foremost(&self) -> WindowStatus {
        self.window(self.state.comparison.foremost()).unwrap_or(WindowStatus {
            window: 0,
            statistic: 0.0,
            threshold: 0.0,
        })
    }

    /// The statistic of the [foremost](Self::foremost) window.
    #[must_use]
    pub fn statistic(&self) -> f32 {
        self.foremost().statistic
    }

    /// The threshold of the [foremost](Self::foremost) window; 0 while learning.
    #[must_use]
    pub fn threshold(&self) -> f32 {
        self.foremost().threshold
    }

    /// What every window says, shortest first.
    pub fn windows(&self) -> impl Iterator<Item = WindowStatus> + '_ {
        (0..self.state.comparison.windows.len()).filter_map(|place| self.window(place))
    }

    fn window(&self, place: usize) -> Option<WindowStatus> {
        let window = self.state.comparison.windows.get(place)?;
        let (statistic, threshold) = (window.statistic.0, window.threshold.0);
        self.config.lengths().get(place).map(|&window| WindowStatus {
            window,
            statistic,
            threshold,
        })
    }

    /// The probability, while all is well, of a statistic at least as large as the present one
    /// in the window nearest to 64 rows; `None` while learning.
    #[must_use]
    pub fn p_value(&self) -> Option<f32> {
        if !self.state.stage.is_learned() {
            return None;
        }
        let nearest = |length: &u32| length.abs_diff(BEST_FOR_P_VALUE);
        let windows = self.state.comparison.windows.iter().zip(self.config.lengths());
        let (window, length) = windows.min_by_key(|(_, length)| nearest(length))?;
        Some(window.null.p_value(*length, window.statistic.0))
    }

    /// The last alarm raised, if any.
    #[must_use]
    pub fn last_alarm(&self) -> Option<Alarm> {
        self.state.last_alarm
    }

    /// The settings.
    #[must_use]
    pub fn config(&self) -> &super::Config<V, W> {
        &self.config
    }

    /// The map.
    #[must_use]
    pub fn map(&self) -> &'m M {
        self.map
    }

    /// Answers an alarm: monitoring goes on, and the next alarm may come at once.
    pub fn acknowledge(&mut self) {
        if self.state.stage == Stage::Drift {
            self.state.stage = Stage::Monitoring;
        }
    }
}

// Thousands of rows each: too slow when interpreted.
#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use crate::condition::Raw;
    use crate::shape::Windows;
    use crate::{Config, Error, Fourier, Parameter};
    use rand_core::{Rng, SeedableRng};
    use rand_xorshift::XorShiftRng;
    use std::vec::Vec;

    static MAP: Fourier<1, 16> = Fourier::gaussian(1);
    type Small = Detector<'static, Fourier<1, 16>, Raw<1>, Windows<2>>;

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
                ..Config::rows(1e7).with_windows([4, 64])
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
        let threshold = detector.windows().next().unwrap().threshold;
        let mean = detector.state.comparison.windows[0].null.mean;
        let mut at = detector.rows();
        let mut hold = |statistic: f32, rows: u64| {
            let windows = &mut detector.state.comparison.windows;
            windows.iter_mut().for_each(|window| window.statistic.0 = 0.0);
            windows[0].statistic.0 = statistic;
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
        let learned = bench.detector.state.comparison.reference.clone();
        assert_eq!(bench.run(90, 1.0).len(), 1);
        assert_eq!(bench.detector.state.comparison.reference, learned);
        assert_eq!(bench.run(1000, 1.0).len(), 0);
        assert_eq!(bench.detector.stage(), Stage::Monitoring);
        assert!(bench.detector.state.previous.get().is_none());
        let moved = bench.detector.state.comparison.reference.mean.squared_distance(&learned.mean);
        assert!(moved > 0.1, "{moved}");
        // The way back is a change like any other.
        assert_eq!(bench.run(300, 0.0).len(), 1);
    }

    #[test]
    fn after_a_passing_regime_the_old_reference_is_taken_up_again() {
        let mut bench = Bench::new(Policy::Relearn { hold_off: 100, settle: 400 });
        let learned = bench.detector.state.comparison.reference.clone();
        assert_eq!(bench.run(250, 1.0).len(), 1);
        assert_eq!(bench.detector.state.previous.get(), Some(&learned));
        assert_ne!(bench.detector.state.comparison.reference, learned);
        assert_eq!(bench.run(300, 0.0).len(), 1);
        assert_eq!(bench.detector.state.previous.get(), Some(&learned));
        assert_eq!(bench.run(300, 0.0).len(), 0);
        assert_eq!(bench.detector.state.comparison.reference, learned);
        assert!(bench.detector.state.previous.get().is_none());
        assert_eq!(bench.run(2000, 0.0).len(), 0);
        assert_eq!(bench.run(100, 1.0).len(), 1);
    }

    #[test]
    fn a_disturbance_shorter_than_the_hold_off_moves_nothing() {
        let mut bench = Bench::new(Policy::Relearn { hold_off: 300, settle: 400 });
        let learned = bench.detector.state.comparison.reference.clone();
        assert_eq!(bench.run(20, 1.0).len(), 1);
        assert_eq!(bench.run(500, 0.0).len(), 0);
        assert_eq!(bench.detector.state.comparison.reference, learned);
        assert_eq!(bench.run(20, 1.0).len(), 1);
    }

    #[test]
    fn the_old_reference_is_kept_until_the_new_one_is_whole() {
        let with = |settle| {
            let policy = Policy::Relearn { hold_off: 100, settle };
            let config: Config<Raw<1>> = Config::rows(1e4);
            Config { policy, ..config.with_windows([4, 64]) }.check()
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
                assert_eq!(
                    with.detector.windows().collect::<Vec<_>>(),
                    without.windows().collect::<Vec<_>>()
                );
            }
        }
        // Two of them do.
        with.detector.push(&[1e12]).unwrap();
        with.detector.push(&[1e12]).unwrap();
        assert_ne!(
            with.detector.windows().collect::<Vec<_>>(),
            without.windows().collect::<Vec<_>>()
        );
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
