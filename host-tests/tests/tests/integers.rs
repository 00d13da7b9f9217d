//! The detector in integers, beside the one in `f32`.

use fastmmd::{Config, Detector, Error, Fourier, Stage, Verdict, fixed};
use fastmmd_reference::generate::Generator;
use fastmmd_reference::{real, single, tolerance};

static FLOATS: Fourier<3, 32> = Fourier::additive(1);
static INTEGERS: fixed::Fourier<3, 32> = fixed::Fourier::additive(1);
static FASTFOOD: fixed::Fastfood<3, 4, 32> = fixed::Fastfood::gaussian(1);
const CONFIG: Config = Config { learning_rows: 2048, ..Config::rows(1e4) };
const ONSET: u64 = 3000;

/// Counts of an ADC; the second channel changes at the onset.
struct Adc(Generator);

impl Adc {
    fn row(&mut self, row: u64, shift: f64, factor: f64) -> [i16; 3] {
        let changed = row >= ONSET;
        let mut count = |level: f64, spread: f64| single(level + spread * self.0.normal());
        let (level, spread) =
            if changed { (-3000.0 + shift, 40.0 * factor) } else { (-3000.0, 40.0) };
        [count(2048.0, 25.0), count(level, spread), count(10_000.0, 3.0)].map(|x| {
            #[expect(clippy::cast_possible_truncation, reason = "an ADC's range")]
            let counts = x.round() as i16;
            counts
        })
    }
}

/// The first alarm after the onset, by both detectors.
fn first_alarms(shift: f64, factor: f64, seed: u64) -> [Option<(u64, usize)>; 2] {
    let mut adc = Adc(Generator::new(seed));
    let mut floats = Detector::new(&FLOATS, CONFIG).expect("valid settings");
    let mut integers = Detector::new(&INTEGERS, CONFIG).expect("valid settings");
    let mut first = [None, None];
    for row in 0..ONSET + 1000 {
        let counts = adc.row(row, shift, factor);
        let verdicts = [
            floats.push(&counts.map(f32::from)).expect("finite"),
            integers.push(&counts).expect("every row is accepted"),
        ];
        for (first, verdict) in first.iter_mut().zip(verdicts) {
            if let Verdict::Alarm(alarm) = verdict
                && row >= ONSET
            {
                *first = first.or(Some((row - ONSET, alarm.channel)));
            }
        }
    }
    first
}

/// A number of rows.
fn count(rows: u64) -> f64 {
    real(usize::try_from(rows).expect("few rows"))
}

#[test]
fn finds_what_floats_find_and_as_soon() {
    for (shift, factor) in [(40.0, 1.0), (-200.0, 1.0), (0.0, 2.0), (0.0, 0.4)] {
        for seed in 0..4 {
            let [float, integer] = first_alarms(shift, factor, seed);
            let (float, integer) = (float.expect("found"), integer.expect("found"));
            assert_eq!((float.1, integer.1), (1, 1), "{shift} {factor}");
            let (soonest, latest) = (float.0.min(integer.0), float.0.max(integer.0));
            let longest = tolerance::INTEGERS_DELAY.limit * count(soonest) + 2.0;
            assert!(count(latest) <= longest, "{shift} {factor} {seed}: {float:?} {integer:?}");
        }
    }
}

#[test]
fn is_saved_and_goes_on_bit_for_bit() {
    let mut adc = Adc(Generator::new(9));
    let mut detector = Detector::new(&INTEGERS, CONFIG).expect("valid settings");
    for row in 0..ONSET {
        detector.push(&adc.row(row, 0.0, 1.0)).expect("accepted");
    }
    let mut bytes = vec![0; detector.saved_bytes()];
    detector.save(&mut bytes).expect("it fits");
    let mut again = Detector::new(&INTEGERS, Config::rows(1e3)).expect("valid settings");
    again.restore(&bytes).expect("its own record");
    for row in ONSET..ONSET + 500 {
        let counts = adc.row(row, 60.0, 1.0);
        assert_eq!(again.push(&counts), detector.push(&counts));
    }
    assert_eq!(again.stage(), Stage::Drift);
    // One in `f32` refuses it, and stays as it was.
    let mut floats = Detector::new(&FLOATS, CONFIG).expect("valid settings");
    assert_eq!(floats.restore(&bytes), Err(Error::WrongShape));
    assert_eq!(floats.stage(), Stage::Learning);
}

