//! Do two groups of channels still go together as they used to?
//!
//! Each channel by itself may look as ever while its tie to another one breaks (a belt slips, a
//! shaft shears, two sensors see the same fault). The [`Monitor`] watches the covariance of
//! random features of the two groups, whose squared norm is the Hilbert–Schmidt independence
//! criterion (HSIC): 0 only if the groups are independent, whatever their distributions.

use crate::condition::{ScaleOf, check_row};
use crate::error::Error;
use crate::features::sincos::SinCos;
use crate::features::{FeatureMap, Sample};
use crate::numeric::{Rate, Real, draw_in, larger, row_count, sqrt_f32};
use crate::shape::{Fixed, Length, Per};
use crate::state::{FRAME_BYTES, Initial, NonNegative, Plain, State, state};

use super::cause::{Cause, Event};
use super::decision::LEAST_SIZE;
use super::legs::End;
use super::legs::tail::{Shape, Tail, while_learning};
use super::verdict::Stage;

mod config;
mod moments;
mod saved;

pub use config::Config;

use moments::Moments;
use saved::Second;

/// Offsets of neighbouring features, in turns: the golden ratio spreads any number of them evenly.
const OFFSET: f32 = 0.618_034;

/// The answer to one row. An alarm is raised on the row on which the statistic passes its
/// threshold, and again should the change become much larger; from then on the groups are drifting
/// apart until it has come back. It is never amended.
pub type Verdict = super::Verdict<Alarm>;

/// What an alarm says.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Alarm {
    /// The row it was raised on, counted from 0 over all rows pushed.
    pub row: u64,
    /// How far the coupling is from what was learned: [`Monitor::statistic`].
    pub score: f32,
    /// Beyond which it is an alarm.
    pub threshold: f32,
    /// Strength of the coupling that was learned: [`Monitor::learned_strength`].
    pub before: f32,
    /// Strength of the coupling now.
    pub now: f32,
}

/// Watches how a group of channels goes together with another, each with a map of its own, of LA
/// and LB frequencies: 8·LA·LB + 8·(LA + LB) + 84·C and about 150 bytes for C channels in all, 2.6 KB
/// for two channels and 16 frequencies each.
///
/// It alarms when a coupling appears, breaks or changes its form. Where the groups are independent
/// and stay so, a change of level or spread of a single channel does not alarm (a
/// [`Detector`](crate::Detector) finds that). Where they depend on each other, such a change moves
/// their joint distribution too, and alarms: half a deviation is enough. A row costs two projections
/// and O(LA·LB).
///
/// Level and spread of each channel are learned first, and checked while the coupling is learned.
/// Should a deviation be wrong by a factor of two, as for a sensor that stands still at first, the
/// coupling is learned from the beginning. A channel that does not move until learning is over is not
/// compared.
///
/// ```
/// use fastmmd::Fourier;
/// use fastmmd::monitor::coupling::{Config, Monitor, Verdict};
///
/// static MAP: Fourier<1, 16> = Fourier::gaussian(1);
///
/// // Motor current follows the load, until the belt slips at row 6000.
/// let mut monitor = Monitor::new(&MAP, &MAP, Config::rows(10_000.0))?;
/// let mut noise = 1_u32;
/// let mut uniform = || {
///     noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
///     (noise >> 8) as f32 / 16_777_216.0
/// };
/// let mut alarm = None;
/// for row in 0..8000 {
///     let load = uniform();
///     let current = if row < 6000 { 0.8 * load + 0.2 * uniform() } else { uniform() };
///     if let Verdict::Alarm(raised) = monitor.push(&[load], &[current])? {
///         alarm = alarm.or(Some(raised));
///     }
/// }
/// let alarm = alarm.expect("the tie is gone");
/// assert!(alarm.row >= 6000 && alarm.row < 6100 && alarm.now < alarm.before);
/// # Ok::<(), fastmmd::Error>(())
/// ```
#[derive(Debug)]
pub struct Monitor<'m, A: FeatureMap, B: FeatureMap> {
    maps: (&'m A, &'m B),
    config: Config,
    state: Memory<A::Inputs, B::Inputs, A::Frequencies, B::Frequencies>,
}

state! {
    /// All that a monitor keeps beside its settings.
    #[derive(Debug, Clone, PartialEq)]
    struct Memory<C: Length, D: Length, F: Length, G: Length> {
        /// Rows pushed in all.
        rows: u64,
        /// Rows of scaling and learning done.
        learned: u32,
        first: ScaleOf<C>,
        second: ScaleOf<D>,
        reference: Moments<F, G>,
        window: Moments<F, G>,
        /// The squared distance of window and reference, times the length of the window.
        statistic: NonNegative,
        tail: Tail<f32>,
        cause: Cause<f32>,
    }
}

