//! Why the judge gives no answer.

use std::fmt;

/// Input that has no statistic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// A sample set is empty, or has no dimensions.
    Empty,
    /// An unbiased estimate, or a block of it, lacks two samples.
    TooFewSamples,
    /// Rows, sets or frequencies differ in length where they must not.
    Ragged {
        /// Length that was needed.
        expected: usize,
        /// Length that was found.
        found: usize,
    },
    /// A weight is not a positive finite number.
    BadWeight,
    /// An order is not a permutation of the samples.
    NotAPermutation,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("a sample set is empty"),
            Self::TooFewSamples => f.write_str("too few samples for an unbiased estimate"),
            Self::Ragged { expected, found } => {
                write!(f, "expected a length of {expected}, found {found}")
            }
            Self::BadWeight => f.write_str("a weight is not a positive finite number"),
            Self::NotAPermutation => f.write_str("the order is not a permutation"),
        }
    }
}

impl std::error::Error for Refused {}
