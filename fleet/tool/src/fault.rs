//! Error messages of one line.

use std::fmt;
use std::path::Path;

use datafusion::error::DataFusionError;
use fastmmd_datafusion::FleetError;

/// A line for the user; the program ends with exit code 2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault(String);

impl Fault {
    pub(crate) fn new(line: impl fmt::Display) -> Self {
        Self(line.to_string())
    }

    /// About a file.
    pub(crate) fn of(path: &Path, why: impl fmt::Display) -> Self {
        Self(format!("{}: {why}", path.display()))
    }

    /// The reader has closed the output: nothing is printed.
    pub(crate) fn nobody_listens() -> Self {
        Self(String::new())
    }

    pub(crate) fn is_told(&self) -> bool {
        !self.0.is_empty()
    }
}

impl From<DataFusionError> for Fault {
    /// What a function of ours refused is said as it is; what the engine says, without what is only
    /// for its developers.
    fn from(error: DataFusionError) -> Self {
        match FleetError::find(&error) {
            Some(own) => Self::new(own),
            None => Self::new(error.strip_backtrace().lines().next().unwrap_or_default()),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
