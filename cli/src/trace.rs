//! Summary of a log for a plot, in constant memory.

use std::collections::BTreeSet;

use fastmmd::Stage;

use crate::play::{Said, Step, Told};
use crate::time::Clock;

/// Largest number of stretches of rows kept for a picture; each is at most one pixel wide.
const PIXELS: usize = 1024;
/// The same for a page that can be zoomed into, for all channels together and for one.
const ZOOMED: usize = 1 << 15;
const MOST_ZOOMED: usize = 1 << 13;
/// Largest number of alarms kept, and of drifts, and of times of learning.
const MOST_KEPT: usize = 1000;

/// A log as stretches of rows of equal length. When there are too many, neighbours are joined.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trace {
    /// Number of rows in a stretch.
    pub(crate) length: u64,
    /// Largest number of stretches.
    most: usize,
    pub(crate) stretches: Vec<Stretch>,
    /// The first alarms, as amended.
    pub(crate) alarms: Vec<Told>,
    /// How the times of the log are written, if it has any.
    pub(crate) clock: Option<Clock>,
    /// Channels that an alarm named, or that differed.
    pub(crate) concerned: BTreeSet<usize>,
    /// Number of alarms in total.
    pub(crate) alarm_count: u64,
    /// Rows learned from.
    pub(crate) learning: Vec<Rows>,
    pub(crate) drifts: Vec<Drift>,
    /// Number of rows in total.
    pub(crate) rows: u64,
}

/// Some successive rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stretch {
    /// Smallest and largest value of each channel; NaN if none came.
    pub(crate) ranges: Vec<[f32; 2]>,
    /// Largest ratio of a statistic to its threshold; `None` while learning.
    pub(crate) ratio: Option<f32>,
    /// Number of alarms.
    pub(crate) alarms: u64,
    /// The time of the first row, as written in the log.
    pub(crate) time: Option<Vec<u8>>,
}

/// From a row to before another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rows {
    pub(crate) from: u64,
    pub(crate) to: u64,
}

/// A channel that differs for some rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Drift {
    pub(crate) channel: usize,
    /// From the row on which it seems to have begun.
    pub(crate) rows: Rows,
}

impl Stretch {
    fn join(&mut self, other: &Self) {
        for (range, theirs) in self.ranges.iter_mut().zip(&other.ranges) {
            // A number is taken where the other is none.
            *range = [range[0].min(theirs[0]), range[1].max(theirs[1])];
        }
        self.ratio = match (self.ratio, other.ratio) {
            (Some(own), Some(theirs)) => Some(own.max(theirs)),
            (own, theirs) => own.or(theirs),
        };
        self.alarms += other.alarms;
        if self.time.is_none() {
            self.time.clone_from(&other.time);
        }
    }
}

impl Trace {
    pub(crate) fn new(clock: Option<Clock>) -> Self {
        Self { length: 1, most: PIXELS, clock, ..Self::default() }
    }

    /// With more stretches, to zoom into.
    pub(crate) fn zoomed(clock: Option<Clock>, channels: usize) -> Self {
        let most = (ZOOMED / channels.max(1)).clamp(PIXELS, MOST_ZOOMED);
        Self { most, ..Self::new(clock) }
    }

    /// Whether there are more alarms than are kept one by one.
    pub(crate) fn is_crowded(&self) -> bool {
        self.alarm_count > MOST_KEPT as u64
    }

    /// The stretch of a row.
    pub(crate) fn stretch(&self, row: u64) -> Option<&Stretch> {
        self.stretches.get(usize::try_from(row / self.length).unwrap_or(usize::MAX))
    }

    pub(crate) fn note(&mut self, step: &Step<'_>) {
        let number = step.row.number;
        let before = self.rows;
        let ratio = step.detector.nearest().map(|leg| leg.ratio());
        let alarms = u64::from(matches!(step.said, Some(Said::Alarm(_))));
        self.add(number, &step.row.values, ratio, alarms, step.row.time.as_deref());
        if ratio.is_none() {
            extend(&mut self.learning, before, number);
        }
        match &step.said {
            Some(Said::Alarm(told)) => {
                self.alarm_count += 1;
                self.concerned.insert(told.alarm.channel);
                if self.alarms.len() < MOST_KEPT {
                    self.alarms.push(told.clone());
                }
            }
            Some(Said::Amended(told)) => self.amend(told),
            Some(Said::Relearns) | None => {}
        }
        if step.detector.stage() == Stage::Drift {
            self.note_drifts(step, before);
        }
    }

