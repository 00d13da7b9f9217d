//! Do two groups of channels still go together as they used to?
//!
//! Each channel by itself may look as ever while its tie to another one breaks (a belt slips, a
//! shaft shears, two sensors see the same fault). The [`Monitor`] watches the covariance of
//! random features of the two groups, whose squared norm is the Hilbert–Schmidt independence
//! criterion (HSIC): 0 only if the groups are independent, whatever their distributions.

mod saved;

use crate::error::{Error, Parameter};
use crate::map::FeatureMap;
use crate::null::Null;
use crate::numeric::{f32_of, row_count};
use crate::scale::Scale;
use crate::sincos::{Polynomial, SinCos};

/// Most rows that a mean in `f32` is taken over.
const MOST_ROWS: u32 = 1 << 20;
/// Offsets of neighbouring features, in turns: the golden ratio spreads any number of them evenly.
const OFFSET: f32 = 0.618_034;

/// The settings of a [`Monitor`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Config {
    /// The promise: mean time between false alarms, in rows.
    pub mean_time_between_false_alarms: f32,
    /// Rows to learn each channel's level and spread from.
    pub scaling_rows: u32,
    /// Rows to learn the coupling from, after those.
    pub learning_rows: u32,
    /// Length of the window that is compared with it, in rows.
    pub window: u32,
}

impl Config {
    /// One false alarm in `mean_time` rows; 256 rows of scaling, 4096 of learning, a window of
    /// 256.
    #[must_use]
    pub const fn rows(mean_time: f32) -> Self {
        Self {
            mean_time_between_false_alarms: mean_time,
            scaling_rows: 256,
            learning_rows: 4096,
            window: 256,
        }
    }

    /// Whether a monitor can be made of these settings.
    ///
    /// # Errors
    /// [`Error::NonFinite`] or [`Error::OutOfRange`] naming the setting: a mean time of at least
    /// 1 and at most 10⁹ rows, 8 to 2²⁰ scaling rows, a window of 2 rows or more, and learning
    /// rows of at least 64 and 8 windows, and at most 2²⁰.
    pub fn check(&self) -> Result<(), Error> {
        let time = self.mean_time_between_false_alarms;
        if !time.is_finite() {
            return Err(Error::NonFinite(Parameter::MeanTime));
        }
        if !(1.0..=1e9).contains(&time) {
            return Err(Error::OutOfRange(Parameter::MeanTime));
        }
        if !(8..=MOST_ROWS).contains(&self.scaling_rows) {
            return Err(Error::OutOfRange(Parameter::ScalingRows));
        }
        if self.window < 2 {
            return Err(Error::OutOfRange(Parameter::Scales));
        }
        let least = self.window.saturating_mul(8).max(64);
        if !(least..=MOST_ROWS).contains(&self.learning_rows) {
            return Err(Error::OutOfRange(Parameter::LearningRows));
        }
        Ok(())
    }
}

/// The answer to one row. An alarm is raised once, on the row on which the statistic passes its
/// threshold; from then on the groups are drifting apart until it has come back.
pub type Verdict = crate::detector::Verdict<Alarm>;

/// What an alarm says.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Alarm {
    /// The row it was raised on, counted from 0 over all rows pushed.
    pub row: u64,
    /// How far the coupling is from what was learned, over what chance makes of it.
    pub score: f32,
    /// Beyond which it is an alarm.
    pub threshold: f32,
    /// Strength of the coupling that was learned: [`Monitor::learned_strength`].
    pub before: f32,
    /// Strength of the coupling now.
    pub now: f32,
}

/// Means of the features of both groups and of their products, each new row blended in.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
struct Moments<const LA: usize, const LB: usize> {
    a: [f32; LA],
    b: [f32; LB],
    products: [[f32; LB]; LA],
    /// Sum of the squared weights of the rows.
    own: f32,
}

impl<const LA: usize, const LB: usize> Moments<LA, LB> {
    const fn new() -> Self {
        Self { a: [0.0; LA], b: [0.0; LB], products: [[0.0; LB]; LA], own: 0.0 }
    }

    fn blend(&mut self, a: &[f32; LA], b: &[f32; LB], rate: f32) {
        for (mean, x) in self.a.iter_mut().zip(a).chain(self.b.iter_mut().zip(b)) {
            *mean += rate * (x - *mean);
        }
        for (row, x) in self.products.iter_mut().zip(a) {
            for (mean, y) in row.iter_mut().zip(b) {
                *mean += rate * (x * y - *mean);
            }
        }
        self.own = (1.0 - rate) * (1.0 - rate) * self.own + rate * rate;
    }

