//! Two samples whose rows depend on earlier ones: how long blocks of rows have to be, so that blocks can
//! be shuffled where rows cannot.

use fastmmd_reference::real;

use crate::dependence::Dependence;

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
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Memory {
    /// Rows of each sample that are worth one independent row, in the channel where they are most.
    pub rows: [f64; 2],
    /// How many independent rows each sample is worth.
    pub worth: [f64; 2],
    /// Rows of a block: five autocorrelation times, if that leaves twenty blocks.
    pub block: usize,
    /// Whether blocks had to be shorter than they should be.
    pub short: bool,
}

impl Memory {
    /// Of two samples of so many rows; `reading` gives that of a sample, row and channel.
    #[must_use]
    pub fn of(
        sizes: [usize; 2],
        channels: usize,
        reading: impl Fn(usize, usize, usize) -> f64,
    ) -> Self {
        let rows = [0, 1].map(|sample| {
            let of = |channel: usize| {
                let rows = 0..sizes[sample].min(DEPENDENT_ROWS);
                let values: Vec<f64> = rows.map(|row| reading(sample, row, channel)).collect();
                Dependence::of(&values).rows
            };
            (0..channels).map(of).fold(1.0, f64::max)
        });
        let smaller = sizes[0].min(sizes[1]);
        let wanted = (LONG * rows[0].max(rows[1])).ceil();
        let most = (smaller / FEWEST).max(1);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "no more than the rows of a sample"
        )]
        let block = wanted.min(real(most)) as usize;
        let least = sizes[0].max(sizes[1]).div_ceil(MOST).min(most);
        Self {
            rows,
            worth: [real(sizes[0]) / rows[0], real(sizes[1]) / rows[1]],
            block: block.max(least),
            short: wanted > real(most),
        }
    }

    /// Whether the rows of either depend on earlier ones.
    #[must_use]
    pub fn is_dependent(&self) -> bool {
        self.rows.iter().any(|rows| *rows >= DEPENDENT)
    }
}
