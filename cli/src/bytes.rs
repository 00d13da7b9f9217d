//! The bytes of a log as UTF-8 text, whatever they are packed and encoded in.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use crate::fault::Fault;

/// Enough bytes to tell what a file is: the mark of an archive stands at byte 257.
const MARK_BYTES: usize = 512;
const BUFFER_BYTES: usize = 64 * 1024;
/// The byte order mark that some spreadsheets write.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// Kinds of files that hold no text, by their first bytes: what they are, and what helps.
const FOREIGN: [(&[u8], &str, &str); 20] = [
    (b"PAR1", "Parquet", PARQUET_HELP),
    (b"PK\x03\x04", "a zip archive or a spreadsheet (.xlsx)", "save its table as CSV"),
    (b"\xd0\xcf\x11\xe0", "a spreadsheet (.xls)", "save its table as CSV"),
    (b"\x89HDF", "HDF5", "write its table as CSV"),
    (b"BZh", "bzip2", "unpack it: bunzip2 -c FILE | fastmmd … -"),
    (b"\xfd7zXZ", "xz", "unpack it: xz -dc FILE | fastmmd … -"),
    (b"\x04\x22\x4d\x18", "lz4", "unpack it: lz4 -dc FILE | fastmmd … -"),
    (b"7z\xbc\xaf", "a 7z archive", "unpack it"),
    (b"ARROW1", "Arrow (Feather)", "write its table as CSV or JSON lines"),
    (b"Obj\x01", "Avro", "write its table as CSV or JSON lines"),
    (b"ORC", "ORC", "write its table as CSV or JSON lines"),
    (b"SQLite format 3", "an SQLite database", "sqlite3 -csv -header FILE 'select * from …'"),
    (b"MATLAB 5.0", "a MATLAB file", "write its table as CSV"),
    (b"\x93NUMPY", "a NumPy array", "write it by numpy.savetxt"),
    (b"RIFF", "RIFF (WAV)", "write its samples as CSV"),
    (b"\x89PNG", "a PNG picture", "no log"),
    (b"\xff\xd8\xff", "a JPEG picture", "no log"),
    (b"%PDF", "a PDF document", "no log"),
    (b"\x7fELF", "a program (ELF)", "no log"),
    (b"TDSm", "TDMS", "write its table as CSV"),
];
/// Where it comes here it was not read as a file: the page cannot, nor the tool as it is installed, nor
/// either from a pipe.
const PARQUET_HELP: &str = if cfg!(feature = "parquet") {
    "give it as a file, not packed, or write it as CSV"
} else if cfg!(feature = "terminal") {
    "cargo install --path cli --features parquet reads it; or write it as CSV"
} else {
    "write it as CSV or JSON lines"
};

/// Text, and how it was packed and encoded.
pub(crate) struct Text {
    pub(crate) reader: Box<dyn Read + Send>,
    /// `gzip` or `zstd`.
    pub(crate) packed: Option<&'static str>,
    pub(crate) encoding: &'static str,
}

/// Unpacks and decodes the bytes of a log. What cannot be read is named by what it is.
pub(crate) fn text(name: &str, bytes: Box<dyn Read + Send>) -> Result<Text, Fault> {
    let unreadable = |error: io::Error| Fault::of_io(name, &error);
    let (first, bytes) = peeked(bytes, 4).map_err(unreadable)?;
    let (packed, bytes): (_, Box<dyn Read + Send>) = match first.as_slice() {
        [0x1f, 0x8b, ..] => {
            let unpacked = flate2::read::MultiGzDecoder::new(bytes);
            (Some("gzip"), Box::new(Unpacked { kind: "gzip", bytes: unpacked }))
        }
        [0x28, 0xb5, 0x2f, 0xfd] => {
            let bytes = BufReader::with_capacity(BUFFER_BYTES, bytes);
            (Some("zstd"), Box::new(Unpacked { kind: "zstd", bytes: Zstd::begin(bytes) }))
        }
        _ => (None, bytes),
    };
    // A stream may bring few bytes for a long time: what is a text shows in the first of them.
    let (first, bytes) = peeked(bytes, 4).map_err(unreadable)?;
    let (encoding, big) = match first.as_slice() {
        [0xff, 0xfe, ..] => ("UTF-16", Some(false)),
        [0xfe, 0xff, ..] => ("UTF-16", Some(true)),
        [a, 0, b, 0] if is_plain(a) && is_plain(b) => ("UTF-16", Some(false)),
        [0, a, 0, b] if is_plain(a) && is_plain(b) => ("UTF-16", Some(true)),
        _ => ("UTF-8", None),
    };
    if let Some(big) = big {
        let bytes = BufReader::with_capacity(BUFFER_BYTES, bytes);
        let reader = Box::new(Utf16 { bytes, big, high: None, ready: Cursor::default() });
        return Ok(Text { reader: without_mark(reader).map_err(unreadable)?, packed, encoding });
    }
    let marked = |mark: &[u8]| mark.starts_with(first.get(..mark.len()).unwrap_or(&first));
    if first.iter().all(is_plain)
        && packed.is_none()
        && !FOREIGN.iter().any(|(mark, ..)| marked(mark))
    {
        return Ok(Text { reader: bytes, packed, encoding });
    }
    let (first, bytes) = peeked(bytes, MARK_BYTES).map_err(unreadable)?;
    if let Some(why) = refusal(&first) {
        let within = packed.map_or(String::new(), |packed| format!("{packed} of "));
        return Err(Fault::of(name, format!("{within}{why}")));
    }
    Ok(Text { reader: without_mark(bytes).map_err(unreadable)?, packed, encoding })
}