    /// The covariances of all pairs of features, by rows.
    fn covariances(&self) -> impl Iterator<Item = f32> {
        let rows = self.products.iter().zip(&self.a);
        rows.flat_map(|(row, x)| row.iter().zip(&self.b).map(move |(xy, y)| xy - x * y))
    }

    /// HSIC of the rows, biased: mean over all pairs of features of their squared covariance.
    fn squared_norm(&self) -> f32 {
        self.covariances().map(|c| c * c).sum::<f32>() / f32_of(LA * LB)
    }

    fn squared_distance(&self, other: &Self) -> f32 {
        let pairs = self.covariances().zip(other.covariances());
        pairs.map(|(c, d)| (c - d) * (c - d)).sum::<f32>() / f32_of(LA * LB)
    }
}

/// Watches how a group of `CA` channels goes together with one of `CB`, by `LA` and `LB`
/// frequencies: 8·LA·LB + 8·(LA + LB + CA + CB) + about 120 bytes, 2.5 KB for 16 frequencies each.
///
/// It alarms when a coupling appears, breaks or changes its form, and not when a channel by
/// itself changes in level or spread (a [`Detector`](crate::Detector) does that), for means are
/// taken off in the window as in the reference. Per row two projections and O(LA·LB).
///
/// ```
/// use fastmmd::coupling::{Config, Monitor, Verdict};
/// use fastmmd::{Fourier, Kernel, Sampling};
///
/// static MAP: Fourier<1, 16> = match Fourier::new(Kernel::GAUSSIAN, Sampling::Auto, 1) {
///     Ok(map) => map,
///     Err(_) => panic!("checked when compiled"),
/// };
///
/// // Motor current follows the load, until the belt slips at row 6000.
/// let config = Config::rows(10_000.0);
/// let mut monitor: Monitor<_, _, 1, 1, 16, 16> = Monitor::new(&MAP, &MAP, config)?;
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
#[derive(Debug, Clone)]
pub struct Monitor<
    'm,
    MA,
    MB,
    const CA: usize,
    const CB: usize,
    const LA: usize,
    const LB: usize,
    B: SinCos = Polynomial,
> {
    maps: (&'m MA, &'m MB),
    config: Config,
    /// Rows pushed in all.
    rows: u64,
    scales: (Scale<CA>, Scale<CB>),
    /// Rows since reference and window began.
    count: u32,
    reference: Moments<LA, LB>,
    window: Moments<LA, LB>,
    /// Sum of the products of the rows' weights in window and reference.
    shared: f32,
    null: Null,
    statistic: f32,
    /// 0 while learning.
    threshold: f32,
    drifting: bool,
    backend: core::marker::PhantomData<B>,
}

impl<'m, MA, MB, const CA: usize, const CB: usize, const LA: usize, const LB: usize, B>
    Monitor<'m, MA, MB, CA, CB, LA, LB, B>
