//! The rows of a log with their numbers and times.

use crate::fault::Fault;
use crate::options::{Columns, Watching};
use crate::source::Source;
use crate::table::Table;
use crate::time::{self, Span};

/// Number of rows from which the sampling rate is found.
const RATED_ROWS: usize = 101;

/// A row of a log.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Row {
    /// Counted from 0 over all rows of data.
    pub(crate) number: u64,
    pub(crate) values: Vec<f32>,
    /// The time as written in the log.
    pub(crate) time: Option<Vec<u8>>,
}

impl Row {
    fn read(&mut self, table: &mut Table) -> Result<bool, Fault> {
        if !table.next(&mut self.values)? {
            return Ok(false);
        }
        self.number = table.rows() - 1;
        match (table.time(), &mut self.time) {
            (Some(cell), Some(time)) => {
                time.clear();
                time.extend_from_slice(cell);
            }
            (cell, time) => *time = cell.map(<[u8]>::to_vec),
        }
        Ok(true)
    }
}

/// A log, with its rate if that is needed.
pub(crate) struct Rows {
    pub(crate) table: Table,
    /// Rows per second.
    pub(crate) rate: Option<f64>,
    /// Rows from which the rate was found, not yet returned.
    first: std::vec::IntoIter<Row>,
}

impl Rows {
    /// The rows of a table, whose rate is not needed.
    pub(crate) fn of_table(table: Table) -> Self {
        Self { table, rate: None, first: Vec::new().into_iter() }
    }

    /// Opens a log, and finds its rate from the first rows if an option is given as a time.
    pub(crate) fn open(
        source: &Source,
        columns: &Columns,
        options: &Watching,
    ) -> Result<Self, Fault> {
        Self::with_spans(source, columns, options, &options.spans())
    }

    /// The same with other spans.
    pub(crate) fn with_spans(
        source: &Source,
        columns: &Columns,
        options: &Watching,
        spans: &[Option<Span>],
    ) -> Result<Self, Fault> {
        let rate = options.rate;
        let mut table = Table::open(source, columns, options.missing)?;
        let timed = spans.iter().flatten().any(|span| matches!(span, Span::Seconds(_)));
        if rate.is_some() || !timed {
            return Ok(Self { table, rate, first: Vec::new().into_iter() });
        }
        let (mut first, mut row) = (Vec::new(), Row::default());
        while first.len() < RATED_ROWS && row.read(&mut table)? {
            first.push(row.clone());
        }
        let rate = rate_of(&first, &table)?;
        Ok(Self { table, rate: Some(rate), first: first.into_iter() })
    }

    /// Reads the next row; `false` at the end of the log.
    pub(crate) fn next(&mut self, row: &mut Row) -> Result<bool, Fault> {
        match self.first.next() {
            Some(first) => {
                *row = first;
                Ok(true)
            }
            None => row.read(&mut self.table),
        }
    }
}

/// The rate of some rows, from their times.
fn rate_of(rows: &[Row], table: &Table) -> Result<f64, Fault> {
    let times = rows.iter().filter_map(|row| row.time.as_deref());
    let seconds: Vec<f64> = times.filter_map(|cell| table.seconds(cell)).collect();
    time::rate(&seconds).ok_or_else(|| {
        let why = match table.time_name() {
            Some(name) => format!(
                "column {name:?} has no increasing times, as seconds or as 2024-03-31 12:00:00"
            ),
            None => "an option is given as a time, but the log has no times".to_owned(),
        };
        Fault::of(table.name(), format!("{why}: add --rate HZ or --time COLUMN"))
    })
}
