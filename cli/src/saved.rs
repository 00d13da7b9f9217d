//! Reads and writes detectors as files.

use std::path::Path;

use fastmmd::Error;
use fastmmd::dynamic::{self, Map};
use fastmmd::monitor::SavedLegs;
use fastmmd_tune::detector::Detector;

use crate::fault::Fault;
use crate::files;

/// A saved detector, and the map that it borrows.
pub(crate) struct Saved {
    name: String,
    bytes: Vec<u8>,
    map: Map,
}

impl Saved {
    pub(crate) fn read(path: &Path) -> Result<Self, Fault> {
        let name = path.display().to_string();
        let bytes = files::read(path)?;
        let refused = |error| Fault::of(&name, error);
        // A record that is not a detector is refused before its map is drawn.
        SavedLegs::restore(&bytes).map_err(refused)?;
        let map = dynamic::saved_map(&bytes).map_err(refused)?;
        Ok(Self { name, bytes, map })
    }

    pub(crate) fn detector(&self) -> Result<Detector<'_>, Fault> {
        self.restored(&self.bytes).map_err(|error| match error {
            Error::WrongShape => {
                let why = "a detector with other legs than the default ones, or other parts of a \
                           cycle, which only the device goes on with; `fastmmd inspect` explains it";
                Fault::of(&self.name, why)
            }
            other => Fault::of(&self.name, other),
        })
    }

    /// Another saved detector, over the same map.
    pub(crate) fn restored(&self, bytes: &[u8]) -> Result<Detector<'_>, Error> {
        Detector::restored(&self.map, bytes)
    }

    /// The same, for a log with this many channels.
    pub(crate) fn detector_of(&self, channels: usize) -> Result<Detector<'_>, Fault> {
        let detector = self.detector()?;
        let own = detector.channels();
        if own != channels {
            let why = format!("a detector of {own} channels; the log has {channels}");
            return Err(Fault::of(&self.name, why));
        }
        Ok(detector)
    }
}

/// Writes a detector to a file.
pub(crate) fn write(path: &Path, detector: &Detector<'_>) -> Result<(), Fault> {
    files::write(path, &detector.bytes().map_err(Fault::new)?)
}
