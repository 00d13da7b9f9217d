//! A detector with lengths known at run time equals the compiled one of the same shape, bit for
//! bit: verdicts, statistics and saved bytes.

use fastmmd::dynamic::{self, Map};
use fastmmd::monitor::{
    All, Bins, Cyclic, LegStatus, Legs, Monitor, NotANumber, Off, On, SavedLegs,
};
use fastmmd::{
    Config, Detector, Error, Fastfood, FeatureMap, Fourier, Kernel, Recipe, Sampling, Stage,
    Verdict,
};
use rand_core::{Rng, SeedableRng};
use rand_xorshift::XorShiftRng;

const ROWS: usize = 1100;
const LEARNING: u32 = 512;

/// Declares choices of legs.
macro_rules! legs {
    ($($name:ident: $level:ty, $jump:ty, $spread:ty, $values:ty, $innovations:ty, $cycle:ty;)*) => {$(
        #[derive(Debug, Clone, Copy, PartialEq)]
        struct $name;

        impl Legs for $name {
            type Level = $level;
            type Jump = $jump;
            type Spread = $spread;
            type Values = $values;
            type Innovations = $innovations;
            type Cycle = $cycle;
        }
    )*};
}

legs! {
    Lean: On, On, Off, Off, Off, Off;
    Joint: Off, Off, Off, On, On, Off;
    NoLevel: Off, On, On, On, On, Off;
    NoJump: On, Off, On, On, On, Off;
    NoInnovations: On, On, On, On, Off, Off;
    Least: Off, Off, Off, Off, Off, Off;
    LeanCycle: On, On, Off, Off, Off, Bins<8>;
}

/// All kinds of settings, in turn.
fn settings<L: Legs>(turn: usize) -> Config<L> {
    let period = (SavedLegs::of::<L>().bins > 0).then_some([24.0, 7.3][turn % 2]);
    let usual = Config {
        learning_rows: LEARNING,
        not_a_number: NotANumber::ALL[turn % 2],
        relearn_after: [None, Some(150)][turn / 2 % 2],
        period,
        ..Config::rows([2000.0, 1e5][turn % 2])
    };
    usual.with_legs()
}

fn bits(legs: impl Iterator<Item = LegStatus>) -> Vec<(LegStatus, u32, u32)> {
    legs.map(|leg| (leg, leg.statistic.to_bits(), leg.threshold.to_bits())).collect()
}

/// Compares two detectors on rows with a temporary change of level in the first channel, some
/// outliers, missing readings, and a stuck first channel at the end. Returns the number of alarms.
fn compare<M, L: Legs, const C: usize>(
    compiled: &mut Detector<'_, M, L>,
    any: &mut dynamic::Detector<'_, L>,
) -> usize
where
    M: FeatureMap<
            Inputs = fastmmd::shape::Fixed<C>,
            Backend = fastmmd::features::sincos::Polynomial,
        >,
{
    let mut rng = XorShiftRng::seed_from_u64(C as u64);
    let mut level = [0.0_f32; C];
    let (mut alarms, mut bytes, mut others) = (0, Vec::new(), Vec::new());
    for row in 0..ROWS {
        for value in &mut level {
            let noise = f32::from((rng.next_u32() >> 16) as u16) / 65_536.0 - 0.5;
            *value = 0.4 * *value + noise;
        }
        let mut values = level.map(|value| 20.0 + value);
        values[0] += if (700..850).contains(&row) { 3.0 } else { 0.0 };
        values[0] += if row % 97 == 50 { 40.0 } else { 0.0 };
        if row > 1000 {
            values[0] = 21.0;
        }
        let verdict = if row % 61 == 60 {
            let mut partial = values.map(Some);
            partial[C - 1] = None;
            let verdict = compiled.push_partial(&partial).unwrap();
            assert_eq!(any.push_partial(&partial).unwrap(), verdict, "row {row}");
            verdict
        } else {
            let verdict = compiled.push(&values).unwrap();
            assert_eq!(any.push(&values).unwrap(), verdict, "row {row}");
            verdict
        };
        alarms += usize::from(matches!(verdict, Verdict::Alarm(_)));
        if row % 20 == 0 || row == 770 {
            assert_eq!(compiled.status(), any.status(), "row {row}");
            assert_eq!(bits(compiled.legs()), bits(any.legs()), "row {row}");
            assert!(compiled.open().eq(any.open()), "row {row}");
            assert!(compiled.quality().eq(any.quality()), "row {row}");
            assert!(compiled.mute().eq(any.mute()), "row {row}");
        }
        if row == 780 {
            compiled.dismiss();
            any.dismiss();
        }
        if row % 100 == 99 {
            bytes.resize(compiled.saved_bytes(), 0);
            others.resize(any.saved_bytes(), 0);
            compiled.save(&mut bytes).unwrap();
            any.save(&mut others).unwrap();
            assert!(bytes == others, "saved after row {row}");
            // Each continues from the other's saved state.
            compiled.restore(&others).unwrap();
            any.restore(&bytes).unwrap();
        }
    }
    assert_eq!(SavedLegs::restore(&bytes), Ok(SavedLegs::of::<L>()));
    let again = dynamic::saved_map(&bytes).unwrap();
    let again = dynamic::restored::<L, _>(&again, &bytes).unwrap();
    assert_eq!((again.status(), again.config()), (any.status(), any.config()));
    alarms
}

