//! What a user states, and what follows from it.

use core::fmt;
use core::marker::PhantomData;
use core::ops::RangeInclusive;

use crate::condition::{Innovation, Raw};
#[cfg(feature = "serde")]
use crate::condition::{View, ViewKind};
use crate::error::{
    self, Error, LEARNING_ROWS, MOST_ROWS, Parameter, REFERENCE_ROWS, SCALING_ROWS, WINDOW_ROWS,
    has_rows,
};
use crate::shape::{Length, Windows};
use crate::state::{Plain, Reader, Writer, begin, codes, plain};

use super::comparison::Rules;
use super::null::Null;
use super::settings::settings;

/// The promises that can be made: mean times between false alarms from 100 to 10⁹ rows.
pub const MEAN_TIMES: RangeInclusive<f32> = error::MEAN_TIME;

/// The bandwidth of the kernel.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Bandwidth {
    /// This many standard deviations of a channel. From 4 on, thresholds are those of a kernel
    /// much wider than the data.
    Deviations(f32),
    /// The median distance of standardised rows, learned while scaling, times this factor.
    MedianDistance(f32),
    /// A family: a quarter of the frequencies at ¼, a quarter at ½ and half of them at 1 times
    /// the median distance. Guards against a wrong bandwidth at no cost.
    Family,
}

/// What windows are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Reference {
    /// The mean of the learning rows, as it was: any lasting change is a drift, however slow.
    Learned,
    /// A mean that forgets over this many rows, from the start: changes slower than that are
    /// not seen, and no healthy period has to be named.
    Moving(u32),
}

/// How thresholds go on after learning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Calibration {
    /// As learned.
    Learned,
    /// Moments and maxima of the statistic go on being averaged, over about this many rows, with
    /// values beyond the threshold counted as the threshold.
    Adaptive(u32),
}

/// What a single row far out of the ordinary does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum LoneOutliers {
    /// Nothing: a row with a value beyond twice the range that its channel had while learning is
    /// held back, as if it had not come, unless one about as far out came in the 8 rows before.
    HoldBack,
    /// It counts as any row: a single extreme value may alarm.
    Count,
}

/// What follows an alarm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Policy {
    /// No further alarm until [`Detector::acknowledge`](super::Detector::acknowledge).
    Latch,
    /// An alarm again every so many rows, for as long as the data differ from the reference.
    HoldOff(u32),
    /// One alarm for each change: the next no sooner than this many rows after any statistic was
    /// last beyond its threshold, and not before each is nearer to its usual mean than to its
    /// threshold.
    OncePerChange(u32),
    /// The new regime becomes the reference. For `hold_off` rows after an alarm nothing happens;
    /// if then a statistic is still nearer to its threshold than to its usual mean, the longest
    /// window becomes the reference, row by row until all are calm. Only then may the next alarm
    /// come: it tells of another change, not of the same one again.
    ///
    /// The old reference is kept until `settle` rows after the last alarm. If by then the data
    /// are back at it, as after a passing disturbance, it is taken up again; else it is given up.
    Relearn {
        /// Rows without alarms, and before the reference moves.
        hold_off: u32,
        /// Rows since the last alarm after which the old reference is taken up again or given up.
        settle: u32,
    },
}

settings! {
    /// The settings of a [`Detector`](super::Detector) with the view `V` and windows `W`.
    ///
    /// Neither type has to be written: the functions that make settings say both.
    ///
    /// ```
    /// use fastmmd::{Config, Detector, Fourier};
    ///
    /// static MAP: Fourier<3, 64> = Fourier::gaussian(1);
    /// let config = Config { learning_rows: 2000, ..Config::rows(4000.0) };
    /// let mut detector = Detector::new(&MAP, config)?;
    /// detector.push(&[0.1, 0.2, 0.3])?;
    /// # Ok::<(), fastmmd::Error>(())
    /// ```
    pub struct Config<V, W>(mean_time: f32) {
        /// The promise: mean time between false alarms (average run length), in rows.
        pub mean_time_between_false_alarms: f32 = mean_time,
        /// Rows to learn each channel's level and spread from.
        pub scaling_rows: u32 = 256,
        /// Rows to learn the reference from, after those.
        pub learning_rows: u32 = 4096,
        /// The kernel's bandwidth.
        pub bandwidth: Bandwidth = Bandwidth::Family,
        /// What windows are compared with.
        pub reference: Reference = Reference::Learned,
        /// How thresholds go on after learning.
        pub calibration: Calibration = Calibration::Learned,
        /// What a single row far out of the ordinary does.
        pub lone_outliers: LoneOutliers = LoneOutliers::HoldBack,
        /// What follows an alarm.
        pub policy: Policy = Policy::OncePerChange(256),
    }
}

