//! The source of a log: a file, a growing file, or standard input.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

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
    /// A synthetic log and its name.
    Made(&'static str, Vec<u8>),
}

/// The bytes of a log: its first line, and all of it.
pub(crate) struct Opened {
    pub(crate) first_line: Vec<u8>,
    pub(crate) all: Box<dyn Read + Send>,
    /// Length in bytes, if known.
    pub(crate) length: Option<u64>,
    /// A file that does not grow, to count its lines in advance.
    pub(crate) file: Option<Arc<File>>,
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
            Self::Made(name, _) => (*name).to_owned(),
        }
    }

    pub(crate) fn open(&self) -> Result<Opened, Fault> {
        let unreadable = |error: io::Error| Fault::of_io(self.name(), &error);
        let mut whole = None;
        let (bytes, length): (Box<dyn Read + Send>, _) = match self {
            Self::StandardInput => (Box::new(io::stdin()), None),
            Self::Made(_, bytes) => {
                (Box::new(Cursor::new(bytes.clone())), u64::try_from(bytes.len()).ok())
            }
            Self::File(path) | Self::Growing(path) => {
                let file = File::open(path).map_err(unreadable)?;
                let about = file.metadata().map_err(unreadable)?;
                if about.is_dir() {
                    return Err(Fault::of(self.name(), "is a directory"));
                }
                match self {
                    Self::Growing(_) => (Box::new(Growing(file)), None),
                    _ if about.is_file() => {
                        let file = whole.insert(Arc::new(file));
                        (Box::new(Arc::clone(file)), Some(about.len()))
                    }
                    _ => (Box::new(file), None),
                }
            }
        };
        let mut bytes = BufReader::with_capacity(BUFFER_BYTES, Lines { bytes, since_line: 0 });
        let mut first_line = Vec::new();
        bytes.read_until(b'\n', &mut first_line).map_err(unreadable)?;
        if first_line.starts_with(b"\xef\xbb\xbf") {
            // The byte order mark that some spreadsheets write.
            first_line.drain(..3);
        }
        let all = Box::new(Cursor::new(first_line.clone()).chain(bytes));
        Ok(Opened { first_line, all, length, file: whole })
    }
}

/// Counts the lines of a file, including the header, up to about `most`. Does not change the read
/// position.
pub(crate) fn count_lines(mut file: &File, most: u64) -> io::Result<u64> {
    let at = file.stream_position()?;
    file.rewind()?;
    let mut bytes = BufReader::with_capacity(BUFFER_BYTES, file);
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
    file.seek(SeekFrom::Start(at))?;
    Ok(lines + u64::from(last != b'\n'))
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
            return Err(io::Error::other("a line of over a megabyte: is this CSV?"));
        }
        Ok(length)
    }
}

/// A file that waits for more data at its end.
struct Growing(File);

impl Read for Growing {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(into)? {
                0 if !into.is_empty() && !is_enough() => {
                    if self.0.metadata()?.len() < self.0.stream_position()? {
                        return Err(io::Error::other("the file has become shorter"));
                    }
                    std::thread::sleep(PATIENCE);
                }
                length => return Ok(length),
            }
        }
    }
}