macro_rules! shapes {
    ($($legs:ty, $map:ident<$($n:literal),*>);* $(;)?) => {{
        let mut turn = 0;
        $(
            let (map, any_map) = drawn!($map<$($n),*>);
            let config: Config<$legs> = settings(turn);
            let mut compiled = Detector::new(&map, config).unwrap();
            let mut any = dynamic::detector(&any_map, config).unwrap();
            let alarms = compare(&mut compiled, &mut any);
            assert!(alarms > 0, "shape {turn} raises no alarm");
            turn += 1;
        )*
        turn
    }};
}

/// The same map with its shape in the type, and without.
macro_rules! drawn {
    (Fourier<$d:literal, $l:literal>) => {
        (
            Fourier::<$d, $l>::additive(3),
            Map::fourier(Kernel::GAUSSIAN, Sampling::Additive, 3, $d, $l).unwrap(),
        )
    };
    (Fastfood<$d:literal, $p:literal, $l:literal>) => {
        (
            Fastfood::<$d, $p, $l>::gaussian(3),
            Map::fastfood(Kernel::GAUSSIAN, 3, $d, $p, $l).unwrap(),
        )
    };
}

#[test]
#[cfg_attr(miri, ignore = "too slow when interpreted")]
fn all_legs() {
    let count = shapes! {
        All, Fourier<1, 1>;
        All, Fourier<1, 16>;
        All, Fourier<2, 32>;
        All, Fourier<3, 32>;
        All, Fourier<3, 64>;
        All, Fourier<5, 7>;
        All, Fourier<8, 64>;
        All, Fourier<12, 20>;
        All, Fourier<17, 65>;
        All, Fourier<40, 32>;
        All, Fastfood<3, 4, 64>;
        All, Fastfood<20, 32, 64>;
    };
    assert_eq!(count, 12);
}

#[test]
#[cfg_attr(miri, ignore = "too slow when interpreted")]
fn some_legs() {
    let count = shapes! {
        Lean, Fourier<1, 4>;
        Lean, Fourier<24, 4>;
        Joint, Fourier<3, 16>;
        Joint, Fastfood<6, 8, 32>;
        NoLevel, Fourier<4, 30>;
        NoJump, Fourier<7, 16>;
        NoInnovations, Fourier<3, 32>;
        Least, Fourier<2, 1>;
    };
    assert_eq!(count, 8);
}

#[test]
#[cfg_attr(miri, ignore = "too slow when interpreted")]
fn with_a_period() {
    let count = shapes! {
        Cyclic<32>, Fourier<1, 32>;
        Cyclic<32>, Fourier<3, 32>;
        Cyclic<7>, Fourier<2, 16>;
        Cyclic<64>, Fourier<10, 48>;
        LeanCycle, Fourier<5, 4>;
        Cyclic<1>, Fastfood<3, 4, 16>;
    };
    assert_eq!(count, 6);
}

