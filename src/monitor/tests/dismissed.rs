//! What somebody said was nothing.

use super::*;

/// A fault of channel 0, or of both.
type Fault = fn(&mut [f32; 2]);

const FAULTS: [(&str, Fault); 5] = [
    ("-5 sd", |x| x[0] -= 5.0),
    ("-2 sd", |x| x[0] -= 2.0),
    ("+1 sd", |x| x[0] += 1.0),
    ("spread", |x| x[0] *= 3.0),
    ("correlation", |x| x[0] = 0.9 * x[1] + 0.436 * x[0]),
];

/// Alarms from a row on, where channel 0 was off by `shift` for 100 rows, which was dismissed so
/// many rows after it began, and a fault came later.
fn alarms_after(
    seed: u64,
    shift: f32,
    dismissed: Option<usize>,
    from: usize,
    fault: Fault,
) -> usize {
    let mut detector = Detector::new(&MAP, config()).unwrap();
    let mut noise = Noise::new(seed);
    let mut count = 0;
    for row in 0..from + 1500 {
        let mut readings = [noise.next(), noise.next()];
        if (ONSET..ONSET + 100).contains(&row) {
            readings[0] += shift;
        }
        if row >= from {
            fault(&mut readings);
        }
        let verdict = detector.push(&readings).unwrap();
        count += usize::from(row >= from && matches!(verdict, Verdict::Alarm(_)));
        if dismissed.is_some_and(|rows| row == ONSET + rows) {
            detector.dismiss();
        }
    }
    count
}

#[test]
fn the_same_does_not_alarm_again_and_other_things_do() {
    for shift in [3.0, 10.0] {
        // While it lasts, and just after.
        for dismissed in [99, 110] {
            for (name, fault) in FAULTS {
                let found = (0..4).filter(|seed| {
                    alarms_after(70 + seed, shift, Some(dismissed), ONSET + 1500, fault) > 0
                });
                assert_eq!(found.count(), 4, "{name} after {shift} sd");
            }
            let same = |dismissed| -> usize {
                let again: Fault = if shift > 5.0 { |x| x[0] += 10.0 } else { |x| x[0] += 3.0 };
                (0..4)
                    .map(|seed| alarms_after(80 + seed, shift, dismissed, ONSET + 1500, again))
                    .sum()
            };
            assert!(same(None) >= 4);
            assert!(same(Some(dismissed)) <= 1, "{shift} sd, {} alarms", same(Some(dismissed)));
        }
    }
}

#[test]
fn while_it_lasts_it_is_over() {
    let mut again = 0;
    for shift in [1.0, 2.0, 5.0, 10.0, -200.0] {
        for (seed, looked_at) in [(60, 30), (61, 300), (62, 30)] {
            let mut detector = Detector::new(&MAP, config()).unwrap();
            let mut noise = Noise::new(seed);
            let (mut dismissed, mut told) = (None, 0);
            for row in 0..ONSET + 3000 {
                let shift = if row >= ONSET { shift } else { 0.0 };
                let verdict = detector.push(&[noise.next() + shift, noise.next()]).unwrap();
                if row >= ONSET && matches!(verdict, Verdict::Alarm(_)) {
                    told += 1;
                    again += usize::from(dismissed.is_some_and(|at| row > at));
                    dismissed = dismissed.or(Some(row + looked_at));
                }
                if dismissed == Some(row) {
                    detector.dismiss();
                    assert_eq!((detector.open().count(), detector.stage()), (0, Stage::Monitoring));
                }
            }
            assert!(told > 0, "{shift}");
        }
    }
    // Over 45,000 rows, at one false alarm in 100,000.
    assert!(again <= 2, "{again}");
}

#[test]
fn thresholds_that_were_passed_rise_and_never_silence() {
    let mut detector = Detector::new(&MAP, config()).unwrap();
    let mut noise = Noise::new(5);
    for row in 0..ONSET + 400 {
        let spread = if row >= ONSET { 6.0 } else { 1.0 };
        detector.push(&[spread * noise.next(), noise.next()]).unwrap();
    }
    let (before, mute): (Vec<_>, _) = (detector.legs().collect(), detector.mute().count());
    detector.dismiss();
    assert_eq!(detector.mute().count(), mute);
    let after: Vec<_> = detector.legs().collect();
    assert_eq!(before.len(), after.len());
    let raised =
        before.iter().zip(&after).filter(|(before, after)| after.threshold > before.threshold);
    assert!(raised.clone().all(|(leg, _)| leg.channel != Some(1)) && raised.count() > 0);
    for _ in 0..2000 {
        let verdict = detector.push(&[6.0 * noise.next(), noise.next()]).unwrap();
        assert!(
            !matches!(verdict, Verdict::Alarm(alarm) if alarm.leg == Leg::Spread),
            "{verdict:?}"
        );
    }
}
