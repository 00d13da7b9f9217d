//! A detector with lengths known at run time equals the compiled one of the same shape, bit for
//! bit: verdicts, statistics and saved bytes.

use fastmmd::condition::{Innovation, Raw, ViewKind};
use fastmmd::dynamic::{self, Map};
use fastmmd::monitor::{Bandwidth, Calibration, LoneOutliers, Monitor, Policy, Reference};
use fastmmd::shape::Windows;
use fastmmd::{
    Config, Detector, Error, Fastfood, Fourier, Kernel, Recipe, Sampling, Stage, Verdict,
};
use rand_core::{Rng, SeedableRng};
use rand_xorshift::XorShiftRng;

const ROWS: usize = 900;

/// Windows of 2, 4, 6 and so on rows.
fn windows<const W: usize>() -> [u32; W] {
    core::array::from_fn(|place| 2 * u32::try_from(place + 1).unwrap())
}

/// All kinds of settings, in turn.
fn settings<V, const W: usize>(turn: usize) -> Config<V, Windows<W>> {
    let bandwidths =
        [Bandwidth::Family, Bandwidth::Deviations(4.0), Bandwidth::MedianDistance(1.0)];
    let policies = [
        Policy::OncePerChange(20),
        Policy::Relearn { hold_off: 20, settle: 100 },
        Policy::HoldOff(30),
        Policy::Latch,
    ];
    let preset = Config::<Raw<1>>::rows(2000.0).with_windows(windows()).with_view();
    Config {
        scaling_rows: 32,
        learning_rows: 160,
        bandwidth: bandwidths[turn % 3],
        policy: policies[turn % 4],
        reference: [Reference::Learned, Reference::Moving(300)][turn % 2],
        calibration: [Calibration::Adaptive(400), Calibration::Learned][turn % 2],
        lone_outliers: LoneOutliers::ALL[turn / 2 % 2],
        ..preset
    }
}

/// Compares two detectors on rows with a temporary change of level in the first channel, some
/// outliers, and a stuck first channel at the end. Returns the number of alarms.
fn compare<const C: usize>(
    compiled: &mut impl Monitor<Row = [f32; C]>,
    any: &mut dynamic::Detector<'_>,
) -> usize {
    let mut rng = XorShiftRng::seed_from_u64(C as u64);
    let mut level = [0.0_f32; C];
    let (mut alarms, mut bytes, mut others) = (0, Vec::new(), Vec::new());
    for row in 0..ROWS {
        for value in &mut level {
            let noise = f32::from((rng.next_u32() >> 16) as u16) / 65_536.0 - 0.5;
            *value = 0.4 * *value + noise;
        }
        let mut values = level.map(|value| 20.0 + value);
        values[0] += if (400..550).contains(&row) { 3.0 } else { 0.0 };
        values[0] += if row % 97 == 50 { 40.0 } else { 0.0 };
        if row > 800 {
            values[0] = 21.0;
        }
        let verdict = compiled.push(&values).unwrap();
        assert_eq!(any.push(&values).unwrap(), verdict, "row {row}");
        alarms += usize::from(matches!(verdict, Verdict::Alarm(_)));
        let (own, other) = (compiled.status(), any.status());
        assert_eq!(own, other, "row {row}");
        assert_eq!(own.statistic.to_bits(), other.statistic.to_bits(), "row {row}");
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
        assert_eq!(any.rows_to_learn() == 0, own.stage.is_learned(), "row {row}");
    }
    let again = dynamic::saved_map(&bytes).unwrap();
    let again = dynamic::restored(&again, &bytes).unwrap();
    assert_eq!((again.status(), again.config()), (any.status(), any.config()));
    alarms
}

macro_rules! shapes {
    ($($view:ident<$c:literal, $d:literal>, $map:ident<$($n:literal),*>, $w:literal);* $(;)?) => {{
        let mut turn = 0;
        $(
            let map = $map::<$($n),*>::gaussian(3);
            let any_map = drawn(stringify!($map), &[$($n),*]);
            let config: Config<$view<$c, $d>, Windows<$w>> = settings(turn);
            let mut compiled = Detector::new(&map, config).unwrap();
            let any_config = dynamic::Config::of(&config);
            let mut any =
                dynamic::detector(&any_map, $c, ViewKind::$view, any_config).unwrap();
            let lags = u32::try_from($d / $c).unwrap();
            assert_eq!(any.rows_to_learn(), config.rows_to_learn(lags));
            assert_eq!((any.lags(), any.shape()), (lags, compiled.shape()));
            let alarms = compare(&mut compiled, &mut any);
            assert!(alarms > 0, "shape {turn} raises no alarm");
            turn += 1;
        )*
        turn
    }};
}