where
    MA: FeatureMap<CA, LA>,
    MB: FeatureMap<CB, LB>,
    B: SinCos,
{
    /// A monitor that has seen nothing, with a map for each group; the same map may serve both.
    /// Inputs are standardised, so maps of bandwidth 1 or so suit.
    ///
    /// # Errors
    /// What [`Config::check`] refuses.
    pub fn new(first: &'m MA, second: &'m MB, config: Config) -> Result<Self, Error> {
        config.check()?;
        Ok(Self {
            maps: (first, second),
            config,
            rows: 0,
            scales: (Scale::new(), Scale::new()),
            count: 0,
            reference: Moments::new(),
            window: Moments::new(),
            shared: 0.0,
            null: Null::new(),
            statistic: 0.0,
            threshold: 0.0,
            drifting: false,
            backend: core::marker::PhantomData,
        })
    }

    /// Takes one row of both groups, measured at the same time.
    ///
    /// # Errors
    /// [`Error::NonFinite`] or [`Error::OutOfRange`] naming the channel, those of the second
    /// group counted on after the first; the monitor is then as it was.
    pub fn push(&mut self, first: &[f32; CA], second: &[f32; CB]) -> Result<Verdict, Error> {
        let scaling = self.rows < u64::from(self.config.scaling_rows);
        if scaling {
            let mut scale = self.scales.0;
            scale.push(first)?;
            self.scales.1.push(second).map_err(|error| counted_on(error, CA))?;
            self.scales.0 = scale;
        } else {
            let first = self.scales.0.standardised(first)?;
            let second =
                self.scales.1.standardised(second).map_err(|error| counted_on(error, CA))?;
            let first = features::<MA, CA, LA, B>(self.maps.0, first)?;
            let second = features::<MB, CB, LB, B>(self.maps.1, second)?;
            self.compare(&first, &second);
        }
        let at = self.rows;
        self.rows = self.rows.saturating_add(1);
        Ok(self.decide(at))
    }

    /// Brings reference, window and statistic up to date.
    fn compare(&mut self, first: &[f32; LA], second: &[f32; LB]) {
        let learning = self.is_learning();
        self.count = self.count.saturating_add(1);
        let newest = 1.0 / row_count(self.count);
        let reference_rate = if learning { newest } else { 0.0 };
        let rate = (2.0 / (row_count(self.config.window) + 1.0)).max(newest);
        if learning {
            self.reference.blend(first, second, newest);
        }
        self.window.blend(first, second, rate);
        self.shared = (1.0 - rate) * (1.0 - reference_rate) * self.shared + rate * reference_rate;
        if self.count <= self.config.window.saturating_mul(2).max(16) {
            return;
        }
        let expected = self.window.own - 2.0 * self.shared + self.reference.own;
        self.statistic = self.window.squared_distance(&self.reference) / expected.max(1e-9);
        if learning {
            let Config { window, learning_rows, mean_time_between_false_alarms, .. } = self.config;
            let block = Null::block_of(window, learning_rows);
            self.null.push(self.statistic, block, u32::MAX);
            if self.count >= learning_rows {
                let time = mean_time_between_false_alarms;
                self.threshold = self.null.threshold(window, block, time, false);
            }
        }
    }

    fn decide(&mut self, row: u64) -> Verdict {
        if self.is_learning() {
            return Verdict::Learning { progress: self.progress() };
        }
        let calm = 2.0 * self.statistic <= self.null.mean + self.threshold;
        if self.drifting {
            self.drifting = !calm;
            return if calm { Verdict::Healthy } else { Verdict::Drifting };
        }
        self.drifting = self.statistic > self.threshold;
        if self.drifting {
            Verdict::Alarm(Alarm {
                row,
                score: self.statistic,
                threshold: self.threshold,
                before: self.learned_strength(),
                now: self.strength(),
            })
        } else {
            Verdict::Healthy
        }
    }

    fn is_learning(&self) -> bool {
        self.count < self.config.learning_rows
    }

    /// Part done of scaling and learning together, from 0 to 1.
    #[must_use]
    pub fn progress(&self) -> f32 {
        let all = u64::from(self.config.scaling_rows) + u64::from(self.config.learning_rows);
        if self.rows >= all {
            return 1.0;
        }
        let count = |rows: u64| u32::try_from(rows).map_or(f32::MAX, row_count);
        count(self.rows) / count(all)
    }

    /// How far the coupling in the window is from the one learned, over what is expected of
    /// independent rows; 0 until the window has filled twice.
    #[must_use]
    pub fn statistic(&self) -> f32 {
        self.statistic
    }

    /// Beyond which the statistic alarms; 0 while learning.
    #[must_use]
    pub fn threshold(&self) -> f32 {
        self.threshold
    }

    /// The probability that the statistic is at least what it is now while all is well; 1 while
    /// learning.
    #[must_use]
    pub fn p_value(&self) -> f32 {
        if self.is_learning() { 1.0 } else { self.null.p_value(self.config.window, self.statistic) }
    }

    /// Strength of the coupling in the window: HSIC less what chance adds to it, in units of
    /// K(0)²; about 0 for independent groups, and at most about 0.1 for identical ones.
    #[must_use]
    pub fn strength(&self) -> f32 {
        self.unbiased(&self.window)
    }

    /// Strength of the coupling that was learned.
    #[must_use]
    pub fn learned_strength(&self) -> f32 {
        self.unbiased(&self.reference)
    }

    /// HSIC of some rows, less what their number adds to it by chance.
    fn unbiased(&self, moments: &Moments<LA, LB>) -> f32 {
        moments.squared_norm() - self.null.mean * moments.own
    }

    /// Learns anew, from scaling on, with the same settings.
    pub fn relearn(&mut self) {
        self.rows = 0;
        self.scales = (Scale::new(), Scale::new());
        self.count = 0;
        self.reference = Moments::new();
        self.window = Moments::new();
        self.shared = 0.0;
        self.null = Null::new();
        self.statistic = 0.0;
        self.threshold = 0.0;
        self.drifting = false;
    }
}

