//! Signals that are easily misunderstood: late, still, stuck, or with single readings far out.

use super::*;

#[test]
fn a_channel_that_moves_late_is_learned_from_a_little_longer() {
    for still in [None, Some(0.0)] {
        let mut detector = Detector::new(&MAP, config()).unwrap();
        let mut noise = Noise::new(6);
        let (mut rows, mut found) = (0, false);
        for row in 0..ONSET + LEARNING {
            let step = if row >= ONSET + LEARNING - 100 { 5.0 } else { 0.0 };
            let moving = 5.0 + noise.next() + step;
            let reading = if row < LEARNING * 3 / 5 { still } else { Some(moving) };
            let verdict = detector.push_partial(&[reading, Some(noise.next())]).unwrap();
            rows += usize::from(matches!(verdict, Verdict::Learning { .. }));
            let alarm = matches!(verdict, Verdict::Alarm(alarm) if alarm.channel == 0);
            found |= step > 0.0 && alarm;
        }
        assert!(found, "{still:?}");
        assert_eq!(rows, LEARNING + LEARNING / 2);
        let quality = detector.quality().next().unwrap();
        assert!(quality.deviation > 0.5 && quality.independent_rows > 1.0, "{quality:?}");
    }
}

#[test]
fn a_channel_that_stood_still_has_another_level_once_it_stays_there() {
    let (detector, found) = alarms(config(), 7, ONSET + 200, |row, x| {
        x[0] = if row >= ONSET { 4.9 } else { 5.0 };
    });
    let alarm = found.iter().find(|alarm| alarm.row >= ONSET as u64).unwrap();
    assert_eq!((alarm.channel, alarm.change), (0, Change::Level));
    assert!(alarm.row <= ONSET as u64 + 2 && detector.stage() == Stage::Drift);
}

#[test]
fn nothing_is_learned_from_a_stuck_channel() {
    let mut detector = Detector::new(&MAP, config().with_legs::<Lean>()).unwrap();
    let mut noise = Noise::new(8);
    let thresholds = |detector: &Detector<'static, Fourier<2, 32>, Lean>| -> Vec<f32> {
        detector.legs().filter(|leg| leg.channel == Some(0)).map(|leg| leg.threshold).collect()
    };
    let mut before = Vec::new();
    for row in 0..ONSET + 20_000 {
        let reading = if row >= ONSET { 0.25 } else { noise.next() };
        detector.push(&[reading, noise.next()]).unwrap();
        if row == ONSET + 20 {
            before = thresholds(&detector);
        }
    }
    assert_eq!(thresholds(&detector), before);
    assert_eq!(detector.last_alarm().map(|alarm| alarm.change), Some(Change::Stuck));
    assert!(detector.open().all(|open| open.channel != Some(0) || open.leg == Leg::Stuck));
}

#[test]
fn impulses_far_apart_are_outliers_and_one_drift() {
    for (every, rows) in [(20, 400), (250, 9000)] {
        let (detector, found) = alarms(config(), 9, ONSET + rows, |row, x| {
            if row >= ONSET && row % every == 0 {
                x[0] += 1000.0;
            }
        });
        let found: Vec<_> = found.iter().filter(|alarm| alarm.row >= ONSET as u64).collect();
        let outliers = found.iter().filter(|alarm| alarm.change == Change::Outliers).count();
        assert!(outliers > 0 && outliers == found.len() && outliers <= 3, "{every}: {found:?}");
        assert!(detector.open().any(|open| open.leg == Leg::Range), "{every}");
    }
    // One alone is none, however far out.
    let (_, found) = alarms(config(), 9, ONSET + 500, |row, x| {
        x[0] += if row == ONSET { 1e6 } else { 0.0 };
    });
    assert_eq!(found.len(), 0, "{found:?}");
}

#[test]
fn a_drift_begins_after_learning() {
    for seed in 0..4 {
        // So slow that the mean was on this side of the learned one all the time.
        let (_, found) = alarms(config(), 50 + seed, ONSET + 6000, |row, x| {
            x[0] += (row as f32 - LEARNING as f32).max(0.0) * 3e-4;
        });
        let found = found.iter().filter(|alarm| alarm.change == Change::Level);
        assert!(found.clone().count() > 0);
        found.for_each(|alarm| assert!(alarm.since >= LEARNING as u64, "{alarm:?}"));
    }
}
