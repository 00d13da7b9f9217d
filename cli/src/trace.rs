//! Summary of a log for a plot, in constant memory.

use fastmmd::monitor::WindowStatus;

use crate::play::{Raised, Step};

/// Largest number of stretches of rows kept; each is at most one pixel wide.
const MOST: usize = 1024;
/// Largest number of alarms kept.
const MOST_ALARMS: usize = 1000;

/// A log as stretches of rows of equal length. When there are too many, neighbours are joined.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trace {
    /// Number of rows in a stretch.
    pub(crate) length: u64,
    pub(crate) stretches: Vec<Stretch>,
    pub(crate) alarms: Vec<Raised>,
    /// First row monitored.
    pub(crate) monitored: Option<u64>,
    /// Number of rows in total.
    pub(crate) rows: u64,
}

/// Some successive rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stretch {
    /// Smallest and largest value of each channel.
    pub(crate) ranges: Vec<[f32; 2]>,
    /// Largest ratio of statistic to threshold; `None` while learning.
    pub(crate) ratio: Option<f32>,
}

impl Stretch {
    fn join(&mut self, other: &Self) {
        for (range, theirs) in self.ranges.iter_mut().zip(&other.ranges) {
            *range = [range[0].min(theirs[0]), range[1].max(theirs[1])];
        }
        self.ratio = match (self.ratio, other.ratio) {
            (Some(own), Some(theirs)) => Some(own.max(theirs)),
            (own, theirs) => own.or(theirs),
        };
    }
}

impl Trace {
    pub(crate) fn new() -> Self {
        Self { length: 1, ..Self::default() }
    }

    pub(crate) fn note(&mut self, step: &Step<'_>) {
        let WindowStatus { statistic, threshold, .. } = step.detector.foremost();
        let ratio = (threshold > 0.0).then(|| statistic / threshold);
        let number = step.row.number;
        if ratio.is_some() {
            self.monitored.get_or_insert(number);
        }
        self.add(number, &step.row.values, ratio);
        if let Some(raised) = step.alarm
            && self.alarms.len() < MOST_ALARMS
        {
            self.alarms.push(raised);
        }
    }

    fn add(&mut self, number: u64, values: &[f32], ratio: Option<f32>) {
        self.rows = number + 1;
        let ranges = values.iter().map(|value| [*value; 2]).collect();
        let stretch = Stretch { ranges, ratio };
        while number / self.length >= MOST as u64 {
            self.halve();
        }
        let at = usize::try_from(number / self.length).unwrap_or(MOST);
        match self.stretches.get_mut(at) {
            Some(known) => known.join(&stretch),
            None => {
                // Stretches without rows are drawn like the next ones.
                self.stretches.resize(at + 1, stretch);
            }
        }
    }

    fn halve(&mut self) {
        let pairs = self.stretches.chunks(2).map(|pair| {
            let mut first = pair[0].clone();
            pair.iter().skip(1).for_each(|second| first.join(second));
            first
        });
        self.stretches = pairs.collect();
        self.length *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_survive_in_constant_memory() {
        let mut trace = Trace::new();
        for row in 0..100_000_u64 {
            let value = if row == 77_777 {
                1e6
            } else {
                [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0][usize::try_from(row % 7).unwrap()]
            };
            trace.add(row, &[value], (row >= 1000).then_some(value));
        }
        assert!(trace.stretches.len() <= MOST && trace.stretches.len() > MOST / 2);
        assert_eq!((trace.rows, trace.length), (100_000, 128));
        let at = 77_777 / 128;
        assert_eq!(trace.stretches[at].ranges, [[0.0, 1e6]]);
        assert_eq!(trace.stretches[at + 1].ranges, [[0.0, 6.0]]);
        assert_eq!((trace.stretches[0].ratio, trace.stretches[at].ratio), (None, Some(1e6)));
    }
}
