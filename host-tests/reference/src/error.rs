//! Errors of the toolbox.

use std::fmt;

/// Why a result cannot be computed.
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
    /// A weight is negative or not finite, or all are 0.
    BadWeight,
    /// An order is not a permutation of the samples.
    NotAPermutation,
    /// A level, or a probability, is not between 0 and 1.
    BadLevel,
    /// A parameter is not a positive finite number, or a count of draws is 0.
    BadParameter {
        /// Its name.
        name: &'static str,
    },
    /// A kernel, a feature or a statistic is not a finite number.
    NotFinite,
    /// The kernel is constant on the samples: the statistic has no distribution.
    Constant,
    /// A matrix that must be inverted is singular.
    Singular,
    /// A theorem says nothing here, because its proof assumes more.
    NotProven {
        /// What it assumes.
        assumption: &'static str,
    },
}

impl Refused {
    /// Refuses a parameter that is not positive and finite.
    pub(crate) fn unless_positive(name: &'static str, value: f64) -> Result<(), Self> {
        if value.is_finite() && value > 0.0 { Ok(()) } else { Err(Self::BadParameter { name }) }
    }

    /// Refuses what is not a finite number.
    pub(crate) fn unless_finite<'a>(values: impl IntoIterator<Item = &'a f64>) -> Result<(), Self> {
        if values.into_iter().all(|value| value.is_finite()) {
            Ok(())
        } else {
            Err(Self::NotFinite)
        }
    }

    /// A statistic, refused if it is not a finite number.
    pub(crate) fn if_finite(value: f64) -> Result<f64, Self> {
        if value.is_finite() { Ok(value) } else { Err(Self::NotFinite) }
    }

    /// Refuses a probability that is not between 0 and 1.
    pub(crate) fn unless_level(level: f64) -> Result<(), Self> {
        if level > 0.0 && level < 1.0 { Ok(()) } else { Err(Self::BadLevel) }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("a sample set is empty"),
            Self::TooFewSamples => f.write_str("too few samples for an unbiased estimate"),
            Self::Ragged { expected, found } => {
                write!(f, "expected a length of {expected}, found {found}")
            }
            Self::BadWeight => f.write_str("a weight is negative or not finite, or all are 0"),
            Self::NotAPermutation => f.write_str("the order is not a permutation"),
            Self::BadLevel => f.write_str("a level is not between 0 and 1"),
            Self::BadParameter { name } => write!(f, "{name} is not positive and finite"),
            Self::NotFinite => f.write_str("a kernel or a feature is not a finite number"),
            Self::Constant => f.write_str("the samples do not vary"),
            Self::Singular => f.write_str("the matrix is singular"),
            Self::NotProven { assumption } => write!(f, "proven only for {assumption}"),
        }
    }
}

impl std::error::Error for Refused {}