    /// Corrects an alarm, and the drift that began with it.
    fn amend(&mut self, told: &Told) {
        let Some(alarm) = self.alarms.iter_mut().rev().find(|alarm| alarm.row == told.row) else {
            return;
        };
        let before = std::mem::replace(alarm, told.clone());
        let (began, row) = (row_of(before.since), row_of(before.row));
        let first = |drift: &Drift| {
            drift.channel == before.alarm.channel && (began..=row).contains(&drift.rows.from)
        };
        if let Some(at) = self.drifts.iter().rposition(first) {
            let Drift { rows: Rows { to, .. }, .. } = self.drifts.remove(at);
            let channel = told.alarm.channel;
            let from = self.beginning(channel, told.since);
            self.drifts.insert(at, Drift { channel, rows: Rows { from, to } });
        }
    }

    /// The row on which a drift of a channel began, if it seems to be this one: after learning, and
    /// after the drift before.
    fn beginning(&self, channel: usize, since: i64) -> u64 {
        let learned = self.learning.last().map_or(0, |rows| rows.to);
        let last = self.drifts.iter().rev().find(|drift| drift.channel == channel);
        row_of(since).max(learned).max(last.map_or(0, |drift| drift.rows.to))
    }

    /// Lengthens the drifts of all channels that differ now.
    fn note_drifts(&mut self, step: &Step<'_>, before: u64) {
        let number = step.row.number;
        let mut channels: Vec<usize> = Vec::new();
        for open in step.detector.open() {
            // What differs in all channels together is shown where the alarm said.
            let named = || {
                let alarm = self.alarms.iter().rev().find(|told| told.alarm.leg == open.leg);
                alarm.map(|told| told.alarm.channel)
            };
            channels.extend(open.channel.or_else(named));
        }
        channels.sort_unstable();
        channels.dedup();
        self.concerned.extend(&channels);
        for channel in channels {
            let last = self.drifts.iter_mut().rev().find(|drift| drift.channel == channel);
            if let Some(drift) = last.filter(|drift| drift.rows.to == before) {
                drift.rows.to = number + 1;
                continue;
            }
            let told = match &step.said {
                Some(Said::Alarm(told)) if told.alarm.channel == channel => Some(told.since),
                _ => None,
            };
            let from = told.map_or(number, |since| self.beginning(channel, since));
            if self.drifts.len() == MOST_KEPT {
                self.join_drifts();
            }
            self.drifts.push(Drift { channel, rows: Rows { from, to: number + 1 } });
        }
    }

    /// Joins drifts of a channel with as little between them as it takes to halve their number: less
    /// than can be seen, unless most of the log is drift.
    fn join_drifts(&mut self) {
        let mut apart = self.length;
        while self.drifts.len() > MOST_KEPT / 2 {
            let mut joined: Vec<Drift> = Vec::new();
            for drift in &self.drifts {
                let last = joined.iter_mut().rev().find(|last| last.channel == drift.channel);
                match last.filter(|last| drift.rows.from <= last.rows.to + apart) {
                    Some(last) => last.rows.to = last.rows.to.max(drift.rows.to),
                    None => joined.push(*drift),
                }
            }
            self.drifts = joined;
            apart = apart.saturating_mul(2);
            if apart > self.rows {
                // One for each channel: there are more channels than that.
                return;
            }
        }
    }