// Not derived: a copy borrows the same maps, which need not be `Clone`.
impl<A: FeatureMap, B: FeatureMap> Clone for Monitor<'_, A, B> {
    fn clone(&self) -> Self {
        Self { maps: self.maps, config: self.config, state: self.state.clone() }
    }
}

impl<'m, A, B, const C: usize, const D: usize, const F: usize, const G: usize> Monitor<'m, A, B>
where
    A: FeatureMap<Inputs = Fixed<C>, Frequencies = Fixed<F>, Backend: SinCos>,
    B: FeatureMap<Inputs = Fixed<D>, Frequencies = Fixed<G>, Backend: SinCos>,
{
    /// Length of a saved monitor, in bytes.
    pub const SAVED_BYTES: usize = FRAME_BYTES
        + Second::BYTES
        + Config::BYTES
        + <Memory<Fixed<C>, Fixed<D>, Fixed<F>, Fixed<G>>>::SAVED;

    /// A monitor that has seen nothing, with a map for each group; the same map may serve both.
    /// Inputs are standardised, so maps of bandwidth 1 or so suit.
    ///
    /// # Errors
    /// What [`Config::check`] refuses.
    #[inline(never)]
    pub const fn new(first: &'m A, second: &'m B, config: Config) -> Result<Self, Error> {
        match config.check() {
            Ok(()) => Ok(Self { maps: (first, second), config, state: Memory::initial() }),
            Err(error) => Err(error),
        }
    }
}

