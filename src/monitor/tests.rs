//! The detector as a whole, on made-up signals.

mod cycle;
mod dismissed;
mod forged;
mod masked;
mod missing;
mod unusual;

use std::vec;
use std::vec::Vec;

use rand_core::{Rng, SeedableRng};
use rand_xorshift::XorShiftRng;

use super::saved::LastAlarm;
use super::*;
use crate::{Error, Fourier, Parameter};

static MAP: Fourier<2, 32> = Fourier::additive(1);
const LEARNING: usize = 2048;
type Two = Detector<'static, Fourier<2, 32>>;

/// Gaussian noise.
struct Noise(XorShiftRng);

impl Noise {
    fn new(seed: u64) -> Self {
        Self(XorShiftRng::seed_from_u64(seed))
    }

    fn next(&mut self) -> f32 {
        let uniform = |rng: &mut XorShiftRng| rng.next_u32() as f32 / u32::MAX as f32;
        (0..12).map(|_| uniform(&mut self.0)).sum::<f32>() - 6.0
    }
}

fn config() -> Config {
    Config { learning_rows: LEARNING as u32, ..Config::rows(1e5) }
}

/// Pushes `rows` rows of noise that `change` may alter, and gives the alarms with their amendments.
fn alarms(
    config: Config,
    seed: u64,
    rows: usize,
    mut change: impl FnMut(usize, &mut [f32; 2]),
) -> (Two, Vec<Alarm>) {
    let mut detector = Detector::new(&MAP, config).unwrap();
    let mut noise = Noise::new(seed);
    let mut alarms: Vec<Alarm> = Vec::new();
    for row in 0..rows {
        let mut readings = [noise.next(), noise.next()];
        change(row, &mut readings);
        match detector.push(&readings).unwrap() {
            Verdict::Alarm(alarm) => alarms.push(alarm),
            Verdict::Amended(amended) => {
                let alarm = alarms.iter_mut().find(|alarm| alarm.row == amended.row);
                *alarm.expect("what is amended was raised") = amended;
            }
            Verdict::Learning { .. } => assert!(row < LEARNING),
            Verdict::Healthy | Verdict::Drifting => assert!(row >= LEARNING),
        }
    }
    (detector, alarms)
}

/// The first alarm of a change from `ONSET` on, for several seeds.
fn first(rows: usize, change: impl Fn(usize, &mut [f32; 2]) + Copy) -> Vec<Alarm> {
    (0..6)
        .filter_map(|seed| {
            let (_, alarms) = alarms(config(), 100 + seed, ONSET + rows, change);
            alarms.into_iter().find(|alarm| alarm.row >= ONSET as u64)
        })
        .collect()
}

const ONSET: usize = LEARNING + 500;

#[test]
fn each_kind_of_change_is_found_and_named() {
    let found = |rows, change: fn(usize, &mut [f32; 2]), expected| {
        let found = first(rows, change);
        assert_eq!(found.len(), 6, "{expected:?} {found:?}");
        let named = found.iter().filter(|alarm| (alarm.channel, alarm.change) == expected).count();
        assert!(named >= 5, "{expected:?} {found:?}");
    };
    found(300, |row, x| x[1] += if row >= ONSET { 1.0 } else { 0.0 }, (1, Change::Level));
    found(100, |row, x| x[0] += if row >= ONSET { 8.0 } else { 0.0 }, (0, Change::Level));
    found(200, |row, x| x[0] *= if row >= ONSET { 3.0 } else { 1.0 }, (0, Change::Spread));
    found(400, |row, x| x[1] *= if row >= ONSET { 0.4 } else { 1.0 }, (1, Change::Spread));
    found(60, |row, x| x[1] = if row >= ONSET { 0.25 } else { x[1] }, (1, Change::Stuck));
    let rare = |row: usize, x: &mut [f32; 2]| {
        if row >= ONSET && row.is_multiple_of(40) {
            x[0] = 1000.0;
        }
    };
    found(400, rare, (0, Change::Outliers));
    let together = |row: usize, x: &mut [f32; 2]| {
        if row >= ONSET {
            x[1] = 0.95 * x[0] + 0.312 * x[1];
        }
    };
    let found = first(800, together);
    assert_eq!(found.len(), 6);
    assert!(found.iter().filter(|alarm| alarm.change == Change::Shape).count() >= 5, "{found:?}");
}

