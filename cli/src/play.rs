//! Runs a log through a detector, row by row.

use fastmmd::condition::MAX_READING;
use fastmmd::{Alarm, Error, Parameter, Stage, Verdict};
use fastmmd_tune::detector::Detector;
use fastmmd_tune::learning::is_kept;

use crate::ahead;
use crate::fault::Fault;
use crate::progress::Progress;
use crate::rows::{Row, Rows};
use crate::steady::{Blocks, Changed};

/// Largest number of gaps remembered, to convert rows of the detector to rows of the log.
const MOST_GAPS: usize = 4096;

/// One row and the detector's verdict.
pub(crate) struct Step<'a> {
    pub(crate) row: &'a Row,
    pub(crate) detector: &'a Detector<'a>,
    pub(crate) said: Option<Said>,
}

/// What is reported about a row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Said {
    Alarm(Told),
    /// An alarm of some rows ago, as it looks now.
    Amended(Told),
    /// From this row on the detector learns again: a drift has lasted for the stated time.
    Relearns,
}

/// An alarm, with rows counted as in the log: negative in an earlier one from which this continues.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Told {
    pub(crate) row: i64,
    pub(crate) since: i64,
    /// The time of its row, as written in the log.
    pub(crate) time: Option<Vec<u8>>,
    pub(crate) alarm: Alarm,
}

/// The results of a log.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Outcome {
    /// Number of rows of data, including those left out.
    pub(crate) rows: u64,
    /// Number of rows learned from.
    pub(crate) learned: u64,
    pub(crate) alarms: u64,
    /// Number of rows still needed to learn from.
    pub(crate) to_learn: u64,
    /// Number of rows left out because a value was missing.
    pub(crate) skipped: u64,
    /// Number of missing readings.
    pub(crate) missing: u64,
    /// Number of lines left out that were no rows.
    pub(crate) bad: u64,
    /// What changed within the rows learned from.
    pub(crate) learned_over: Vec<Changed>,
    /// The first alarm of each leg of each channel since something has differed, as amended.
    pub(crate) told: Vec<Told>,
}

impl Outcome {
    /// The outcome, unless there were too few rows to learn from.
    pub(crate) fn learned(self, log: &str) -> Result<Self, Fault> {
        if self.to_learn == 0 {
            return Ok(self);
        }
        let (all, needed) = (self.learned, self.learned + self.to_learn);
        let skipped = match self.skipped {
            0 => String::new(),
            rows => format!(" without the {rows} skipped"),
        };
        let why = format!(
            "too few rows to learn from: {all} in all{skipped}, {needed} are needed (--learn)"
        );
        Err(Fault::of(log, why))
    }

    /// Number of false alarms promised in the rows watched.
    pub(crate) fn promised(&self, detector: &Detector<'_>) -> f64 {
        number(self.watched()) / f64::from(detector.config().mean_time_between_false_alarms)
    }

    /// Whether this is drift: something differs at the end, or there were more alarms than the promise
    /// explains. In a log shorter than the promised time each alarm is one too many; in a longer one so
    /// many are to be expected.
    pub(crate) fn is_drift(&self, detector: &Detector<'_>) -> bool {
        let promised = self.promised(detector);
        let explained = promised >= 1.0 && is_kept(number(self.alarms), promised);
        detector.stage() == Stage::Drift || (self.alarms > 0 && !explained)
    }

    /// Number of rows watched.
    pub(crate) fn watched(&self) -> u64 {
        self.rows.saturating_sub(self.learned + self.skipped)
    }

    /// Remembers an alarm, unless an earlier one was raised for the same drift.
    fn tell(&mut self, told: &Told) {
        let key = |told: &Told| (told.alarm.leg, told.alarm.channel);
        if self.told.iter().all(|other| key(other) != key(told)) {
            self.told.push(told.clone());
        }
    }
}

