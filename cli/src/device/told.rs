//! What was already told of a device that repeats what still holds.

use drift_app::fault::{Device as Part, Fault};
use drift_app::message::{Origin, Report, flags};
use fastmmd::Alarm;

/// How an alarm compares with what was told.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum News {
    /// Of a row that was not told.
    New,
    /// Told, but it said something else.
    Changed,
    /// Told as it is.
    Known,
}

/// Alarms and faults that were told, as long as the device may repeat them.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// By row, which is different for each alarm of a detector.
    alarms: Vec<Alarm>,
    faults: Vec<Fault>,
    /// Rows in the last report.
    rows: u64,
    /// The alarms before this one are acknowledged.
    acknowledged: usize,
}

impl Told {
    /// More than any device repeats.
    const MOST: usize = 64;

    /// Notes an alarm.
    pub(super) fn alarm(&mut self, alarm: &Alarm) -> News {
        match self.alarms.iter_mut().find(|told| told.row == alarm.row) {
            Some(told) if told == alarm => News::Known,
            Some(told) => {
                *told = *alarm;
                News::Changed
            }
            None => {
                if self.alarms.len() == Self::MOST {
                    self.alarms.remove(0);
                    self.acknowledged = self.acknowledged.saturating_sub(1);
                }
                self.alarms.push(*alarm);
                News::New
            }
        }
    }

    /// Notes a fault; returns whether it was not told, or was over meanwhile.
    pub(super) fn fault(&mut self, fault: Fault) -> bool {
        let known = self.faults.contains(&fault);
        if !known {
            self.faults.push(fault);
        }
        !known
    }

    /// Notes a report: which faults are over, and whether the device counts its rows anew.
    pub(super) fn report(&mut self, report: &Report) {
        self.faults.retain(|fault| report.flags & flag(fault.device) != 0);
        if report.status.rows < self.rows {
            self.forget_alarms();
        }
        self.rows = report.status.rows;
    }

    /// Notes that the device started: what it began to learn anew has other rows.
    pub(super) fn started(&mut self, origin: Origin) {
        self.faults.clear();
        if origin == Origin::Fresh {
            self.forget_alarms();
        }
    }

    /// The row up to which alarms were told since the last call.
    pub(super) fn next_acknowledged(&mut self) -> Option<u64> {
        let row = self.alarms.get(self.acknowledged..)?.iter().map(|alarm| alarm.row).max();
        self.acknowledged = self.alarms.len();
        row
    }

    fn forget_alarms(&mut self) {
        self.alarms.clear();
        self.acknowledged = 0;
        self.rows = 0;
    }
}

/// The flag that is set while a part has a fault; 0 if there is none, and the fault is not repeated.
const fn flag(part: Part) -> u16 {
    match part {
        Part::Magnetometer | Part::Thermometer | Part::Sample => flags::SENSOR_FAULT,
        Part::Store => flags::STORE_FAULT,
        Part::Detector => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drift_app::fault::FaultKind;
    use drift_app::profile::{BoardDetector, ONE_CHANNEL, RECORDING};
    use fastmmd::monitor::Monitor as _;

    fn alarm(row: u64) -> Alarm {
        let mut alarm = Alarm::from_bytes(&[0; Alarm::BYTES]).unwrap();
        alarm.row = row;
        alarm
    }

    fn report(rows: u64, flags: u16) -> Report {
        let detector = BoardDetector::<1>::new(&ONE_CHANNEL, RECORDING).unwrap();
        let mut status = detector.status();
        status.rows = rows;
        Report { status, pending: 0, flags, missed: 0 }
    }

    #[test]
    fn an_alarm_is_new_once_and_again_when_the_device_learns_anew() {
        let mut told = Told::default();
        assert_eq!(told.alarm(&alarm(7)), News::New);
        assert_eq!(told.alarm(&alarm(7)), News::Known);
        let mut amended = alarm(7);
        amended.score = 2.0;
        assert_eq!(told.alarm(&amended), News::Changed);
        assert_eq!(told.alarm(&amended), News::Known);
        told.report(&report(100, 0));
        told.report(&report(101, 0));
        told.started(Origin::Memory);
        assert_eq!(told.alarm(&amended), News::Known);
        told.report(&report(3, 0));
        assert_eq!(told.alarm(&amended), News::New);
        told.started(Origin::Fresh);
        assert_eq!(told.alarm(&amended), News::New);
        for row in 100..200 {
            assert_eq!(told.alarm(&alarm(row)), News::New);
        }
        assert_eq!((told.alarms.len(), told.alarm(&alarm(199))), (Told::MOST, News::Known));
    }

    #[test]
    fn what_was_told_is_acknowledged_once() {
        let mut told = Told::default();
        assert_eq!(told.next_acknowledged(), None);
        for row in [5, 9] {
            told.alarm(&alarm(row));
        }
        assert_eq!((told.next_acknowledged(), told.next_acknowledged()), (Some(9), None));
        for row in 10..100 {
            told.alarm(&alarm(row));
            assert_eq!((told.next_acknowledged(), told.next_acknowledged()), (Some(row), None));
        }
    }

    #[test]
    fn a_fault_is_told_again_when_it_was_over() {
        let mut told = Told::default();
        let sensor = Fault::new(Part::Magnetometer, FaultKind::NoAcknowledge);
        let store = Fault::new(Part::Store, FaultKind::Bus);
        assert_eq!([sensor, store, sensor].map(|it| told.fault(it)), [true, true, false]);
        told.report(&report(1, flags::SENSOR_FAULT | flags::STORE_FAULT));
        assert_eq!([sensor, store].map(|it| told.fault(it)), [false, false]);
        told.report(&report(2, flags::STORE_FAULT));
        assert_eq!([sensor, store].map(|it| told.fault(it)), [true, false]);
        told.report(&report(3, flags::SENSOR_FAULT));
        assert_eq!([sensor, store].map(|it| told.fault(it)), [false, true]);
    }
}
