//! Reads rows of numbers from CSV, one at a time, and reports everything wrong with them.

use std::fs::File;
use std::io::Read;
use std::sync::Arc;

use csv::ByteRecord;

use crate::args::{Columns, Missing};
use crate::fault::Fault;
use crate::source::{self, Source};

/// Names of columns that hold the time, in lower case and without their unit.
const TIMES: [&str; 4] = ["time", "timestamp", "datetime", "date"];
/// Units of times, and their length in seconds.
const UNITS: [(&str, f64); 10] = [
    ("s", 1.0),
    ("sec", 1.0),
    ("seconds", 1.0),
    ("ms", 1e-3),
    ("us", 1e-6),
    ("µs", 1e-6),
    ("ns", 1e-9),
    ("min", 60.0),
    ("h", 3600.0),
    ("d", 86_400.0),
];

/// Largest number of characters of a cell shown in messages.
const LONGEST_SHOWN: usize = 40;

/// The rows of a log.
pub(crate) struct Table {
    name: String,
    reader: csv::Reader<Box<dyn Read + Send>>,
    record: ByteRecord,
    /// Whether the first row of data has been read but not returned.
    pending: bool,
    /// Number of cells in every row.
    width: usize,
    columns: Vec<Column>,
    time: Option<Column>,
    missing: Missing,
    /// Number of rows of data read, including those skipped.
    rows: u64,
    length: Option<u64>,
    file: Option<Arc<File>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Column {
    at: usize,
    name: String,
}

impl Table {
    /// Opens a log and reads enough to know its columns.
    pub(crate) fn open(source: &Source, choice: &Columns, missing: Missing) -> Result<Self, Fault> {
        let name = source.name();
        let opened = source.open()?;
        if opened.first_line.is_empty() {
            return Err(Fault::of(name, "the file is empty"));
        }
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter(&opened.first_line))
            .buffer_capacity(64 * 1024)
            .from_reader(opened.all);
        let mut table = Self {
            name,
            reader,
            record: ByteRecord::new(),
            pending: true,
            width: 0,
            columns: Vec::new(),
            time: None,
            missing,
            rows: 0,
            length: opened.length,
            file: opened.file,
        };
        table.read()?;
        table.width = table.record.len();
        let first = table.record.clone();
        let headed = !first.iter().any(|cell| matches!(cell_kind(cell), Cell::Number(_)));
        let names: Vec<String> = if headed {
            if !table.read()? {
                return Err(Fault::of(&table.name, "a header and no rows"));
            }
            // Names are printed on terminals: control characters become spaces.
            let printable = |c: char| if c.is_control() { ' ' } else { c };
            let name = |cell: &[u8]| text(cell).chars().map(printable).collect::<String>();
            first.iter().map(|cell| name(cell).trim().to_owned()).collect()
        } else {
            (1..=table.width).map(|number| number.to_string()).collect()
        };
        table.choose(choice, &names)?;
        Ok(table)
    }

    fn choose(&mut self, choice: &Columns, names: &[String]) -> Result<(), Fault> {
        let find = |wanted: &str| {
            let wanted = wanted.trim();
            let by_name = names.iter().position(|name| name == wanted);
            let by_number = || wanted.parse::<usize>().ok()?.checked_sub(1);
            let at = by_name.or_else(by_number).filter(|at| *at < names.len());
            at.map(|at| Column { at, name: names[at].clone() }).ok_or_else(|| {
                let known = names.join(", ");
                Fault::of(&self.name, format!("no column {wanted:?}; its columns: {known}"))
            })
        };
        self.time = match &choice.time {
            Some(wanted) => Some(find(wanted)?),
            None => self.guess_time(names),
        };
        self.columns = match &choice.columns {
            Some(wanted) => wanted.iter().map(|wanted| find(wanted)).collect::<Result<_, _>>()?,
            None => {
                let time = self.time.as_ref().map(|column| column.at);
                let column = |(at, name): (usize, &String)| Column { at, name: name.clone() };
                let others = names.iter().enumerate().filter(|(at, _)| Some(*at) != time);
                others.map(column).collect()
            }
        };
        if self.columns.is_empty() {
            return Err(Fault::of(&self.name, "no column except the time"));
        }
        for (index, column) in self.columns.iter().enumerate() {
            if self.columns.iter().take(index).any(|other| other.at == column.at) {
                let why = format!("--columns names {:?} twice", column.name);
                return Err(Fault::of(&self.name, why));
            }
        }
        Ok(())
    }

