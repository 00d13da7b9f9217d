//! Whole files.

use std::fs;
use std::path::Path;

use crate::fault::Fault;

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Fault> {
    fs::read(path).map_err(|error| Fault::of_io(path.display(), &error))
}

pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    fs::write(path, bytes).map_err(|error| Fault::of_io(path.display(), &error))
}
