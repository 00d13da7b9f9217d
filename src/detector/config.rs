//! What a user states, and what follows from it.

use core::fmt;

use crate::codes::{choices, codes};
use crate::error::{Error, Parameter};
use crate::null::Null;

/// Most rows a mean in `f32` is taken over: beyond, rounding would outweigh the rows.
const MOST_ROWS: u32 = 1 << 20;

/// The bandwidth of the kernel.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Bandwidth {
    /// This many standard deviations of a channel. From 4 on, thresholds are those of a kernel
    /// much wider than the data.
    Deviations(f32),
    /// The median distance of standardised rows, learned while scaling, times this factor.
    MedianDistance(f32),
    /// A family: a quarter of the frequencies at ¼, a quarter at ½ and half of them at 1 times
    /// the median distance. Guards against a wrong scale at no cost.
    Family,
}

choices!(Bandwidth as f32 {
    0 = Deviations (deviations) deviations,
    1 = MedianDistance (factor) factor,
    2 = Family {} 0.0,
});

/// What windows are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Reference {
    /// The mean of the learning rows, as it was: any lasting change is a drift, however slow.
    Learned,
    /// A mean that forgets over this many rows, from the start: changes slower than that are
    /// not seen, and nobody has to say when all was well.
    Moving(u32),
}

choices!(Reference as u32 {
    0 = Learned {} 0,
    1 = Moving (memory) memory,
});

/// How thresholds go on after learning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Calibration {
    /// As learned.
    Learned,
    /// Moments and maxima of the statistic go on being averaged, over about this many rows, with
    /// values beyond the threshold counted as the threshold.
    Adaptive(u32),
}

choices!(Calibration as u32 {
    0 = Learned {} 0,
    1 = Adaptive (memory) memory,
});

/// What a single row far out of the ordinary does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum LoneOutliers {
    /// Nothing: a row with a value beyond twice the range that its channel had while learning is
    /// held back, as if it had not come, unless one about as far out came in the 8 rows before.
    HoldBack,
    /// It counts as any row: a single extreme value may alarm.
    Count,
}

codes!(LoneOutliers {
    HoldBack = 0 "hold-back",
    Count = 1 "count",
});

/// What follows an alarm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

choices!(Policy as [u32; 2] {
    0 = Latch {} [0, 0],
    1 = HoldOff (rows) [rows, 0],
    2 = Relearn { hold_off, settle } [hold_off, settle],
    3 = OncePerChange (rows) [rows, 0],
});

/// The settings of a [`Detector`](super::Detector) with S time scales.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Config<const S: usize> {
    /// The promise: mean time between false alarms, in rows.
    pub mean_time_between_false_alarms: f32,
    /// Window lengths in rows, ascending: short ones for jumps, long ones for slow drift.
    pub scales: [u32; S],
    /// Rows to learn each channel's level and spread from.
    pub scaling_rows: u32,
    /// Rows to learn the reference from, after those.
    pub learning_rows: u32,
    /// The kernel's bandwidth.
    pub bandwidth: Bandwidth,
    /// What windows are compared with.
    pub reference: Reference,
    /// How thresholds go on after learning.
    pub calibration: Calibration,
    /// What a single row far out of the ordinary does.
    pub lone_outliers: LoneOutliers,
    /// What follows an alarm.
    pub policy: Policy,
}

/// A promise that the settings cannot be trusted to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    LearningTooShortForScale {
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
            Self::LearningTooShortForScale { advised } => write!(
                f,
                "too few learning rows for the longest window: at least {advised} are advised"
            ),
        }
    }
}

impl Config<4> {
    /// The default settings: windows of 4, 16, 64 and 256 rows, 256 scaling rows and 4096
    /// learning rows, a family of bandwidths, a fixed reference, one alarm for each change.
    ///
    /// `mean_time` is the promised mean time between false alarms, in rows.
    #[must_use]
    pub const fn rows(mean_time: f32) -> Self {
        Self {
            mean_time_between_false_alarms: mean_time,
            scales: [4, 16, 64, 256],
            scaling_rows: 256,
            learning_rows: 4096,
            bandwidth: Bandwidth::Family,
            reference: Reference::Learned,
            calibration: Calibration::Learned,
            lone_outliers: LoneOutliers::HoldBack,
            policy: Policy::OncePerChange(256),
        }
    }

    /// The default settings for rows at `rate` hertz and a promised mean time between false
    /// alarms in seconds.
    #[must_use]
    pub const fn seconds(rate: f32, mean_time: f32) -> Self {
        Self::rows(rate * mean_time)
    }
}

impl Config<3> {
    /// Settings for the [`Innovation`](crate::innovation::Innovation) view of signals that cycle
    /// or wander: traffic, load, weather, machines under changing orders. `mean_time` is the
    /// promised mean time between false alarms, in rows.
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
    /// use fastmmd::detector::{Config, Detector};
    /// use fastmmd::innovation::Innovation;
    /// use fastmmd::{Fourier, Kernel, Sampling};
    ///
    /// let map = Fourier::<2, 16>::new(Kernel::GAUSSIAN, Sampling::Auto, 1)?;
    /// let config = Config::innovation(10_000.0);
    /// let detector: Detector<_, Innovation<2>, 2, 2, 16, 3> = Detector::new(&map, config)?;
    /// # Ok::<(), fastmmd::Error>(())
    /// ```
    #[must_use]
    pub const fn innovation(mean_time: f32) -> Self {
        Self {
            mean_time_between_false_alarms: mean_time,
            scales: [4, 16, 64],
            scaling_rows: 100,
            learning_rows: 4096,
            bandwidth: Bandwidth::Deviations(16.0),
            reference: Reference::Moving(8000),
            calibration: Calibration::Adaptive(4000),
            lone_outliers: LoneOutliers::Count,
            policy: Policy::OncePerChange(100),
        }
    }
}