#[test]
fn a_ramp_is_found_beside_a_cycle() {
    for seed in 0..4 {
        let config = Config { learning_rows: 8192, ..Config::rows(1e5) };
        let mut detector = Detector::new(&MAP, config).unwrap();
        let mut noise = Noise::new(seed);
        let mut found = Vec::new();
        for row in 0..20_000_u16 {
            let phase = f32::from(row % 500) / 500.0 * core::f32::consts::TAU;
            let ramp = f32::from(row.saturating_sub(9000)) * 3e-4;
            let readings = [phase.sin() + ramp + 0.2 * noise.next(), phase.cos()];
            let readings = [readings[0], readings[1] + 0.2 * noise.next()];
            if let Verdict::Alarm(alarm) = detector.push(&readings).unwrap() {
                found.push(alarm);
            }
        }
        assert!(found.iter().any(|alarm| alarm.row > 9000 && alarm.channel == 0), "{found:?}");
        // It is reported for as long as it lasts.
        assert_eq!(detector.stage(), Stage::Drift);
        assert!(detector.open().any(|open| open.channel == Some(0) && open.leg == Leg::Level));
    }
}

#[test]
fn a_fault_does_not_hide_another() {
    // A stuck channel, and later a shift of the other one.
    let (_, found) = alarms(config(), 7, ONSET + 1000, |row, x| {
        if row >= ONSET {
            x[1] = 0.5;
        }
        if row >= ONSET + 500 {
            x[0] += 3.0;
        }
    });
    let stuck = found.iter().find(|alarm| alarm.change == Change::Stuck).unwrap();
    assert_eq!((stuck.channel, stuck.since), (1, ONSET as u64));
    let shift = found.iter().find(|alarm| alarm.row >= (ONSET + 500) as u64).unwrap();
    assert_eq!((shift.channel, shift.row < (ONSET + 520) as u64), (0, true));
}

/// Both channels change on one row: the channels of the alarms after it, and of what is open.
fn both(fault: fn(usize, &mut f32)) -> (Vec<usize>, Vec<usize>) {
    let (detector, found) = alarms(config(), 21, ONSET + 100, |row, x| {
        if row >= ONSET {
            x.iter_mut().for_each(|x| fault(row, x));
        }
    });
    let after = found.iter().filter(|alarm| alarm.row >= ONSET as u64);
    let mut open: Vec<usize> = detector.open().filter_map(|open| open.channel).collect();
    open.dedup();
    (after.map(|alarm| alarm.channel).collect(), open)
}

#[test]
fn what_befalls_both_channels_is_open_in_both() {
    // Each stuck channel is reported by itself, one after the other.
    assert_eq!(both(|_, x| *x = 0.5), (vec![0, 1], vec![0, 1]));
    // What begins together, and is seen alike, is one alarm.
    let (told, open) = both(|_, x| *x += 4.0);
    assert!(!told.is_empty() && told.len() <= 2, "{told:?}");
    assert_eq!(open, [0, 1]);
}

#[test]
fn what_begins_later_in_another_channel_is_reported() {
    for seed in 0..6 {
        let (_, found) = alarms(config(), 80 + seed, ONSET + 200, |row, x| {
            x[0] += if row >= ONSET { 4.0 } else { 0.0 };
            x[1] += if row >= ONSET + 20 { 4.0 } else { 0.0 };
        });
        let later = found.iter().find(|alarm| alarm.channel == 1 && alarm.row >= ONSET as u64);
        assert!(later.is_some_and(|alarm| alarm.row < (ONSET + 40) as u64), "{found:?}");
    }
}