#[cfg(feature = "serde")]
fn serialize_view<V: View, S: serde::Serializer>(
    _view: &PhantomData<V>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serde::Serialize::serialize(&V::KIND, serializer)
}

/// A promise that the settings cannot be trusted to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Warning {
    /// The mean time between false alarms is so long that the threshold lies far beyond
    /// anything seen while learning; at least this many learning rows are advised.
    LearningTooShortForPromise {
        /// Advised number of learning rows.
        advised: u32,
    },
    /// The longest window is so long that learning sees few independent ones; at least this many
    /// learning rows are advised.
    LearningTooShortForWindow {
        /// Advised number of learning rows.
        advised: u32,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LearningTooShortForPromise { advised } => write!(
                f,
                "too few learning rows for the promised time between false alarms: at least {advised} are advised"
            ),
            Self::LearningTooShortForWindow { advised } => write!(
                f,
                "too few learning rows for the longest window: at least {advised} are advised"
            ),
        }
    }
}

impl<const C: usize> Config<Raw<C>> {
    /// The default settings: windows of 4, 16, 64 and 256 rows, 256 scaling rows and 4096
    /// learning rows, a family of bandwidths, a fixed reference, one alarm for each change.
    ///
    /// `mean_time` is the promised mean time between false alarms, in rows.
    #[must_use]
    pub const fn rows(mean_time: f32) -> Self {
        Self::usual([4, 16, 64, 256], mean_time)
    }

    /// The default settings for rows at `rate` hertz and a promised mean time between false
    /// alarms in seconds.
    #[must_use]
    pub const fn seconds(rate: f32, mean_time: f32) -> Self {
        Self::rows(rate * mean_time)
    }
}

impl<const C: usize, const D: usize> Config<Raw<C, D>> {
    /// The default settings for vectors of the last D/C rows of C channels: for changes in how a
    /// reading follows from the one before. D is that of the map, and C that of the rows pushed.
    ///
    /// ```
    /// use fastmmd::{Config, Detector, Fourier};
    ///
    /// // Vectors of the last 2 rows of 3 channels have 6 inputs.
    /// static MAP: Fourier<6, 64> = Fourier::gaussian(1);
    /// let mut detector = Detector::new(&MAP, Config::lagged(4000.0))?;
    /// detector.push(&[0.1, 0.2, 0.3])?;
    /// # Ok::<(), fastmmd::Error>(())
    /// ```
    #[must_use]
    pub const fn lagged(mean_time: f32) -> Self {
        Config::<Raw<1>>::rows(mean_time).with_view()
    }
}

impl<const C: usize> Config<Innovation<C>, Windows<3>> {
    /// Settings for the [`Innovation`] view of signals that cycle or wander: traffic, load,
    /// weather, machines under changing orders. `mean_time` is the promised mean time between
    /// false alarms, in rows.
    ///
    /// Windows of 4, 16 and 64 rows, 100 scaling rows and 4096 learning rows; a kernel of 16
    /// deviations, so wide that 16 frequencies do; a reference and thresholds that go on
    /// learning, over about 8000 and 4000 rows, for no stretch of such a signal is like the one
    /// it was learned on; one alarm for each change, and again after 100 calm rows. A single
    /// extreme value may alarm: in such signals it is often what one looks for. Set
    /// [`LoneOutliers::HoldBack`] to have it ignored.
    ///
    /// These constants were chosen on half of the Numenta Anomaly Benchmark and half of the
    /// Skoltech one, with their labels, but for no single file. They lie on a plateau: halving or
    /// doubling bandwidth, memories or scaling rows moved the windows caught in the first by two
    /// in thirty at most. `cargo xtask evaluate --nab DIR --skab DIR` prints what they reach.
    ///
    /// ```
    /// use fastmmd::{Config, Detector, Fourier};
    ///
    /// static MAP: Fourier<2, 16> = Fourier::gaussian(1);
    /// let detector = Detector::new(&MAP, Config::innovation(10_000.0))?;
    /// # Ok::<(), fastmmd::Error>(())
    /// ```
    #[must_use]
    pub const fn innovation(mean_time: f32) -> Self {
        Self {
            scaling_rows: 100,
            bandwidth: Bandwidth::Deviations(16.0),
            reference: Reference::Moving(8000),
            calibration: Calibration::Adaptive(4000),
            lone_outliers: LoneOutliers::Count,
            policy: Policy::OncePerChange(100),
            ..Self::usual([4, 16, 64], mean_time)
        }
    }
}

