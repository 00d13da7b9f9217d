//! Drift: whether, since when, which channel, at a promised rate of false alarms.
//!
//! A [`Detector`] passes through three stages without ever storing a sample: it learns each
//! channel's level and spread and the bandwidth (scaling); it learns the mean embedding of
//! healthy data, and how far windows of several lengths stray from it while all is well
//! (learning); then it compares windows with that reference (monitoring).
//!
//! How far windows stray is learned from the windows themselves, so autocorrelation of the data
//! is in it. The threshold of each window is where its statistic would get, while all is well,
//! once in the promised mean time between false alarms; one time holds for all windows together.

mod attribution;
mod config;
mod decision;
mod fleet;
mod monitor;
mod outlier;
mod saved;
mod stillness;
mod verdict;
mod view;
mod window;

pub use config::{Bandwidth, Calibration, Config, LoneOutliers, Policy, Reference, Warning};
pub use fleet::Difference;
pub use monitor::{Monitor, Status};
pub use saved::SavedShape;
pub use verdict::{Alarm, Change, Reading, Stage, Verdict};
pub use view::{Raw, View};

use core::marker::PhantomData;

use crate::bandwidth::MedianDistance;
use crate::delay::Delay;
use crate::error::Error;
use crate::innovation::Update;
use crate::map::FeatureMap;
use crate::mean::Mean;
use crate::null::Null;
use crate::numeric::{exp, f64_of, ln, rounded, row_count, smaller, sqrt_f32, within};
use crate::scale::{MAX_DEVIATIONS, Scale, check_row};
use crate::sincos::{Point, Polynomial, SinCos};

use attribution::Axes;
use outlier::Gate;
use stillness::Stillness;
use window::{Means, Row, Window, rate_at};

/// Of S windows' false alarms, many coincide: they count as this power of S.
const SHARED_ALARMS: f64 = 0.7;

/// A drift detector for C channels over a map of D inputs and L frequencies, with S windows.
///
/// D = C looks at single rows, D = k·C at vectors of the last k rows. The view `V` is [`Raw`] or
/// [`Innovation`](crate::innovation::Innovation).
///
/// ```
/// use fastmmd::detector::{Config, Detector, Raw, Verdict};
/// use fastmmd::{Fourier, Kernel, Sampling};
///
/// static MAP: Fourier<1, 64> = match Fourier::new(Kernel::GAUSSIAN, Sampling::Auto, 1) {
///     Ok(map) => map,
///     Err(_) => panic!("checked when compiled"),
/// };
///
/// let config = Config::rows(10_000.0);
/// let mut detector: Detector<_, Raw, 1, 1, 64, 4> = Detector::new(&MAP, config)?;
/// let mut noise = 1_u32;
/// let mut alarm = None;
/// for row in 0..6000 {
///     noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
///     let reading = (noise >> 16) as f32 / 65_536.0 + if row < 5000 { 0.0 } else { 0.5 };
///     if let Verdict::Alarm(raised) = detector.push(&[reading])? {
///         alarm = alarm.or(Some(raised));
///     }
/// }
/// let alarm = alarm.expect("half the range is a large shift");
/// assert!(alarm.row >= 5000 && alarm.row < 5040);
/// # Ok::<(), fastmmd::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Detector<
    'm,
    M,
    V,
    const C: usize,
    const D: usize,
    const L: usize,
    const S: usize,
    B: SinCos = Polynomial,
> {
    map: &'m M,
    config: Config<S>,
    /// Rows pushed in all.
    rows: u64,
    stage: Stage,
    scale: Scale<C>,
    distance: MedianDistance<C>,
    /// 1/deviation of each channel, and 1/bandwidth in deviations.
    gains: [f32; C],
    inverse_bandwidth: f32,
    view: V,
    delay: Delay<C, D>,
    gate: Gate<C>,
    stillness: [Stillness; C],
    /// Rows since reference and windows began.
    count: u32,
    /// Rows of learning done.
    learned: u32,
    reference: Baseline<C, L>,
    means: Means<L, S>,
    windows: [Window<C>; S],
    /// Rows since the last alarm during which no window was beyond its threshold.
    quiet_rows: u32,
    /// The reference before it moved after an alarm, until the new one has settled.
    previous: Option<Baseline<C, L>>,
    last_alarm: Option<Alarm>,
    backend: PhantomData<B>,
}