/// The map of this name and shape, with lengths known at run time.
fn drawn(name: &str, numbers: &[usize]) -> Map {
    let map = match (name, numbers) {
        ("Fourier", &[d, l]) => Map::fourier(Kernel::GAUSSIAN, Sampling::Auto, 3, d, l),
        ("Fastfood", &[d, p, l]) => Map::fastfood(Kernel::GAUSSIAN, 3, d, p, l),
        _ => panic!("no map {name}"),
    };
    map.unwrap()
}

#[test]
#[cfg_attr(miri, ignore = "too slow when interpreted")]
fn raw_values() {
    let count = shapes! {
        Raw<1, 1>, Fourier<1, 1>, 2;
        Raw<1, 1>, Fourier<1, 16>, 4;
        Raw<2, 2>, Fourier<2, 32>, 3;
        Raw<3, 3>, Fourier<3, 64>, 4;
        Raw<5, 5>, Fourier<5, 7>, 1;
        Raw<8, 8>, Fourier<8, 64>, 3;
        Raw<12, 12>, Fourier<12, 20>, 6;
        Raw<17, 17>, Fourier<17, 65>, 5;
        Raw<3, 3>, Fastfood<3, 4, 64>, 4;
        Raw<20, 20>, Fastfood<20, 32, 64>, 3;
    };
    assert_eq!(count, 10);
}

#[test]
#[cfg_attr(miri, ignore = "too slow when interpreted")]
fn vectors_of_several_rows() {
    let count = shapes! {
        Raw<1, 2>, Fourier<2, 16>, 4;
        Raw<1, 8>, Fourier<8, 64>, 3;
        Raw<2, 6>, Fourier<6, 30>, 3;
        Raw<3, 12>, Fourier<12, 64>, 3;
        Raw<4, 32>, Fourier<32, 64>, 3;
        Raw<5, 10>, Fourier<10, 70>, 2;
        Raw<7, 28>, Fourier<28, 24>, 9;
        Raw<2, 16>, Fastfood<16, 16, 32>, 12;
    };
    assert_eq!(count, 8);
}

#[test]
#[cfg_attr(miri, ignore = "too slow when interpreted")]
fn innovations() {
    let count = shapes! {
        Innovation<1, 1>, Fourier<1, 16>, 3;
        Innovation<3, 3>, Fourier<3, 16>, 3;
        Innovation<6, 6>, Fourier<6, 64>, 4;
        Innovation<8, 8>, Fourier<8, 32>, 3;
        Innovation<10, 10>, Fourier<10, 129>, 5;
        Innovation<2, 4>, Fourier<4, 16>, 3;
        Innovation<3, 9>, Fourier<9, 40>, 12;
        Innovation<4, 8>, Fastfood<8, 8, 64>, 1;
    };
    assert_eq!(count, 8);
}

#[test]
fn what_does_not_go_together_is_refused() {
    let map = drawn("Fourier", &[4, 16]);
    let config = dynamic::Config::of(&settings::<Raw<1>, 3>(0));
    let made = |channels, view, config| dynamic::detector(&map, channels, view, config);
    for channels in [0, 3, 5, 8] {
        let refused = made(channels, ViewKind::Raw, config.clone()).err();
        assert_eq!(refused, Some(Error::WrongShape));
    }
    let mut detector = made(2, ViewKind::Raw, config.clone()).unwrap();
    assert_eq!(detector.push(&[1.0]), Err(Error::WrongShape));
    let fewer = config.with_lengths(vec![4, 8]);
    assert_eq!(detector.relearn_with(fewer.clone()), Err(Error::WrongShape));
    assert_eq!((detector.rows(), detector.stage()), (0, Stage::Scaling));
    // Records of another shape, although settings and map may be the same.
    for other in [
        made(4, ViewKind::Raw, config.clone()),
        made(2, ViewKind::Innovation, config.clone()),
        made(2, ViewKind::Raw, fewer),
    ] {
        let mut other = other.unwrap();
        assert_eq!(detector.difference(&other), Err(Error::WrongShape));
        assert_eq!(detector.merge(&other), Err(Error::WrongShape));
        let mut bytes = vec![0; detector.saved_bytes()];
        detector.save(&mut bytes).unwrap();
        assert_eq!(other.restore(&bytes), Err(Error::WrongShape));
    }
}

#[test]
fn frequencies_of_any_map_are_given_back() {
    for map in [drawn("Fourier", &[3, 20]), drawn("Fastfood", &[6, 8, 24])] {
        use fastmmd::FeatureMap;
        let (inputs, all) = (map.recipe().inputs as usize, map.frequencies());
        for (index, vector) in all.chunks_exact(inputs).enumerate() {
            assert_eq!(map.frequency(index).as_deref(), Some(vector));
        }
        let Recipe { frequencies, .. } = *map.recipe();
        assert_eq!(all.len(), inputs * frequencies as usize);
        assert_eq!(Map::given(&all, inputs, 1.0).unwrap().frequencies(), all);
    }
}
