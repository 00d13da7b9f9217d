//! What all rows of a log show, in constant memory.

use fastmmd_tune::dependence::Dependence;
use fastmmd_tune::period::{self, Cycle};
use fastmmd_tune::proof;

use crate::label::Moves;
use crate::rows::Row;
use crate::steady::Blocks;
use crate::table::Table;
use crate::time;

/// Rows kept, at most: as they are from the beginning on, and as means of successive rows over the
/// whole log.
const MOST_KEPT: usize = 1 << 15;
/// Numbers kept of either, at most.
const MOST_NUMBERS: usize = 1 << 20;
/// Rows whose dependence on earlier ones is found.
const DEPENDENT_ROWS: usize = 4096;
/// Steps of the time from which the rate is found.
const RATED_STEPS: usize = 1001;
/// A step of so many usual ones is a gap.
const GAP: f64 = 1.5;

/// The clock of a log.
#[derive(Debug, Clone, Default)]
pub(crate) struct Clock {
    first: Vec<f64>,
    begin: Option<f64>,
    last: Option<f64>,
    /// Rows per second.
    pub(crate) rate: Option<f64>,
    pub(crate) gaps: u64,
    /// Length of the longest gap in seconds, and the row after it.
    pub(crate) longest: Option<(f64, u64)>,
    /// Times that are before the one of the row before, and the first such row.
    pub(crate) resets: u64,
    pub(crate) reset: Option<u64>,
    /// Times that are those of the row before.
    pub(crate) repeated: u64,
    /// Times that could not be read.
    pub(crate) unread: u64,
}

impl Clock {
    fn note(&mut self, row: u64, seconds: Option<f64>) {
        let Some(now) = seconds else {
            self.unread += 1;
            return;
        };
        self.begin.get_or_insert(now);
        if self.first.len() < RATED_STEPS {
            self.first.push(now);
            // The first gaps are counted when the usual step is known.
            if self.first.len() == RATED_STEPS {
                self.begin_counting();
            }
        } else if let Some(last) = self.last {
            self.count(row, now - last);
        }
        self.last = Some(now);
    }

    fn begin_counting(&mut self) {
        self.rate = time::rate(&self.first);
        let first = std::mem::take(&mut self.first);
        for (row, pair) in (1..).zip(first.windows(2)) {
            self.count(row, pair[1] - pair[0]);
        }
        self.first = first;
    }

    fn finish(&mut self) {
        if self.first.len() < RATED_STEPS {
            self.begin_counting();
        }
    }

    fn count(&mut self, row: u64, step: f64) {
        if step < 0.0 {
            self.resets += 1;
            self.reset.get_or_insert(row);
        } else if step <= 0.0 {
            self.repeated += 1;
        } else if self.rate.is_some_and(|rate| step * rate > GAP) {
            self.gaps += 1;
            if self.longest.is_none_or(|(longest, _)| step > longest) {
                self.longest = Some((step, row));
            }
        }
    }

    /// Seconds from the first to the last time, if it never went back.
    pub(crate) fn seconds(&self) -> Option<f64> {
        self.last.zip(self.begin).map(|(last, begin)| last - begin).filter(|_| self.resets == 0)
    }
}

/// Means of successive rows, or the first rows.
#[derive(Debug, Clone)]
struct Kept {
    most: usize,
    /// Rows of a mean.
    length: usize,
    rows: Vec<Vec<f32>>,
    /// The sums and counts of the rows that are not yet a mean.
    sums: Vec<(f64, f64)>,
    added: usize,
}

impl Kept {
    fn new(channels: usize, most: usize) -> Self {
        Self { most, length: 1, rows: Vec::new(), sums: vec![(0.0, 0.0); channels], added: 0 }
    }

    fn add(&mut self, values: &[f32]) {
        for ((sum, count), value) in self.sums.iter_mut().zip(values) {
            if value.is_finite() {
                *sum += f64::from(*value);
                *count += 1.0;
            }
        }
        self.added += 1;
        if self.added < self.length {
            return;
        }
        let mean = |(sum, count): &(f64, f64)| fastmmd_reference::single(sum / count);
        self.rows.push(self.sums.iter().map(mean).collect());
        self.sums.fill((0.0, 0.0));
        self.added = 0;
        if self.rows.len() == self.most {
            let joined = self.rows.chunks_exact(2).map(|pair| {
                let both = pair[0].iter().zip(&pair[1]);
                both.map(|(a, b)| {
                    if a.is_nan() {
                        *b
                    } else if b.is_nan() {
                        *a
                    } else {
                        0.5 * (a + b)
                    }
                })
                .collect()
            });
            self.rows = joined.collect();
            self.length *= 2;
        }
    }
}

/// What is known of one channel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Channel {
    pub(crate) least: f32,
    pub(crate) largest: f32,
    pub(crate) missing: u64,
    pub(crate) moves: Moves,
}

