//! The error type: one small enum.

use core::fmt;
use core::ops::RangeInclusive;

/// Declares ranges of settings, and for each the sentence that states it, with the same numbers.
macro_rules! limits {
    ($(
        $(#[$meta:meta])*
        $name:ident: $number:ty = $least:literal to $most:literal, $rule:ident = $what:literal $unit:literal;
    )*) => {$(
        $(#[$meta])*
        pub(crate) const $name: RangeInclusive<$number> = $least..=$most;
        const $rule: &str = concat!($what, " must be from ", $least, " to ", $most, $unit);
    )*};
}

limits! {
    /// Mean times between false alarms that can be promised.
    MEAN_TIME: f32 = 1e2 to 1e15, MEAN_TIME_RULE = "the mean time between false alarms" " rows";
    /// Rows of the window of a coupling.
    WINDOW_ROWS: u32 = 2 to 1048576, WINDOW_RULE = "the window" " rows";
    /// Rows of the scaling of a coupling.
    SCALING_ROWS: u32 = 16 to 1048576, SCALING_RULE = "the scaling rows" "";
    /// Rows of learning. Over more, rounding of a mean in `f32` would outweigh the rows.
    LEARNING_ROWS: u32 = 256 to 4194304, LEARNING_RULE = "the learning rows" ", and of a coupling at least 8 times the window";
    /// Rows of a cycle.
    PERIOD: f32 = 4.0 to 1048576.0, PERIOD_RULE = "the period" " rows, at most a quarter of the learning rows, and needs legs with a profile, as of Config::with_period";
    /// Samples in a block of a two-sample test.
    BLOCK_ROWS: u32 = 1 to 65536, BLOCK_RULE = "the block" " samples";
    /// Rows of a drift after which it is learned as healthy.
    RELEARN_ROWS: u32 = 1 to 4294967295, RELEARN_RULE = "the rows of a drift before it is learned" "";
}

/// Whether a number of rows is in a range, also when compiled.
pub(crate) const fn has_rows(range: &RangeInclusive<u32>, rows: u32) -> bool {
    *range.start() <= rows && rows <= *range.end()
}

/// Refuses a promise that cannot be made.
pub(crate) const fn check_mean_time(time: f32) -> Result<(), Error> {
    if !time.is_finite() {
        Err(Error::NonFinite(Parameter::MeanTime))
    } else if !(time >= *MEAN_TIME.start() && time <= *MEAN_TIME.end()) {
        Err(Error::OutOfRange(Parameter::MeanTime))
    } else {
        Ok(())
    }
}

/// Refuses a level that is no probability.
pub(crate) const fn check_level(level: f32) -> Result<(), Error> {
    if !level.is_finite() {
        Err(Error::NonFinite(Parameter::Level))
    } else if !(level > 0.0 && level < 1.0) {
        Err(Error::OutOfRange(Parameter::Level))
    } else {
        Ok(())
    }
}

/// The input that an [`Error`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Parameter {
    /// One channel of a sample, counted from 0.
    Channel(usize),
    /// The weight of a sample.
    Weight,
    /// The bandwidth σ of a kernel.
    Bandwidth,
    /// The value K(0) of a kernel.
    Amplitude,
    /// The factor by which forgetting multiplies the weight of earlier samples.
    Keep,
    /// A level of significance, or the probability that a bound fails.
    Level,
    /// The number of samples in a block.
    Block,
    /// A frequency vector given by the caller.
    Frequency,
    /// The stated mean time between false alarms (average run length), in rows.
    MeanTime,
    /// The length of a window, in rows.
    Window,
    /// The number of rows that the mean and deviation of each channel are learned from.
    ScalingRows,
    /// The number of rows that reference and thresholds are learned from.
    LearningRows,
    /// The rows of a cycle.
    Period,
    /// The rows of a drift after which it is learned as healthy.
    RelearnRows,
    /// The rows that are taken as one.
    DecimatedRows,
}

impl Parameter {
    /// Its name in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Channel(_) => "a channel of the sample",
            Self::Weight => "the weight",
            Self::Bandwidth => "the bandwidth",
            Self::Amplitude => "the kernel's amplitude K(0)",
            Self::Keep => "the factor of forgetting",
            Self::Level => "the level",
            Self::Block => "the block",
            Self::Frequency => "a frequency",
            Self::MeanTime => "the mean time between false alarms",
            Self::Window => "the window",
            Self::ScalingRows => "the number of scaling rows",
            Self::LearningRows => "the number of learning rows",
            Self::Period => "the period",
            Self::RelearnRows => "the number of rows of a drift before it is learned",
            Self::DecimatedRows => "the number of rows taken as one",
        }
    }

    /// The range it must be in, as a whole sentence: constant evaluation cannot format one.
    const fn rule(self) -> &'static str {
        match self {
            Self::Channel(_) => "a channel of the sample must be a finite number in range",
            Self::Weight => "the weight must be 0, or from 2^-12 to 2^20",
            Self::Bandwidth => "the bandwidth must be a positive number in range",
            Self::Amplitude => "the kernel's amplitude K(0) must be a positive number in range",
            Self::Keep => "the factor of forgetting must be above 0 and at most 1",
            Self::Level => "the level must be above 0 and below 1",
            Self::Block => BLOCK_RULE,
            Self::Frequency => "a frequency must be a finite number of at most 10^12 turns",
            Self::MeanTime => MEAN_TIME_RULE,
            Self::Window => WINDOW_RULE,
            Self::ScalingRows => SCALING_RULE,
            Self::LearningRows => LEARNING_RULE,
            Self::Period => PERIOD_RULE,
            Self::RelearnRows => RELEARN_RULE,
            Self::DecimatedRows => "the number of rows taken as one must be from 1 to 65,536",
        }
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Channel(channel) => write!(f, "channel {channel} of the sample"),
            Self::Weight
            | Self::Bandwidth
            | Self::Amplitude
            | Self::Level
            | Self::Block
            | Self::Keep
            | Self::Frequency
            | Self::MeanTime
            | Self::Window
            | Self::ScalingRows
            | Self::LearningRows
            | Self::Period
            | Self::RelearnRows
            | Self::DecimatedRows => f.write_str(self.name()),
        }
    }
}