    fn add(
        &mut self,
        number: u64,
        values: &[f32],
        ratio: Option<f32>,
        alarms: u64,
        time: Option<&[u8]>,
    ) {
        self.rows = number + 1;
        let begins = number / self.length >= self.stretches.len() as u64;
        let time = time.filter(|_| begins && self.clock.is_some()).map(<[u8]>::to_vec);
        let ranges = values.iter().map(|value| [*value; 2]).collect();
        let stretch = Stretch { ranges, ratio, alarms, time };
        while number / self.length >= self.most as u64 {
            self.halve();
        }
        let at = usize::try_from(number / self.length).unwrap_or(usize::MAX);
        match self.stretches.get_mut(at) {
            Some(known) => known.join(&stretch),
            None => {
                // Stretches without rows are drawn like the next ones.
                self.stretches.resize(at, Stretch { alarms: 0, ..stretch.clone() });
                self.stretches.push(stretch);
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

/// A row of this log: the first one for those of an earlier one.
fn row_of(row: i64) -> u64 {
    u64::try_from(row).unwrap_or(0)
}

/// Adds a row to the last of some spans if that ended `before` it, or as a new one.
fn extend(spans: &mut Vec<Rows>, before: u64, number: u64) {
    if let Some(last) = spans.last_mut().filter(|last| last.to == before) {
        last.to = number + 1;
    } else if spans.len() < MOST_KEPT {
        spans.push(Rows { from: number, to: number + 1 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_survive_in_constant_memory() {
        let mut trace = Trace::new(None);
        for row in 0..100_000_u64 {
            let value = if row == 77_777 {
                1e6
            } else {
                [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0][usize::try_from(row % 7).unwrap()]
            };
            trace.add(row, &[value], (row >= 1000).then_some(value), 0, None);
        }
        assert!(trace.stretches.len() <= PIXELS && trace.stretches.len() > PIXELS / 2);
        assert_eq!((trace.rows, trace.length), (100_000, 128));
        let at = 77_777 / 128;
        assert_eq!(trace.stretches[at].ranges, [[0.0, 1e6]]);
        assert_eq!(trace.stretches[at + 1].ranges, [[0.0, 6.0]]);
        assert_eq!((trace.stretches[0].ratio, trace.stretches[at].ratio), (None, Some(1e6)));
    }

    #[test]
    fn missing_readings_leave_the_others() {
        let mut trace = Trace::new(None);
        for row in 0..4096_u64 {
            trace.add(row, &[if row % 8 < 6 { f32::NAN } else { 1.0 }, f32::NAN], None, 0, None);
        }
        assert!(trace.length == 4 && trace.stretches[0].ranges[0][0].is_nan());
        assert_eq!(trace.stretches[1].ranges[0].map(f32::to_bits), [1.0_f32.to_bits(); 2]);
        assert!(trace.stretches[1].ranges[1][0].is_nan());
    }

    #[test]
    fn every_alarm_is_counted_and_times_stay() {
        let mut trace = Trace::new(Some(Clock { dates: false, ..Clock::of_dates() }));
        for row in 0..50_000_u64 {
            let time = row.to_string().into_bytes();
            trace.add(row, &[0.0], None, u64::from(row % 10 == 0), Some(&time));
        }
        assert_eq!(trace.stretches.iter().map(|stretch| stretch.alarms).sum::<u64>(), 5000);
        let time = trace.stretch(25_000).and_then(|stretch| stretch.time.clone()).expect("a time");
        let time: u64 = String::from_utf8(time).expect("digits").parse().expect("a number");
        assert!((25_000 - trace.length..=25_000).contains(&time), "{time} {}", trace.length);
    }

    #[test]
    fn many_drifts_are_joined_where_nothing_is_seen() {
        let mut trace = Trace::new(None);
        (trace.length, trace.rows) = (100, 100_000);
        for at in 0..MOST_KEPT as u64 {
            let rows = Rows { from: 100 * at, to: 100 * at + 50 };
            trace.drifts.push(Drift { channel: usize::from(at % 2 == 0), rows });
        }
        trace.join_drifts();
        assert!(!trace.drifts.is_empty() && trace.drifts.len() <= MOST_KEPT / 2);
        let last = trace.drifts.iter().map(|drift| drift.rows.to).max();
        assert_eq!(last, Some(100 * (MOST_KEPT as u64 - 1) + 50));
    }

    #[test]
    fn spans_grow_and_begin_anew() {
        let mut spans = Vec::new();
        for (before, number) in [(0, 0), (1, 1), (2, 3), (8, 8), (9, 9)] {
            extend(&mut spans, before, number);
        }
        assert_eq!(spans, [Rows { from: 0, to: 4 }, Rows { from: 8, to: 10 }]);
    }
}