/// The mean that windows are compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
struct Baseline<const C: usize, const L: usize> {
    mean: Mean<L>,
    axes: Axes<C>,
    /// Sum of the squared weights of its rows.
    own: f32,
    rows: u32,
}

impl<const C: usize, const L: usize> Baseline<C, L> {
    const fn new() -> Self {
        Self { mean: Mean::new(), axes: Axes::new(), own: 0.0, rows: 0 }
    }
}

impl<'m, M, V, const C: usize, const D: usize, const L: usize, const S: usize, B>
    Detector<'m, M, V, C, D, L, S, B>
where
    M: FeatureMap<D, L>,
    V: View<C>,
    B: SinCos,
{
    /// A detector that has seen nothing.
    ///
    /// # Errors
    /// What [`Config::check`] refuses. [`Config::warning`] tells of promises that the settings
    /// cannot be trusted to keep.
    #[inline(never)]
    pub fn new(map: &'m M, config: Config<S>) -> Result<Self, Error> {
        config.check()?;
        Ok(Self::fresh(map, config))
    }

    /// Apart from the check, and with its large fields as constants, so that the compiler writes
    /// each straight to where the caller wants the detector: it is then never on the stack.
    #[inline(never)]
    fn fresh(map: &'m M, config: Config<S>) -> Self {
        const { assert!(S >= 1, "a detector has at least one window") };
        Self {
            map,
            rows: 0,
            stage: Stage::Scaling,
            scale: const { Scale::new() },
            distance: MedianDistance::new(config.anchor_spacing()),
            gains: [0.0; C],
            inverse_bandwidth: 0.0,
            view: V::start(),
            delay: const { Delay::new() },
            gate: Gate::new(),
            stillness: [Stillness::default(); C],
            count: 0,
            learned: 0,
            reference: const { Baseline::new() },
            means: const { Means::new() },
            windows: const { [Window::new(); S] },
            quiet_rows: 0,
            previous: None,
            last_alarm: None,
            backend: PhantomData,
            config,
        }
    }

    /// Forgets everything learned and begins with scaling again under other settings, as
    /// [`Detector::relearn`] does under the same; rows go on being counted. O(S·L).
    ///
    /// ```
    /// # use fastmmd::detector::{Config, Detector, Raw};
    /// # use fastmmd::{Fourier, Kernel, Sampling};
    /// # let map = Fourier::<1, 64>::new(Kernel::GAUSSIAN, Sampling::Auto, 1)?;
    /// let mut detector: Detector<_, Raw, 1, 1, 64, 4> =
    ///     Detector::new(&map, Config::rows(10_000.0))?;
    /// detector.push(&[0.5])?;
    /// let rarer = Config::rows(20_000.0);
    /// detector.relearn_with(rarer)?;
    /// assert!(detector.relearn_with(Config::rows(0.0)).is_err());
    /// assert_eq!((detector.config(), detector.rows(), detector.progress()), (&rarer, 1, 0.0));
    /// # Ok::<(), fastmmd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Detector::new`]; nothing is then forgotten.
    pub fn relearn_with(&mut self, config: Config<S>) -> Result<(), Error> {
        config.check()?;
        self.config = config;
        self.relearn();
        Ok(())
    }

    /// Takes one row, in the sensor's own units. O(S·L) beside the map, and 8·L bytes of stack.
    ///
    /// # Errors
    /// [`Error::NonFinite`] or, beyond [`MAX_READING`](crate::scale::MAX_READING),
    /// [`Error::OutOfRange`], naming the channel; the row is then not counted.
    pub fn push(&mut self, row: &[f32; C]) -> Result<Verdict, Error> {
        check_row(row)?;
        let at = self.rows;
        self.rows = self.rows.saturating_add(1);
        for (stillness, value) in self.stillness.iter_mut().zip(row) {
            stillness.push(*value);
        }
        if self.stage == Stage::Scaling {
            self.scale_by(row)?;
            return Ok(self.still_learning());
        }
        let learning = self.stage == Stage::Learning;
        let standardised = self.standardised(row);
        let values = self.view.values(&standardised);
        if learning {
            self.gate.learn(&values, self.config.learning_rows);
        } else if self.config.lone_outliers == LoneOutliers::HoldBack && self.gate.holds(&values) {
            self.view.advance(&standardised, Update::Skip);
            return Ok(self.passed_over());
        }
        let update = if learning { Update::Learn } else { Update::Follow };
        self.view.advance(&standardised, update);
        let Some(vector) = self.delay.push(&values)? else {
            return Ok(self.still_learning());
        };
        let mut sample = const { Mean::new() };
        self.map_into(&mut sample, vector)?;
        self.compare(at, &sample, &Axes::of::<B>(&values), learning);
        if !learning {
            return Ok(self.decide(at));
        }
        self.learned = self.learned.saturating_add(1);
        if self.learned >= self.config.learning_rows {
            self.arm();
        }
        Ok(self.still_learning())
    }

    /// The first stage: level and spread of each channel, and the median distance.
    fn scale_by(&mut self, row: &[f32; C]) -> Result<(), Error> {
        self.scale.push(row)?;
        if self.scale.rows() > self.config.scaling_rows / 8 {
            // By then the running spread is good enough to measure distances in.
            self.distance.push(&self.scale.standardised(row)?)?;
        }
        if self.scale.rows() < self.config.scaling_rows {
            return Ok(());
        }
        self.gains = self.scale.deviations().map(|deviation| 1.0 / deviation);
        // Of independent channels with unit spread, the median distance is about √(2C − 1.3);
        // for delay vectors of k lags, √k times that of the row.
        let channels = rounded(f64_of(C));
        let expected = sqrt_f32((2.0 * channels - 1.3).max(0.9));
        let lags = rounded(f64_of(Delay::<C, D>::LAGS));
        let median = self.distance.median().unwrap_or(expected) * sqrt_f32(lags);
        let bandwidth = match self.config.bandwidth {
            Bandwidth::Deviations(deviations) => deviations,
            Bandwidth::MedianDistance(factor) => factor * median,
            Bandwidth::Family => median,
        };
        self.inverse_bandwidth = self.map.recipe().kernel.bandwidth() / bandwidth;
        self.stage = Stage::Learning;
        Ok(())
    }

    fn standardised(&self, row: &[f32; C]) -> [f32; C] {
        let mut values = [0.0; C];
        let scale = row.iter().zip(self.scale.means()).zip(&self.gains);
        for (value, ((x, mean), gain)) in values.iter_mut().zip(scale) {
            *value = within((x - mean) * gain, MAX_DEVIATIONS);
        }
        values
    }

    /// The points of a vector, in units of the bandwidth and within the map's reach.
    fn map_into(&self, sample: &mut Mean<L>, mut vector: [f32; D]) -> Result<(), Error> {
        // Not beyond what any row can bring, even where a state was forged.
        vector = vector.map(|x| within(x, MAX_DEVIATIONS));
        let longest = 0.2 * self.map.reach();
        let squared: f32 = vector.iter().map(|x| x * x).sum();
        let length = sqrt_f32(squared) * self.inverse_bandwidth;
        let factor = if length > longest { longest / length } else { 1.0 };
        for x in &mut vector {
            *x *= self.inverse_bandwidth * factor;
        }
        let family = self.config.bandwidth == Bandwidth::Family;
        let mut index = 0;
        self.map.project(&vector, &mut sample.points, |point: &mut Point, phase| {
            let turns = if family { phase * family_factor(index, L) } else { phase };
            *point = B::point(turns);
            index += 1;
        })
    }

    /// Brings reference and windows up to date with one row.
    fn compare(&mut self, at: u64, sample: &Mean<L>, axes: &Axes<C>, learning: bool) {
        self.count = self.count.saturating_add(1);
        let rate = self.reference_rate();
        if rate > 0.0 {
            let reference = &mut self.reference;
            reference.rows = reference.rows.saturating_add(1);
            reference.mean.blend(sample, rate);
            reference.axes.blend(axes, rate);
            reference.own = (1.0 - rate) * (1.0 - rate) * reference.own + rate * rate;
        }
        let wide = self.config.is_wide();
        let mut rates = [0.0; S];
        for (rate, length) in rates.iter_mut().zip(self.config.scales) {
            *rate = rate_at(length, self.count);
        }
        let distances = self.means.blend_and_measure(&rates, sample, &self.reference.mean);
        let row = Row {
            axes,
            reference_axes: &self.reference.axes,
            reference_own: self.reference.own,
            reference_rate: rate,
            count: self.count,
        };
        let windows = self.windows.iter_mut().zip(self.config.scales).zip(rates).zip(distances);
        for (((window, length), rate), distance) in windows {
            if !window.push(length, rate, &row, distance) {
                window.calm_row = at;
                continue;
            }
            let block = Null::block_of(length, self.config.learning_rows);
            if learning {
                window.learn(block, &row);
            } else if let Calibration::Adaptive(memory) = self.config.calibration {
                let healthy = smaller(window.statistic, window.threshold);
                if window.null.push(healthy, block, memory) {
                    let time = per_window(self.config.mean_time_between_false_alarms, S);
                    window.threshold = window.null.threshold(length, block, time, wide);
                }
            }
            if window.statistic < window.null.mean {
                window.calm_row = at;
            }
        }
    }

    /// The weight of this row in the reference.
    fn reference_rate(&self) -> f32 {
        let next = self.reference.rows.saturating_add(1);
        match self.config.reference {
            Reference::Learned if self.reference.rows >= self.config.learning_rows => 0.0,
            Reference::Learned => 1.0 / row_count(next),
            Reference::Moving(memory) => 1.0 / row_count(next.min(memory)),
        }
    }

    /// Ends learning: sets the thresholds.
    fn arm(&mut self) {
        let wide = self.config.is_wide();
        let time = per_window(self.config.mean_time_between_false_alarms, S);
        for (window, length) in self.windows.iter_mut().zip(self.config.scales) {
            let block = Null::block_of(length, self.config.learning_rows);
            window.threshold = window.null.threshold(length, block, time, wide);
        }
        let rows = self.config.scaling_rows.saturating_add(self.learned);
        let time = self.config.mean_time_between_false_alarms * rounded(f64_of(C));
        for stillness in &mut self.stillness {
            stillness.arm(rows, time);
        }
        self.stage = Stage::Monitoring;
    }

    fn still_learning(&self) -> Verdict {
        Verdict::Learning { progress: self.progress() }
    }
}

/// The factor on the phases of frequency `index` of `frequencies` in a family of bandwidths.
fn family_factor(index: usize, frequencies: usize) -> f32 {
    if index < frequencies / 4 {
        4.0
    } else if index < frequencies / 2 {
        2.0
    } else {
        1.0
    }
}

/// The mean time between false alarms of one of `windows` windows, of all together `mean_time`.
fn per_window(mean_time: f32, windows: usize) -> f32 {
    mean_time * rounded(exp(SHARED_ALARMS * ln(f64_of(windows))))
}

#[cfg(feature = "defmt")]
impl<M, V, const C: usize, const D: usize, const L: usize, const S: usize, B: SinCos> defmt::Format
    for Detector<'_, M, V, C, D, L, S, B>
{
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(
            f,
            "{} after {} rows, last alarm: {}",
            self.stage,
            self.rows,
            self.last_alarm
        );
    }
}
