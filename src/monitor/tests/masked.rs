//! What is open on a channel does not hide what comes later.

use super::*;
use crate::fixed;

static INTEGERS: fixed::Fourier<2, 32> = fixed::Fourier::additive(1);
/// Counts of an ADC to a deviation.
const COUNTS: f32 = 20.0;
/// When the second change comes.
const LATER: usize = ONSET + 600;

/// The alarms as amended, in floats and in integers, of rows in deviations.
fn both(seed: u64, rows: usize, change: impl Fn(usize, &mut [f32; 2])) -> [Vec<Alarm>; 2] {
    let mut floats = Detector::new(&MAP, config()).unwrap();
    let mut integers = Detector::new(&INTEGERS, config()).unwrap();
    let mut noise = Noise::new(seed);
    let mut found: [Vec<Alarm>; 2] = [Vec::new(), Vec::new()];
    for row in 0..rows {
        let mut readings = [noise.next(), noise.next()];
        change(row, &mut readings);
        let counts = readings.map(|x| (COUNTS * x).round() as i16);
        let verdicts = [floats.push(&readings).unwrap(), integers.push(&counts).unwrap()];
        for (found, verdict) in found.iter_mut().zip(verdicts) {
            match verdict {
                Verdict::Alarm(alarm) => found.push(alarm),
                Verdict::Amended(amended) => {
                    let raised = found.iter_mut().find(|alarm| alarm.row == amended.row);
                    *raised.expect("what is amended was raised") = amended;
                }
                Verdict::Learning { .. } | Verdict::Healthy | Verdict::Drifting => {}
            }
        }
    }
    found
}

/// Impulses of 1000 deviations, every 40 rows.
fn impulses(row: usize, x: &mut [f32; 2]) {
    if row >= LATER && row.is_multiple_of(40) {
        x[0] += 1000.0;
    }
}

/// Alarms of impulses on channel 0, after both changes.
fn outliers(found: &[Alarm]) -> usize {
    let later = found.iter().filter(|alarm| alarm.row >= LATER as u64 && alarm.channel == 0);
    later.filter(|alarm| (alarm.leg, alarm.change) == (Leg::Range, Change::Outliers)).count()
}

#[test]
fn impulses_on_a_channel_that_is_noisier_are_reported() {
    for factor in [2.0, 3.0, 5.0] {
        for seed in 0..4 {
            let found = both(60 + seed, LATER + 400, |row, x| {
                x[0] *= if row >= ONSET { factor } else { 1.0 };
                impulses(row, x);
            });
            assert!(found.iter().all(|found| outliers(found) >= 1), "{factor} {seed}: {found:?}");
        }
    }
}

#[test]
fn impulses_on_a_channel_that_jumped_are_reported() {
    for seed in 0..4 {
        let found = both(60 + seed, LATER + 400, |row, x| {
            x[0] += if row >= ONSET { 8.0 } else { 0.0 };
            impulses(row, x);
        });
        assert!(found.iter().all(|found| outliers(found) >= 1), "{seed}: {found:?}");
    }
}

#[test]
fn noise_or_a_jump_alone_is_not_out_of_range() {
    for factor in [2.0, 3.0, 5.0, 1.0] {
        for seed in 0..4 {
            let found = both(60 + seed, LATER + 2000, |row, x| {
                if row >= ONSET {
                    x[0] = factor * x[0] + if factor > 1.0 { 0.0 } else { 8.0 };
                }
            });
            for found in &found {
                assert_eq!(outliers(found), 0, "{factor} {seed}: {found:?}");
                assert!(found.iter().any(|alarm| alarm.row >= ONSET as u64));
            }
        }
    }
}
