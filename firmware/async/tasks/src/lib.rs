//! Three tasks over two channels, independent of boards:
//!
//! ```text
//! sensor ──rows──▶ detector ──reports──▶ link
//! ```
//!
//! The sensor sets the pace and never waits for room: a row for which there is none is lost, and the
//! detector is told how many were, so that a known cycle goes on. The detector waits for the link if that
//! is slow; nothing that it has to say is lost before it is sent.
//!
//! All tasks take turns on one executor. A task that does not yield, such as one that erases a page of
//! the flash that the program runs from, delays the next reading.

#![no_std]

use core::fmt;

use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::channel::Channel;
use fastmmd::features::sincos::Points;
use fastmmd::features::{FeatureMap, Sample};
use fastmmd::monitor::Legs;
use fastmmd::shape::Fixed;
use fastmmd::{Alarm, Detector, Error, Verdict};

/// Rows that wait for the detector. A dearest row takes less than two.
pub const WAITING_ROWS: usize = 8;
/// Reports that wait for the link.
pub const WAITING_REPORTS: usize = 4;

/// Something that gives rows, at its own pace.
#[expect(async_fn_in_trait, reason = "tasks of one executor need not be sent between threads")]
pub trait Sensor<T, const C: usize> {
    /// The next row, when it is due; `None` when there are no more.
    async fn row(&mut self) -> Option<[T; C]>;
}

/// Something that reports are sent over.
#[expect(async_fn_in_trait, reason = "tasks of one executor need not be sent between threads")]
pub trait Link {
    /// Sends one.
    async fn send(&mut self, report: &Report);
}

/// Something that keeps the state of a detector through a power cut, now and then.
#[expect(async_fn_in_trait, reason = "tasks of one executor need not be sent between threads")]
pub trait Keeper<D> {
    /// Called after every row: keeps the state if it is time to. `false` if that failed.
    async fn keep(&mut self, detector: &D) -> bool;
}

/// Keeps nothing.
impl<D> Keeper<D> for () {
    async fn keep(&mut self, _: &D) -> bool {
        true
    }
}

/// A row, after so many that were lost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row<T, const C: usize> {
    /// Rows lost before it.
    pub lost: u32,
    /// A reading for each channel; none when the sensor has no more.
    pub readings: Option<[T; C]>,
}

/// What the detector has to say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Report {
    /// Learning is over.
    Learned,
    /// Something has changed.
    Alarm(Alarm),
    /// An alarm of 32 rows before, as it looks now.
    Amended(Alarm),
    /// So many rows were lost.
    Lost(u32),
    /// A row was refused.
    Refused(Error),
    /// The state could not be kept.
    NotKept,
    /// It goes on from a state that was kept, after so many rows.
    Restored(u64),
    /// A state was kept, but cannot be taken up: it learns anew.
    NotRestored,
    /// There are no more rows.
    Ended,
}

/// One line, without its end; at most [`LINE`] bytes.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (amended, alarm) = match self {
            Self::Learned => return f.write_str("learned"),
            Self::Lost(rows) => return write!(f, "{rows} rows lost"),
            Self::Refused(error) => return write!(f, "refused: {}", error.message()),
            Self::NotKept => return f.write_str("the state could not be kept"),
            Self::Restored(rows) => {
                return write!(f, "goes on from the state kept after {rows} rows");
            }
            Self::NotRestored => {
                return f.write_str("what was kept cannot be taken up: learns anew");
            }
            Self::Ended => return f.write_str("ended"),
            Self::Alarm(alarm) => ("", alarm),
            Self::Amended(alarm) => ("amended: ", alarm),
        };
        let Alarm { row, since, channel, change, leg, .. } = alarm;
        let (change, leg) = (change.name(), leg.name());
        write!(f, "{amended}row {row} since {since} channel {channel} {change} by {leg}")
    }
}

/// Longest line of a report, in bytes.
pub const LINE: usize = 128;