#[test]
fn thresholds_learn_little_from_faults_that_are_over() {
    // Noise five times as large and a shift, each for 500 rows, and all is well again.
    let fault = |row: usize, x: &mut [f32; 2]| {
        if (ONSET..ONSET + 500).contains(&row) {
            x[0] *= 5.0;
        }
        if (ONSET + 3000..ONSET + 3500).contains(&row) {
            x[0] += 3.0;
        }
    };
    let threshold = |detector: &Two, of: &LegStatus| {
        let same =
            |leg: &LegStatus| (leg.leg, leg.channel, leg.window) == (of.leg, of.channel, of.window);
        let legs = detector.legs().filter(same).map(|leg| leg.threshold);
        legs.fold(0.0, f32::max)
    };
    let (before, _) = alarms(config(), 31, ONSET, fault);
    let (after, found) = alarms(config(), 31, ONSET + 6000, fault);
    let (healthy, _) = alarms(config(), 31, ONSET + 6000, |_, _| {});
    assert!(found.len() >= 2, "{found:?}");
    for leg in before.legs() {
        // Each alarm that closed counts as one block with its maximum at the threshold.
        let most = 2.3 * threshold(&before, &leg).max(threshold(&healthy, &leg));
        assert!(threshold(&after, &leg) <= most, "{leg:?} {most} {}", threshold(&after, &leg));
    }
}

/// What differs says how large it is now, and not how large it was.
#[test]
fn the_size_of_what_is_open_falls_as_the_change_shrinks() {
    let shrinks = |leg: Leg, change: fn(bool, &mut [f32; 2])| {
        let sizes = [600, 1200].map(|rows| {
            let (detector, _) = alarms(config(), 17, ONSET + rows, |row, x| {
                if row >= ONSET {
                    change(row < ONSET + 600, x);
                }
            });
            let open = detector.open().find(|open| open.leg == leg);
            open.map(|open| open.size)
        });
        let [Some(large), Some(small)] = sizes else { panic!("{leg:?} is not open: {sizes:?}") };
        assert!(large > 1.1 * small && small > 0.0, "{leg:?} {sizes:?}");
    };
    shrinks(Leg::Level, |is_large, x| x[0] += if is_large { 4.0 } else { 2.0 });
    shrinks(Leg::Jump, |is_large, x| x[0] += if is_large { 4.0 } else { 2.0 });
    shrinks(Leg::Spread, |is_large, x| x[0] *= if is_large { 6.0 } else { 2.5 });
}

#[test]
fn a_channel_that_stands_still_blinds_nobody() {
    for still in [LEARNING / 4, 10 * LEARNING] {
        let (detector, found) = alarms(config(), 3, ONSET + 100, |row, x| {
            x[1] = if row < still { 20.0 } else { 20.0 + x[1] };
            if row >= ONSET {
                x[0] += 5.0;
            }
        });
        let alarm = found.iter().find(|alarm| alarm.row >= ONSET as u64).unwrap();
        assert!(alarm.row < (ONSET + 5) as u64 && alarm.channel == 0, "{alarm:?}");
        assert!(found.iter().all(|alarm| alarm.change != Change::Stuck));
        let quality: Vec<_> = detector.quality().collect();
        assert_eq!(quality[1].deviation > 0.0, still < LEARNING);
    }
}

/// A change that only all channels together show is not that of one which never moved; and what is
/// said of windows and levels is of the rows left after a profile, and of a channel at rest.
#[test]
fn a_channel_that_stands_still_is_not_blamed() {
    for seed in 0..6 {
        let two_humps = |row: usize, x: &mut [f32; 2]| {
            x[1] = 7.5;
            if row >= ONSET {
                x[0] = 0.95 * x[0].signum() + 0.312 * x[0];
            }
        };
        let (detector, alarms) = alarms(config(), seed, ONSET + 1500, two_humps);
        let blamed = alarms.iter().find(|alarm| alarm.row >= ONSET as u64 && alarm.channel == 1);
        assert_eq!(blamed, None, "{seed}");
        assert!(alarms.iter().any(|alarm| alarm.row >= ONSET as u64), "{seed}");
        let still = detector.quality().nth(1).unwrap();
        assert_eq!((still.level, still.deviation, still.ties), (7.5, 0.0, 1.0));
    }
    let config = Config { learning_rows: 4096, ..Config::rows(1e4) };
    let mut detector = Detector::new(&MAP, config.with_period(64.0)).unwrap();
    let mut noise = Noise::new(1);
    while detector.stage() == Stage::Learning {
        detector.push(&[noise.next(), noise.next()]).unwrap();
    }
    assert_eq!(detector.mute().find(|mute| mute.leg == Leg::Level), None);
}