/// Whether a byte may stand in plain text.
fn is_plain(byte: &u8) -> bool {
    (b'\t'..=b'~').contains(byte)
}

/// What a file is that holds no text.
fn refusal(first: &[u8]) -> Option<String> {
    // A column may be called ORC: no text has control characters.
    let binary = first.iter().any(|byte| *byte < b'\t' || *byte >= 0x80);
    let known = FOREIGN.iter().find(|(mark, ..)| binary && first.starts_with(mark));
    if let Some((_, what, help)) = known {
        return Some(format!("{what}; {help}"));
    }
    if first.get(257..262) == Some(b"ustar") {
        return Some("a tar archive; unpack it".to_owned());
    }
    let saved = fastmmd::state::Kind::of(first);
    if !matches!(saved, Err(fastmmd::Error::NotAState)) {
        return Some("a saved state of this tool; fastmmd inspect explains it".to_owned());
    }
    first.contains(&0).then(|| "binary data of a kind that is not known here".to_owned())
}

/// The first bytes, up to so many, and all of them.
fn peeked(
    mut bytes: Box<dyn Read + Send>,
    most: usize,
) -> io::Result<(Vec<u8>, Box<dyn Read + Send>)> {
    let mut first = Vec::with_capacity(most);
    bytes.by_ref().take(most as u64).read_to_end(&mut first)?;
    let all = Box::new(Cursor::new(first.clone()).chain(bytes));
    Ok((first, all))
}

/// Leaves out a byte order mark.
fn without_mark(bytes: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    let (first, mut bytes) = peeked(bytes, BOM.len())?;
    if first == BOM {
        bytes.read_exact(&mut [0; BOM.len()])?;
    }
    Ok(bytes)
}

/// Unpacked bytes, whose errors say of what kind the file is.
struct Unpacked<R> {
    kind: &'static str,
    bytes: R,
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.bytes.read(into).map_err(|error| {
            let why = match error.kind() {
                io::ErrorKind::UnexpectedEof => "ends in the middle".to_owned(),
                _ => format!("damaged ({error})"),
            };
            io::Error::other(format!("{}: {why}", self.kind))
        })
    }
}

type Frame = ruzstd::decoding::StreamingDecoder<
    BufReader<Box<dyn Read + Send>>,
    ruzstd::decoding::FrameDecoder,
>;

/// One zstd frame after the other.
enum Zstd {
    Before(BufReader<Box<dyn Read + Send>>),
    Within(Box<Frame>),
    After,
}

impl Zstd {
    fn begin(bytes: BufReader<Box<dyn Read + Send>>) -> Self {
        Self::Before(bytes)
    }
}

impl Read for Zstd {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(self, Self::After) {
                Self::Before(mut bytes) => {
                    if bytes.fill_buf()?.is_empty() {
                        return Ok(0);
                    }
                    let frame = Frame::new(bytes).map_err(io::Error::other)?;
                    *self = Self::Within(Box::new(frame));
                }
                Self::Within(mut frame) => match frame.read(into)? {
                    0 if !into.is_empty() => *self = Self::Before(frame.into_inner()),
                    length => {
                        *self = Self::Within(frame);
                        return Ok(length);
                    }
                },
                Self::After => return Ok(0),
            }
        }
    }
}

/// UTF-16 as UTF-8.
struct Utf16 {
    bytes: BufReader<Box<dyn Read + Send>>,
    big: bool,
    /// The first half of a character of two units.
    high: Option<u16>,
    ready: Cursor<Vec<u8>>,
}