impl<'m, A, B> Monitor<'m, A, B>
where
    A: FeatureMap<Backend: SinCos>,
    B: FeatureMap<Backend: SinCos>,
{
    /// Takes one row of both groups, measured at the same time.
    ///
    /// # Errors
    /// [`Error::NonFinite`] or [`Error::OutOfRange`] naming the channel, those of the second
    /// group counted on after the first; the monitor is then as it was.
    pub fn push(&mut self, first: &Sample<A>, second: &Sample<B>) -> Result<Verdict, Error> {
        let (first, second) = (first.as_ref(), second.as_ref());
        check_row(first)?;
        check_row(second)
            .map_err(|error| error.with_channel(|channel| channel.saturating_add(first.len())))?;
        if self.state.learned < self.config.scaling_rows {
            self.measure(first, second);
            self.state.learned = self.state.learned.saturating_add(1);
            if self.state.learned == self.config.scaling_rows {
                self.correct();
            }
        } else {
            let row = (
                features(self.maps.0, self.state.first.in_use(first))?,
                features(self.maps.1, self.state.second.in_use(second))?,
            );
            if self.is_learning() {
                self.measure(first, second);
                self.learn(&row);
            } else {
                self.compare(&row);
            }
        }
        let at = self.state.rows;
        self.state.rows = at.saturating_add(1);
        Ok(self.decide(at))
    }

    /// Learns the level and spread of each channel.
    fn measure(&mut self, first: &[f32], second: &[f32]) {
        self.state.first.learn(first);
        self.state.second.learn(second);
    }

    /// Puts them to use. Returns whether that changes how rows are measured.
    fn correct(&mut self) -> bool {
        let (first, second) = (self.state.first.correct(), self.state.second.correct());
        first || second
    }

    /// Whether levels and spreads are looked at again: an eighth, a quarter, a half and all of the
    /// way.
    fn is_checkpoint(&self) -> bool {
        let rows = self.config.learning_rows;
        let done = self.state.learned - self.config.scaling_rows;
        [rows / 8, rows / 4, rows / 2, rows].contains(&done)
    }

    /// Takes a healthy row.
    fn learn(&mut self, (a, b): &Features<A, B>) {
        let Memory { learned, reference, window, statistic, tail, .. } = &mut self.state;
        *learned = learned.saturating_add(1);
        let count = *learned - self.config.scaling_rows;
        let (length, share) = (self.config.window, 1.0 / row_count(count));
        reference.blend(a, b, share);
        window.blend(a, b, larger(rate_of(length), share));
        let distance = sqrt_f32(row_count(length) * window.squared_distance(reference));
        if let Some(root) = while_learning(distance, length, count, share) {
            statistic.0 = root;
            if tail.learn(root, Shape::Distance, length) {
                tail.turn(self.config.design().block);
            }
        }
        if self.is_checkpoint() && self.correct() {
            self.restart();
        }
        if !self.is_learning() {
            self.state.tail.fit(&self.config.design());
        }
    }

    /// Learns the coupling from the beginning, since rows are measured differently from now on.
    fn restart(&mut self) {
        let Memory { learned, reference, window, statistic, tail, .. } = &mut self.state;
        *learned = self.config.scaling_rows;
        reference.reset();
        window.reset();
        statistic.reset();
        tail.reset();
    }

    fn compare(&mut self, (a, b): &Features<A, B>) {
        let Memory { reference, window, statistic, tail, cause, .. } = &mut self.state;
        let length = self.config.window;
        window.blend(a, b, rate_of(length));
        statistic.0 = sqrt_f32(row_count(length) * window.squared_distance(reference));
        // Nothing is learned from a change.
        if !cause.is_open() && tail.follow(statistic.0) {
            let design = self.config.design();
            tail.adapt(design.block, design.memory, design.raise, || design);
        }
    }

    fn decide(&mut self, row: u64) -> Verdict {
        if self.is_learning() {
            return Verdict::Learning { progress: self.progress() };
        }
        let Memory { statistic, tail, cause, .. } = &mut self.state;
        let excess = tail.excess(statistic.0);
        match cause.push(excess, excess, LEAST_SIZE) {
            Event::Raised => {
                cause.report();
                Verdict::Alarm(Alarm {
                    row,
                    score: self.statistic(),
                    threshold: self.threshold(),
                    before: self.learned_strength(),
                    now: self.strength(),
                })
            }
            Event::Closed => {
                tail.end(&self.config.design(), End::ByItself);
                Verdict::Healthy
            }
            Event::Same if cause.is_open() => Verdict::Drifting,
            Event::Same => Verdict::Healthy,
        }
    }

    fn is_learning(&self) -> bool {
        self.state.learned < self.config.rows_to_learn()
    }

    /// What the monitor is doing.
    #[must_use]
    pub fn stage(&self) -> Stage {
        if self.is_learning() {
            Stage::Learning
        } else if self.state.cause.is_open() {
            Stage::Drift
        } else {
            Stage::Monitoring
        }
    }

    /// Rows pushed in all.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.state.rows
    }

    /// The settings.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The maps of the two groups.
    #[must_use]
    pub fn maps(&self) -> (&'m A, &'m B) {
        self.maps
    }

    /// Part done of scaling and learning together, from 0 to 1. It falls back where the coupling is
    /// learned from the beginning.
    #[must_use]
    pub fn progress(&self) -> f32 {
        row_count(self.state.learned) / row_count(self.config.rows_to_learn())
    }

    /// How far the coupling in the window is from the one learned: the root of the squared
    /// distance of covariances times the length of the window; 0 until the window has filled
    /// twice.
    #[must_use]
    pub fn statistic(&self) -> f32 {
        self.state.statistic.0
    }

    /// Beyond which the statistic alarms; 0 while learning.
    #[must_use]
    pub fn threshold(&self) -> f32 {
        self.state.tail.open()
    }

    /// Strength of the coupling in the window: HSIC less what chance adds to it, in units of
    /// K(0)²; about 0 for independent groups, and at most about 0.1 for identical ones.
    #[must_use]
    pub fn strength(&self) -> f32 {
        self.unbiased(&self.state.window, self.config.window)
    }

    /// Strength of the coupling that was learned.
    #[must_use]
    pub fn learned_strength(&self) -> f32 {
        self.unbiased(&self.state.reference, self.config.learning_rows)
    }

    /// HSIC of `rows` rows, less what their number adds to it by chance.
    fn unbiased(&self, moments: &Moments<A::Frequencies, B::Frequencies>, rows: u32) -> f32 {
        moments.squared_norm()
            - self.state.tail.mean(Shape::Distance, self.config.window) / row_count(rows)
    }

    /// Forgets everything learned and learns anew, from scaling on; rows go on being counted.
    /// O(LA·LB).
    pub fn relearn(&mut self) {
        let rows = self.state.rows;
        self.state.reset();
        self.state.rows = rows;
    }

    /// Learns anew under other settings.
    ///
    /// # Errors
    /// As [`Monitor::new`]; nothing is then forgotten.
    pub fn relearn_with(&mut self, config: Config) -> Result<(), Error> {
        config.check()?;
        self.config = config;
        self.relearn();
        Ok(())
    }

    /// Somebody says that the change that is open is nothing: it closes, and the threshold learns
    /// from it, so that one as large does not alarm again.
    pub fn dismiss(&mut self) {
        if let Some(end) = self.state.cause.dismiss() {
            self.state.tail.end(&self.config.design(), end);
        }
    }
}