#[test]
fn predictions_from_predictions_stay_within_what_was_seen() {
    // A slow signal, whose prediction goes on as it rises, and then a long gap.
    let settings = Config { not_a_number: NotANumber::Missing, ..config() };
    let (detector, _) = alarms(settings, 9, ONSET + 5000, |row, x| {
        let slow = (row as f32 / 300.0).sin() * 5.0;
        *x = [slow + 0.1 * x[0], 3.0 * slow + 0.01 * x[1]];
        if row >= ONSET && row % 9 > 0 {
            x[0] = if row % 2 == 0 { 1e6 } else { f32::NAN };
        }
        if row >= ONSET {
            x[1] = f32::NAN;
        }
    });
    let mut bytes = vec![0; Two::SAVED_BYTES];
    detector.save(&mut bytes).unwrap();
    let mut again: Two = Detector::new(&MAP, config()).unwrap();
    assert_eq!(again.restore(&bytes), Ok(()));
}

#[test]
fn healthy_noise_is_left_alone() {
    let (mut rows, mut raised) = (0, 0);
    for seed in 0..8 {
        let config = Config { mean_time_between_false_alarms: 2e4, ..config() };
        let (detector, found) = alarms(config, 40 + seed, 22_048, |_, _| {});
        rows += 20_000;
        raised += found.len();
        assert_eq!(detector.mute().count(), 0);
        assert!(detector.quality().all(|channel| channel.steadiness != Steadiness::Wandering));
    }
    // Eight are promised.
    assert!(raised <= 16, "{raised} in {rows} rows");
}

#[test]
fn a_random_walk_is_no_drift_of_level() {
    let mut walk = 0.0;
    let (detector, _) = alarms(config(), 2, LEARNING, |_, x| {
        walk += 0.1 * x[0];
        x[0] = walk;
    });
    let quality: Vec<_> = detector.quality().collect();
    assert_eq!(quality[0].steadiness, Steadiness::Wandering);
    assert!(quality[0].independent_rows < 100.0 && quality[1].independent_rows > 500.0);
    // Worth so few rows, it may support less than can be promised, and the other one all.
    let least = *MEAN_TIMES.start();
    let few = (quality[0].independent_rows / 20.0).min(1.0);
    let supported = config().supported_mean_time();
    assert!((quality[0].supported_mean_time - few * supported).abs() < 1.0);
    assert!(quality[1].supported_mean_time >= supported && supported > least);
    // Nor is the joint distribution of values watched, which is reported.
    assert!(detector.mute().any(|mute| mute.leg == Leg::Values && mute.channel.is_none()));
    assert!(detector.legs().all(|leg| leg.leg != Leg::Values));
}

#[test]
fn a_restored_detector_goes_on_bit_for_bit() {
    let settings = Config { learning_rows: 256, ..Config::rows(1000.0) };
    let mut straight: Two = Detector::new(&MAP, settings).unwrap();
    let mut interrupted = straight.clone();
    let mut bytes = vec![0; Two::SAVED_BYTES];
    let mut noise = Noise::new(3);
    let mut raised = 0;
    for row in 0..900 {
        let shift = if row > 500 { 3.0 } else { 0.0 };
        let readings = [noise.next() + shift, noise.next()];
        let verdict = straight.push(&readings).unwrap();
        assert_eq!(interrupted.push(&readings).unwrap(), verdict, "row {row}");
        raised += usize::from(matches!(verdict, Verdict::Alarm(_)));
        assert_eq!(interrupted.save(&mut bytes), Ok(Two::SAVED_BYTES));
        interrupted = Detector::new(&MAP, config()).unwrap();
        interrupted.restore(&bytes).unwrap();
    }
    assert!(raised >= 1);
    assert_eq!(straight.state, interrupted.state);
    bytes[300] ^= 1;
    assert_eq!(interrupted.restore(&bytes), Err(Error::ChecksumMismatch));
    assert_eq!(straight.state, interrupted.state);
}