impl Utf16 {
    fn fill(&mut self) -> io::Result<()> {
        let mut text = String::new();
        let mut pair = [0; 2];
        // Until nothing more is at hand: a stream must not wait for more than it has.
        loop {
            match self.bytes.read(&mut pair[..1])? {
                0 => {
                    // Half of a character, and no other half to come.
                    text.extend(self.high.take().map(|_| char::REPLACEMENT_CHARACTER));
                    break;
                }
                _ => {
                    let torn = |_| io::Error::other("UTF-16: ends in the middle");
                    self.bytes.read_exact(&mut pair[1..]).map_err(torn)?;
                }
            }
            let unit = if self.big { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) };
            let units = self.high.take().into_iter().chain([unit]);
            for read in char::decode_utf16(units) {
                match read {
                    Ok(one) => text.push(one),
                    Err(half) if (0xd800..0xdc00).contains(&half.unpaired_surrogate()) => {
                        self.high = Some(half.unpaired_surrogate());
                    }
                    Err(_) => text.push(char::REPLACEMENT_CHARACTER),
                }
            }
            if self.bytes.buffer().len() < 2 {
                break;
            }
        }
        self.ready = Cursor::new(text.into_bytes());
        Ok(())
    }
}

impl Read for Utf16 {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let length = self.ready.read(into)?;
            if length > 0 || into.is_empty() {
                return Ok(length);
            }
            self.fill()?;
            if self.ready.get_ref().is_empty() && self.high.is_none() {
                return Ok(0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn read(bytes: &[u8]) -> Result<(String, Option<&'static str>, &'static str), String> {
        let text =
            text("log", Box::new(Cursor::new(bytes.to_vec()))).map_err(|it| it.to_string())?;
        let (mut all, mut reader) = (String::new(), text.reader);
        reader.read_to_string(&mut all).map_err(|error| error.to_string())?;
        Ok((all, text.packed, text.encoding))
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(text).expect("memory");
        packer.finish().expect("memory")
    }

    #[test]
    fn text_is_unpacked_and_decoded() {
        let wanted = "a (°C),𝄞\n1,2\n";
        assert_eq!(read(wanted.as_bytes()), Ok((wanted.to_owned(), None, "UTF-8")));
        let marked = [BOM, wanted.as_bytes()].concat();
        assert_eq!(read(&marked).expect("text").0, wanted);
        // Packed twice in a row, as logs that are rotated into one file.
        let twice = [gzip(wanted.as_bytes()), gzip(b"3,4\n")].concat();
        assert_eq!(read(&twice), Ok((format!("{wanted}3,4\n"), Some("gzip"), "UTF-8")));
        let zstd = ruzstd::encoding::compress_to_vec(
            wanted.as_bytes(),
            ruzstd::encoding::CompressionLevel::Fastest,
        );
        let twice = [zstd.clone(), zstd].concat();
        assert_eq!(read(&twice), Ok((wanted.repeat(2), Some("zstd"), "UTF-8")));
        for mark in ["", "\u{feff}"] {
            let units: Vec<u16> = format!("{mark}{wanted}").encode_utf16().collect();
            let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
            let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
            for bytes in [little, big] {
                assert_eq!(read(&bytes), Ok((wanted.to_owned(), None, "UTF-16")));
            }
        }
        let torn: Vec<u8> = format!("\u{feff}{wanted}")
            .encode_utf16()
            .chain([0xd800])
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_eq!(read(&torn).expect("text").0, format!("{wanted}\u{fffd}"));
        assert_eq!(read(b""), Ok((String::new(), None, "UTF-8")));
    }

    #[test]
    fn what_is_no_text_is_named() {
        let parquet = read(b"PAR1\x15\x04\x15").expect_err("refused");
        assert!(parquet.starts_with("log: Parquet; "), "{parquet}");
        assert!(read(b"PK\x03\x04\0\0\0").expect_err("refused").contains("spreadsheet"));
        let mut tar = vec![b'x'; 257];
        tar.extend_from_slice(b"ustar\x0000");
        assert_eq!(read(&gzip(&tar)), Err("log: gzip of a tar archive; unpack it".to_owned()));
        assert!(read(&[7, 0, 0, 0, 1]).expect_err("refused").contains("binary data"));
        let whole = gzip(b"a,b\n1,2\n");
        let torn = read(&whole[..whole.len() - 6]).expect_err("refused");
        assert_eq!(torn, "log: gzip: ends in the middle");
        let mut damaged = whole;
        let end = damaged.len() - 6;
        damaged[end] ^= 1;
        assert!(read(&damaged).expect_err("refused").contains("gzip: damaged"));
        // The control: a column may be called RIFF.
        assert!(read(b"RIFF,b\n1,2\n").is_ok());
    }
}
