//! Reads rows of numbers from a log, one at a time, and reports everything wrong with them.

use std::io::{BufRead, BufReader, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use csv::ByteRecord;

use crate::cell::{self, Cell, Decimals};
use crate::columns::{Layout, Seen, Time};
use crate::dialect::{self, SAMPLED_ROWS, Separator};
use crate::fault::Fault;
use crate::options::{Columns, Missing};
use crate::order::Evidence;
use crate::record::{Objects, Records, leaves};
use crate::source::{Opened, Source};
use crate::time::Clock;

/// Largest number of characters of a cell shown in messages.
const LONGEST_SHOWN: usize = 40;
/// Lines and bytes of a file from which is found how it is written.
const HEAD_LINES: usize = SAMPLED_ROWS + 64;
const HEAD_BYTES: usize = 1 << 18;
/// The same of a log that still grows: nothing is watched before they have come.
const LIVE_HEAD_LINES: usize = 12;

/// How a log is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Facts {
    /// `CSV`, `JSON lines` or `Parquet`.
    pub(crate) format: &'static str,
    pub(crate) packed: Option<&'static str>,
    pub(crate) encoding: &'static str,
    pub(crate) separator: Option<Separator>,
    pub(crate) decimals: Decimals,
    pub(crate) header: bool,
    pub(crate) units: bool,
    pub(crate) comments: bool,
    /// Lines of text before the table.
    pub(crate) preamble: usize,
}

impl Facts {
    /// Of a format without separators and lines of its own.
    fn of(format: &'static str, encoding: &'static str) -> Self {
        Self {
            format,
            packed: None,
            encoding,
            separator: None,
            decimals: Decimals::POINT,
            header: false,
            units: false,
            comments: false,
            preamble: 0,
        }
    }
}

/// The rows of a log.
pub(crate) struct Table {
    name: String,
    source: Source,
    facts: Facts,
    records: Records,
    record: ByteRecord,
    /// All columns.
    names: Vec<String>,
    layout: Layout,
    missing: Missing,
    lines_before: usize,
    /// The time of the current row, where it stands in two columns.
    joined: Vec<u8>,
    /// Number of rows of data read, including those skipped.
    rows: u64,
    /// Number of lines left out that were no rows, and how many may be.
    bad: u64,
    most_bad: u64,
    /// Bytes read, and bytes in total if known.
    read: Arc<AtomicU64>,
    length: Option<u64>,
}

/// What is known of a log before its first row is read.
struct Begun {
    facts: Facts,
    records: Records,
    names: Vec<String>,
    units: Option<Vec<String>>,
    sample: Vec<Vec<Vec<u8>>>,
    lines_before: usize,
}

impl Table {
    /// Opens a log and reads enough to know its columns.
    pub(crate) fn open(source: &Source, choice: &Columns, missing: Missing) -> Result<Self, Fault> {
        let name = source.name();
        let (begun, read, length) = begin(source, choice)?;
        let Begun { facts, records, names, units, sample, lines_before } = begun;
        let seen = Seen {
            log: &name,
            names: names.clone(),
            units,
            rows: &sample,
            decimals: facts.decimals,
        };
        let mut layout = seen.layout(choice)?;
        // What can be read once only is taken as it begins.
        if let Some(time) = layout.time.as_mut().filter(|time| !time.settled && length.is_some()) {
            settle(time, source, choice, names.len(), facts.decimals)?;
        }
        Ok(Self {
            name,
            source: source.clone(),
            facts,
            records,
            record: ByteRecord::new(),
            names,
            layout,
            missing,
            lines_before,
            joined: Vec::new(),
            rows: 0,
            bad: 0,
            most_bad: choice.skip_bad,
            read,
            length,
        })
    }

    /// Names of the chosen columns.
    pub(crate) fn names(&self) -> Vec<String> {
        self.layout.chosen.iter().map(|at| self.names[*at].clone()).collect()
    }

