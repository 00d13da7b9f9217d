//! What can be wrong with rows, states and maps, and of which device.

use std::fmt;

use datafusion::error::DataFusionError;

/// Why a function refused its input.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Cause {
    /// The text of a map cannot be read; says which word.
    BadMap(String),
    /// Two maps where one was expected: what is embedded by different maps cannot be compared.
    OtherMap {
        /// The map of what came first.
        expected: String,
        /// The other one.
        found: String,
    },
    /// A value that is not finite, or too large for the map.
    BadValue {
        /// The place of the channel among the arguments, from 1; 0 for all channels together.
        channel: usize,
        /// What the core says of it.
        why: fastmmd::Error,
    },
    /// Bytes that are not a state, are damaged, or are of a kind that holds no embedding.
    BadState(fastmmd::Error),
    /// A state without a single row.
    Empty,
    /// What the core refuses otherwise.
    Refused(fastmmd::Error),
    /// Wrong number or types of arguments.
    Arguments(String),
}

/// A [`Cause`], and the device that it is of, if the query named one.
#[derive(Debug, Clone, PartialEq)]
pub struct FleetError {
    /// The name given as the last argument of the function.
    pub device: Option<String>,
    /// What is wrong.
    pub cause: Cause,
}

impl FleetError {
    /// The typed error behind one of the engine, if it came from these functions and has not
    /// crossed a network or a language.
    #[must_use]
    pub fn find(error: &DataFusionError) -> Option<&Self> {
        match error.find_root() {
            DataFusionError::External(inner) => inner.downcast_ref(),
            _ => None,
        }
    }
}

impl From<Cause> for FleetError {
    fn from(cause: Cause) -> Self {
        Self { device: None, cause }
    }
}

impl From<Cause> for DataFusionError {
    fn from(cause: Cause) -> Self {
        FleetError::from(cause).into()
    }
}

impl From<FleetError> for DataFusionError {
    fn from(error: FleetError) -> Self {
        Self::External(Box::new(error))
    }
}

impl Cause {
    /// Says of which device it is.
    #[must_use]
    pub fn of(self, device: Option<&str>) -> FleetError {
        FleetError { device: device.map(str::to_owned), cause: self }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadMap(word) => write!(f, "not a map: {word}"),
            Self::OtherMap { expected, found } => {
                write!(f, "a state of another map: \"{found}\", where \"{expected}\" was expected")
            }
            Self::BadValue { channel: 0, why } => write!(f, "a row is refused: {why}"),
            // The core counts channels from 0, and so does what it says.
            Self::BadValue { channel, .. } => write!(f, "channel {channel} is not a finite number"),
            Self::BadState(why) => write!(f, "not a readable state: {why}"),
            Self::Empty => f.write_str("no rows: its state is empty"),
            Self::Refused(why) => write!(f, "{why}"),
            Self::Arguments(what) => f.write_str(what),
        }
    }
}

impl fmt::Display for FleetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.device {
            Some(device) => write!(f, "device {device}: {}", self.cause),
            None => self.cause.fmt(f),
        }
    }
}

impl std::error::Error for FleetError {}