    /// A column with a usual name for times, or the first column if it holds timestamps.
    fn guess_time(&self, names: &[String]) -> Option<Column> {
        let named = |name: &String| TIMES.contains(&parted(&name.to_lowercase()).0);
        let stamped = || {
            let stamp =
                self.record.get(0).is_some_and(|cell| crate::time::seconds(cell, 1.0).is_some());
            let number = matches!(self.record.get(0).map(cell_kind), Some(Cell::Number(_)));
            (stamp && !number).then_some(0)
        };
        let at = names.iter().position(named).or_else(stamped)?;
        names.get(at).map(|name| Column { at, name: name.clone() })
    }

    /// Names of the chosen columns.
    pub(crate) fn names(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.clone()).collect()
    }

    /// Name of the column with the time.
    pub(crate) fn time_name(&self) -> Option<&str> {
        self.time.as_ref().map(|column| column.name.as_str())
    }

    /// The unit of the time column in seconds: 1 unless the name gives another, as in `time (ms)`.
    pub(crate) fn time_unit(&self) -> f64 {
        self.time.as_ref().map_or(1.0, |column| parted(&column.name.to_lowercase()).1)
    }

    /// The name of the log in messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Number of rows of data read so far, including those skipped.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Number of rows of data, counted in advance up to about `most`; `None` unless the log is a
    /// file that does not grow. Only before another thread reads its rows.
    pub(crate) fn count_rows(&self, most: u64) -> Result<Option<u64>, Fault> {
        let Some(file) = &self.file else { return Ok(None) };
        let lines = source::count_lines(file, most.saturating_add(1));
        let lines = lines.map_err(|error| Fault::of_io(&self.name, &error))?;
        Ok(Some(lines.saturating_sub(1)))
    }

    /// Bytes read, and bytes in total if known.
    pub(crate) fn progress(&self) -> (u64, Option<u64>) {
        (self.reader.position().byte(), self.length)
    }

    /// The time of the current row, as written in the log.
    pub(crate) fn time(&self) -> Option<&[u8]> {
        self.time.as_ref().and_then(|column| self.record.get(column.at))
    }

    /// Reads the next row into `values`, with NaN for a missing reading; `false` at the end.
    pub(crate) fn next(&mut self, values: &mut Vec<f32>) -> Result<bool, Fault> {
        loop {
            if !std::mem::take(&mut self.pending) && !self.read()? {
                return Ok(false);
            }
            self.rows += 1;
            if self.record.len() != self.width {
                let line = self.record.position().map_or(0, csv::Position::line);
                let row = self.rows - 1;
                let (got, wanted) = (self.record.len(), self.width);
                let why = format!("row {row} (line {line}): {got} cells instead of {wanted}");
                return Err(Fault::of(&self.name, why));
            }
            values.clear();
            let mut whole = true;
            for column in &self.columns {
                match cell_kind(self.record.get(column.at).unwrap_or_default()) {
                    Cell::Number(value) => values.push(value),
                    Cell::Missing if self.missing == Missing::Reading => values.push(f32::NAN),
                    Cell::Missing if self.missing == Missing::Skip => {
                        whole = false;
                        break;
                    }
                    kind => return Err(self.bad_cell(column, kind)),
                }
            }
            if whole {
                return Ok(true);
            }
        }
    }

    fn bad_cell(&self, column: &Column, kind: Cell) -> Fault {
        let line = self.record.position().map_or(0, csv::Position::line);
        let mut cell = text(self.record.get(column.at).unwrap_or_default());
        if let Some((end, _)) = cell.char_indices().nth(LONGEST_SHOWN) {
            cell.truncate(end);
            cell.push('…');
        }
        let why = match kind {
            Cell::Missing if cell.trim().is_empty() => {
                "empty; --missing skip leaves such rows out".to_owned()
            }
            Cell::Missing => format!("{cell:?}; --missing skip leaves such rows out"),
            Cell::TooLarge => format!("{cell:?} is beyond what single precision holds"),
            _ => format!("{cell:?} is not a number; choose others with --columns"),
        };
        let place = format!("row {}, column {:?} (line {line})", self.rows - 1, column.name);
        Fault::of(&self.name, format!("{place}: {why}"))
    }

    /// Reads the next record; skips empty lines.
    fn read(&mut self) -> Result<bool, Fault> {
        self.reader.read_byte_record(&mut self.record).map_err(|error| Fault::of(&self.name, error))
    }
}