    /// How the log is written.
    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// What its columns are.
    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Name of the column with the time.
    pub(crate) fn time_name(&self) -> Option<String> {
        let time = self.layout.time.as_ref()?;
        let names: Vec<&str> = time.at.iter().map(|at| self.names[*at].as_str()).collect();
        Some(names.join(" "))
    }

    /// How times are written.
    pub(crate) fn clock(&self) -> Option<Clock> {
        let decimals = self.facts.decimals;
        let time = self.layout.time.as_ref()?;
        let (dates, order) = (time.dates, time.order);
        Some(Clock { dates, order, unit: time.unit, decimals })
    }

    /// A time of this log in seconds.
    pub(crate) fn seconds(&self, cell: &[u8]) -> Option<f64> {
        self.clock()?.seconds(cell)
    }

    /// The name of the log in messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Number of rows of data read so far, including those skipped.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Number of lines left out so far that were no rows.
    pub(crate) fn bad(&self) -> u64 {
        self.bad
    }

    /// Number of rows of data, counted in advance up to about `most`; `None` unless the log is a
    /// file that does not grow.
    pub(crate) fn count_rows(&self, most: u64) -> Result<Option<u64>, Fault> {
        #[cfg(feature = "parquet")]
        if let Records::Parquet(rows) = &self.records {
            return Ok(Some(rows.count()));
        }
        let before = u64::try_from(self.lines_before).unwrap_or(u64::MAX);
        let lines = self.source.count_lines(most.saturating_add(before))?;
        Ok(lines.map(|lines| lines.saturating_sub(before)))
    }

    /// Bytes read, and bytes in total if known.
    pub(crate) fn progress(&self) -> (u64, Option<u64>) {
        (self.read.load(Ordering::Relaxed), self.length)
    }

    /// The time of the current row, as written in the log.
    pub(crate) fn time(&self) -> Option<&[u8]> {
        match self.layout.time.as_ref()?.at.as_slice() {
            [at] => self.record.get(*at),
            _ => Some(&self.joined),
        }
    }

    /// Reads the next row into `values`, with NaN for a missing reading; `false` at the end.
    pub(crate) fn next(&mut self, values: &mut Vec<f32>) -> Result<bool, Fault> {
        loop {
            let read = self.records.read(&mut self.record);
            if !read.map_err(|why| Fault::of(&self.name, why))? {
                return Ok(false);
            }
            if self.record.len() != self.names.len() {
                self.leave_out(None)?;
                continue;
            }
            values.clear();
            let (mut whole, mut bad) = (true, None);
            for at in &self.layout.chosen {
                let cell = self.record.get(*at).unwrap_or_default();
                match cell::kind(cell, self.facts.decimals) {
                    Cell::Number(value) => values.push(value),
                    Cell::Missing if self.missing == Missing::Reading => values.push(f32::NAN),
                    Cell::Missing if self.missing == Missing::Skip => {
                        whole = false;
                        break;
                    }
                    kind @ (Cell::Text | Cell::TooLarge) => {
                        bad = Some((*at, kind));
                        break;
                    }
                    kind => return Err(self.bad_cell(*at, kind)),
                }
            }
            if bad.is_some() {
                self.leave_out(bad)?;
                continue;
            }
            self.rows += 1;
            if whole {
                self.join_time();
                return Ok(true);
            }
        }
    }

    fn join_time(&mut self) {
        if let Some([day, time]) = self.layout.time.as_ref().map(|time| time.at.as_slice()) {
            self.joined.clear();
            self.joined.extend_from_slice(self.record.get(*day).unwrap_or_default().trim_ascii());
            self.joined.push(b' ');
            self.joined.extend_from_slice(self.record.get(*time).unwrap_or_default().trim_ascii());
        }
    }

    /// Whether the header has come again: by itself only where logs were joined, or rotated.
    fn is_header(&self) -> bool {
        let same = |(cell, name): (&[u8], &String)| cell::text(cell).trim() == name;
        self.facts.header && self.record.iter().zip(&self.names).all(same)
    }