impl<const S: usize> Config<S> {
    /// The same settings with other time scales.
    #[must_use]
    pub const fn with_scales<const T: usize>(self, scales: [u32; T]) -> Config<T> {
        Config {
            mean_time_between_false_alarms: self.mean_time_between_false_alarms,
            scales,
            scaling_rows: self.scaling_rows,
            learning_rows: self.learning_rows,
            bandwidth: self.bandwidth,
            reference: self.reference,
            calibration: self.calibration,
            lone_outliers: self.lone_outliers,
            policy: self.policy,
        }
    }

    /// Refuses settings that mean nothing.
    ///
    /// # Errors
    /// [`Error::NonFinite`] or [`Error::OutOfRange`], naming the parameter. Allowed are: a mean
    /// time from 100 to 10⁹ rows; scales ascending from at least 2 rows; from 16 to 2²⁰ scaling
    /// rows; learning rows from 64, and four of the longest window, to 2²⁰; bandwidths from 10⁻³
    /// to 10³; a moving reference that remembers more than the longest window and at most 2²⁰
    /// rows; an adaptive calibration that remembers four blocks, each of two of the longest
    /// window or 1/32 of the learning rows; hold-offs from 1 row, and `settle` from `hold_off` and
    /// the longest window together, before which the new reference cannot be whole.
    pub fn check(&self) -> Result<(), Error> {
        if !self.mean_time_between_false_alarms.is_finite() {
            return Err(Error::NonFinite(Parameter::MeanTime));
        }
        let refuse = |refused: bool, parameter: Parameter| {
            if refused { Err(Error::OutOfRange(parameter)) } else { Ok(()) }
        };
        refuse(!(100.0..=1e9).contains(&self.mean_time_between_false_alarms), Parameter::MeanTime)?;
        let ascending = self.scales.is_sorted_by(|a, b| a < b);
        let (shortest, longest) = self.range();
        refuse(!ascending || shortest < 2 || longest > 1 << 20, Parameter::Scales)?;
        refuse(!(16..=1 << 20).contains(&self.scaling_rows), Parameter::ScalingRows)?;
        let needed = longest.saturating_mul(4).max(64);
        refuse(!(needed..=MOST_ROWS).contains(&self.learning_rows), Parameter::LearningRows)?;
        if let Bandwidth::Deviations(factor) | Bandwidth::MedianDistance(factor) = self.bandwidth {
            if !factor.is_finite() {
                return Err(Error::NonFinite(Parameter::Bandwidth));
            }
            refuse(!(1e-3..=1e3).contains(&factor), Parameter::Bandwidth)?;
        }
        if let Reference::Moving(memory) = self.reference {
            refuse(memory <= longest || memory > MOST_ROWS, Parameter::ReferenceMemory)?;
        }
        if let Calibration::Adaptive(memory) = self.calibration {
            let block = Null::block_of(longest, self.learning_rows);
            refuse(memory / 4 < block, Parameter::CalibrationMemory)?;
        }
        match self.policy {
            Policy::Latch => Ok(()),
            Policy::HoldOff(rows) | Policy::OncePerChange(rows) => {
                refuse(rows == 0, Parameter::HoldOff)
            }
            Policy::Relearn { hold_off, settle } => {
                let earliest = hold_off.saturating_add(longest);
                refuse(hold_off == 0 || settle < earliest, Parameter::HoldOff)
            }
        }
    }

    /// Whether the promise can be kept with so much learning; measured by
    /// `cargo xtask evaluate`.
    #[must_use]
    pub fn warning(&self) -> Option<Warning> {
        let (_, longest) = self.range();
        let for_scale = longest.saturating_mul(8).max(1024);
        if self.learning_rows < for_scale {
            return Some(Warning::LearningTooShortForScale { advised: for_scale });
        }
        let for_promise = rows_for(self.mean_time_between_false_alarms);
        if self.learning_rows < for_promise {
            return Some(Warning::LearningTooShortForPromise { advised: for_promise });
        }
        None
    }

    /// Whether the kernel is much wider than the data.
    pub(super) fn is_wide(&self) -> bool {
        matches!(self.bandwidth, Bandwidth::Deviations(deviations) if deviations >= 4.0)
    }

    /// Rows between anchors of the median distance: some thirty in all while scaling.
    pub(super) fn anchor_spacing(&self) -> u32 {
        (self.scaling_rows / 32).max(1)
    }

    /// The shortest and the longest window.
    pub(super) fn range(&self) -> (u32, u32) {
        let shortest = self.scales.iter().copied().fold(u32::MAX, u32::min);
        let longest = self.scales.iter().copied().fold(0, u32::max);
        (shortest, longest)
    }
}

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
