//! Files as samples: for `test`, and for the commands of the toolbox, `independence`, `select`,
//! `reweight` and `nystrom`.

use std::path::Path;

use fastmmd_reference::kernel::gaussian;
use fastmmd_reference::{Points, Refused};
use fastmmd_tune::distance::{self, evenly};

use crate::args::{Columns, Missing, WholeRows};
use crate::columns;
use crate::fault::Fault;
use crate::source::Source;
use crate::table::Table;

/// Largest number of rows whose distances are compared for the median, in the toolbox.
pub(crate) const MOST_MEDIAN_ROWS: usize = 500;

pub(crate) fn refused(error: Refused) -> Fault {
    Fault::new(error)
}

/// The readings of a file, row after row, as the core takes them.
pub(crate) struct Readings {
    pub(crate) name: String,
    pub(crate) names: Vec<String>,
    pub(crate) values: Vec<f32>,
}

impl Readings {
    /// Reads a file of at least two rows.
    pub(crate) fn read(path: &Path, columns: &Columns, missing: Missing) -> Result<Self, Fault> {
        let mut table = Table::open(&Source::new(path, false), columns, missing)?;
        let (mut values, mut row) = (Vec::new(), Vec::new());
        while table.next(&mut row)? {
            values.extend_from_slice(&row);
        }
        let readings = Self { name: table.name().to_owned(), names: table.names(), values };
        if readings.len() < 2 {
            let why = format!("{} rows; at least 2 are needed", readings.len());
            return Err(Fault::of(readings.name, why));
        }
        Ok(readings)
    }

    pub(crate) fn dims(&self) -> usize {
        self.names.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len() / self.dims()
    }

    /// One of its channels alone.
    pub(crate) fn channel(&self, channel: usize) -> Self {
        let values = self.values.iter().skip(channel).step_by(self.dims()).copied().collect();
        Self { name: self.name.clone(), names: vec![self.names[channel].clone()], values }
    }

    /// Leaves out the last rows, which fill no block of so many; returns how many they are.
    pub(crate) fn keep_whole(&mut self, block: usize) -> usize {
        let left = self.len() % block;
        self.values.truncate(self.values.len() - left * self.dims());
        left
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = &[f32]> {
        self.values.chunks_exact(self.dims())
    }

    /// At most `most` rows, evenly spread.
    pub(crate) fn thinned(&self, most: usize) -> Result<Points, Fault> {
        points(self.dims(), evenly(self.rows(), self.len(), most))
    }
}

/// Rows as points in `f64`.
pub(crate) fn points<'r>(
    dims: usize,
    rows: impl Iterator<Item = &'r [f32]>,
) -> Result<Points, Fault> {
    Points::new(dims, rows.flatten().map(|&value| f64::from(value)).collect()).map_err(refused)
}

/// Refuses two files with different columns, each given by its name and its columns.
pub(crate) fn same_columns(
    (x, own): (&str, &[String]),
    (y, other): (&str, &[String]),
) -> Result<(), Fault> {
    if own == other {
        return Ok(());
    }
    Err(Fault::of(y, format!("columns {}; {x} has {}", other.join(", "), own.join(", "))))
}

/// The rows of a file, in `f64`.
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) names: Vec<String>,
    pub(crate) rows: Vec<Vec<f64>>,
}

impl Sample {
    /// Reads a file of at least two rows.
    pub(crate) fn read(path: &Path, columns: &Columns, missing: Missing) -> Result<Self, Fault> {
        let readings = Readings::read(path, columns, missing)?;
        let exact = |row: &[f32]| row.iter().map(|&value| f64::from(value)).collect();
        let rows = readings.rows().map(exact).collect();
        Ok(Self { name: readings.name, names: readings.names, rows })
    }

    /// Reads two files with the same columns.
    pub(crate) fn read_both([x, y]: [&Path; 2], rows: &WholeRows) -> Result<[Self; 2], Fault> {
        let read = |path| Self::read(path, &rows.columns, rows.missing);
        let (x, y) = (read(x)?, read(y)?);
        same_columns((&x.name, &x.names), (&y.name, &y.names))?;
        Ok([x, y])
    }

    /// At most `most` rows, evenly spread.
    pub(crate) fn thinned(mut self, most: usize) -> Self {
        let count = self.rows.len();
        self.rows = evenly(self.rows.into_iter(), count, most).collect();
        self
    }

    /// The column of a name, or of a number from 1.
    pub(crate) fn column(&self, wanted: &str) -> Result<usize, Fault> {
        let unknown = || Fault::of(&self.name, format!("no column {wanted}"));
        columns::find(&self.names, wanted).ok_or_else(unknown)
    }

    /// The values of some columns, row by row.
    pub(crate) fn part(&self, columns: &[usize]) -> Result<Points, Fault> {
        let values = self.rows.iter().flat_map(|row| columns.iter().map(|&column| row[column]));
        Points::new(columns.len(), values.collect()).map_err(refused)
    }
}

/// The median distance of at most `most` rows, evenly spread; where it is 0, the smallest above 0.
pub(crate) fn median_distance(points: &Points, most: usize) -> Result<f64, Fault> {
    let found = distance::median(points.rows(), points.len(), most);
    found.ok_or_else(|| Fault::new("all rows are equal"))
}

/// A Gaussian kernel as wide as the median distance of points.
pub(crate) fn median_gaussian(
    points: &Points,
) -> Result<impl Fn(&[f64], &[f64]) -> f64 + Copy + use<>, Fault> {
    median_distance(points, MOST_MEDIAN_ROWS).map(gaussian)
}