    /// Leaves out a line that is no row, because of what is in a column or of its number of cells, if
    /// that is allowed.
    fn leave_out(&mut self, bad: Option<(usize, Cell)>) -> Result<(), Fault> {
        let whole = self.record.len() == self.names.len();
        // Where a log that still grows is rotated, its header comes again.
        if whole && self.source.is_live() && self.is_header() {
            return Ok(());
        }
        if self.bad < self.most_bad {
            self.bad += 1;
            return Ok(());
        }
        let line = self.records.line(&self.record, self.lines_before);
        let skip = match self.bad {
            0 => "--skip-bad N leaves up to N such lines out".to_owned(),
            bad => format!("{bad} such lines are left out already (--skip-bad)"),
        };
        if whole && self.is_header() {
            return Err(Fault::of(&self.name, format!("line {line}: the header again; {skip}")));
        }
        let row = self.rows;
        if let Some((at, kind)) = bad.filter(|_| whole) {
            return Err(self.bad_cell(at, kind));
        }
        let (got, wanted) = (self.record.len(), self.names.len());
        let cells = format!("row {row} (line {line}): {got} cells instead of {wanted}");
        let torn = !self.source.is_live() && self.records.is_last();
        let torn = if torn { ", and the log ends: a torn line" } else { "" };
        Err(Fault::of(&self.name, format!("{cells}{torn}; {skip}")))
    }

    fn bad_cell(&self, at: usize, kind: Cell) -> Fault {
        let line = self.records.line(&self.record, self.lines_before);
        let mut cell = cell::text(self.record.get(at).unwrap_or_default());
        if let Some((end, _)) = cell.char_indices().nth(LONGEST_SHOWN) {
            cell.truncate(end);
            cell.push('…');
        }
        let why = match kind {
            Cell::Missing if cell.trim().is_empty() => {
                "empty; --missing skip leaves such rows out".to_owned()
            }
            Cell::Missing => format!("{cell:?}; --missing skip leaves such rows out"),
            Cell::TooLarge => format!(
                "{cell:?} is beyond what single precision holds; --skip-bad N leaves such lines out"
            ),
            Cell::Text | Cell::Number(_) => format!(
                "{cell:?} is not a number; choose others with --columns, or leave such lines out \
                 with --skip-bad N"
            ),
        };
        let place = format!("row {}, column {:?} (line {line})", self.rows, self.names[at]);
        Fault::of(&self.name, format!("{place}: {why}"))
    }
}

/// Finds the order of the dates of a log by all of its rows, or by as many as settle it.
fn settle(
    time: &mut Time,
    source: &Source,
    choice: &Columns,
    width: usize,
    decimals: Decimals,
) -> Result<(), Fault> {
    let mut records = begin(source, choice)?.0.records;
    let (mut record, mut evidence) = (ByteRecord::new(), Evidence::default());
    // What cannot be read is told when it is its turn.
    while records.read(&mut record).is_ok_and(|more| more) {
        let date = time.at.first().and_then(|at| record.get(*at));
        if let Some(date) = date.filter(|_| record.len() == width) {
            evidence.note(date);
            if evidence.is_enough() {
                break;
            }
        }
    }
    (time.order, time.ground) = evidence.order(decimals.comma);
    time.settled = true;
    Ok(())
}