#[test]
fn what_no_detector_can_hold_is_refused() {
    let (mut forged, _) = alarms(config(), 1, ONSET + 100, |row, x| {
        x[0] += if row >= ONSET { 5.0 } else { 0.0 };
    });
    let mut own: Two = Detector::new(&MAP, config()).unwrap();
    let mut bytes = vec![0; Two::SAVED_BYTES];
    forged.save(&mut bytes).unwrap();
    assert_eq!(own.restore(&bytes), Ok(()));
    let alarm = Alarm { channel: 2, ..forged.last_alarm().unwrap() };
    forged.state.last_alarm = LastAlarm::some(alarm);
    forged.save(&mut bytes).unwrap();
    assert_eq!(own.restore(&bytes), Err(Error::Inconsistent));
    let lean = config().with_legs::<Lean>();
    let mut other = Detector::new(&MAP, lean).unwrap();
    assert_eq!(other.restore(&bytes), Err(Error::WrongShape));
}

#[test]
fn legs_that_are_off_cost_nothing() {
    let all = size_of::<Two>();
    let lean = size_of::<Detector<'_, Fourier<2, 32>, Lean>>();
    assert!(8 * lean < 5 * all, "{lean} {all}");
    let mut detector = Detector::new(&MAP, config().with_legs::<Lean>()).unwrap();
    let mut noise = Noise::new(1);
    let mut found = false;
    for row in 0..ONSET + 50 {
        let shift = if row >= ONSET { 3.0 } else { 0.0 };
        let verdict = detector.push(&[noise.next() + shift, noise.next()]).unwrap();
        found |= row >= ONSET && matches!(verdict, Verdict::Alarm(_));
    }
    assert!(found);
}

#[test]
fn settings_that_mean_nothing_are_named() {
    let refused = |config: Config| Detector::new(&MAP, config).unwrap_err();
    let time = |mean_time_between_false_alarms| Config {
        mean_time_between_false_alarms,
        ..Config::rows(1e4)
    };
    assert_eq!(refused(time(f32::NAN)), Error::NonFinite(Parameter::MeanTime));
    assert_eq!(refused(time(1e16)), Error::OutOfRange(Parameter::MeanTime));
    let short = Config { learning_rows: 255, ..Config::rows(1e4) };
    assert_eq!(refused(short), Error::OutOfRange(Parameter::LearningRows));
    let mut detector = Detector::new(&MAP, config()).unwrap();
    detector.push(&[1.0, 2.0]).unwrap();
    assert!(detector.relearn_with(short).is_err());
    assert!(detector.progress() > 0.0);
    detector.relearn_with(Config::rows(1e6)).unwrap();
    assert!((detector.progress(), detector.rows()) == (0.0, 1));
    assert!((Config::rows(1e4).supported_mean_time() - 40_960.0).abs() < 1.0);
}

#[cfg(feature = "alloc")]
#[test]
fn any_shape_gives_the_same_bits() {
    use crate::dynamic::{Map, detector};
    use crate::{Kernel, Sampling};

    let map = Map::fourier(Kernel::GAUSSIAN, Sampling::Additive, 1, 2, 32).unwrap();
    let settings = Config { learning_rows: 512, ..Config::rows(1000.0) };
    let mut any = detector(&map, settings).unwrap();
    let mut compiled: Two = Detector::new(&MAP, settings).unwrap();
    let mut noise = Noise::new(8);
    let mut bytes = vec![[0; Two::SAVED_BYTES]; 2];
    for row in 0..1500 {
        let shift = if row > 1000 { 2.0 } else { 0.0 };
        let readings = [noise.next(), noise.next() + shift];
        assert_eq!(any.push(&readings), compiled.push(&readings), "row {row}");
    }
    assert_eq!(any.save(&mut bytes[0]), compiled.save(&mut bytes[1]));
    assert!(bytes[0] == bytes[1]);
    assert_eq!(any.restore(&bytes[1]), Ok(()));
    assert_eq!(any.push(&[0.0; 3]), Err(Error::WrongShape));
}