impl<V, const W: usize> Config<V, Windows<W>> {
    /// The same settings with other windows.
    #[must_use]
    pub const fn with_windows<const T: usize>(self, windows: [u32; T]) -> Config<V, Windows<T>> {
        self.changed::<V, Windows<T>>(windows)
    }

    /// The same settings for another view.
    #[must_use]
    pub const fn with_view<U>(self) -> Config<U, Windows<W>> {
        self.changed::<U, Windows<W>>(self.windows)
    }

    /// [`check`](Config::check), also when compiled.
    pub(super) const fn check_fixed(&self) -> Result<(), Error> {
        self.check_with(&self.windows)
    }
}

impl<V, W: Length> Config<V, W> {
    /// Refuses settings that mean nothing.
    ///
    /// # Errors
    /// [`Error::NonFinite`] or [`Error::OutOfRange`], naming the parameter. Allowed are: a mean
    /// time in [`MEAN_TIMES`]; windows ascending from at least 2 rows; from 16 to 2²⁰ scaling
    /// rows; learning rows from [`least_learning_rows`](Self::least_learning_rows) to 2²⁰;
    /// bandwidths from 10⁻³ to 10³; a moving reference that remembers more than the longest window
    /// and at most 2²⁰ rows; an adaptive calibration that remembers as
    /// [`least_calibration_memory`](Self::least_calibration_memory) says; hold-offs from 1 row, and `settle` from
    /// `hold_off` and the longest window together, before which the new reference cannot be whole.
    pub fn check(&self) -> Result<(), Error> {
        self.check_with(self.lengths())
    }

    const fn check_with(&self, windows: &[u32]) -> Result<(), Error> {
        if let Err(refused) = error::check_mean_time(self.mean_time_between_false_alarms) {
            return Err(refused);
        }
        let Some(longest) = longest_of(windows) else {
            return Err(Error::OutOfRange(Parameter::Windows));
        };
        if !has_rows(&SCALING_ROWS, self.scaling_rows) {
            return Err(Error::OutOfRange(Parameter::ScalingRows));
        }
        if !has_rows(&LEARNING_ROWS, self.learning_rows)
            || self.learning_rows < least_learning(longest)
        {
            return Err(Error::OutOfRange(Parameter::LearningRows));
        }
        if let Bandwidth::Deviations(factor) | Bandwidth::MedianDistance(factor) = self.bandwidth {
            if !factor.is_finite() {
                return Err(Error::NonFinite(Parameter::Bandwidth));
            }
            if !(factor >= 1e-3 && factor <= 1e3) {
                return Err(Error::OutOfRange(Parameter::Bandwidth));
            }
        }
        if let Reference::Moving(memory) = self.reference
            && (memory <= longest || !has_rows(&REFERENCE_ROWS, memory))
        {
            return Err(Error::OutOfRange(Parameter::ReferenceMemory));
        }
        if let Calibration::Adaptive(memory) = self.calibration
            && memory < least_memory(longest, self.learning_rows)
        {
            return Err(Error::OutOfRange(Parameter::CalibrationMemory));
        }
        let allowed = match self.policy {
            Policy::Latch => true,
            Policy::HoldOff(rows) | Policy::OncePerChange(rows) => rows > 0,
            Policy::Relearn { hold_off, settle } => {
                hold_off > 0 && settle >= least_settle(longest, hold_off)
            }
        };
        if allowed { Ok(()) } else { Err(Error::OutOfRange(Parameter::HoldOff)) }
    }

    /// Least learning rows that [`check`](Self::check) allows: 64, and four of the longest window.
    #[must_use]
    pub fn least_learning_rows(&self) -> u32 {
        least_learning(self.range().1)
    }