/// Finds out how a log is written.
fn begin(source: &Source, choice: &Columns) -> Result<(Begun, Arc<AtomicU64>, Option<u64>), Fault> {
    #[cfg(feature = "parquet")]
    if let Some(rows) = crate::parquet::Rows::open(source)? {
        let names = rows.names();
        let sample = rows.sample(SAMPLED_ROWS)?;
        let facts = Facts::of("Parquet", "binary");
        let records = Records::Parquet(rows);
        let begun = Begun { facts, records, names, units: None, sample, lines_before: 0 };
        return Ok((begun, Arc::default(), Some(0)));
    }
    let Opened { reader, packed, encoding, read, length } = source.open()?;
    let unreadable = |error: std::io::Error| Fault::of_io(source.name(), &error);
    let mut bytes = BufReader::with_capacity(HEAD_BYTES / 4, reader);
    let (mut head, mut lines) = (Vec::new(), 0);
    let most = if source.is_live() { LIVE_HEAD_LINES } else { HEAD_LINES };
    while lines < most && head.len() < HEAD_BYTES {
        if bytes.read_until(b'\n', &mut head).map_err(unreadable)? == 0 {
            break;
        }
        lines += 1;
    }
    if head.trim_ascii().is_empty() {
        return Err(Fault::of(source.name(), "the file is empty"));
    }
    // A character that is torn at the end says nothing.
    let is_utf8 =
        std::str::from_utf8(&head).map_or_else(|error| error.error_len().is_none(), |_| true);
    let encoding = if is_utf8 { encoding } else { "Latin letters" };
    let rest: Box<dyn Read + Send> = Box::new(bytes);
    let begun = match head.trim_ascii_start().first() {
        Some(b'{' | b'[') => json(source, head, rest)?,
        _ => table(source, choice, head, rest)?,
    };
    let facts = Facts { packed, encoding, ..begun.facts };
    Ok((Begun { facts, ..begun }, read, length))
}

fn json(source: &Source, head: Vec<u8>, rest: Box<dyn Read + Send>) -> Result<Begun, Fault> {
    let lines = || head.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let first = lines().next().unwrap_or_default();
    // Members of several objects, or of none.
    let several = first.trim_ascii_start().starts_with(b"[{");
    if leaves(first).is_none_or(|leaves| several || leaves.is_empty()) {
        let why = "JSON that is not one object a line; jq -c '.[]' writes an array so";
        return Err(Fault::of(source.name(), why));
    }
    let rows: Vec<Vec<(String, String)>> = lines().filter_map(leaves).take(SAMPLED_ROWS).collect();
    let mut names: Vec<String> = Vec::new();
    for (name, _) in rows.iter().flatten() {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let cell = |row: &[(String, String)], name: &String| {
        let own = row.iter().find(|(own, _)| own == name);
        own.map_or(Vec::new(), |(_, cell)| cell.clone().into_bytes())
    };
    let sample = rows.iter().map(|row| names.iter().map(|name| cell(row, name)).collect());
    let sample = sample.collect();
    let facts = Facts::of("JSON lines", "UTF-8");
    let all = Box::new(Cursor::new(head).chain(rest));
    let records = Records::Json(Objects::new(all, names.clone()));
    Ok(Begun { facts, records, names, units: None, sample, lines_before: 0 })
}

fn table(
    source: &Source,
    choice: &Columns,
    mut head: Vec<u8>,
    rest: Box<dyn Read + Send>,
) -> Result<Begun, Fault> {
    let empty = || Fault::of(source.name(), "comments and no rows");
    let dialect = dialect::sniffed(&head, choice.delimiter).ok_or_else(empty)?;
    if dialect.sample.is_empty() {
        return Err(Fault::of(source.name(), "a header and no rows"));
    }
    let all = Cursor::new(head.split_off(dialect.bytes_before)).chain(rest);
    let records = Records::of_table(&dialect, Box::new(all));
    let facts = Facts {
        format: "CSV",
        packed: None,
        encoding: "UTF-8",
        separator: Some(dialect.separator).filter(|_| dialect.width > 1),
        decimals: dialect.decimals,
        header: dialect.names.is_some(),
        units: dialect.units.is_some(),
        comments: dialect.comment.is_some(),
        preamble: dialect.preamble,
    };
    let numbered = || (1..=dialect.width).map(|number| number.to_string()).collect();
    let names = dialect.names.unwrap_or_else(numbered);
    let (units, sample, lines_before) = (dialect.units, dialect.sample, dialect.lines_before);
    Ok(Begun { facts, records, names, units, sample, lines_before })
}
