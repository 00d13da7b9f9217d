//! Runs a log through a detector, row by row.

use fastmmd::condition::MAX_READING;
use fastmmd::dynamic::Detector;
use fastmmd::{Alarm, Error, Parameter, Verdict};

use crate::ahead::{After, Ahead};
use crate::fault::Fault;
use crate::progress::Progress;
use crate::rows::{Row, Rows};

/// Largest number of gaps remembered, to convert rows of the detector to rows of the log.
const MOST_GAPS: usize = 4096;

/// One row and the detector's verdict.
pub(crate) struct Step<'a> {
    pub(crate) row: &'a Row,
    pub(crate) detector: &'a Detector<'a>,
    pub(crate) alarm: Option<Raised>,
}

/// An alarm, with rows counted as in the log.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Raised {
    pub(crate) row: u64,
    /// Negative if the change began in an earlier log from which this one continues.
    pub(crate) since: i64,
    pub(crate) alarm: Alarm,
}

impl Outcome {
    /// The outcome, unless there were too few rows to learn from.
    pub(crate) fn learned(self, log: &str) -> Result<Self, Fault> {
        if self.missing == 0 {
            return Ok(self);
        }
        let (all, needed) = (self.learned, self.learned + self.missing);
        let skipped = match self.skipped {
            0 => String::new(),
            rows => format!(" without the {rows} skipped"),
        };
        let why = format!(
            "too few rows to learn from: {all} in all{skipped}, {needed} are needed (--learn)"
        );
        Err(Fault::of(log, why))
    }
}

/// The results of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Outcome {
    /// Number of rows of data, including those left out.
    pub(crate) rows: u64,
    /// Number of rows learned from.
    pub(crate) learned: u64,
    pub(crate) alarms: u64,
    /// Number of rows still needed to learn from.
    pub(crate) missing: u64,
    /// Number of rows left out because a value was missing.
    pub(crate) skipped: u64,
}

