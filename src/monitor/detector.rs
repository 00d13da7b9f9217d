//! Drift: whether, since when, which channel, at a promised rate of false alarms.

use crate::condition::{Conditioning, Kept, Shaped, Update, View, check_row};
use crate::error::Error;
use crate::features::FeatureMap;
use crate::features::sincos::{Point, SinCos};
use crate::numeric::{f64_of, rounded, row_count};
#[cfg(feature = "alloc")]
use crate::shape::Dims;
use crate::shape::{Fixed, Length, Windows};
use crate::state::{Initial, Maybe, State, state};

use super::attribution::{Attribution, axes_into, evidence};
use super::bank::{Features, Windowed};
use super::comparison::{Baseline, Comparison, is_ripe};
use super::config::{Bandwidth, Config, LoneOutliers};
use super::verdict::{Alarm, Stage, Verdict};

/// Least repeated rows that are called stuck.
const LEAST_STUCK: u32 = 32;

/// A drift detector over the map `M`, with the view `V` and windows `W`.
///
/// It passes through three stages without ever storing a sample: it learns each channel's level
/// and spread and the bandwidth (scaling); it learns the mean embedding of healthy data, and how
/// far exponentially weighted windows of several lengths stray from it while all is well
/// (learning); then it compares windows with that reference (monitoring).
///
/// How far windows stray is learned from the windows themselves, so autocorrelation of the data
/// is in it. The threshold of each window is where its statistic would get, while all is well,
/// once in the promised mean time between false alarms; one time holds for all windows together.
///
/// ```
/// use fastmmd::{Config, Detector, Fourier, Verdict};
///
/// static MAP: Fourier<1, 64> = Fourier::gaussian(1);
///
/// let mut detector = Detector::new(&MAP, Config::rows(10_000.0))?;
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
///
/// Where a type has to be written, all of it is there: three channels, 64 frequencies, and as many
/// windows as the settings have, 4 if nothing is said.
///
/// ```
/// use fastmmd::{Config, Detector, Fourier, checked};
/// use fastmmd::condition::Raw;
///
/// static MAP: Fourier<3, 64> = Fourier::gaussian(1);
/// static START: Detector<Fourier<3, 64>, Raw<3>> = checked!(Detector::new(&MAP, Config::rows(4e3)));
/// ```
pub struct Detector<'m, M: FeatureMap, V: View, W: Length = Windows<4>> {
    pub(super) map: &'m M,
    pub(super) config: Config<V, W>,
    pub(super) state: Memory<V, M::Frequencies, W>,
}

state! {
    /// All that a detector keeps beside its settings.
    #[derive(Debug, Clone, PartialEq)]
    pub(super) struct Memory<V: Kept, F: Length, W: Length> {
        pub(super) last_alarm: Option<Alarm> = None => allowed Self::has_channel_of,
        /// Rows pushed in all.
        pub(super) rows: u64,
        pub(super) stage: Stage,
        /// Rows of learning done.
        pub(super) learned: u32,
        /// Rows since the last alarm during which no window was beyond its threshold.
        pub(super) quiet_rows: u32,
        pub(super) condition: Conditioning<V>,
        pub(super) comparison: Comparison<Windowed<V::C, F, W>>,
        pub(super) attribution: Attribution<V::C, W>,
        /// The reference before it moved after an alarm, until the new one has settled.
        pub(super) previous: Maybe<Baseline<Features<V::C, F>>>,
    }
}

impl<V: Kept, F: Length, W: Length> Memory<V, F, W> {
    /// Whether the channel of an alarm, which a caller may use as an index, is there.
    fn has_channel_of(&self, alarm: &Option<Alarm>) -> bool {
        alarm.is_none_or(|alarm| alarm.channel < self.condition.channels())
    }
}

// Not derived: none of this asks anything of the map itself.
impl<M: FeatureMap, V: View, W: Length> Clone for Detector<'_, M, V, W> {
    fn clone(&self) -> Self {
        Self { map: self.map, config: self.config.clone(), state: self.state.clone() }
    }
}

impl<M: FeatureMap, V: View, W: Length> core::fmt::Debug for Detector<'_, M, V, W> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Detector")
            .field("config", &self.config)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

