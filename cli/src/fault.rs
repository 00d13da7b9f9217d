//! Error messages of one line.

use std::fmt;

/// A line for the user; the program ends with exit code 2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault(String);

impl Fault {
    pub(crate) fn new(line: impl fmt::Display) -> Self {
        Self(line.to_string())
    }

    /// About a file.
    pub(crate) fn of(name: impl fmt::Display, why: impl fmt::Display) -> Self {
        Self(format!("{name}: {why}"))
    }

    /// The reader has closed the output: nothing is printed.
    pub(crate) fn nobody_listens() -> Self {
        Self(String::new())
    }

    /// Whether there is something to print.
    pub(crate) fn is_told(&self) -> bool {
        !self.0.is_empty()
    }

    /// About a file that could not be read or written.
    pub(crate) fn of_io(name: impl fmt::Display, error: &std::io::Error) -> Self {
        // The number of the error, as in "(os error 2)", is of no use to a user.
        let text = error.to_string();
        let why = text.split(" (os error").next().unwrap_or_default().to_lowercase();
        Self::of(name, why)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Fault {}
