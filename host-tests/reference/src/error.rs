//! Errors of the toolbox.

use std::fmt;

/// Why a result cannot be computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// A sample set is empty, or has no dimensions.
    Empty,
    /// There are fewer samples than the computation needs: two for an unbiased estimate.
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
    /// A parameter is out of its range: most must be positive and finite, and the message says what
    /// else one must be.
    BadParameter {
        /// Its name.
        name: &'static str,
    },
    /// A kernel, a feature or a statistic is not a finite number.
    NotFinite,
    /// The kernel is constant on the samples: the statistic has no distribution.
    Constant,
    /// A matrix that must be inverted is singular, or one that must not curve down does.
    Singular,
    /// A solver did not reach its optimum: the problem is too badly conditioned.
    NotConverged,
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

/// What is wrong with a parameter of this name.
fn out_of_range(name: &str) -> &'static str {
    match name {
        "block" => "is too short",
        "channels" => "include one that the samples do not have",
        "cliques" => "must each be of two or more different blocks",
        "draws" => "must be at least one",
        "lambda" => "is negative, not finite, or 0 where it must not be",
        "radius" => "is so small that no mixture is within it, or not finite",
        "rank" => "is 0 or above the number of samples",
        "samples" => "are too many to count",
        _ => "is not positive and finite",
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("a sample set is empty"),
            Self::TooFewSamples => f.write_str("too few samples"),
            Self::Ragged { expected, found } => {
                write!(f, "expected a length of {expected}, found {found}")
            }
            Self::BadWeight => f.write_str("a weight is negative or not finite, or all are 0"),
            Self::NotAPermutation => f.write_str("the order is not a permutation"),
            Self::BadLevel => f.write_str("a level is not between 0 and 1"),
            Self::BadParameter { name } => write!(f, "{name} {}", out_of_range(name)),
            Self::NotFinite => f.write_str("a kernel or a feature is not a finite number"),
            Self::Constant => f.write_str("the samples do not vary"),
            Self::Singular => f.write_str("the matrix is singular or not positive"),
            Self::NotConverged => f.write_str("the solver did not converge"),
            Self::NotProven { assumption } => write!(f, "proven only for {assumption}"),
        }
    }
}

impl std::error::Error for Refused {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every name that a function of the toolbox refuses is said to be wrong in its own way.
    #[test]
    fn messages_say_what_is_wrong() {
        let told = |refused: Refused| refused.to_string();
        let bad = |name| told(Refused::BadParameter { name });
        assert_eq!(bad("bandwidth"), "bandwidth is not positive and finite");
        assert_eq!(bad("rank"), "rank is 0 or above the number of samples");
        for name in ["block", "channels", "cliques", "draws", "radius", "rank", "samples"] {
            assert!(bad(name).starts_with(name), "{name}");
            assert!(!bad(name).ends_with("not positive and finite"), "{name}");
        }
        assert_eq!(told(Refused::TooFewSamples), "too few samples");
        assert_ne!(told(Refused::NotConverged), told(Refused::Singular));
    }
}