#[test]
fn batches_give_the_same_verdicts() {
    let mut adc = Adc(Generator::new(11));
    let rows: Vec<[i16; 3]> = (0..ONSET + 600).map(|row| adc.row(row, 80.0, 1.0)).collect();
    let mut one_by_one = Detector::new(&INTEGERS, CONFIG).expect("valid settings");
    let mut batched = one_by_one.clone();
    let mut expected = Vec::new();
    for row in &rows {
        let verdict = one_by_one.push(row).expect("accepted");
        if matches!(verdict, Verdict::Alarm(_) | Verdict::Amended(_)) {
            expected.push(verdict);
        }
    }
    let mut found = Vec::new();
    for batch in rows.chunks(37) {
        batched.push_many(batch, |verdict| found.push(*verdict)).expect("accepted");
    }
    assert!(!expected.is_empty());
    assert_eq!(found, expected);
    let mut bytes = [one_by_one, batched].map(|detector| {
        let mut bytes = vec![0; detector.saved_bytes()];
        detector.save(&mut bytes).expect("it fits");
        bytes
    });
    let [one, many] = &mut bytes;
    assert_eq!(one, many);
}

#[test]
fn a_refused_row_ends_a_batch_and_names_its_channel() {
    let mut detector = Detector::new(&FLOATS, CONFIG).expect("valid settings");
    let rows = [[1.0, 2.0, 3.0], [1.0, f32::NAN, 3.0], [1.0, 2.0, 3.0]];
    let refused = detector.push_many(&rows, |_| ());
    assert_eq!(refused, Err(Error::NonFinite(fastmmd::Parameter::Channel(1))));
    assert_eq!(detector.rows(), 1);
    assert_eq!(detector.push_many(&[], |_| ()), Ok(None));
}

#[test]
fn other_integer_maps_and_extreme_counts_do_no_harm() {
    let mut detector = Detector::new(&FASTFOOD, CONFIG).expect("valid settings");
    let mut adc = Adc(Generator::new(13));
    for row in 0..ONSET {
        detector.push(&adc.row(row, 0.0, 1.0)).expect("accepted");
    }
    assert_eq!(detector.stage(), Stage::Monitoring);
    let mut alarmed = false;
    for row in 0..200 {
        let far = if row % 2 == 0 { i16::MAX } else { i16::MIN };
        let verdict = detector.push(&[far, far, far]).expect("accepted");
        alarmed |= matches!(verdict, Verdict::Alarm(_));
    }
    assert!(alarmed);
    // Missing readings, and a constant channel from the start.
    let mut detector = Detector::new(&INTEGERS, CONFIG).expect("valid settings");
    for row in 0..ONSET {
        let [x, y, _] = adc.row(row, 0.0, 1.0);
        let y = (row % 50 != 0).then_some(y);
        detector.push_partial(&[Some(x), y, Some(7)]).expect("accepted");
    }
    let quality: Vec<_> = detector.quality().collect();
    assert_eq!((quality[2].level, quality[2].deviation), (7.0, 0.0));
    let off = [
        (quality[0].level - 2048.0) / 25.0,
        quality[0].deviation / 25.0 - 1.0,
        quality[1].missing / 0.02 - 1.0,
    ];
    let limit = single(tolerance::INTEGERS_LEARNED.limit);
    assert!(off.iter().all(|off| off.abs() <= limit), "{off:?}");
}
