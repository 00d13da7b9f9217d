//! Files as samples for the commands of the toolbox: `independence`, `select`, `reweight`,
//! `nystrom`.

use std::path::Path;

use fastmmd_reference::{Points, Refused};

use crate::args::{Columns, Missing};
use crate::fault::Fault;
use crate::source::Source;
use crate::table::Table;

/// Largest number of rows whose distances are compared for the median.
const MOST_MEDIAN_ROWS: usize = 500;

/// The rows of a file.
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) names: Vec<String>,
    pub(crate) rows: Vec<Vec<f64>>,
}

pub(crate) fn refused(error: Refused) -> Fault {
    Fault::new(error)
}

impl Sample {
    /// Reads a file of at least two rows.
    pub(crate) fn read(path: &Path, columns: &Columns, missing: Missing) -> Result<Self, Fault> {
        let mut table = Table::open(&Source::new(path, false), columns, missing)?;
        let (mut rows, mut row) = (Vec::new(), Vec::new());
        while table.next(&mut row)? {
            rows.push(row.iter().map(|&value| f64::from(value)).collect());
        }
        let sample = Self { name: table.name().to_owned(), names: table.names(), rows };
        if sample.rows.len() < 2 {
            let why = format!("{} rows; at least 2 are needed", sample.rows.len());
            return Err(Fault::of(sample.name, why));
        }
        Ok(sample)
    }

    /// At most `most` rows, evenly spread.
    pub(crate) fn thinned(mut self, most: usize) -> Self {
        let step = self.rows.len().div_ceil(most).max(1);
        self.rows = self.rows.into_iter().step_by(step).collect();
        self
    }

    /// The column of a name, or of a number from 1.
    pub(crate) fn column(&self, wanted: &str) -> Result<usize, Fault> {
        let by_name = self.names.iter().position(|name| name == wanted);
        let by_number = || {
            wanted
                .parse()
                .ok()
                .and_then(|n: usize| n.checked_sub(1))
                .filter(|n| *n < self.names.len())
        };
        let unknown = || Fault::of(&self.name, format!("no column {wanted}"));
        by_name.or_else(by_number).ok_or_else(unknown)
    }

    /// The values of some columns, row by row.
    pub(crate) fn part(&self, columns: &[usize]) -> Result<Points, Fault> {
        let values = self.rows.iter().flat_map(|row| columns.iter().map(|&column| row[column]));
        Points::new(columns.len(), values.collect()).map_err(refused)
    }
}

/// The median distance of rows, or the least above 0 where that is 0.
pub(crate) fn median_distance(points: &Points) -> Result<f64, Fault> {
    let step = points.len().div_ceil(MOST_MEDIAN_ROWS).max(1);
    let some: Vec<&[f64]> = points.rows().step_by(step).collect();
    let mut distances = Vec::new();
    for (index, a) in some.iter().enumerate() {
        for b in &some[..index] {
            let squared: f64 = a.iter().zip(*b).map(|(a, b)| (a - b).powi(2)).sum();
            distances.push(squared.sqrt());
        }
    }
    distances.sort_unstable_by(f64::total_cmp);
    let middle = distances.get(distances.len() / 2).copied().filter(|middle| *middle > 0.0);
    let least = || distances.iter().copied().find(|distance| *distance > 0.0);
    middle.or_else(least).ok_or_else(|| Fault::new("all rows are equal"))
}
