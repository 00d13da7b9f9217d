//! Two samples whose rows depend on earlier ones: blocks of rows instead of rows.

use fastmmd_reference::features::Frequencies;
use fastmmd_reference::null::Features;
use fastmmd_reference::real;

use crate::dependence::Dependence;
use crate::fault::Fault;
use crate::sample::{Readings, points, refused};

/// Rows of a sample whose dependence is found.
const DEPENDENT_ROWS: usize = 8192;
/// Rows depend on each other if so many are worth one.
const DEPENDENT: f64 = 1.5;
/// Length of a block, in autocorrelation times.
const LONG: f64 = 5.0;
/// Fewest blocks of a sample: with fewer, there are too few ways to shuffle them.
const FEWEST: usize = 20;
/// Most blocks of a sample.
const MOST: usize = 2000;

/// How much the rows of two samples depend on earlier ones.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    /// Rows of each sample that are worth one independent row, in the channel where they are most.
    pub(crate) rows: [f64; 2],
    /// How many independent rows each sample is worth.
    pub(crate) worth: [f64; 2],
    /// Rows of a block.
    pub(crate) block: usize,
    /// Whether blocks had to be shorter than they should be.
    pub(crate) short: bool,
}

impl Memory {
    pub(crate) fn of(x: &Readings, y: &Readings) -> Self {
        let rows = [x, y].map(longest);
        let smaller = x.len().min(y.len());
        let wanted = (LONG * rows[0].max(rows[1])).ceil();
        let most = (smaller / FEWEST).max(1);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "no more than the rows of a file"
        )]
        let block = wanted.min(real(most)) as usize;
        let least = x.len().max(y.len()).div_ceil(MOST).min(most);
        Self {
            rows,
            worth: [real(x.len()) / rows[0], real(y.len()) / rows[1]],
            block: block.max(least),
            short: wanted > real(most),
        }
    }

    pub(crate) fn is_dependent(&self) -> bool {
        self.rows.iter().any(|rows| *rows >= DEPENDENT)
    }
}

/// The longest autocorrelation time of a channel.
fn longest(sample: &Readings) -> f64 {
    let of = |channel: usize| {
        let rows = sample.rows().take(DEPENDENT_ROWS);
        let values: Vec<f64> = rows.map(|row| f64::from(row[channel])).collect();
        Dependence::of(&values).rows
    };
    (0..sample.dims()).map(of).fold(1.0, f64::max)
}

/// The mean features of blocks of rows, of one sample and then the other: to shuffle blocks is to
/// shuffle these. MMD² between the two groups is that of all rows in whole blocks.
pub(crate) fn pool(
    frequencies: &Frequencies,
    x: &Readings,
    y: &Readings,
    block: usize,
) -> Result<Features, Fault> {
    let (mut values, mut sizes) = (Vec::new(), [0; 2]);
    for (sample, size) in [x, y].into_iter().zip(&mut sizes) {
        for rows in sample.values.chunks_exact(block * sample.dims()) {
            let rows = points(sample.dims(), rows.chunks_exact(sample.dims()))?;
            let features = frequencies.columns(&rows).map_err(refused)?;
            values.extend(features.column_mean().iter());
            *size += 1;
        }
    }
    Features::from_values(sizes, values).map_err(refused)
}
