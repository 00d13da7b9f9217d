//! A healthy log, and what is asked of a detector for it.

use std::fmt;

use fastmmd::monitor::LEARNING_ROWS;
use fastmmd_reference::{real, single};

use crate::learning::{least_rows, suggested_rows};
use crate::period::{self, Cycle, rounded};

/// Longest delay by default, in rows.
const WITHIN: usize = 1000;

/// A healthy log. What is given is not chosen.
#[derive(Debug, Clone)]
pub struct Log {
    /// Its rows, a reading for each channel; NaN where there is none.
    pub rows: Vec<Vec<f32>>,
    /// Standard deviation of each channel, over the readings that came.
    pub deviations: Vec<f32>,
    /// The cycle that was found, unless one was given.
    pub cycle: Option<Cycle>,
    /// The period that was given, in rows.
    pub period: Option<f64>,
    /// Rows to learn from, if given.
    pub learn: Option<u32>,
    /// Rows within which a change must be found, if given.
    pub within: Option<usize>,
}

/// There are too few rows to learn from some and to try changes in the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooFew {
    rows: usize,
    learned: u32,
}

impl fmt::Display for TooFew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self { rows, learned }, least) = (self, LEARNING_ROWS.start());
        write!(
            f,
            "too few rows to learn from: {rows} healthy ones; {learned} to learn from, and {least} \
             more to try changes in, are needed"
        )
    }
}

impl std::error::Error for TooFew {}

impl Log {
    /// Looks for a cycle, unless a period is given.
    #[must_use]
    pub fn new(
        rows: Vec<Vec<f32>>,
        channels: usize,
        period: Option<f64>,
        learn: Option<u32>,
        within: Option<usize>,
    ) -> Self {
        let cycle = if period.is_none() { period::find(&rows, channels) } else { None };
        Self { period, learn, within, ..Self::with_cycle(rows, channels, cycle) }
    }

    /// A log whose cycle is known, if it has one.
    #[must_use]
    pub fn with_cycle(rows: Vec<Vec<f32>>, channels: usize, cycle: Option<Cycle>) -> Self {
        let deviations = (0..channels).map(|channel| deviation(&rows, channel)).collect();
        Self { rows, deviations, cycle, period: None, learn: None, within: None }
    }

    /// The periods to try: none, and the one that was found; or the one that was given.
    #[must_use]
    pub fn periods(&self) -> Vec<Option<f64>> {
        let found = self.cycle.as_ref().filter(|cycle| self.has_cycles(cycle.rows));
        match (self.period, found) {
            (Some(given), _) => vec![Some(given)],
            (None, Some(cycle)) => vec![None, Some(rounded(cycle.rows))],
            (None, None) => vec![None],
        }
    }

    /// Whether there are enough cycles of this length to learn from.
    #[must_use]
    pub fn has_cycles(&self, rows: f64) -> bool {
        let half = self.learn.map_or(real(self.rows.len()) / 2.0, f64::from);
        f64::from(least_rows(Some(rows))) <= half
    }

    /// Rows to learn from with this period, and this mean time between false alarms if it was given.
    ///
    /// # Errors
    /// [`TooFew`] if that leaves no rows to try changes in.
    pub fn learning_rows(&self, period: Option<f64>, promise: Option<f32>) -> Result<u32, TooFew> {
        let rows = self.rows.len();
        let learned = self.learn.unwrap_or_else(|| suggested_rows(rows, period, promise));
        if rows < learned as usize + *LEARNING_ROWS.start() as usize {
            return Err(TooFew { rows, learned });
        }
        Ok(learned)
    }

    /// Rows within which a change must be found, if changes are tried from row `from` on.
    #[must_use]
    pub fn within(&self, from: usize) -> usize {
        let rest = self.rows.len().saturating_sub(from);
        self.within.unwrap_or(WITHIN).min(rest / 3).max(1)
    }
}

fn deviation(rows: &[Vec<f32>], channel: usize) -> f32 {
    let values = || rows.iter().map(|row| f64::from(row[channel])).filter(|x| x.is_finite());
    let count = real(values().count().max(1));
    let mean = values().sum::<f64>() / count;
    let variance = values().map(|value| (value - mean) * (value - mean)).sum::<f64>() / count;
    single(variance.sqrt())
}
