//! Cycles whose period is known, and learning anew.

use super::*;

static ONE: Fourier<1, 32> = Fourier::additive(1);

/// Signals with a cycle: level and spread of the noise at a row.
type Signal = fn(u32) -> (f32, f32);

const PERIODS: [(f32, Signal); 3] = [
    // A sine, and noise of a fifth of it.
    (500.0, |row| ((turns(row, 500)).sin(), 0.2)),
    // A day: noise grows with the level.
    (288.0, |row| {
        let level = 3.0 + 2.0 * turns(row, 288).sin() + (2.0 * turns(row, 288)).cos();
        (level, 0.1 * level.abs().max(0.5))
    }),
    // A machine of 24 steps, each with a level of its own.
    (24.0, |row| (((row % 24 + 1).wrapping_mul(2_654_435_761) >> 28) as f32 / 4.0, 0.3)),
];

fn turns(row: u32, period: u32) -> f32 {
    (row % period) as f32 / period as f32 * core::f32::consts::TAU
}

const LEARNED: u32 = 8192;
const CHANGED: u32 = LEARNED + 1000;

type One<L> = Detector<'static, Fourier<1, 32>, L>;

/// Alarms of a detector on a signal that is off by `shift` deviations of its noise from `CHANGED`
/// on.
fn alarms<L: Legs>(new: &One<L>, signal: Signal, seed: u64, rows: u32, shift: f32) -> Vec<u64> {
    let mut detector = new.clone();
    let mut noise = Noise::new(seed);
    let mut rows_of_alarms = Vec::new();
    for row in 0..rows {
        let (level, spread) = signal(row);
        let shift = if row >= CHANGED { shift } else { 0.0 };
        let reading = 20.0 + level + spread * (noise.next() + shift);
        if let Verdict::Alarm(alarm) = detector.push(&[reading]).unwrap() {
            rows_of_alarms.push(alarm.row);
        }
    }
    rows_of_alarms
}

fn settings(promise: f32) -> Config {
    Config { learning_rows: LEARNED, ..Config::rows(promise) }
}

/// The median, over 9 runs, of the rows from the change to the first alarm after it.
fn delay<L: Legs>(new: &One<L>, signal: Signal) -> u64 {
    let mut delays = [0; 9];
    for (seed, delay) in (0..).zip(&mut delays) {
        let alarms = alarms(new, signal, seed, CHANGED + 1000, 1.0);
        let delays = alarms.iter().filter_map(|row| row.checked_sub(u64::from(CHANGED)));
        *delay = delays.min().unwrap_or(1000);
    }
    delays.sort_unstable();
    delays[4]
}

/// A shift by one deviation of the noise.
#[test]
fn a_known_period_shows_what_the_cycle_hides() {
    for (period, signal) in PERIODS {
        let with = Detector::new(&ONE, settings(1e5).with_period(period)).unwrap();
        let without = Detector::new(&ONE, settings(1e5)).unwrap();
        let (with, without) = (delay(&with, signal), delay(&without, signal));
        std::println!("period {period}: {with} rows with the profile, {without} without");
        assert!(with <= 60, "period {period}: {with}");
        // A short cycle is seen whole by every window, and hides little.
        assert!(period < 100.0 || without >= 3 * with, "period {period}: {with} {without}");
    }
}

#[test]
fn healthy_cycles_are_left_alone() {
    for (period, signal) in PERIODS {
        let new = Detector::new(&ONE, settings(2e4).with_period(period)).unwrap();
        let raised = (20..28).map(|seed| alarms(&new, signal, seed, LEARNED + 20_000, 0.0).len());
        let raised: usize = raised.sum();
        std::println!("period {period}: {raised} alarms in 160,000 rows");
        // Eight are promised.
        assert!(raised <= 16, "period {period}: {raised}");
    }
}

#[test]
fn a_period_that_is_not_whole_is_kept_over_many_cycles() {
    let period = 50.3_f32;
    let config = settings(1e5).with_period(period);
    let mut detector = Detector::new(&ONE, config).unwrap();
    let mut noise = Noise::new(2);
    let mut raised = 0;
    for row in 0..60_000_u32 {
        let turns = (f64::from(row) / f64::from(period)).fract() as f32;
        let reading = (turns * core::f32::consts::TAU).sin() + 0.05 * noise.next();
        raised += u32::from(matches!(detector.push(&[reading]), Ok(Verdict::Alarm(_))));
    }
    assert!(raised <= 2, "{raised}");
}

