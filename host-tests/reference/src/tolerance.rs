//! Every limit that a test uses, in one table, each with its reason.
//!
//! A limit is a requirement, a statement of the core's documentation, or a bound with a stated
//! derivation. Tests take limits from here by name; `table.rs` of `fastmmd-tests` checks that every
//! entry is used. The table is in this package because all others depend on it.

/// The largest error that one operation may have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// What is measured.
    pub operation: &'static str,
    /// Largest absolute difference, or largest value where the operation says so.
    pub limit: f64,
    /// Why the limit has this value.
    pub reason: &'static str,
}

impl Tolerance {
    /// Whether a value is within the limit of the expected one. NaN never is.
    #[must_use]
    pub fn admits(&self, value: f64, reference: f64) -> bool {
        (value - reference).abs() <= self.limit
    }

    /// Checks a value against the expected one.
    ///
    /// # Panics
    /// If it is further off than the limit, or NaN.
    pub fn hold(&self, case: &str, value: f64, reference: f64) {
        assert!(
            self.admits(value, reference),
            "{}: {case}: {value:e} instead of {reference:e}, limit {:e} ({})",
            self.operation,
            self.limit,
            self.reason
        );
    }

    /// Checks that a size, such as an error or a ratio, is at most the limit.
    ///
    /// # Panics
    /// If it is larger, or NaN.
    pub fn hold_below(&self, case: &str, size: f64) {
        assert!(
            size <= self.limit,
            "{}: {case}: {size:.4e} is above {:e} ({})",
            self.operation,
            self.limit,
            self.reason
        );
    }
}

mod table;

pub use table::*;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_passes_by_being_nan() {
        assert!(!REFERENCE_IDENTITY.admits(f64::NAN, 0.0));
        assert!(!REFERENCE_IDENTITY.admits(0.0, f64::NAN));
        assert!(std::panic::catch_unwind(|| REFERENCE_IDENTITY.hold_below("", f64::NAN)).is_err());
    }

    #[test]
    fn names_and_reasons_are_given_once_each() {
        for (index, (name, entry)) in ALL.iter().enumerate() {
            assert!(!entry.reason.is_empty() && entry.limit > 0.0, "{name}");
            let twice = ALL[..index].iter().any(|(_, other)| other.operation == entry.operation);
            assert!(!twice, "{name}");
        }
    }
}