/// The content of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Cell {
    Number(f32),
    Missing,
    /// A number out of the range of `f32`.
    TooLarge,
    Text,
}

fn cell_kind(cell: &[u8]) -> Cell {
    let cell = cell.trim_ascii();
    match fast_float2::parse::<f32, _>(cell) {
        Ok(value) if value.is_finite() => Cell::Number(value),
        // The words for infinity are not numbers.
        Ok(_) if cell.iter().any(u8::is_ascii_digit) => Cell::TooLarge,
        Ok(_) => Cell::Missing,
        Err(_) if cell.is_empty() => Cell::Missing,
        Err(_) => {
            let blank = [b"na".as_slice(), b"n/a", b"null", b"none", b"-"];
            if blank.iter().any(|word| cell.eq_ignore_ascii_case(word)) {
                Cell::Missing
            } else {
                Cell::Text
            }
        }
    }
}

/// The name of a column without its unit, and the unit in seconds. The unit may follow in brackets
/// or after an underscore.
fn parted(name: &str) -> (&str, f64) {
    for (unit, seconds) in UNITS {
        let [round, square] = [format!("({unit})"), format!("[{unit}]")];
        for ending in [round, square, format!("_{unit}")] {
            if let Some(name) = name.strip_suffix(&ending) {
                return (name.trim_end(), seconds);
            }
        }
    }
    (name, 1.0)
}

fn text(cell: &[u8]) -> String {
    String::from_utf8_lossy(cell).into_owned()
}

/// The most frequent of comma, semicolon and tab in a line.
fn delimiter(line: &[u8]) -> u8 {
    let count = |delimiter: u8| line.iter().filter(|byte| **byte == delimiter).count();
    // `max_by_key` returns the last of equal ones.
    [b'\t', b';', b','].into_iter().max_by_key(|delimiter| count(*delimiter)).unwrap_or(b',')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_numbers_missing_or_text() {
        for (cell, kind) in [
            ("1.5", Cell::Number(1.5)),
            (" -2e3 ", Cell::Number(-2000.0)),
            ("", Cell::Missing),
            ("NaN", Cell::Missing),
            ("nan", Cell::Missing),
            ("inf", Cell::Missing),
            ("NA", Cell::Missing),
            ("1e39", Cell::TooLarge),
            ("-1e300", Cell::TooLarge),
            ("1,5", Cell::Text),
            ("abc", Cell::Text),
        ] {
            assert_eq!(cell_kind(cell.as_bytes()), kind, "{cell:?}");
        }
    }

    #[test]
    fn times_have_units() {
        for (name, parts) in [
            ("time", ("time", 1.0)),
            ("time (s)", ("time", 1.0)),
            ("time [ms]", ("time", 1e-3)),
            ("timestamp_us", ("timestamp", 1e-6)),
            ("time_of_flight", ("time_of_flight", 1.0)),
            ("temperature (h)", ("temperature", 3600.0)),
        ] {
            assert_eq!(parted(name), parts);
        }
    }

    #[test]
    fn delimiters_are_told_apart() {
        assert_eq!(delimiter(b"a;b;c\n"), b';');
        assert_eq!(delimiter(b"a\tb\n"), b'\t');
        assert_eq!(delimiter(b"a,b\n"), b',');
        assert_eq!(delimiter(b"alone\n"), b',');
    }
}
