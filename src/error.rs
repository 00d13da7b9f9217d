//! What can go wrong, as one small enum.

use core::fmt;

/// The input that an [`Error`] speaks of.
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
    KernelScale,
    /// The factor that forgetting multiplies the past by.
    Keep,
    /// A frequency vector given by the caller.
    Frequency,
    /// The promised mean time between false alarms.
    MeanTime,
    /// The window lengths.
    Scales,
    /// The number of scaling rows.
    ScalingRows,
    /// The number of learning rows.
    LearningRows,
    /// The number of rows a moving reference remembers.
    ReferenceMemory,
    /// The number of rows an adaptive calibration remembers.
    CalibrationMemory,
    /// The rows without alarms after an alarm, or those a new regime is given to settle.
    HoldOff,
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Channel(channel) => write!(f, "channel {channel} of the sample"),
            Self::Weight => f.write_str("the weight"),
            Self::Bandwidth => f.write_str("the bandwidth"),
            Self::KernelScale => f.write_str("the kernel scale K(0)"),
            Self::Keep => f.write_str("the factor to keep"),
            Self::Frequency => f.write_str("a frequency"),
            Self::MeanTime => f.write_str("the mean time between false alarms"),
            Self::Scales => f.write_str("the list of scales"),
            Self::ScalingRows => f.write_str("the number of scaling rows"),
            Self::LearningRows => f.write_str("the number of learning rows"),
            Self::ReferenceMemory => f.write_str("the memory of the reference"),
            Self::CalibrationMemory => f.write_str("the memory of the calibration"),
            Self::HoldOff => f.write_str("the hold-off"),
        }
    }
}

/// Why a call was refused. The state is as it was before the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Error {
    /// The parameter is NaN or infinite.
    NonFinite(Parameter),
    /// The parameter is finite, but not inside the range its documentation gives.
    OutOfRange(Parameter),
    /// The sample is so large that a phase could exceed [`MAX_TURNS`](crate::map::MAX_TURNS).
    PhaseTooLarge,
    /// The kernel is not spherically invariant, which this map or sampling needs.
    NotSpherical,
    /// The embedding holds no sample yet.
    Empty,
    /// The unbiased estimate needs at least two samples in each embedding.
    TooFewSamples,
    /// More weight was to be removed than the embedding holds.
    NothingToRemove,
    /// The total weight would reach [`MAX_TOTAL_WEIGHT`](crate::embedding::MAX_TOTAL_WEIGHT).
    Full,
    /// Two embeddings, or an embedding and a map, do not belong to the same frequencies.
    MapMismatch,
    /// A detector has not learned yet.
    NotLearned,
    /// Two detectors differ in their settings or in the scale of their channels.
    NotComparable,
    /// The buffer to save into is too small; `needed` bytes would do.
    BufferTooSmall {
        /// Length the buffer must have, in bytes.
        needed: usize,
    },
    /// The bytes do not begin as a saved state does.
    NotAState,
    /// The bytes were written by a later version of the format.
    NewerVersion(u8),
    /// The bytes end too early, or are longer than they say.
    WrongLength,
    /// The checksum does not match: the bytes are torn or altered.
    ChecksumMismatch,
    /// The bytes hold another kind of record, another shape or another backend.
    WrongShape,
    /// The checksum matches, but the values contradict each other.
    Inconsistent,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NonFinite(parameter) => write!(f, "{parameter} is not a finite number"),
            Self::OutOfRange(parameter) => write!(f, "{parameter} is out of range"),
            Self::PhaseTooLarge => {
                f.write_str("the sample is too large: a phase could not be reduced to one turn")
            }
            Self::NotSpherical => f.write_str(
                "the kernel is not spherically invariant: use a dense map with independent or quasi-random sampling",
            ),
            Self::Empty => f.write_str("the embedding holds no sample"),
            Self::TooFewSamples => {
                f.write_str("the unbiased estimate needs two samples in each embedding")
            }
            Self::NothingToRemove => {
                f.write_str("more weight was to be removed than the embedding holds")
            }
            Self::Full => f.write_str("the total weight would exceed the exact range of the sums"),
            Self::MapMismatch => f.write_str("the embedding belongs to another map"),
            Self::NotLearned => f.write_str("the detector has not learned yet"),
            Self::NotComparable => {
                f.write_str("the detectors differ in settings or in the scale of their channels")
            }
            Self::BufferTooSmall { needed } => {
                write!(f, "the buffer is too small: {needed} bytes are needed")
            }
            Self::NotAState => f.write_str("the bytes are not a saved state"),
            Self::NewerVersion(version) => {
                write!(f, "the state has format version {version}, newer than this crate reads")
            }
            Self::WrongLength => f.write_str("the saved state is cut short or has bytes left over"),
            Self::ChecksumMismatch => f.write_str("the saved state is torn or altered"),
            Self::WrongShape => {
                f.write_str("the saved state is of another kind, shape or backend")
            }
            Self::Inconsistent => f.write_str("the saved values contradict each other"),
        }
    }
}

impl core::error::Error for Error {}
