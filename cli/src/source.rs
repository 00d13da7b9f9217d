//! The source of a log: a file, a growing file, or standard input.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::bytes::{self, Text};
use crate::fault::Fault;
use crate::lines::Newlines;

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
        let reader = Box::new(Lines { bytes: Newlines::new(reader), since_line: 0 });
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
    bytes: Newlines<Box<dyn Read + Send>>,
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
///
/// Of a file that is moved away nothing is lost. Of one that is copied and cut, what was written between
/// the last look and the cut is; and if it has grown beyond its old length before the next look, the cut is
/// not seen, and reading goes on amid it.
struct Growing {
    file: File,
    path: PathBuf,
    /// The new file of the name, to be read when the old one has been read to its end.
    next: Option<File>,
    /// The last byte read: where a line is torn by the rotation, the next file begins another.
    last: u8,
}

impl Growing {
    fn new(file: File, path: PathBuf) -> Self {
        Self { file, path, next: None, last: b'\n' }
    }

    /// At the end of the file: how reading goes on.
    fn at_end(&mut self) -> io::Result<Next> {
        if let Some(newer) = self.next.take() {
            self.file = newer;
            return Ok(Next::Another);
        }
        // Between moving the old file away and making the new one, there may be none.
        let Ok(newer) = File::open(&self.path) else { return Ok(Next::Wait) };
        let about = newer.metadata()?;
        if is_other(&self.file.metadata()?, &about) {
            // While the new one is empty, the old one may still be written to. Also after that there may
            // be rows in it that came since it was read.
            if about.len() == 0 {
                return Ok(Next::Wait);
            }
            self.next = Some(newer);
            return Ok(Next::Same);
        }
        if about.len() < self.file.stream_position()? {
            self.file.rewind()?;
            return Ok(Next::Another);
        }
        Ok(Next::Wait)
    }
}

/// How reading goes on.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    /// When there is more.
    Wait,
    /// At once, in the same file.
    Same,
    /// In another file, or from the beginning.
    Another,
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
                0 if !into.is_empty() && !is_enough() => match self.at_end()? {
                    Next::Wait => std::thread::sleep(PATIENCE),
                    Next::Same => {}
                    Next::Another => {
                        if let Some(first) = into.first_mut().filter(|_| self.last != b'\n') {
                            (*first, self.last) = (b'\n', b'\n');
                            return Ok(1);
                        }
                    }
                },
                length => {
                    self.last = into[..length].last().copied().unwrap_or(self.last);
                    return Ok(length);
                }
            }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;

    /// A log of one line that is followed, its path, and the old file under its new name.
    fn rotated(name: &str) -> (Growing, PathBuf, File) {
        let folder = std::env::temp_dir().join(format!("fastmmd-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).expect("room");
        let log = folder.join("log");
        fs::write(&log, "a\n").expect("room");
        let mut growing = Growing::new(File::open(&log).expect("a file"), log.clone());
        assert_eq!(line(&mut growing), "a\n");
        let moved = folder.join("log.1");
        fs::rename(&log, &moved).expect("moved");
        let old = File::options().append(true).open(moved).expect("a file");
        (growing, log, old)
    }

    fn line(growing: &mut Growing) -> String {
        let mut bytes = [0; 16];
        let length = growing.read(&mut bytes).expect("a line");
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    }

    /// The old file ends with a row that was written after its end was read.
    #[test]
    fn the_old_file_is_read_to_its_end() {
        let (mut growing, log, mut old) = rotated("rest");
        fs::write(&log, "c\n").expect("room");
        assert_eq!(growing.file.read(&mut [0]).expect("its end"), 0);
        old.write_all(b"b\n").expect("room");
        assert_eq!(growing.at_end().expect("two files"), Next::Same);
        assert_eq!([line(&mut growing), line(&mut growing)], ["b\n", "c\n"]);
        fs::remove_dir_all(log.parent().expect("a folder")).expect("it is there");
    }

    /// A program goes on writing to the old file until it is told of the new one.
    #[test]
    fn an_empty_new_file_is_waited_for() {
        let (mut growing, log, mut old) = rotated("empty");
        fs::write(&log, "").expect("room");
        let new = log.clone();
        let program = std::thread::spawn(move || {
            std::thread::sleep(3 * PATIENCE);
            old.write_all(b"b\n").expect("room");
            fs::write(new, "c\n").expect("room");
        });
        assert_eq!([line(&mut growing), line(&mut growing)], ["b\n", "c\n"]);
        program.join().expect("it ends");
        fs::remove_dir_all(log.parent().expect("a folder")).expect("it is there");
    }
}