/// Kinds of errors, for callers that treat several alike. An error added later has one of these, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ErrorClass {
    /// A number is NaN or infinite.
    NonFinite,
    /// A number is out of range.
    OutOfRange,
    /// A buffer is too small.
    Buffer,
    /// A saved record, or a map, cannot be used here.
    Record,
    /// The call makes no sense for these values or at this time.
    Request,
}

/// Why a call was refused. The state is as it was before the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Error {
    /// The parameter is NaN or infinite.
    NonFinite(Parameter),
    /// The parameter is finite, but outside its documented range.
    OutOfRange(Parameter),
    /// The sample is so large that a phase could exceed [`MAX_TURNS`](crate::features::MAX_TURNS).
    PhaseTooLarge,
    /// The kernel is not spherically invariant, which this map or sampling needs.
    NotSpherical,
    /// The kernel is not Gaussian, which [additive](crate::Sampling::Additive) sampling needs.
    NotGaussian,
    /// The embedding holds no sample yet.
    Empty,
    /// The unbiased estimate needs at least two samples in each embedding.
    TooFewSamples,
    /// The weight to remove is larger than the total weight of the embedding.
    NothingToRemove,
    /// The total weight would reach [`MAX_TOTAL_WEIGHT`](crate::embedding::MAX_TOTAL_WEIGHT).
    Full,
    /// Two embeddings, or an embedding and a map, have different frequencies.
    MapMismatch,
    /// A detector has not finished learning.
    NotLearned,
    /// Two detectors differ in their settings, or in the scale (mean and deviation) of their
    /// channels.
    NotComparable,
    /// The buffer to save into is too small.
    BufferTooSmall {
        /// Length that the buffer must have, in bytes.
        needed: usize,
    },
    /// The bytes do not begin like a saved state.
    NotAState,
    /// The bytes were written by a later version of the format.
    NewerVersion(u8),
    /// The number of bytes is not the one in the header.
    WrongLength,
    /// The checksum does not match: the bytes were cut off while written, or altered.
    ChecksumMismatch,
    /// The bytes hold another kind of record, or one of another shape or backend; or a slice has
    /// the wrong length.
    WrongShape,
    /// The checksum matches, but the values contradict each other.
    Inconsistent,
}

