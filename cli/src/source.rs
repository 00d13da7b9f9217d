//! The source of a log: a file, a growing file, or standard input.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::bytes::{self, Text};
use crate::fault::Fault;

/// Time between checks whether a file has grown or the user has interrupted.
pub(crate) const PATIENCE: Duration = Duration::from_millis(100);
const BUFFER_BYTES: usize = 256 * 1024;
/// Longest line, in bytes. A file with longer ones is not a log, and must not fill the memory.
const LONGEST_LINE: usize = 1 << 20;

/// Set when the user has interrupted a followed log.
static ENOUGH: AtomicBool = AtomicBool::new(false);

/// From now on, an interruption acts as the end of a followed log: the results are printed and
/// saved. A second one ends the program.
#[cfg(feature = "terminal")]
pub(crate) fn end_when_interrupted() -> Result<(), Fault> {
    let interrupted = || {
        if ENOUGH.swap(true, Ordering::Relaxed) {
            // The exit code that shells use for an interrupted program.
            std::process::exit(130);
        }
    };
    ctrlc::set_handler(interrupted).map_err(Fault::new)
}

/// Whether there was such an interruption.
pub(crate) fn is_enough() -> bool {
    ENOUGH.load(Ordering::Relaxed)
}

/// A log to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    StandardInput,
    File(PathBuf),
    /// A file that still grows.
    Growing(PathBuf),
    /// A log in memory, and its name.
    Memory(String, Arc<[u8]>),
}

/// The text of a log.
pub(crate) struct Opened {
    pub(crate) reader: Box<dyn Read + Send>,
    /// How it was packed, if it was.
    pub(crate) packed: Option<&'static str>,
    pub(crate) encoding: &'static str,
    /// Bytes read from the source so far.
    pub(crate) read: Arc<AtomicU64>,
    /// Length of the source in bytes, if known.
    pub(crate) length: Option<u64>,
}

impl Source {
    /// `-` is standard input.
    pub(crate) fn new(path: &Path, follow: bool) -> Self {
        match (path.as_os_str() == "-", follow) {
            (true, _) => Self::StandardInput,
            (false, false) => Self::File(path.to_owned()),
            (false, true) => Self::Growing(path.to_owned()),
        }
    }

    /// Its name in messages.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::StandardInput => "standard input".to_owned(),
            Self::File(path) | Self::Growing(path) => path.display().to_string(),
            Self::Memory(name, _) => name.clone(),
        }
    }

    /// Whether more rows may come at any time.
    pub(crate) fn is_live(&self) -> bool {
        matches!(self, Self::StandardInput | Self::Growing(_))
    }

    pub(crate) fn open(&self) -> Result<Opened, Fault> {
        let unreadable = |error: io::Error| Fault::of_io(self.name(), &error);
        let (bytes, length): (Box<dyn Read + Send>, _) = match self {
            Self::StandardInput => (Box::new(io::stdin()), None),
            Self::Memory(_, bytes) => {
                (Box::new(Cursor::new(Arc::clone(bytes))), u64::try_from(bytes.len()).ok())
            }
            Self::File(path) | Self::Growing(path) => {
                let file = File::open(path).map_err(unreadable)?;
                let about = file.metadata().map_err(unreadable)?;
                if about.is_dir() {
                    return Err(Fault::of(self.name(), "is a directory"));
                }
                match self {
                    Self::Growing(path) => (Box::new(Growing::new(file, path.clone())), None),
                    _ => (Box::new(file), about.is_file().then_some(about.len())),
                }
            }
        };
        let read = Arc::new(AtomicU64::new(0));
        let bytes = Box::new(Counted { bytes, read: Arc::clone(&read) });
        let Text { reader, packed, encoding } = bytes::text(&self.name(), bytes)?;
        let reader = Box::new(Lines { bytes: reader, since_line: 0 });
        Ok(Opened { reader, packed, encoding, read, length })
    }

    /// Counts the lines of a file that does not grow, up to about `most`; `None` for others.
    pub(crate) fn count_lines(&self, most: u64) -> Result<Option<u64>, Fault> {
        let Self::File(_) = self else { return Ok(None) };
        let opened = self.open()?;
        if opened.length.is_none() {
            return Ok(None);
        }
        let counted = count_lines(opened.reader, most);
        counted.map(Some).map_err(|error| Fault::of_io(self.name(), &error))
    }
}

/// Counts lines, including the header, up to about `most`.
fn count_lines(bytes: impl Read, most: u64) -> io::Result<u64> {
    let mut bytes = BufReader::with_capacity(BUFFER_BYTES, bytes);
    let (mut lines, mut last) = (0, b'\n');
    while lines < most {
        let piece = bytes.fill_buf()?;
        let Some(end) = piece.last() else { break };
        last = *end;
        let newlines = piece.iter().filter(|byte| **byte == b'\n').count();
        lines += u64::try_from(newlines).unwrap_or(u64::MAX);
        let length = piece.len();
        bytes.consume(length);
    }
    Ok(lines + u64::from(last != b'\n'))
}

/// A reader that tells others how much it has read.
struct Counted {
    bytes: Box<dyn Read + Send>,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.bytes.read(into)?;
        self.read.fetch_add(u64::try_from(length).unwrap_or(0), Ordering::Relaxed);
        Ok(length)
    }
}

/// A reader that refuses lines that are too long.
struct Lines {
    bytes: Box<dyn Read + Send>,
    since_line: usize,
}

impl Read for Lines {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.bytes.read(into)?;
        let piece = into.get(..length).unwrap_or_default();
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        self.since_line = match piece.iter().rposition(is_end) {
            Some(end) => length - end,
            None => self.since_line + length,
        };
        if self.since_line > LONGEST_LINE {
            return Err(io::Error::other("a line of over a megabyte: is this a log?"));
        }
        Ok(length)
    }
}

/// A file that waits for more data at its end. If it is replaced by a new one of its name, or begins
/// again, as logs are when they are rotated, reading goes on there.
struct Growing {
    file: File,
    path: PathBuf,
    /// The last byte read: where a line is torn by the rotation, the next file begins another.
    last: u8,
}

impl Growing {
    fn new(file: File, path: PathBuf) -> Self {
        Self { file, path, last: b'\n' }
    }

    /// Whether reading goes on in another file, or from the beginning.
    fn rotated(&mut self) -> io::Result<bool> {
        // Between moving the old file away and making the new one, there may be none.
        let Ok(newer) = File::open(&self.path) else { return Ok(false) };
        if is_other(&self.file.metadata()?, &newer.metadata()?) {
            self.file = newer;
            return Ok(true);
        }
        if newer.metadata()?.len() < self.file.stream_position()? {
            self.file.rewind()?;
            return Ok(true);
        }
        Ok(false)
    }
}

/// Whether these are two files.
#[cfg(unix)]
fn is_other(own: &std::fs::Metadata, newer: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (own.dev(), own.ino()) != (newer.dev(), newer.ino())
}

#[cfg(not(unix))]
fn is_other(own: &std::fs::Metadata, newer: &std::fs::Metadata) -> bool {
    own.created().ok() != newer.created().ok()
}

impl Read for Growing {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.file.read(into)? {
                0 if !into.is_empty() && !is_enough() => {
                    if !self.rotated()? {
                        std::thread::sleep(PATIENCE);
                    } else if let Some(first) = into.first_mut().filter(|_| self.last != b'\n') {
                        (*first, self.last) = (b'\n', b'\n');
                        return Ok(1);
                    }
                }
                length => {
                    self.last = into[..length].last().copied().unwrap_or(self.last);
                    return Ok(length);
                }
            }
        }
    }
}