    /// Least rows that [`Calibration::Adaptive`] may remember: four blocks, each of two of the
    /// longest window or 1/32 of the learning rows.
    #[must_use]
    pub fn least_calibration_memory(&self) -> u32 {
        least_memory(self.range().1, self.learning_rows)
    }

    /// The same settings, with the memory of an adaptive calibration and the rows to settle raised
    /// to the least that [`check`](Self::check) allows: for defaults with other windows or
    /// learning rows.
    #[must_use]
    pub fn lengthened(mut self) -> Self {
        let longest = self.range().1;
        if let Calibration::Adaptive(memory) = &mut self.calibration {
            *memory = (*memory).max(least_memory(longest, self.learning_rows));
        }
        if let Policy::Relearn { hold_off, settle } = &mut self.policy {
            *settle = (*settle).max(least_settle(longest, *hold_off));
        }
        self
    }

    /// Rows until monitoring begins, for vectors of `lags` rows: scaling, the first vector, and
    /// learning.
    #[must_use]
    pub fn rows_to_learn(&self, lags: u32) -> u64 {
        u64::from(self.scaling_rows)
            + u64::from(lags.saturating_sub(1))
            + u64::from(self.learning_rows)
    }

    /// All promises that the settings cannot be trusted to keep with so much learning; measured
    /// by `cargo xtask evaluate`.
    pub fn warnings(&self) -> impl Iterator<Item = Warning> + use<V, W> {
        let for_window = self.range().1.saturating_mul(8).max(1024);
        let for_promise = rows_for(self.mean_time_between_false_alarms);
        let rows = self.learning_rows;
        let window = (rows < for_window)
            .then_some(Warning::LearningTooShortForWindow { advised: for_window });
        let promise = (rows < for_promise)
            .then_some(Warning::LearningTooShortForPromise { advised: for_promise });
        window.into_iter().chain(promise)
    }

    /// What these settings say of the windows.
    pub(crate) fn rules(&self) -> Rules<'_> {
        Rules {
            windows: self.lengths(),
            learning_rows: self.learning_rows,
            mean_time_between_false_alarms: self.mean_time_between_false_alarms,
            reference: self.reference,
            calibration: self.calibration,
            wide: self.is_wide(),
        }
    }

    /// Whether the kernel is much wider than the data.
    fn is_wide(&self) -> bool {
        matches!(self.bandwidth, Bandwidth::Deviations(deviations) if deviations >= 4.0)
    }

    /// The shortest and the longest window.
    pub(crate) fn range(&self) -> (u32, u32) {
        let shortest = self.lengths().iter().copied().fold(u32::MAX, u32::min);
        let longest = self.lengths().iter().copied().fold(0, u32::max);
        (shortest, longest)
    }
}

/// The longest window of a list that ascends from 2 rows or more; `None` for any other list.
const fn longest_of(windows: &[u32]) -> Option<u32> {
    let mut longest = 0;
    let mut index = 0;
    while index < windows.len() {
        if windows[index] <= longest || !has_rows(&WINDOW_ROWS, windows[index]) {
            return None;
        }
        longest = windows[index];
        index += 1;
    }
    if index == 0 { None } else { Some(longest) }
}

/// Least learning rows for a longest window.
const fn least_learning(longest: u32) -> u32 {
    let needed = longest.saturating_mul(4);
    let least = *LEARNING_ROWS.start();
    if needed < least { least } else { needed }
}

/// Least rows to settle, for a longest window and a hold-off.
const fn least_settle(longest: u32, hold_off: u32) -> u32 {
    hold_off.saturating_add(longest)
}

/// Least rows an adaptive calibration remembers, for a longest window and learning rows.
const fn least_memory(longest: u32, learning_rows: u32) -> u32 {
    Null::block_of(longest, learning_rows).saturating_mul(4)
}

plain!(enum Bandwidth [f32; 1] { 0 = Deviations(deviations), 1 = MedianDistance(factor), 2 = Family });
plain!(enum Reference [u32; 1] { 0 = Learned, 1 = Moving(memory) });
plain!(enum Calibration [u32; 1] { 0 = Learned, 1 = Adaptive(memory) });
codes!(LoneOutliers {
    HoldBack = 0 "hold-back",
    Count = 1 "count",
});
plain!(enum Policy [u32; 2] {
    0 = Latch "latch",
    1 = HoldOff(rows) "hold-off",
    2 = Relearn { hold_off, settle } "relearn",
    3 = OncePerChange(rows) "once",
});