#[expect(private_bounds, reason = "a shape that is wrong is refused by the crate itself")]
impl<'m, M, V, const C: usize, const L: usize, const W: usize> Detector<'m, M, V, Windows<W>>
where
    M: FeatureMap<Inputs = V::Inputs, Frequencies = Fixed<L>, Backend: SinCos>,
    V: View<Channels = Fixed<C>> + Shaped,
{
    /// Length of a saved detector, in bytes.
    pub const SAVED_BYTES: usize =
        super::saved::record_bytes(W, <Memory<V, Fixed<L>, Windows<W>>>::SAVED);

    /// A detector that has seen nothing; also as a constant or `static`.
    ///
    /// A view of no whole rows does not compile. In a function that is found when code is made,
    /// by `cargo build` and not yet by `cargo check`.
    ///
    /// # Errors
    /// What [`Config::check`] refuses. [`Config::warnings`] tells of promises that the settings
    /// cannot be trusted to keep.
    #[inline(never)]
    pub const fn new(map: &'m M, config: Config<V, Windows<W>>) -> Result<Self, Error> {
        const { V::SHAPE };
        match config.check_fixed() {
            Ok(()) => Ok(Self::fresh(map, config)),
            Err(error) => Err(error),
        }
    }

    /// Apart from the check, and of constants alone, so that the compiler writes each field
    /// straight to where the caller wants the detector: it is then never on the stack.
    #[inline(never)]
    const fn fresh(map: &'m M, config: Config<V, Windows<W>>) -> Self {
        Self { map, config, state: Memory::initial() }
    }
}