impl Error {
    /// What is wrong, without the names and numbers that [`Display`](fmt::Display) adds.
    #[must_use]
    pub const fn message(&self) -> &'static str {
        match self {
            Self::NonFinite(_) => "is not a finite number",
            Self::OutOfRange(_) => "is out of range",
            Self::PhaseTooLarge => "the sample is too large: a phase would exceed 2^22 turns",
            Self::NotSpherical => {
                "the kernel is not spherically invariant: use a dense map with independent or quasi-random sampling"
            }
            Self::NotGaussian => {
                "the kernel is not Gaussian: additive sampling draws frequencies of Gaussian kernels only"
            }
            Self::Empty => "the embedding holds no sample",
            Self::TooFewSamples => "the unbiased estimate needs two samples in each embedding",
            Self::NothingToRemove => "the weight to remove is more than the embedding holds",
            Self::Full => "the total weight would exceed the exact range of the sums",
            Self::MapMismatch => "the embedding belongs to another map",
            Self::NotLearned => "the detector has not learned yet",
            Self::NotComparable => {
                "the detectors differ in settings or in the scale of their channels"
            }
            Self::BufferTooSmall { .. } => "the buffer is too small",
            Self::NotAState => "the bytes are not a saved state",
            Self::NewerVersion(_) => "the state has a newer format than this crate reads",
            Self::WrongLength => "the saved state is cut short or has bytes left over",
            Self::ChecksumMismatch => "the saved state is incomplete or altered",
            Self::WrongShape => "the kind, shape or backend does not match",
            Self::Inconsistent => "the saved values contradict each other",
        }
    }

    /// What kind of error it is.
    #[must_use]
    pub const fn class(&self) -> ErrorClass {
        match self {
            Self::NonFinite(_) => ErrorClass::NonFinite,
            Self::OutOfRange(_) | Self::PhaseTooLarge => ErrorClass::OutOfRange,
            Self::BufferTooSmall { .. } => ErrorClass::Buffer,
            Self::NotAState
            | Self::NewerVersion(_)
            | Self::WrongLength
            | Self::ChecksumMismatch
            | Self::WrongShape
            | Self::MapMismatch
            | Self::Inconsistent => ErrorClass::Record,
            Self::NotSpherical
            | Self::NotGaussian
            | Self::Empty
            | Self::TooFewSamples
            | Self::NothingToRemove
            | Self::Full
            | Self::NotLearned
            | Self::NotComparable => ErrorClass::Request,
        }
    }

    /// The parameter that the error is about, if there is one.
    #[must_use]
    pub const fn parameter(&self) -> Option<Parameter> {
        match self {
            Self::NonFinite(parameter) | Self::OutOfRange(parameter) => Some(*parameter),
            Self::PhaseTooLarge
            | Self::NotSpherical
            | Self::NotGaussian
            | Self::Empty
            | Self::TooFewSamples
            | Self::NothingToRemove
            | Self::Full
            | Self::MapMismatch
            | Self::NotLearned
            | Self::NotComparable
            | Self::BufferTooSmall { .. }
            | Self::NotAState
            | Self::NewerVersion(_)
            | Self::WrongLength
            | Self::ChecksumMismatch
            | Self::WrongShape
            | Self::Inconsistent => None,
        }
    }

    /// The same error about a channel with another number.
    pub(crate) fn with_channel(mut self, number: impl FnOnce(usize) -> usize) -> Self {
        if let Self::NonFinite(Parameter::Channel(channel))
        | Self::OutOfRange(Parameter::Channel(channel)) = &mut self
        {
            *channel = number(*channel);
        }
        self
    }

    /// Panics with this error. In a constant that stops compilation: see
    /// [`checked!`](crate::checked).
    #[doc(hidden)]
    pub const fn refuse(&self) -> ! {
        match self.parameter() {
            Some(parameter) => panic!("{}", parameter.rule()),
            None => panic!("{}", self.message()),
        }
    }
}

/// Unwraps the `Result` of a constant expression; an `Err` is a compile error. For maps and
/// detectors in a `static`.
///
/// ```
/// use fastmmd::{Fourier, Kernel, Sampling, checked};
///
/// static MAP: Fourier<3, 64> = checked!(Fourier::new(Kernel::MATERN32, Sampling::Orthogonal, 1));
/// ```
///
/// ```compile_fail
/// # use fastmmd::{Fourier, Kernel, Sampling, checked};
/// static MAP: Fourier<3, 64> = checked!(Fourier::new(Kernel::LAPLACIAN, Sampling::Orthogonal, 1));
/// ```
#[macro_export]
macro_rules! checked {
    ($value:expr) => {
        const {
            match $value {
                Ok(value) => value,
                Err(error) => $crate::Error::refuse(&error),
            }
        }
    };
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NonFinite(parameter) | Self::OutOfRange(parameter @ Parameter::Channel(_)) => {
                write!(f, "{parameter} {}", self.message())
            }
            Self::OutOfRange(parameter) => f.write_str(parameter.rule()),
            Self::BufferTooSmall { needed } => {
                write!(f, "{}: {needed} bytes are needed", self.message())
            }
            Self::NewerVersion(version) => write!(f, "{}: version {version}", self.message()),
            Self::PhaseTooLarge
            | Self::NotSpherical
            | Self::NotGaussian
            | Self::Empty
            | Self::TooFewSamples
            | Self::NothingToRemove
            | Self::Full
            | Self::MapMismatch
            | Self::NotLearned
            | Self::NotComparable
            | Self::NotAState
            | Self::WrongLength
            | Self::ChecksumMismatch
            | Self::WrongShape
            | Self::Inconsistent => f.write_str(self.message()),
        }
    }
}

impl core::error::Error for Error {}
