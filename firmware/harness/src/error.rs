//! Errors on the host's side.

use std::fmt;
use std::io;
use std::process::ExitStatus;

/// Why a step with the emulated board failed.
#[derive(Debug)]
pub enum Error {
    /// The operating system refused something.
    Io {
        /// What was being done.
        doing: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// QEMU has ended unexpectedly.
    Ended {
        /// Its exit status.
        status: ExitStatus,
        /// The last lines of its log and error output.
        tail: String,
    },
    /// No answer in time.
    Silent(&'static str),
    /// QEMU refused a command.
    Refused(String),
    /// The firmware did something unexpected.
    Unexpected(String),
    /// Something that this scenario needs is missing.
    Skipped(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { doing, source } => write!(f, "{doing}: {source}"),
            Self::Ended { status, tail } => write!(f, "QEMU ended unexpectedly: {status}\n{tail}"),
            Self::Silent(what) => write!(f, "no answer in time: {what}"),
            Self::Refused(why) => write!(f, "QEMU refused: {why}"),
            Self::Unexpected(what) => write!(f, "unexpected: {what}"),
            Self::Skipped(why) => write!(f, "skipped: {why}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Ended { .. }
            | Self::Silent(_)
            | Self::Refused(_)
            | Self::Unexpected(_)
            | Self::Skipped(_) => None,
        }
    }
}

impl From<fastmmd::Error> for Error {
    fn from(error: fastmmd::Error) -> Self {
        Self::Unexpected(format!("the host's detector: {error}"))
    }
}

/// Adds what was being done to an error of the operating system.
pub(crate) trait Doing<T> {
    fn doing(self, what: &'static str) -> Result<T, Error>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, doing: &'static str) -> Result<T, Error> {
        self.map_err(|source| Error::Io { doing, source })
    }
}

/// An error unless `condition` holds.
pub(crate) fn expect(condition: bool, what: impl FnOnce() -> String) -> Result<(), Error> {
    if condition { Ok(()) } else { Err(Error::Unexpected(what())) }
}