/// Pushes all rows of a log into the detector, and calls `see` for each.
pub(crate) fn play(
    log: Rows,
    detector: &mut Detector<'_>,
    progress: Progress<'_>,
    mut see: impl FnMut(&Step<'_>) -> Result<(), Fault>,
) -> Result<Outcome, Fault> {
    let mut player = Player {
        log: log.table.name().to_owned(),
        names: log.table.names(),
        outcome: Outcome::default(),
        pushed: 0,
        gaps: Gaps::new(detector.rows()),
        learned: detector.stage().is_learned(),
        times: Vec::new(),
        learning: Blocks::new(detector.channels()),
    };
    ahead::each(log, progress, |batch, progress| {
        for row in batch.rows() {
            let said = player.push(row, detector)?;
            let step = Step { row, detector, said };
            if step.said.is_some() {
                progress.aside(|| see(&step))?;
            } else {
                see(&step)?;
            }
        }
        (player.outcome.rows, player.outcome.bad) = (batch.read, batch.bad);
        Ok(())
    })?;
    let Player { mut outcome, pushed, learning, .. } = player;
    outcome.learned_over = learning.changes();
    outcome.skipped = outcome.rows.saturating_sub(pushed);
    outcome.to_learn = detector.rows_to_learn();
    Ok(outcome)
}

/// The state kept from row to row.
struct Player {
    log: String,
    names: Vec<String>,
    outcome: Outcome,
    /// Number of rows that the detector accepted.
    pushed: u64,
    gaps: Gaps,
    /// Whether the detector has learned.
    learned: bool,
    /// Rows of the last alarms, as the detector counts them, and their times.
    times: Vec<(u64, Option<Vec<u8>>)>,
    /// The rows learned from.
    learning: Blocks,
}

impl Player {
    fn push(&mut self, row: &Row, detector: &mut Detector<'_>) -> Result<Option<Said>, Fault> {
        self.gaps.note(detector.rows(), row.number);
        let verdict = detector.push(&row.values).map_err(|error| self.refused(row, error))?;
        self.pushed += 1;
        let missing = row.values.iter().filter(|value| value.is_nan()).count();
        self.outcome.missing += u64::try_from(missing).unwrap_or(u64::MAX);
        match verdict {
            Verdict::Learning { .. } => {
                self.outcome.learned += 1;
                let anew = std::mem::replace(&mut self.learned, detector.stage().is_learned());
                if anew {
                    self.learning = Blocks::new(detector.channels());
                }
                self.learning.add(&row.values);
                Ok(anew.then_some(Said::Relearns))
            }
            Verdict::Healthy => {
                self.outcome.told.clear();
                Ok(None)
            }
            Verdict::Drifting => Ok(None),
            Verdict::Alarm(alarm) => {
                self.outcome.alarms += 1;
                // An alarm is amended 32 rows later, or not at all.
                self.times.retain(|(at, _)| alarm.row.saturating_sub(*at) < 64);
                self.times.push((alarm.row, row.time.clone()));
                let told = self.told(alarm);
                self.outcome.tell(&told);
                Ok(Some(Said::Alarm(told)))
            }
            Verdict::Amended(alarm) => {
                let told = self.told(alarm);
                if let Some(known) = self.outcome.told.iter_mut().find(|it| it.row == told.row) {
                    known.clone_from(&told);
                }
                Ok(Some(Said::Amended(told)))
            }
        }
    }

    /// An alarm as it stands in the log.
    fn told(&self, alarm: Alarm) -> Told {
        let [row, since] = [alarm.row, alarm.since].map(|row| self.gaps.number(row));
        let time = self.times.iter().find(|(at, _)| *at == alarm.row);
        Told { row, since, time: time.and_then(|(_, time)| time.clone()), alarm }
    }

    fn refused(&self, row: &Row, error: Error) -> Fault {
        let why = match error {
            Error::OutOfRange(Parameter::Channel(channel)) => {
                let value = row.values.get(channel).copied().unwrap_or_default();
                format!("column {:?}: {value} is beyond ±{MAX_READING:e}", self.name(channel))
            }
            Error::NonFinite(Parameter::Channel(channel)) => format!(
                "column {:?}: no reading, which the saved detector refuses; --missing skip leaves \
                 such rows out",
                self.name(channel)
            ),
            other => return Fault::of(&self.log, format!("row {}: {other}", row.number)),
        };
        Fault::of(&self.log, format!("row {}, {why}", row.number))
    }

    fn name(&self, channel: usize) -> &str {
        self.names.get(channel).map_or("?", String::as_str)
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

#[expect(clippy::cast_precision_loss, reason = "an expectation need not be exact")]
fn number(count: u64) -> f64 {
    count as f64
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
