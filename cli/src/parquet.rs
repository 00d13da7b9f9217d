//! Rows of a Parquet file, as cells.

use std::fs::File;
use std::io::Read as _;

use csv::ByteRecord;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row};

use crate::fault::Fault;
use crate::source::Source;

/// The mark at the beginning of a file.
const MARK: [u8; 4] = *b"PAR1";

/// The rows of a file.
pub(crate) struct Rows {
    source: Source,
    names: Vec<String>,
    rows: RowIter<'static>,
    count: u64,
    row: u64,
}

impl Rows {
    /// The rows of a log, if it is Parquet.
    pub(crate) fn open(source: &Source) -> Result<Option<Self>, Fault> {
        let Source::File(path) = source else { return Ok(None) };
        let unreadable = |error: std::io::Error| Fault::of_io(source.name(), &error);
        let mut mark = [0; MARK.len()];
        let mut file = File::open(path).map_err(unreadable)?;
        if !path.is_file() || file.read_exact(&mut mark).is_err() || mark != MARK {
            return Ok(None);
        }
        let refused = |error| Fault::of(source.name(), format!("Parquet: {error}"));
        let reader = SerializedFileReader::new(file).map_err(refused)?;
        let about = reader.metadata().file_metadata();
        let columns = about.schema().get_fields().iter();
        let names = columns.map(|column| column.name().to_owned()).collect();
        let count = u64::try_from(about.num_rows()).unwrap_or(0);
        let rows = RowIter::from_file_into(Box::new(reader));
        Ok(Some(Self { source: source.clone(), names, rows, count, row: 0 }))
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// Number of rows of the file.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Number of the last row, from 1.
    pub(crate) fn row(&self) -> u64 {
        self.row
    }

    /// The first rows, as cells.
    pub(crate) fn sample(&self, most: usize) -> Result<Vec<Vec<Vec<u8>>>, Fault> {
        let again = Self::open(&self.source)?;
        let mut rows = Vec::new();
        for row in again.into_iter().flat_map(|again| again.rows).take(most) {
            let row = row.map_err(|error| Fault::of(self.source.name(), error))?;
            rows.push(cells(&row).map(String::into_bytes).collect());
        }
        Ok(rows)
    }

    /// Reads the next row; `false` at the end.
    pub(crate) fn read(&mut self, into: &mut ByteRecord) -> Result<bool, String> {
        into.clear();
        let Some(row) = self.rows.next() else { return Ok(false) };
        let row = row.map_err(|error| format!("Parquet: {error}"))?;
        cells(&row).for_each(|cell| into.push_field(cell.as_bytes()));
        self.row += 1;
        Ok(true)
    }
}

fn cells(row: &Row) -> impl Iterator<Item = String> {
    row.get_column_iter().map(|(_, field)| cell(field))
}

/// A value as it would stand in CSV; nested ones are text.
fn cell(field: &Field) -> String {
    let moment = |moment: Result<jiff::Timestamp, jiff::Error>| {
        moment.map_or(String::new(), |moment| moment.to_string())
    };
    match field {
        Field::Null => String::new(),
        Field::Bool(flag) => u8::from(*flag).to_string(),
        Field::Str(text) => text.clone(),
        Field::TimestampMillis(time) => moment(jiff::Timestamp::from_millisecond(*time)),
        Field::TimestampMicros(time) => moment(jiff::Timestamp::from_microsecond(*time)),
        other => other.to_string(),
    }
}