/// Rows on their way from the sensor to the detector.
pub type Rows<T, const C: usize> = Channel<CriticalSectionRawMutex, Row<T, C>, WAITING_ROWS>;
/// Reports on their way from the detector to the link.
pub type Reports = Channel<CriticalSectionRawMutex, Report, WAITING_REPORTS>;

/// The task of the sensor.
pub async fn sense<T: Copy, const C: usize>(mut sensor: impl Sensor<T, C>, rows: &Rows<T, C>) {
    let mut lost = 0;
    while let Some(readings) = sensor.row().await {
        lost = match rows.try_send(Row { lost, readings: Some(readings) }) {
            Ok(()) => 0,
            Err(_) => lost.saturating_add(1),
        };
    }
    rows.send(Row { lost, readings: None }).await;
}

/// The task of the detector.
pub async fn detect<'m, M, L: Legs, T: Copy, const C: usize>(
    detector: &mut Detector<'m, M, L>,
    mut keeper: impl Keeper<Detector<'m, M, L>>,
    rows: &Rows<T, C>,
    reports: &Reports,
) where
    M: FeatureMap<Inputs = Fixed<C>, Backend: Points>,
    [T; C]: AsRow<M>,
{
    loop {
        let Row { lost, readings } = rows.receive().await;
        if lost > 0 {
            detector.skip(lost);
            reports.send(Report::Lost(lost)).await;
        }
        let Some(readings) = readings else { break };
        let learned = detector.stage().is_learned();
        let report = match detector.push(readings.as_row()) {
            Ok(Verdict::Learning { .. }) if detector.stage().is_learned() != learned => {
                Some(Report::Learned)
            }
            Ok(Verdict::Learning { .. } | Verdict::Healthy | Verdict::Drifting) => None,
            Ok(Verdict::Alarm(alarm)) => Some(Report::Alarm(alarm)),
            Ok(Verdict::Amended(alarm)) => Some(Report::Amended(alarm)),
            Err(error) => {
                // Its place in a known cycle has passed.
                detector.skip(1);
                Some(Report::Refused(error))
            }
        };
        if let Some(report) = report {
            reports.send(report).await;
        }
        if !keeper.keep(detector).await {
            reports.send(Report::NotKept).await;
        }
    }
    reports.send(Report::Ended).await;
}

/// Readings as a row of a map.
pub trait AsRow<M: FeatureMap> {
    /// The same readings.
    fn as_row(&self) -> &Sample<M>;
}

impl<M, T, const C: usize> AsRow<M> for [T; C]
where
    M: FeatureMap<
            Inputs = Fixed<C>,
            Backend: Points + fastmmd::features::sincos::Backend<Scalar = T>,
        >,
{
    fn as_row(&self) -> &Sample<M> {
        self
    }
}

