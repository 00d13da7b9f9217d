//! The records of a log one after the other: lines of cells, objects of JSON, or rows of Parquet.

use std::io::{BufRead, BufReader, Read};

use csv::ByteRecord;
use serde_json::Value;

use crate::dialect::{Dialect, Separator};

const BUFFER_BYTES: usize = 64 * 1024;

/// Records of cells.
pub(crate) enum Records {
    Csv(Box<csv::Reader<Box<dyn Read + Send>>>),
    Spaces(Lines),
    Json(Objects),
    #[cfg(feature = "parquet")]
    Parquet(crate::parquet::Rows),
}

impl Records {
    /// The rows of a table from its first row of data on.
    pub(crate) fn of_table(dialect: &Dialect, rest: Box<dyn Read + Send>) -> Self {
        let Separator::Byte(delimiter) = dialect.separator else {
            return Self::Spaces(Lines::new(rest, dialect.lines_before, dialect.comment));
        };
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .comment(dialect.comment)
            .buffer_capacity(BUFFER_BYTES)
            .from_reader(rest);
        Self::Csv(Box::new(reader))
    }

    /// Reads the next record; skips empty lines. `false` at the end.
    pub(crate) fn read(&mut self, into: &mut ByteRecord) -> Result<bool, String> {
        match self {
            Self::Csv(reader) => {
                reader.read_byte_record(into).map_err(|error| match error.into_kind() {
                    csv::ErrorKind::Io(error) => error.to_string(),
                    other => format!("{other:?}"),
                })
            }
            Self::Spaces(lines) => lines.read(into),
            Self::Json(objects) => objects.read(into),
            #[cfg(feature = "parquet")]
            Self::Parquet(rows) => rows.read(into),
        }
    }

    /// The line of the last record, counted from 1 after `before` others.
    pub(crate) fn line(&self, record: &ByteRecord, before: usize) -> u64 {
        let before = u64::try_from(before).unwrap_or(u64::MAX);
        match self {
            Self::Csv(_) => before + record.position().map_or(0, csv::Position::line),
            Self::Spaces(lines) => lines.line,
            Self::Json(objects) => objects.lines.line,
            #[cfg(feature = "parquet")]
            Self::Parquet(rows) => rows.row(),
        }
    }

    /// Whether the last record is the last of the log. What comes after it is lost.
    pub(crate) fn is_last(&mut self) -> bool {
        matches!(self.read(&mut ByteRecord::new()), Ok(false))
    }
}

/// Lines, of cells between spaces.
pub(crate) struct Lines {
    bytes: BufReader<Box<dyn Read + Send>>,
    text: Vec<u8>,
    line: u64,
    comment: Option<u8>,
}

impl Lines {
    pub(crate) fn new(bytes: Box<dyn Read + Send>, before: usize, comment: Option<u8>) -> Self {
        let bytes = BufReader::with_capacity(BUFFER_BYTES, bytes);
        let line = u64::try_from(before).unwrap_or(u64::MAX);
        Self { bytes, text: Vec::new(), line, comment }
    }

    /// The next line that is neither empty nor a comment.
    fn next(&mut self) -> Result<bool, String> {
        loop {
            self.text.clear();
            let length = self.bytes.read_until(b'\n', &mut self.text);
            if length.map_err(|error| error.to_string())? == 0 {
                return Ok(false);
            }
            self.line += 1;
            let first = self.text.trim_ascii_start().first();
            if first.is_some() && first != self.comment.as_ref() {
                return Ok(true);
            }
        }
    }

    fn read(&mut self, into: &mut ByteRecord) -> Result<bool, String> {
        into.clear();
        if !self.next()? {
            return Ok(false);
        }
        for cell in self.text.split(u8::is_ascii_whitespace).filter(|cell| !cell.is_empty()) {
            into.push_field(cell);
        }
        Ok(true)
    }
}

/// Objects or arrays of JSON, one a line.
pub(crate) struct Objects {
    lines: Lines,
    names: Vec<String>,
}

impl Objects {
    pub(crate) fn new(rest: Box<dyn Read + Send>, names: Vec<String>) -> Self {
        Self { lines: Lines::new(rest, 0, None), names }
    }

    /// A line that is no object becomes one cell, which is not a row.
    fn read(&mut self, into: &mut ByteRecord) -> Result<bool, String> {
        into.clear();
        if !self.lines.next()? {
            return Ok(false);
        }
        match leaves(&self.lines.text) {
            Some(leaves) => {
                for name in &self.names {
                    let leaf = leaves.iter().find(|(own, _)| own == name);
                    into.push_field(leaf.map_or(b"".as_slice(), |(_, cell)| cell.as_bytes()));
                }
            }
            None => into.push_field(self.lines.text.trim_ascii()),
        }
        Ok(true)
    }
}

/// Everything in an object or array that is not one itself, with its path; `None` if the text is
/// neither.
pub(crate) fn leaves(text: &[u8]) -> Option<Vec<(String, String)>> {
    let value: Value = serde_json::from_slice(text).ok()?;
    let mut found = Vec::new();
    if !matches!(value, Value::Object(_) | Value::Array(_)) {
        return None;
    }
    gather(&value, String::new(), &mut found);
    Some(found)
}

fn gather(value: &Value, path: String, found: &mut Vec<(String, String)>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(key, value)| gather(value, below(key), found));
        }
        Value::Array(values) => {
            let numbered = values.iter().zip(1..);
            numbered
                .for_each(|(value, at): (_, usize)| gather(value, below(&at.to_string()), found));
        }
        Value::Null => found.push((path, String::new())),
        Value::Bool(flag) => found.push((path, u8::from(*flag).to_string())),
        Value::Number(number) => found.push((path, number.to_string())),
        Value::String(text) => found.push((path, text.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn objects_become_cells() {
        let found = leaves(br#"{"t":1.5,"x":{"a":-2,"b":[3,true]},"s":"ok","n":null}"#);
        let found: Vec<String> =
            found.expect("an object").into_iter().map(|(k, v)| format!("{k}={v}")).collect();
        assert_eq!(found, ["t=1.5", "x.a=-2", "x.b.1=3", "x.b.2=1", "s=ok", "n="]);
        assert_eq!((leaves(b"3"), leaves(b"{\"a\":")), (None, None));
    }

    #[test]
    fn lines_are_counted_with_those_left_out() {
        let text = "1 2\n\n# note\n3   4";
        let mut lines = Lines::new(Box::new(Cursor::new(text)), 5, Some(b'#'));
        let mut record = ByteRecord::new();
        assert_eq!(lines.read(&mut record), Ok(true));
        assert_eq!((lines.line, record.len()), (6, 2));
        assert_eq!(lines.read(&mut record), Ok(true));
        assert_eq!((lines.line, &record[1]), (9, b"4".as_slice()));
        assert_eq!(lines.read(&mut record), Ok(false));
    }
}