/// Pushes all rows of a log into the detector, and calls `see` for each.
pub(crate) fn play(
    log: Rows,
    detector: &mut Detector<'_>,
    allow_constant: bool,
    mut see: impl FnMut(&Step<'_>) -> Result<(), Fault>,
) -> Result<Outcome, Fault> {
    let mut player = Player {
        log: log.table.name().to_owned(),
        names: log.table.names(),
        outcome: Outcome::default(),
        pushed: 0,
        gaps: Gaps::new(detector.rows()),
        movement: Movement::default(),
        learning: !detector.stage().is_learned(),
        // Which channels moved in an earlier log is not known.
        allow_constant: allow_constant || detector.rows() > 0,
    };
    let mut progress = Progress::new();
    let rows = Ahead::begin(log);
    while let Some(batch) = rows.next()? {
        for row in batch.rows() {
            let alarm = player.push(row, detector)?;
            let step = Step { row, detector, alarm };
            if step.alarm.is_some() {
                progress.aside(|| see(&step))?;
            } else {
                see(&step)?;
            }
        }
        player.outcome.rows = batch.read;
        progress.show(batch.progress);
        match batch.after {
            After::More => rows.give_back(batch),
            After::End => break,
            After::Fault(fault) => return Err(fault),
        }
    }
    progress.finish();
    player.finish(detector)
}

/// The state kept from row to row.
struct Player {
    log: String,
    names: Vec<String>,
    outcome: Outcome,
    /// Number of rows that the detector accepted.
    pushed: u64,
    gaps: Gaps,
    movement: Movement,
    learning: bool,
    allow_constant: bool,
}

impl Player {
    fn push(&mut self, row: &Row, detector: &mut Detector<'_>) -> Result<Option<Raised>, Fault> {
        self.gaps.note(detector.rows(), row.number);
        let verdict = detector.push(&row.values).map_err(|error| self.refused(row, error))?;
        self.pushed += 1;
        if self.learning {
            self.movement.note(&row.values);
            self.outcome.learned += 1;
            self.learning = !detector.stage().is_learned();
            if !self.learning {
                self.check_movement(row.number)?;
            }
        }
        let Verdict::Alarm(alarm) = verdict else { return Ok(None) };
        self.outcome.alarms += 1;
        Ok(Some(Raised { row: row.number, since: self.gaps.number(alarm.since), alarm }))
    }

    fn finish(mut self, detector: &Detector<'_>) -> Result<Outcome, Fault> {
        self.outcome.skipped = self.outcome.rows.saturating_sub(self.pushed);
        if !self.learning {
            return Ok(self.outcome);
        }
        if self.outcome.learned > 1 {
            self.check_movement(self.outcome.rows.saturating_sub(1))?;
        }
        self.outcome.missing = detector.rows_to_learn();
        Ok(self.outcome)
    }

    fn check_movement(&self, last: u64) -> Result<(), Fault> {
        match self.movement.still() {
            Some((channel, value)) if !self.allow_constant => {
                let name = self.name(channel);
                let why = format!(
                    "rows 0 to {last}, column {name:?}: always {value} in single precision; leave it out \
                     with --columns, or take it with --allow-constant"
                );
                Err(Fault::of(&self.log, why))
            }
            _ => Ok(()),
        }
    }

    fn refused(&self, row: &Row, error: Error) -> Fault {
        let why = match error {
            Error::OutOfRange(Parameter::Channel(channel)) => {
                let value = row.values.get(channel).copied().unwrap_or_default();
                let name = self.name(channel);
                let row = row.number;
                format!("row {row}, column {name:?}: {value} is beyond ±{MAX_READING:e}")
            }
            other => format!("row {}: {other}", row.number),
        };
        Fault::of(&self.log, why)
    }

    fn name(&self, channel: usize) -> &str {
        self.names.get(channel).map_or("?", String::as_str)
    }
}

/// Whether each channel has changed its value.
#[derive(Debug, Default)]
struct Movement {
    first: Vec<f32>,
    moved: Vec<bool>,
}

impl Movement {
    fn note(&mut self, values: &[f32]) {
        if self.first.is_empty() {
            self.first = values.to_vec();
            self.moved = vec![false; values.len()];
        }
        for ((moved, first), value) in self.moved.iter_mut().zip(&self.first).zip(values) {
            *moved |= first.to_bits() != value.to_bits();
        }
    }

    /// The first channel that has been constant, and its value.
    fn still(&self) -> Option<(usize, f32)> {
        let channel = self.moved.iter().position(|moved| !moved)?;
        self.first.get(channel).map(|value| (channel, *value))
    }
}

/// Converts rows of the detector to rows of the log. They differ if rows were left out, or if the
/// detector had seen rows before.
#[derive(Debug)]
struct Gaps {
    /// Pairs: from this row of the detector on, the log is ahead by this many rows. The first pair
    /// also holds for all rows before it.
    ahead: Vec<(u64, i64)>,
}

impl Gaps {
    fn new(rows_before: u64) -> Self {
        Self { ahead: vec![(0, -signed(rows_before))] }
    }

    fn note(&mut self, pushed: u64, number: u64) {
        let ahead = signed(number) - signed(pushed);
        if self.ahead.last().is_none_or(|(_, last)| *last != ahead) {
            if self.ahead.len() == MOST_GAPS {
                self.ahead.drain(..MOST_GAPS / 2);
            }
            self.ahead.push((pushed, ahead));
        }
    }

    fn number(&self, pushed: u64) -> i64 {
        let after = self.ahead.partition_point(|(from, _)| *from <= pushed);
        let ahead = self.ahead.get(after.saturating_sub(1)).map_or(0, |(_, ahead)| *ahead);
        signed(pushed) + ahead
    }
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_left_out_are_counted() {
        let mut gaps = Gaps::new(0);
        for (pushed, number) in [(0, 0), (1, 1), (2, 5), (3, 6), (4, 8)] {
            gaps.note(pushed, number);
        }
        assert_eq!([0, 1, 2, 3, 4].map(|row| gaps.number(row)), [0, 1, 5, 6, 8]);
        let mut resumed = Gaps::new(100);
        resumed.note(100, 0);
        resumed.note(101, 1);
        assert_eq!([90, 100, 101].map(|row| resumed.number(row)), [-10, 0, 1]);
    }

    #[test]
    fn many_gaps_are_forgotten_from_the_oldest_on() {
        let mut gaps = Gaps::new(0);
        for row in 0..20_000 {
            gaps.note(row, 2 * row);
        }
        assert!(gaps.ahead.len() <= MOST_GAPS);
        assert_eq!([19_999, 19_000].map(|row| gaps.number(row)), [39_998, 38_000]);
    }
}