/// The weight of a row in a window.
fn rate_of(window: u32) -> f32 {
    1.0.part(Rate::of_window(window))
}

/// The features of both groups.
type Features<A, B> =
    (Per<<A as FeatureMap>::Frequencies, f32>, Per<<B as FeatureMap>::Frequencies, f32>);

/// √2·cos 2π(t_k + o_k) for each phase t_k of a sample, with offsets o_k spread over a turn: one
/// real feature a frequency, so that a pair of groups needs LA·LB products and not four times as
/// many.
fn features<M: FeatureMap<Backend: SinCos>>(
    map: &M,
    mut sample: Per<M::Inputs, f32>,
) -> Result<Per<M::Frequencies, f32>, Error> {
    draw_in(&mut sample, 0.5 * map.reach());
    let mut features = Per::make(&map.dims(), || 0.0);
    let mut offset = 0.0;
    map.project(sample.borrow(), features.borrow_mut(), |feature, phase| {
        *feature = core::f32::consts::SQRT_2 * M::Backend::point(phase + offset).cos;
        offset += OFFSET;
        if offset >= 1.0 {
            offset -= 1.0;
        }
    })?;
    Ok(features)
}

#[cfg(feature = "defmt")]
impl<A, B> defmt::Format for Monitor<'_, A, B>
where
    A: FeatureMap<Backend: SinCos>,
    B: FeatureMap<Backend: SinCos>,
{
    fn format(&self, f: defmt::Formatter<'_>) {
        let (statistic, threshold) = (self.statistic(), self.threshold());
        defmt::write!(f, "{} of {} after {} rows", statistic, threshold, self.state.rows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::sincos::Quick;
    use crate::{Fourier, Parameter};

    #[test]
    fn bad_input_is_named_and_changes_nothing() {
        let map = Fourier::<1, 4>::gaussian(1);
        let mut monitor = Monitor::new(&map, &map, Config::rows(500.0)).unwrap();
        monitor.push(&[1.0], &[2.0]).unwrap();
        let before = monitor.state.clone();
        let second = Error::NonFinite(Parameter::Channel(1));
        assert_eq!(monitor.push(&[1.0], &[f32::NAN]), Err(second));
        let first = Error::OutOfRange(Parameter::Channel(0));
        assert_eq!(monitor.push(&[1e20], &[2.0]), Err(first));
        assert_eq!(monitor.state, before);
        assert_eq!(before.rows, 1);
    }

    #[test]
    fn a_record_is_of_both_backends() {
        let map = Fourier::<1, 4>::gaussian(1);
        let quick = Fourier::<1, 4>::gaussian(1).with_backend::<Quick>();
        let config = Config::rows(500.0);
        let saved = Monitor::new(&map, &quick, config).unwrap();
        let mut bytes = [0; 4096];
        let length = saved.save(&mut bytes).unwrap();
        let mut same = Monitor::new(&map, &quick, config).unwrap();
        assert_eq!(same.restore(&bytes[..length]), Ok(()));
        let mut other = Monitor::new(&map, &map, config).unwrap();
        assert_eq!(other.saved_bytes(), length);
        assert_eq!(other.restore(&bytes[..length]), Err(Error::WrongShape));
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn it_lives_as_a_detector_does() {
        let map = Fourier::<1, 8>::gaussian(1);
        let config = Config { window: 16, learning_rows: 1024, ..Config::rows(1e4) };
        let mut monitor = Monitor::new(&map, &map, config).unwrap();
        let mut word = 1_u32;
        let mut uniform = move || {
            word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (word >> 8) as f32 / 16_777_216.0
        };
        let mut run = |monitor: &mut Monitor<'_, _, _>, rows, tied| {
            for _ in 0..rows {
                let x = uniform();
                let y = if tied { x } else { uniform() };
                monitor.push(&[x], &[y]).unwrap();
            }
        };
        assert_eq!((monitor.stage(), monitor.progress()), (Stage::Learning, 0.0));
        run(&mut monitor, 1280, true);
        assert_eq!((monitor.stage(), monitor.progress()), (Stage::Monitoring, 1.0));
        run(&mut monitor, 200, false);
        assert_eq!(monitor.stage(), Stage::Drift);
        let mut bytes = std::vec![0; monitor.saved_bytes()];
        assert_eq!(monitor.save(&mut bytes), Ok(bytes.len()));
        monitor.dismiss();
        assert_eq!(monitor.stage(), Stage::Monitoring);
        run(&mut monitor, 50, false);
        assert_eq!(monitor.stage(), Stage::Monitoring);
        monitor.restore(&bytes).unwrap();
        assert_eq!((monitor.stage(), monitor.rows()), (Stage::Drift, 1480));
        let refused = monitor.relearn_with(Config { window: 0, ..config });
        assert_eq!(refused, Err(Error::OutOfRange(Parameter::Window)));
        assert_eq!(monitor.stage(), Stage::Drift);
        let other = Config { window: 32, ..config };
        monitor.relearn_with(other).unwrap();
        assert_eq!((*monitor.config(), monitor.rows()), (other, 1480));
        assert_eq!((monitor.stage(), monitor.progress()), (Stage::Learning, 0.0));
    }

    #[test]
    fn settings_out_of_range_are_named() {
        let good = Config::rows(500.0);
        let refused = |config: Config| config.check().unwrap_err();
        assert_eq!(good.check(), Ok(()));
        let time =
            |mean_time_between_false_alarms| Config { mean_time_between_false_alarms, ..good };
        assert_eq!(refused(time(f32::NAN)), Error::NonFinite(Parameter::MeanTime));
        assert_eq!(refused(time(50.0)), Error::OutOfRange(Parameter::MeanTime));
        let scaling = Config { scaling_rows: 15, ..good };
        assert_eq!(refused(scaling), Error::OutOfRange(Parameter::ScalingRows));
        assert_eq!(refused(Config { window: 1, ..good }), Error::OutOfRange(Parameter::Window));
        let learning = Config { learning_rows: 1000, ..good };
        assert_eq!(refused(learning), Error::OutOfRange(Parameter::LearningRows));
        let short = Config { window: 2, learning_rows: 255, ..good };
        assert_eq!(refused(short), Error::OutOfRange(Parameter::LearningRows));
    }

    type Small<'m> = Monitor<'m, Fourier<1, 4>, Fourier<2, 4>>;

    fn row(index: u32) -> ([f32; 1], [f32; 2]) {
        let x = |factor: f32| (row_fraction(index) * factor).fract();
        ([x(7.3)], [x(7.3) + 0.1 * x(91.7), x(23.1)])
    }

    fn row_fraction(index: u32) -> f32 {
        (index as f32 * 0.618_034).fract()
    }

    #[test]
    fn goes_on_bit_for_bit_and_refuses_what_is_not_its_own() {
        let a = Fourier::<1, 4>::gaussian(1);
        let b = Fourier::<2, 4>::gaussian(2);
        let config =
            Config { window: 4, scaling_rows: 16, learning_rows: 256, ..Config::rows(500.0) };
        let mut monitor: Small<'_> = Monitor::new(&a, &b, config).unwrap();
        for index in 0..320 {
            let (x, y) = row(index);
            monitor.push(&x, &y).unwrap();
        }
        let mut bytes = [0; Small::SAVED_BYTES];
        assert_eq!(monitor.save(&mut bytes), Ok(Small::SAVED_BYTES));
        let mut again: Small<'_> = Monitor::new(&a, &b, Config::rows(900.0)).unwrap();
        again.restore(&bytes).unwrap();
        for index in 320..400 {
            let (x, y) = row(index);
            let verdict = monitor.push(&x, &y).unwrap();
            assert_eq!(again.push(&x, &y), Ok(verdict));
            assert!(!matches!(verdict, Verdict::Learning { .. }));
        }
        let other = Fourier::<2, 4>::gaussian(3);
        let mut foreign: Small<'_> = Monitor::new(&a, &other, config).unwrap();
        assert_eq!(foreign.restore(&bytes), Err(Error::MapMismatch));
        bytes[60] ^= 1;
        assert_eq!(again.restore(&bytes), Err(Error::ChecksumMismatch));
    }

    #[test]
    fn what_no_monitor_can_hold_is_refused() {
        let a = Fourier::<1, 4>::gaussian(1);
        let b = Fourier::<2, 4>::gaussian(2);
        let good: Small<'_> = Monitor::new(&a, &b, Config::rows(500.0)).unwrap();
        let forge = |change: fn(&mut Small<'_>)| {
            let (mut forged, mut own) = (good.clone(), good.clone());
            change(&mut forged);
            let mut bytes = [0; Small::SAVED_BYTES];
            forged.save(&mut bytes).unwrap();
            own.restore(&bytes)
        };
        assert_eq!(forge(|_| {}), Ok(()));
        assert_eq!(forge(|m| m.state.window.products[1][2].0 = 3e38), Err(Error::Inconsistent));
        assert_eq!(forge(|m| m.state.reference.a[3].0 = -1.6), Err(Error::Inconsistent));
        assert_eq!(forge(|m| m.state.statistic.0 = -1.0), Err(Error::Inconsistent));
    }
}
