//! Readings that do not come.

use super::*;

fn settings() -> Config {
    Config { not_a_number: NotANumber::Missing, ..config() }
}

#[test]
fn a_missing_reading_costs_its_channel_alone() {
    let (_, found) = alarms(settings(), 5, ONSET + 400, |row, x| {
        if row % 7 == 3 {
            x[1] = f32::NAN;
        }
        if row >= ONSET {
            x[1] = f32::NAN;
        }
        if row >= ONSET + 200 {
            x[0] += 5.0;
        }
    });
    let missing = found.iter().find(|alarm| alarm.leg == Leg::Missing).unwrap();
    assert_eq!((missing.channel, missing.row < (ONSET + 60) as u64), (1, true));
    // The joint legs are off: its own find it.
    let own = |alarm: &&Alarm| alarm.channel == 0 && alarm.row >= (ONSET + 200) as u64;
    let other = found.iter().find(own).unwrap();
    assert!(matches!(other.leg, Leg::Level | Leg::Jump | Leg::Range), "{other:?}");

    let mut strict = Detector::new(&MAP, config()).unwrap();
    let before = strict.clone();
    let error = strict.push(&[0.0, f32::NAN]);
    assert_eq!(error, Err(Error::NonFinite(Parameter::Channel(1))));
    assert_eq!(strict.state, before.state);
    strict.push_partial(&[Some(0.0), None]).unwrap();
    assert_eq!(strict.rows(), 1);
    let error = strict.push_partial(&[Some(1e30), None]);
    assert_eq!(error, Err(Error::OutOfRange(Parameter::Channel(0))));
}

/// The legs over all channels: those that are live, and those that are listed as mute.
fn joint_legs(detector: &Two) -> [Vec<Leg>; 2] {
    let live = detector.legs().filter(|leg| leg.channel.is_none()).map(|leg| leg.leg);
    let mute = detector.mute().filter(|mute| mute.channel.is_none()).map(|mute| mute.leg);
    [live.collect(), mute.collect()]
}

#[test]
fn the_joint_legs_are_listed_as_mute_while_a_channel_is_missing() {
    let both = || vec![Leg::Values, Leg::Innovations];
    let without = |gap: core::ops::Range<usize>, rows: usize| {
        let (detector, _) = alarms(settings(), 40, rows, |row, x| {
            if gap.contains(&row) {
                x[1] = f32::NAN;
            }
        });
        detector
    };
    let dead = without(ONSET..usize::MAX, ONSET + 100);
    assert_eq!(joint_legs(&dead), [vec![], both()]);
    assert!(dead.open().any(|open| open.leg == Leg::Missing));
    assert!(dead.nearest().is_some_and(|leg| leg.channel.is_some()));
    let mut dismissed = dead.clone();
    dismissed.dismiss();
    dismissed.push(&[0.0, f32::NAN]).unwrap();
    assert_eq!(joint_legs(&dismissed), [vec![], both()]);
    assert!(dismissed.open().all(|open| open.leg != Leg::Missing));
    // Whole, after a gap of a row, and once readings have come again, they are live.
    let whole = without(0..0, ONSET + 100);
    let gap = without(ONSET..ONSET + 1, ONSET + 1);
    let mended = without(ONSET..ONSET + 100, ONSET + 200);
    for detector in [whole, gap, mended] {
        assert_eq!(joint_legs(&detector), [both(), vec![]]);
    }
    // Where readings only come too rarely, rows with all of them are compared, and tell.
    let (rare, found) = alarms(settings(), 40, ONSET + 1600, |row, x| {
        if row >= ONSET + 600 {
            x[1] = 0.95 * x[0] + 0.312 * x[1];
        }
        if row >= ONSET && (row * 7919) % 100 < 40 {
            x[1] = f32::NAN;
        }
    });
    assert_eq!(joint_legs(&rare), [both(), vec![]]);
    assert!(rare.open().any(|open| open.leg == Leg::Missing));
    let joint = |alarm: &Alarm| matches!(alarm.leg, Leg::Values | Leg::Innovations);
    assert!(found.iter().any(|alarm| joint(alarm) && alarm.row >= (ONSET + 600) as u64));
    // Learned anew without the sensor, there is nothing to compare with.
    let learned = without(0..usize::MAX, ONSET);
    assert_eq!(joint_legs(&learned), [vec![], both()]);
}

#[test]
fn a_channel_without_readings_raises_no_other_alarm() {
    let mut others = 0;
    for seed in 0..8 {
        let (_, found) = alarms(settings(), 20 + seed, ONSET + 2500, |row, x| {
            if (ONSET..ONSET + 2000).contains(&row) {
                x[0] = f32::NAN;
            }
        });
        others += found.iter().filter(|alarm| alarm.leg != Leg::Missing).count();
        assert!(found.iter().any(|alarm| alarm.leg == Leg::Missing));
    }
    assert!(others <= 1, "{others}");
}

#[test]
fn a_drift_goes_on_while_readings_do_not_come() {
    for seed in 0..4 {
        let (detector, found) = alarms(settings(), 30 + seed, ONSET + 700, |row, x| {
            if row >= ONSET {
                x[0] += 5.0;
            }
            if (ONSET + 100..ONSET + 400).contains(&row) {
                x[0] = f32::NAN;
            }
        });
        let level = |alarm: &&Alarm| alarm.change == Change::Level && alarm.channel == 0;
        assert_eq!(found.iter().filter(level).count(), 1, "{found:?}");
        assert!(detector.open().any(|open| open.leg == Leg::Level && open.rows > 600));
    }
}

#[test]
fn readings_that_come_more_rarely_are_an_alarm() {
    let lost = |row: usize, part: usize| (row * 7919) % 100 < part;
    let (detector, found) = alarms(settings(), 3, ONSET + 1000, |row, x| {
        if lost(row, if row >= ONSET { 40 } else { 5 }) {
            x[1] = f32::NAN;
        }
    });
    let alarm = found.iter().find(|alarm| alarm.row >= ONSET as u64).unwrap();
    assert_eq!((alarm.leg, alarm.channel), (Leg::Missing, 1));
    assert!(alarm.row < ONSET as u64 + 100 && alarm.since + 20 > ONSET as u64, "{alarm:?}");
    assert!(detector.open().any(|open| open.leg == Leg::Missing && open.size > 1.0));
}

#[test]
fn a_refused_row_may_be_skipped() {
    let mut detector = Detector::new(&MAP, config().with_period(64.0)).unwrap();
    let mut other = detector.clone();
    let mut noise = Noise::new(4);
    let (mut alarms, mut slipped) = (0, 0);
    for row in 0..12_000_u32 {
        let level = 10.0 * (row as f32 * core::f32::consts::TAU / 64.0).sin();
        let readings = [level + noise.next(), noise.next()];
        if row % 400 == 399 && row > 4000 {
            assert!(detector.push(&[f32::NAN, 0.0]).is_err());
            detector.skip(1);
            continue;
        }
        alarms += usize::from(matches!(detector.push(&readings).unwrap(), Verdict::Alarm(_)));
        slipped += usize::from(matches!(other.push(&readings).unwrap(), Verdict::Alarm(_)));
    }
    assert!(alarms <= 1 && slipped > 1, "{alarms} {slipped}");
    // A long time is one to look back anew after.
    let before = detector.clone();
    detector.skip(0);
    assert_eq!(detector.state, before.state);
    detector.skip(10_000);
    assert!(detector.rows() == before.rows() && detector.state != before.state);
}