/// Learning rows advised for a promise: as many as the promised time. With fewer, the threshold
/// lies beyond what learning has seen, and the mean time kept is less certain.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and the promise is positive"
)]
fn rows_for(mean_time: f32) -> u32 {
    (mean_time as u32).min(MOST_ROWS)
}

#[cfg(test)]
mod tests {
    #![allow(unreachable_pub, dead_code, reason = "what the declaration gives all settings")]

    use super::*;
    use crate::state::versions::{payload, record};
    use std::vec::Vec;

    settings! {
        pub struct Old<V, W>(rows: u32) {
            pub scaling_rows: u32 = rows,
            pub policy: Policy = Policy::Latch,
        }
    }

    settings! {
        pub struct New<V, W>(rows: u32) {
            pub scaling_rows: u32 = rows,
            /// Added in version 2, in this one place.
            pub reference: Reference = Reference::Moving(9) => since 2 of 2,
            pub policy: Policy = Policy::Latch,
        }
    }

    type Two = Windows<2>;

    fn new() -> New<(), Two> {
        New { policy: Policy::HoldOff(5), ..New::usual([4, 16], 300) }
    }

    fn of_version_2() -> Vec<u8> {
        let settings = New { reference: Reference::Learned, ..new() };
        record(2, New::<(), Two>::saved_bytes(2), |writer| settings.put(writer))
    }

    #[test]
    fn what_is_lengthened_is_allowed() {
        let short = Config::<Innovation<1>, _>::innovation(1e4).with_windows([4, 1000]);
        let policy = Policy::Relearn { hold_off: 500, settle: 10 };
        let short = Config { policy, ..short };
        assert_eq!(short.check(), Err(Error::OutOfRange(Parameter::CalibrationMemory)));
        let long = short.lengthened();
        assert_eq!(long.check(), Ok(()));
        assert_eq!(long.calibration, Calibration::Adaptive(short.least_calibration_memory()));
        assert_eq!(long.policy, Policy::Relearn { hold_off: 500, settle: 1500 });
        assert_eq!(long.lengthened(), long);
    }

    #[test]
    fn policies_are_found_by_their_names() {
        for name in Policy::NAMES {
            let policy = Policy::from_name(name, [5, 9]).unwrap();
            assert_eq!(policy.name(), name);
        }
        let relearn = Policy::Relearn { hold_off: 5, settle: 9 };
        assert_eq!(Policy::from_name("relearn", [5, 9]), Some(relearn));
        assert_eq!(Policy::from_name("another", [5, 9]), None);
    }

    #[test]
    fn an_older_record_is_read_and_its_missing_setting_has_its_default() {
        let old = Old::<(), Two> { policy: Policy::HoldOff(5), ..Old::usual([4, 16], 300) };
        let bytes = record(1, Old::<(), Two>::saved_bytes(2), |writer| old.put(writer));
        let mut reader = payload(2, &bytes).unwrap();
        let own = New { reference: Reference::Learned, ..New::usual([2, 3], 1) };
        assert_eq!(own.taken(&mut reader), Ok(new()));
        assert_eq!(reader.finish(), Ok(()));
    }

    #[test]
    fn a_newer_record_is_refused_and_one_of_this_version_is_whole() {
        let bytes = of_version_2();
        assert_eq!(payload(1, &bytes).err(), Some(Error::NewerVersion(2)));
        let mut reader = payload(2, &bytes).unwrap();
        let read = new().taken(&mut reader);
        assert_eq!(read, Ok(New { reference: Reference::Learned, ..new() }));
        assert_eq!(reader.finish(), Ok(()));
    }

    #[cfg(feature = "serde")]
    #[test]
    fn a_text_may_leave_a_later_setting_out() {
        let text = r#"{"windows":[4,16],"scaling_rows":300,"policy":{"HoldOff":5}}"#;
        let read: New<Raw<1>, Two> = serde_json::from_str(text).unwrap();
        assert_eq!(read, New { policy: Policy::HoldOff(5), ..New::usual([4, 16], 300) });
        // All others have to be there.
        let text = r#"{"windows":[4,16],"policy":{"HoldOff":5}}"#;
        assert!(serde_json::from_str::<New<Raw<1>, Two>>(text).is_err());
    }
}
