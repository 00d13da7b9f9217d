//! States that somebody has altered: refused, or harmless.

use super::*;
use crate::features::FeatureMap;
use crate::features::sincos::Points;
use crate::fixed;
use crate::state::State;
use crate::state::checksum;
use std::format;

static INTEGERS: fixed::Fourier<2, 32> = fixed::Fourier::additive(1);

/// Words that are extreme as integers or as numbers.
const EXTREMES: [u32; 14] = [
    0,
    1,
    2,
    255,
    0x0080_0000,
    0x3f80_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x5d5e_0b6b,
    0x8000_0000,
    0x8000_0001,
    0x7fff_ffff,
    0xffff_fffe,
    u32::MAX,
];

/// A map, and rows for its detectors.
trait Rows: FeatureMap<Backend: Points> + Sized + 'static {
    fn push<L: Legs>(detector: &mut Detector<'static, Self, L>, row: [Option<f32>; 2]);
}

impl Rows for Fourier<2, 32> {
    fn push<L: Legs>(detector: &mut Detector<'static, Self, L>, row: [Option<f32>; 2]) {
        detector.push_partial(&row).unwrap();
    }
}

impl Rows for fixed::Fourier<2, 32> {
    fn push<L: Legs>(detector: &mut Detector<'static, Self, L>, row: [Option<f32>; 2]) {
        let counts = |reading: f32| (100.0 * reading) as i16;
        detector.push_partial(&row.map(|reading| reading.map(counts))).unwrap();
    }
}

/// Everything that can be asked of a detector, and rows; only panics count here.
fn use_all<M: Rows, L: Legs>(detector: &mut Detector<'static, M, L>, noise: &mut Noise) {
    for row in 0..70_u16 {
        let spike = if row % 30 == 29 { 1e6 } else { 0.0 };
        M::push(detector, [noise.next() + spike, noise.next()].map(Some));
        if row % 40 == 13 {
            M::push(detector, [None, Some(0.0)]);
        }
        if row % 30 == 0 {
            look(detector);
        }
        if row == 45 {
            detector.dismiss();
        }
    }
    detector.dismiss();
    look(detector);
}

fn look<M: Rows, L: Legs>(detector: &Detector<'static, M, L>) {
    let count = detector.legs().count() + detector.open().count() + detector.mute().count();
    assert!(count < 100);
    assert_eq!(detector.quality().count(), 2);
    assert!(detector.nearest().is_none_or(|leg| leg.channel.is_none_or(|channel| channel < 2)));
    assert!(detector.last_alarm().is_none_or(|alarm| alarm.channel < 2));
    assert!(detector.progress() >= 0.0 && detector.progress() <= 1.0);
    let status = Monitor::status(detector);
    assert_eq!(status.stage, detector.stage());
}

/// What it saves is accepted, and saved again as it was.
fn comes_back<M: Rows, L: Legs>(detector: &Detector<'static, M, L>) -> bool {
    let mut bytes = vec![0; detector.saved_bytes()];
    let mut again = bytes.clone();
    detector.save(&mut bytes).unwrap();
    let mut restored = detector.clone();
    restored.restore(&bytes).is_ok() && restored.save(&mut again).is_ok() && again == bytes
}

/// Overwrites one word of a good state, 2000 times, and uses what is restored.
fn bombard<M: Rows, L: Legs>(good: &Detector<'static, M, L>, seed: u64) {
    let mut bytes = vec![0; good.saved_bytes()];
    good.save(&mut bytes).unwrap();
    let (mut rng, mut noise) = (XorShiftRng::seed_from_u64(seed), Noise::new(seed));
    let (mut refused, mut accepted) = (0, 0);
    let mut fresh = good.clone();
    fresh.state.reset();
    for _ in 0..2000 {
        let mut forged = bytes.clone();
        let body = forged.len() - 4;
        // Behind header and recipe.
        let at = 44 + rng.next_u32() as usize % (body - 44 - 4);
        let extreme = rng.next_u32() as usize % (EXTREMES.len() + 2);
        let word = EXTREMES.get(extreme).copied().unwrap_or_else(|| rng.next_u32());
        forged[at..at + 4].copy_from_slice(&word.to_le_bytes());
        let sum = checksum(0, &forged[..body]);
        forged[body..].copy_from_slice(&sum.to_le_bytes());
        let mut detector = good.clone();
        if detector.restore(&forged).is_err() {
            refused += 1;
            assert_eq!(detector.state, good.state);
            continue;
        }
        accepted += 1;
        look(&detector);
        let _ = detector.difference(good);
        let _ = detector.clone().merge(good);
        let _ = good.clone().merge(&detector);
        let told = format!("seed {seed}: {word:#x} at {at}");
        assert!(comes_back(&detector), "{told}, at once");
        use_all(&mut detector, &mut noise);
        assert!(comes_back(&detector), "{told}, after rows");
        detector.relearn_reference();
        use_all(&mut detector, &mut noise);
        assert!(comes_back(&detector), "{told}, after learning the reference anew");
        // Nothing of it is left after learning anew.
        detector.relearn();
        fresh.state.rows = detector.rows();
        assert_eq!(detector.state, fresh.state);
    }
    assert!(refused > 100 && accepted > 100, "{refused} {accepted}");
}

#[test]
fn a_forged_state_is_refused_or_harmless() {
    let learning = Config { learning_rows: 512, ..Config::rows(1e4) };
    through_its_life(Detector::new(&MAP, learning).unwrap(), 0);
}

#[test]
fn so_is_one_in_integers() {
    let learning = Config { learning_rows: 512, ..Config::rows(1e4) };
    through_its_life(Detector::new(&INTEGERS, learning).unwrap(), 100);
}

/// While it learns, while it monitors, and in a drift.
fn through_its_life<M: Rows>(mut detector: Detector<'static, M>, seed: u64) {
    let mut noise = Noise::new(4);
    let mut run = |detector: &mut Detector<'static, M>, rows, shift| {
        for _ in 0..rows {
            M::push(detector, [noise.next() + shift, noise.next()].map(Some));
        }
    };
    run(&mut detector, 300, 0.0);
    bombard(&detector, seed + 1);
    run(&mut detector, 400, 0.0);
    bombard(&detector, seed + 2);
    run(&mut detector, 50, 4.0);
    assert_eq!(detector.stage(), Stage::Drift);
    bombard(&detector, seed + 3);
}

#[test]
fn so_is_a_forged_profile() {
    let learning = Config { learning_rows: 512, relearn_after: Some(100), ..Config::rows(1e4) };
    let mut detector = Detector::new(&MAP, learning.with_period(24.0)).unwrap();
    let mut noise = Noise::new(5);
    for (seed, rows) in [(11, 200), (12, 200), (13, 300)] {
        for _ in 0..rows {
            detector.push(&[noise.next(), noise.next()]).unwrap();
        }
        bombard(&detector, seed);
    }
}
