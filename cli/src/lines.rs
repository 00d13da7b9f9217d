//! Ends of lines: those of old spreadsheets and of some loggers are a carriage return alone.

use std::io::{self, Cursor, Read};

const BUFFER_BYTES: usize = 4096;

/// Bytes whose lines end with a newline, also where they ended with a carriage return alone.
pub(crate) struct Newlines<R> {
    bytes: R,
    ends: Ends,
    /// Returns after which nothing came yet: what follows tells what they are.
    held: Vec<u8>,
    ready: Cursor<Vec<u8>>,
}

/// What ends lines, as the first line shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    Unknown,
    /// A newline, with or without returns before it.
    Newlines,
    Returns,
}

impl Ends {
    fn of(bytes: &[u8]) -> Self {
        let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\r' | b'\n')) else {
            return Self::Unknown;
        };
        match bytes[end..].iter().find(|byte| **byte != b'\r') {
            None => Self::Unknown,
            Some(b'\n') => Self::Newlines,
            Some(_) => Self::Returns,
        }
    }
}

impl<R: Read> Newlines<R> {
    pub(crate) fn new(bytes: R) -> Self {
        Self { bytes, ends: Ends::Unknown, held: Vec::new(), ready: Cursor::default() }
    }

    /// Reads on until a first line has ended, or something can be given.
    fn begin(&mut self) -> io::Result<()> {
        let mut chunk = [0; BUFFER_BYTES];
        loop {
            let length = self.bytes.read(&mut chunk)?;
            let mut all = std::mem::take(&mut self.held);
            all.extend_from_slice(&chunk[..length]);
            self.ends = if length == 0 { Ends::Returns } else { Ends::of(&all) };
            if self.ends == Ends::Unknown {
                let end = all.iter().rposition(|byte| *byte != b'\r').map_or(0, |last| last + 1);
                self.held = all.split_off(end);
            }
            self.translate(&mut all);
            if !all.is_empty() || length == 0 {
                self.ready = Cursor::new(all);
                return Ok(());
            }
        }
    }

    fn translate(&self, bytes: &mut [u8]) {
        if self.ends == Ends::Returns {
            bytes.iter_mut().filter(|it| **it == b'\r').for_each(|it| *it = b'\n');
        }
    }
}

impl<R: Read> Read for Newlines<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let given = self.ready.read(into)?;
        if given > 0 || into.is_empty() {
            return Ok(given);
        }
        if self.ends == Ends::Unknown {
            self.begin()?;
            return self.ready.read(into);
        }
        let length = self.bytes.read(into)?;
        self.translate(&mut into[..length]);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that come so many at a time.
    struct Slow<'b>(&'b [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let most = self.1.min(into.len());
            self.0.read(&mut into[..most])
        }
    }

    #[test]
    fn returns_alone_end_lines() {
        for (text, wanted) in [
            ("a,b\r1,2\r3,4\r", "a,b\n1,2\n3,4\n"),
            ("\ra\r\rb", "\na\n\nb"),
            ("a\r", "a\n"),
            ("a\r\nb\rc\r\n", "a\r\nb\rc\r\n"),
            ("a\r\r\nb\r\r\n", "a\r\r\nb\r\r\n"),
            ("a\nb\rc\n", "a\nb\rc\n"),
            ("a", "a"),
            ("", ""),
        ] {
            for step in [1, 2, 3, 100] {
                let mut read = String::new();
                let mut lines = Newlines::new(Slow(text.as_bytes(), step));
                lines.read_to_string(&mut read).expect("text");
                assert_eq!(read, wanted, "{text:?} by {step}");
            }
        }
    }
}