impl<'m, M, V, W> Detector<'m, M, V, W>
where
    M: FeatureMap<Inputs = V::Inputs, Backend: SinCos>,
    V: View,
    W: Length,
{
    /// A detector of lengths that are known at run time.
    #[cfg(feature = "alloc")]
    pub(crate) fn sized(
        map: &'m M,
        config: Config<V, W>,
        dims: &Dims,
        view: V,
    ) -> Result<Self, Error> {
        config.check()?;
        let mut detector = Self { map, state: Memory::make(dims), config };
        detector.state.condition.view = view;
        Ok(detector)
    }

    /// Forgets everything learned and begins with scaling again under other settings, as
    /// [`Detector::relearn`] does under the same; rows go on being counted. O(W·L).
    ///
    /// ```
    /// # use fastmmd::{Config, Detector, Fourier};
    /// # static MAP: Fourier<1, 64> = Fourier::gaussian(1);
    /// let mut detector = Detector::new(&MAP, Config::rows(10_000.0))?;
    /// detector.push(&[0.5])?;
    /// let rarer = Config::rows(20_000.0);
    /// detector.relearn_with(rarer)?;
    /// assert!(detector.relearn_with(Config::rows(0.0)).is_err());
    /// assert_eq!((detector.config(), detector.rows(), detector.progress()), (&rarer, 1, 0.0));
    /// # Ok::<(), fastmmd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Detector::new`], and [`Error::WrongShape`] for another number of windows, where it is
    /// known at run time; nothing is then forgotten.
    pub fn relearn_with(&mut self, config: Config<V, W>) -> Result<(), Error> {
        config.check()?;
        if config.lengths().len() != self.config.lengths().len() {
            return Err(Error::WrongShape);
        }
        self.config = config;
        self.relearn();
        Ok(())
    }

    /// Forgets everything learned and begins with scaling again; rows go on being counted.
    pub fn relearn(&mut self) {
        let rows = self.state.rows;
        self.state.reset();
        self.state.rows = rows;
    }

    /// Takes one row, in the sensor's own units. O(W·L) beside the map, and 8·L bytes of stack.
    ///
    /// # Errors
    /// [`Error::NonFinite`] or, beyond [`MAX_READING`](crate::condition::MAX_READING),
    /// [`Error::OutOfRange`], naming the channel; the row is then not counted. Where the number of
    /// channels is known at run time, [`Error::WrongShape`] for a row of another length.
    pub fn push(&mut self, row: &<V::Channels as Length>::Slice<f32>) -> Result<Verdict, Error> {
        let row = row.as_ref();
        if row.len() != self.state.condition.channels() {
            return Err(Error::WrongShape);
        }
        check_row(row)?;
        let at = self.state.rows;
        self.state.rows = self.state.rows.saturating_add(1);
        for (stillness, value) in self.state.condition.stillness.iter_mut().zip(row) {
            stillness.push(*value);
        }
        if self.state.stage == Stage::Scaling {
            if self.state.condition.scale_by(row, self.config.scaling_rows) {
                self.choose_bandwidth();
                self.state.stage = Stage::Learning;
            }
            return Ok(self.still_learning());
        }
        let learning = self.state.stage == Stage::Learning;
        let condition = &mut self.state.condition;
        let standardised = condition.standardised(row);
        let values = condition.view.values(&standardised);
        if learning {
            condition.gate.learn(&values, self.config.learning_rows);
        } else if self.config.lone_outliers == LoneOutliers::HoldBack
            && condition.gate.holds(&values)
        {
            condition.view.advance(&standardised, Update::Skip);
            return Ok(self.passed_over());
        }
        let update = if learning { Update::Learn } else { Update::Follow };
        condition.view.advance(&standardised, update);
        if !condition.view.delay_mut().take_in(&values) {
            return Ok(self.still_learning());
        }
        let mean = &self.state.comparison.reference.mean;
        let points = mean.points.like(Point::ZERO);
        let mut features = Features { points, axes: mean.axes.like([Point::ZERO; 3]) };
        axes_into::<_, M::Backend>(&mut features.axes, &values);
        self.map_into(&mut features)?;
        self.state.comparison.push(&self.config.rules(), at, &features, learning);
        if !learning {
            return Ok(self.decide(at));
        }
        self.learn_evidence();
        self.state.learned = self.state.learned.saturating_add(1);
        if self.state.learned >= self.config.learning_rows {
            self.arm();
        }
        Ok(self.still_learning())
    }

    fn choose_bandwidth(&mut self) {
        let median = self.state.condition.median_distance();
        let bandwidth = match self.config.bandwidth {
            Bandwidth::Deviations(deviations) => deviations,
            Bandwidth::MedianDistance(factor) => factor * median,
            Bandwidth::Family => median,
        };
        self.state.condition.scaling.inverse_bandwidth.0 =
            self.map.recipe().kernel.bandwidth() / bandwidth;
    }

    /// The points of the last vector, in units of the bandwidth and within the map's reach.
    fn map_into(
        &mut self,
        features: &mut Features<V::Channels, M::Frequencies>,
    ) -> Result<(), Error> {
        let vector = self.state.condition.scaled_vector(0.2 * self.map.reach());
        let frequencies = features.points.len();
        let (vector, points) = (vector.borrow(), features.points.borrow_mut());
        // Asked once, not for each frequency.
        if self.config.bandwidth != Bandwidth::Family {
            return self.map.project(vector, points, |point, turns| {
                *point = M::Backend::point(turns);
            });
        }
        let mut index = 0;
        self.map.project(vector, points, move |point, turns| {
            *point = M::Backend::point(turns * family_factor(index, frequencies));
            index += 1;
        })
    }

    /// Takes the evidence of each channel as that of a healthy row.
    fn learn_evidence(&mut self) {
        let Memory { comparison, attribution, .. } = &mut self.state;
        let Comparison { count, reference, bank, windows } = comparison;
        let windows = windows.iter().zip(self.config.lengths()).zip(bank.axes.iter());
        for (((window, length), axes), usual) in windows.zip(attribution.usual.iter_mut()) {
            if !is_ripe(*length, *count) {
                continue;
            }
            let rate = 1.0 / row_count(window.null.rows);
            let normaliser = window.normaliser(reference.weight_squares.0);
            let axes = axes.iter().zip(reference.mean.axes.iter());
            for (usual, (axis, reference)) in usual.iter_mut().zip(axes) {
                for (usual, value) in usual.iter_mut().zip(evidence(axis, reference)) {
                    *usual += rate * (value / normaliser - *usual);
                }
            }
        }
    }

    /// Ends learning: sets the thresholds.
    fn arm(&mut self) {
        self.state.comparison.arm(&self.config.rules());
        let rows = self.config.scaling_rows.saturating_add(self.state.learned);
        let stillness = &mut self.state.condition.stillness;
        let time = self.config.mean_time_between_false_alarms * rounded(f64_of(stillness.len()));
        for stillness in stillness.iter_mut() {
            stillness.arm(rows, time, LEAST_STUCK);
        }
        self.state.stage = Stage::Monitoring;
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

#[cfg(feature = "defmt")]
impl<M: FeatureMap, V: View, W: Length> defmt::Format for Detector<'_, M, V, W> {
    fn format(&self, f: defmt::Formatter<'_>) {
        let Memory { stage, rows, last_alarm, .. } = &self.state;
        defmt::write!(f, "{} after {} rows, last alarm: {}", stage, rows, last_alarm);
    }
}
