//! The last alarms, and which of them the host has acknowledged.

use fastmmd::monitor::Alarm;
use heapless::Deque;

/// Largest number of alarms that wait for an acknowledgement, and that [`Command::History`] tells.
///
/// [`Command::History`]: crate::Command::History
const MAX_ALARMS: usize = 4;

/// An alarm, and when it came.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    pub(super) alarm: Alarm,
    /// Periods since the start.
    pub(super) at: u64,
}

/// The last alarms, oldest first.
#[derive(Debug, Default)]
pub(super) struct History {
    last: Deque<Told, MAX_ALARMS>,
    /// Rows before this one are acknowledged.
    acknowledged: u64,
}

impl History {
    /// Keeps an alarm. If there is no room, drops the oldest one; returns whether that was not
    /// acknowledged.
    #[must_use]
    pub(super) fn remember(&mut self, alarm: Alarm, at: u64) -> bool {
        let dropped = if self.last.is_full() { self.last.pop_front() } else { None };
        // There is room now.
        let _ = self.last.push_back(Told { alarm, at });
        dropped.is_some_and(|oldest| oldest.alarm.row >= self.acknowledged)
    }

    /// Replaces what an alarm said; returns whether it is among the last.
    pub(super) fn amend(&mut self, alarm: Alarm) -> bool {
        let mut found = false;
        for told in self.last.iter_mut().filter(|told| told.alarm.row == alarm.row) {
            told.alarm = alarm;
            found = true;
        }
        found
    }

    /// Acknowledges the alarms up to this row.
    pub(super) fn acknowledge(&mut self, row: u64) {
        self.acknowledged = self.acknowledged.max(row.saturating_add(1));
    }

    /// Those that are not acknowledged.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Alarm> {
        let alarms = self.last.iter().map(|told| &told.alarm);
        alarms.filter(|alarm| alarm.row >= self.acknowledged)
    }

    /// One of the last, from the oldest.
    pub(super) fn get(&self, index: usize) -> Option<&Told> {
        self.last.get(index)
    }

    pub(super) fn len(&self) -> usize {
        self.last.len()
    }

    pub(super) fn clear(&mut self) {
        self.last.clear();
    }
}