/// √2·cos 2π(t_k + o_k) for each phase t_k of a sample, with offsets o_k spread over a turn: one
/// real feature a frequency, so that a pair of groups needs LA·LB products and not four times as
/// many.
fn features<M: FeatureMap<C, L>, const C: usize, const L: usize, B: SinCos>(
    map: &M,
    mut sample: [f32; C],
) -> Result<[f32; L], Error> {
    let squared: f32 = sample.iter().map(|x| x * x).sum();
    // Far beyond any reading that means something, the sample is drawn into the map's reach.
    let reach = 0.5 * map.reach();
    if squared > reach * reach {
        let factor = reach / crate::numeric::sqrt_f32(squared);
        for x in &mut sample {
            *x *= factor;
        }
    }
    let mut features = [0.0; L];
    let mut offset = 0.0;
    map.project(&sample, &mut features, |feature, phase| {
        *feature = core::f32::consts::SQRT_2 * B::point(phase + offset).cos;
        offset += OFFSET;
        if offset >= 1.0 {
            offset -= 1.0;
        }
    })?;
    Ok(features)
}

/// An error whose channel is counted on after `before` channels.
fn counted_on(error: Error, before: usize) -> Error {
    let shifted = |parameter| match parameter {
        Parameter::Channel(channel) => Parameter::Channel(channel.saturating_add(before)),
        other => other,
    };
    match error {
        Error::NonFinite(parameter) => Error::NonFinite(shifted(parameter)),
        Error::OutOfRange(parameter) => Error::OutOfRange(shifted(parameter)),
        other => other,
    }
}

#[cfg(feature = "defmt")]
impl<MA, MB, const CA: usize, const CB: usize, const LA: usize, const LB: usize, B: SinCos>
    defmt::Format for Monitor<'_, MA, MB, CA, CB, LA, LB, B>
{
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "{} of {} after {} rows", self.statistic, self.threshold, self.rows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fourier, Kernel, Sampling};

    #[test]
    fn bad_input_is_named_and_changes_nothing() {
        let map = Fourier::<1, 4>::new(Kernel::GAUSSIAN, Sampling::Auto, 1).unwrap();
        let mut monitor: Monitor<_, _, 1, 1, 4, 4> =
            Monitor::new(&map, &map, Config::rows(500.0)).unwrap();
        monitor.push(&[1.0], &[2.0]).unwrap();
        let before = monitor.scales;
        let second = Error::NonFinite(Parameter::Channel(1));
        assert_eq!(monitor.push(&[1.0], &[f32::NAN]), Err(second));
        let first = Error::OutOfRange(Parameter::Channel(0));
        assert_eq!(monitor.push(&[1e20], &[2.0]), Err(first));
        assert_eq!((monitor.scales, monitor.rows), (before, 1));
    }

    #[test]
    fn settings_out_of_range_are_named() {
        let good = Config::rows(500.0);
        let refused = |config: Config| config.check().unwrap_err();
        assert_eq!(good.check(), Ok(()));
        let time =
            |mean_time_between_false_alarms| Config { mean_time_between_false_alarms, ..good };
        assert_eq!(refused(time(f32::NAN)), Error::NonFinite(Parameter::MeanTime));
        assert_eq!(refused(time(0.5)), Error::OutOfRange(Parameter::MeanTime));
        let scaling = Config { scaling_rows: 1, ..good };
        assert_eq!(refused(scaling), Error::OutOfRange(Parameter::ScalingRows));
        assert_eq!(refused(Config { window: 1, ..good }), Error::OutOfRange(Parameter::Scales));
        let learning = Config { learning_rows: 1000, ..good };
        assert_eq!(refused(learning), Error::OutOfRange(Parameter::LearningRows));
        let short = Config { window: 2, learning_rows: 16, ..good };
        assert_eq!(refused(short), Error::OutOfRange(Parameter::LearningRows));
    }
}
