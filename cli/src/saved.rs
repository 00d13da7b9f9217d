//! Reads and writes detectors as files.

use std::path::Path;

use fastmmd::Error;
use fastmmd::dynamic::{self, Detector, Map};
use fastmmd::monitor::SavedShape;

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
        SavedShape::restore(&bytes).map_err(refused)?;
        let map = dynamic::saved_map(&bytes).map_err(refused)?;
        Ok(Self { name, bytes, map })
    }

    pub(crate) fn detector(&self) -> Result<Detector<'_>, Fault> {
        self.restored(&self.bytes).map_err(|error| Fault::of(&self.name, error))
    }

    /// Another saved detector, over the same map.
    pub(crate) fn restored(&self, bytes: &[u8]) -> Result<Detector<'_>, Error> {
        dynamic::restored(&self.map, bytes)
    }

    /// The same, for a log with this many channels.
    pub(crate) fn detector_of(&self, channels: usize) -> Result<Detector<'_>, Fault> {
        let detector = self.detector()?;
        let own = detector.shape().channels;
        if usize::try_from(own) != Ok(channels) {
            let why = format!("a detector of {own} channels; the log has {channels}");
            return Err(Fault::of(&self.name, why));
        }
        Ok(detector)
    }
}

/// A detector as bytes.
pub(crate) fn bytes(detector: &Detector<'_>) -> Result<Vec<u8>, Fault> {
    let mut bytes = vec![0; detector.saved_bytes()];
    detector.save(&mut bytes).map_err(Fault::new)?;
    Ok(bytes)
}

/// Writes a detector to a file.
pub(crate) fn write(path: &Path, detector: &Detector<'_>) -> Result<(), Fault> {
    files::write(path, &bytes(detector)?)
}