/// Shapes that no type has been compiled for.
#[test]
#[cfg_attr(miri, ignore = "too slow when interpreted")]
fn many_channels_and_frequencies() {
    let map = Map::fourier(Kernel::GAUSSIAN, Sampling::Additive, 1, 256, 4096).unwrap();
    let config = Config { learning_rows: 256, ..Config::rows(1e4) };
    let mut detector = dynamic::detector(&map, config).unwrap();
    let mut rng = XorShiftRng::seed_from_u64(1);
    let mut found = Vec::new();
    for row in 0..300_u32 {
        let mut values: Vec<f32> =
            (0..256).map(|_| f32::from((rng.next_u32() >> 16) as u16)).collect();
        values[200] += if row >= 280 { 1e6 } else { 0.0 };
        if let Verdict::Alarm(alarm) = detector.push(&values).unwrap() {
            found.push((row, alarm.channel));
        }
    }
    let found = found.iter().any(|(row, channel)| (280..290).contains(row) && *channel == 200);
    assert!(found);
    let mut bytes = vec![0; detector.saved_bytes()];
    detector.save(&mut bytes).unwrap();
    let again = dynamic::saved_map(&bytes).unwrap();
    let again = dynamic::restored::<All, _>(&again, &bytes).unwrap();
    assert_eq!(again.status(), detector.status());
}

#[test]
fn what_does_not_go_together_is_refused() {
    let (_, map) = drawn!(Fourier<4, 16>);
    let mut detector = dynamic::detector(&map, settings::<All>(0)).unwrap();
    assert_eq!(detector.push(&[1.0]), Err(Error::WrongShape));
    assert_eq!((detector.rows(), detector.stage()), (0, Stage::Learning));
    let mut bytes = vec![0; detector.saved_bytes()];
    detector.save(&mut bytes).unwrap();
    // Records of other legs, of other channels, of other frequencies.
    let mut lean = dynamic::detector(&map, settings::<Lean>(0)).unwrap();
    assert_eq!(lean.restore(&bytes), Err(Error::WrongShape));
    assert_eq!(dynamic::restored::<Cyclic<32>, _>(&map, &bytes).err(), Some(Error::WrongShape));
    let (_, fewer) = drawn!(Fourier<3, 16>);
    let (_, finer) = drawn!(Fourier<4, 17>);
    for other in [&fewer, &finer] {
        let mut other = dynamic::detector(other, settings::<All>(0)).unwrap();
        assert_eq!(other.restore(&bytes), Err(Error::WrongShape));
        assert_eq!(other.difference(&detector), Err(Error::MapMismatch));
        assert_eq!(other.merge(&detector), Err(Error::MapMismatch));
    }
    let other = Map::fourier(Kernel::GAUSSIAN, Sampling::Additive, 4, 4, 16).unwrap();
    let mut other = dynamic::detector(&other, settings::<All>(0)).unwrap();
    assert_eq!(other.restore(&bytes), Err(Error::MapMismatch));
}

#[test]
fn frequencies_of_any_map_are_given_back() {
    let fourier = Map::fourier(Kernel::GAUSSIAN, Sampling::Auto, 3, 3, 20).unwrap();
    for map in [fourier, Map::fastfood(Kernel::GAUSSIAN, 3, 6, 8, 24).unwrap()] {
        let (inputs, all) = (map.recipe().inputs as usize, map.frequencies());
        for (index, vector) in all.chunks_exact(inputs).enumerate() {
            assert_eq!(map.frequency(index).as_deref(), Some(vector));
        }
        let Recipe { frequencies, .. } = *map.recipe();
        assert_eq!(all.len(), inputs * frequencies as usize);
        assert_eq!(Map::given(&all, inputs, 1.0).unwrap().frequencies(), all);
    }
}