#[test]
fn with_a_period_it_goes_on_bit_for_bit() {
    let settings = Config { learning_rows: 512, ..Config::rows(1000.0) }.with_period(24.0);
    let mut straight: One<Cyclic<32>> = Detector::new(&ONE, settings).unwrap();
    let mut interrupted = straight.clone();
    let mut bytes = vec![0; One::<Cyclic<32>>::SAVED_BYTES];
    let (mut noise, mut raised) = (Noise::new(3), 0);
    for row in 0..1400 {
        let (level, spread) = PERIODS[2].1(row);
        let shift = if row > 1000 { 3.0 } else { 0.0 };
        let reading = [level + spread * (noise.next() + shift)];
        let verdict = straight.push(&reading).unwrap();
        assert_eq!(interrupted.push(&reading).unwrap(), verdict, "row {row}");
        raised += usize::from(matches!(verdict, Verdict::Alarm(_)));
        assert_eq!(interrupted.save(&mut bytes), Ok(One::<Cyclic<32>>::SAVED_BYTES));
        let other = Config { learning_rows: 512, ..Config::rows(1e5) }.with_period(50.0);
        interrupted = Detector::new(&ONE, other).unwrap();
        interrupted.restore(&bytes).unwrap();
        assert_eq!(*interrupted.config(), settings);
    }
    assert!(raised >= 1);
    assert_eq!(straight.state, interrupted.state);
    // A detector of another profile refuses it, and so does one without.
    let mut finer = Detector::new(&ONE, settings.with_legs::<Cyclic<64>>()).unwrap();
    assert_eq!(finer.restore(&bytes), Err(Error::WrongShape));
    let mut without = Detector::new(&ONE, config()).unwrap();
    assert_eq!(without.restore(&bytes), Err(Error::WrongShape));
}

#[test]
fn a_period_that_cannot_be_learned_is_named() {
    let refused = |config: Config<Cyclic<32>>| Detector::new(&ONE, config).err();
    let with = |period| Config { learning_rows: 1024, ..Config::rows(1e4) }.with_period(period);
    let out = Some(Error::OutOfRange(Parameter::Period));
    assert_eq!(refused(with(f32::NAN)), Some(Error::NonFinite(Parameter::Period)));
    assert_eq!((refused(with(3.9)), refused(with(257.0)), refused(with(-24.0))), (out, out, out));
    assert_eq!((refused(with(4.0)), refused(with(256.0))), (None, None));
    // Legs without a profile cannot use a period.
    let without = Config { period: Some(24.0), ..config() };
    assert_eq!(Detector::new(&ONE, without).err(), out);
    let none = Config { relearn_after: Some(0), ..config() };
    let relearn = Some(Error::OutOfRange(Parameter::RelearnRows));
    assert_eq!(Detector::new(&ONE, none).err(), relearn);
}

#[test]
fn a_regime_that_lasts_is_learned_if_that_is_asked_for() {
    let lasting = |relearn_after| {
        let settings = Config { relearn_after, ..config() };
        alarms2(settings, 6, 4 * LEARNING, |row, x| x[0] += if row >= ONSET { 5.0 } else { 0.0 })
    };
    // Without, it stays open.
    let (kept, first) = lasting(None);
    assert_eq!(kept.stage(), Stage::Drift);
    assert!(!first.is_empty());
    let (learned, found) = lasting(Some(500));
    assert_eq!(learned.stage(), Stage::Monitoring);
    assert!(found.iter().all(|alarm| alarm.row < (ONSET + 500) as u64), "{found:?}");
    let level = learned.quality().next().unwrap().level;
    assert!((level - 5.0).abs() < 0.3, "{level}");
    assert_eq!(learned.rows(), 4 * LEARNING as u64);
}

/// As [`super::alarms`], for detectors that learn again.
fn alarms2(
    config: Config,
    seed: u64,
    rows: usize,
    mut change: impl FnMut(usize, &mut [f32; 2]),
) -> (Two, Vec<Alarm>) {
    let mut detector = Detector::new(&MAP, config).unwrap();
    let (mut noise, mut alarms) = (Noise::new(seed), Vec::new());
    for row in 0..rows {
        let mut readings = [noise.next(), noise.next()];
        change(row, &mut readings);
        if let Verdict::Alarm(alarm) = detector.push(&readings).unwrap() {
            alarms.push(alarm);
        }
    }
    (detector, alarms)
}
