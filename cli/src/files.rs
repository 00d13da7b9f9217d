//! Reads and writes whole files.

use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::{Read as _, Write as _};
use std::path::Path;

use crate::fault::Fault;

/// Limit for the size of a state, in bytes: larger than any practical one.
const MOST_BYTES: u64 = 64 << 20;

/// Reads a state.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Fault> {
    let unreadable = |error: std::io::Error| Fault::of_io(path.display(), &error);
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > MOST_BYTES) {
        return Err(Fault::of(path.display(), "longer than any saved state"));
    }
    Ok(bytes)
}

/// Writes a file completely or not at all: an existing one stays until the new one is complete.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    let unwritten = |error: std::io::Error| Fault::of_io(path.display(), &error);
    // A path that is not a regular file, such as a terminal, cannot be replaced by renaming.
    if path.metadata().is_ok_and(|about| !about.is_file()) {
        return fs::write(path, bytes).map_err(unwritten);
    }
    let mut name = path.as_os_str().to_owned();
    // Nobody can guess the name and put a link there; a file that exists is not touched.
    name.push(format!(".{:08x}{:08x}", random(), random()));
    let draft = Path::new(&name);
    let mut file = File::create_new(draft).map_err(unwritten)?;
    let written = file.write_all(bytes).and_then(|()| fs::rename(draft, path));
    written.map_err(|error| {
        // It may not exist.
        let _ = fs::remove_file(draft);
        unwritten(error)
    })
}

/// A random number, from the system's entropy.
pub(crate) fn random() -> u32 {
    let [a, b, c, d, ..] = RandomState::new().hash_one(0).to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// Refuses a file that cannot be written, or that is one of those read, however its path is spelled,
/// before any work is done.
pub(crate) fn check_output<'i>(
    path: &Path,
    inputs: impl IntoIterator<Item = &'i Path>,
) -> Result<(), Fault> {
    check_writable(path)?;
    // A file that is not there yet is none of those read.
    let Ok(real) = path.canonicalize() else { return Ok(()) };
    for input in inputs {
        let same = real.is_file() && input.canonicalize().is_ok_and(|input| input == real);
        if same {
            return Err(Fault::of(path.display(), "is read from: choose another file to write"));
        }
    }
    Ok(())
}

/// Refuses a file that cannot be written.
pub(crate) fn check_writable(path: &Path) -> Result<(), Fault> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    match parent {
        Some(parent) if !parent.is_dir() => {
            Err(Fault::of(path.display(), "no such file or directory"))
        }
        _ if path.is_dir() => Err(Fault::of(path.display(), "is a directory")),
        _ => Ok(()),
    }
}