/// The task of the link.
pub async fn tell(mut link: impl Link, reports: &Reports) {
    loop {
        let report = reports.receive().await;
        link.send(&report).await;
        if report == Report::Ended {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use embassy_futures::block_on;
    use embassy_futures::join::join3;
    use embassy_futures::yield_now;
    use fastmmd::{Config, Fourier};
    use std::vec::Vec;

    const ROWS: u16 = 1000;
    static MAP: Fourier<1, 16> = Fourier::additive(1);

    /// Noise that moves at row 600.
    fn reading(row: u16) -> f32 {
        let noise = u32::from(row).wrapping_mul(2_654_435_761) >> 16;
        f32::from(u16::try_from(noise).unwrap_or(0)) / 65_536.0 + f32::from(row / 600)
    }

    fn fresh() -> Detector<'static, Fourier<1, 16>> {
        let config = Config { learning_rows: 256, ..Config::rows(1e4) };
        Detector::new(&MAP, config).unwrap()
    }

    /// Gives rows; all of those in `burst` without letting others run.
    struct Made {
        row: u16,
        burst: core::ops::Range<u16>,
    }

    impl Sensor<f32, 1> for Made {
        async fn row(&mut self) -> Option<[f32; 1]> {
            if !self.burst.contains(&self.row) {
                yield_now().await;
            }
            self.row += 1;
            (self.row <= ROWS).then(|| [reading(self.row - 1)])
        }
    }

    /// Lets others run many times for each report.
    struct Slow<'r>(&'r mut Vec<Report>);

    impl Link for Slow<'_> {
        async fn send(&mut self, report: &Report) {
            for _ in 0..5 {
                yield_now().await;
            }
            self.0.push(*report);
        }
    }

    /// Fails after so many rows.
    struct Failing(u64);

    impl<M: FeatureMap<Backend: Points>, L: Legs> Keeper<Detector<'_, M, L>> for Failing {
        async fn keep(&mut self, detector: &Detector<'_, M, L>) -> bool {
            detector.rows() <= self.0
        }
    }

    fn run(burst: core::ops::Range<u16>) -> (Vec<Report>, u64) {
        keeping(burst, u64::MAX)
    }

    fn keeping(burst: core::ops::Range<u16>, kept: u64) -> (Vec<Report>, u64) {
        let (rows, reports) = (Rows::new(), Reports::new());
        let (mut detector, mut told) = (fresh(), Vec::new());
        block_on(join3(
            sense(Made { row: 0, burst }, &rows),
            detect(&mut detector, Failing(kept), &rows, &reports),
            tell(Slow(&mut told), &reports),
        ));
        (told, detector.rows())
    }

    /// What a loop finds.
    fn blocking() -> Vec<Report> {
        let mut detector = fresh();
        let verdicts = (0..ROWS).map(|row| detector.push(&[reading(row)]).unwrap());
        let mut reports: Vec<_> = verdicts
            .filter_map(|verdict| match verdict {
                Verdict::Alarm(alarm) => Some(Report::Alarm(alarm)),
                Verdict::Amended(alarm) => Some(Report::Amended(alarm)),
                Verdict::Learning { .. } | Verdict::Healthy | Verdict::Drifting => None,
            })
            .collect();
        reports.insert(0, Report::Learned);
        reports.push(Report::Ended);
        reports
    }

    /// With the largest numbers, and the longest message.
    #[test]
    fn a_line_has_room() {
        let (told, _) = run(0..0);
        let Some(Report::Alarm(mut alarm)) = told.get(1).copied() else { panic!("{told:?}") };
        (alarm.row, alarm.since, alarm.channel) = (u64::MAX, u64::MAX, usize::MAX);
        (alarm.change, alarm.leg) = (fastmmd::Change::Outliers, fastmmd::monitor::Leg::Innovations);
        let refused = Report::Refused(Error::NotSpherical);
        let restored = Report::Restored(u64::MAX);
        for report in [Report::Amended(alarm), refused, restored, Report::NotRestored] {
            assert!(std::format!("{report}").len() <= LINE, "{report}");
        }
        assert!(std::format!("{}", Report::Alarm(alarm)).starts_with("row 18446744073709551615 "));
    }

    #[test]
    fn tasks_find_what_a_loop_finds() {
        let (told, rows) = run(0..0);
        assert_eq!((told.as_slice(), rows), (blocking().as_slice(), u64::from(ROWS)));
        assert!(told.iter().any(|report| matches!(report, Report::Alarm(_))));
    }

    #[test]
    fn a_state_that_is_not_kept_is_reported() {
        let (told, rows) = keeping(0..0, u64::from(ROWS) - 3);
        let failed = told.iter().filter(|report| **report == Report::NotKept).count();
        assert_eq!((failed, rows), (3, u64::from(ROWS)));
    }

    /// The detector has no turn in a burst: rows beyond those that can wait are lost, and it says so.
    #[test]
    fn lost_rows_are_counted() {
        let (told, rows) = run(300..320);
        let lost = |report: &Report| if let Report::Lost(rows) = report { *rows } else { 0 };
        let lost: u32 = told.iter().map(lost).sum();
        assert!((11..=13).contains(&lost), "{lost}");
        assert_eq!(rows + u64::from(lost), u64::from(ROWS));
    }
}