/// What all rows show.
pub(crate) struct Survey {
    pub(crate) rows: u64,
    pub(crate) clock: Option<Clock>,
    pub(crate) channels: Vec<Channel>,
    pub(crate) blocks: Blocks,
    most: usize,
    first: Vec<Vec<f32>>,
    kept: Kept,
}

impl Survey {
    pub(crate) fn new(table: &Table) -> Self {
        let channels = table.names().len();
        let none = f32::NAN;
        let one = Channel { least: none, largest: none, missing: 0, moves: Moves::NONE };
        let most = (MOST_NUMBERS / channels.max(1)).clamp(64, MOST_KEPT);
        Self {
            rows: 0,
            clock: table.layout().time.as_ref().map(|_| Clock::default()),
            channels: vec![one; channels],
            blocks: Blocks::new(channels),
            most,
            first: Vec::new(),
            kept: Kept::new(channels, most),
        }
    }

    /// Adds a row, with its time in seconds.
    pub(crate) fn add(&mut self, row: &Row, seconds: Option<f64>) {
        if let Some(clock) = &mut self.clock {
            clock.note(self.rows, seconds);
        }
        self.rows += 1;
        for (channel, value) in self.channels.iter_mut().zip(&row.values) {
            if value.is_nan() {
                channel.missing += 1;
                continue;
            }
            (channel.least, channel.largest) =
                (channel.least.min(*value), channel.largest.max(*value));
            channel.moves.note(*value);
        }
        self.blocks.add(&row.values);
        if self.first.len() < self.most {
            self.first.push(row.values.clone());
        }
        self.kept.add(&row.values);
    }

    pub(crate) fn finish(&mut self) {
        if let Some(clock) = &mut self.clock {
            clock.finish();
        }
    }

    /// How the first rows of each channel, up to some row, depend on earlier ones.
    pub(crate) fn dependence(&self, before: u64) -> Vec<Dependence> {
        let most = usize::try_from(before).unwrap_or(usize::MAX).min(DEPENDENT_ROWS);
        let rows = self.first.get(..most).unwrap_or(&self.first);
        let of = |channel: usize| {
            let values: Vec<f64> = rows.iter().map(|row| f64::from(row[channel])).collect();
            Dependence::of(&values)
        };
        (0..self.channels.len()).map(of).collect()
    }

    /// The cycle of some channels in the rows before some row, and whether it helps a detector to know
    /// it: among the first rows, and among means of more. Of the other channels it explains nothing.
    pub(crate) fn cycle(&self, before: u64, channels: &[usize]) -> Option<(Cycle, bool)> {
        let before = usize::try_from(before).unwrap_or(usize::MAX);
        let of = |all: &[Vec<f32>], length: usize| {
            let rows = all.get(..before / length).unwrap_or(all);
            let chosen: Vec<Vec<f32>>;
            let rows = if channels.len() == self.channels.len() {
                rows
            } else {
                let of_row = |row: &Vec<f32>| channels.iter().map(|at| row[*at]).collect();
                chosen = rows.iter().map(of_row).collect();
                &chosen
            };
            let cycle = period::find(rows, channels.len())?;
            let helps = proof::helps(rows, channels.len(), &cycle);
            let mut explained = vec![0.0; self.channels.len()];
            for (at, part) in channels.iter().zip(&cycle.explained) {
                explained[*at] = *part;
            }
            let rows = cycle.rows * fastmmd_reference::real(length);
            Some((Cycle { rows, explained, ..cycle }, helps))
        };
        let helps = |(_, helps): &(Cycle, bool)| *helps;
        let short = of(&self.first, 1);
        if self.kept.length == 1 || short.as_ref().is_some_and(helps) {
            return short;
        }
        // Means hold more cycles, so that a long one is known better.
        let long = of(&self.kept.rows, self.kept.length);
        if long.as_ref().is_some_and(helps) { long } else { short.or(long) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_and_resets_are_counted() {
        for rows in [100_u64, 5000] {
            let mut clock = Clock::default();
            let mut now = 0.0;
            for row in 0..rows {
                now += match row {
                    50 => 7.0,
                    60 => 0.0,
                    70 => -100.0,
                    80 => 3.0,
                    _ => 0.5,
                };
                clock.note(row, Some(now));
            }
            clock.note(rows, None);
            clock.finish();
            assert_eq!((clock.rate, clock.gaps, clock.resets), (Some(2.0), 2, 1), "{clock:?}");
            assert_eq!((clock.longest, clock.reset), (Some((7.0, 50)), Some(70)));
            assert_eq!((clock.repeated, clock.unread, clock.seconds()), (1, 1, None));
        }
    }

    #[test]
    fn a_long_log_is_kept_as_means() {
        let mut kept = Kept::new(1, 64);
        for row in 0..1000_u16 {
            kept.add(&[f32::from(row % 2)]);
        }
        assert!((32..64).contains(&kept.rows.len()) && kept.length == 16, "{}", kept.length);
        assert!(kept.rows.iter().all(|row| (row[0] - 0.5).abs() < 1e-6));
    }
}
