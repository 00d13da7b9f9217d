//! Where thresholds lay.

use fastmmd::Detector;
use fastmmd::condition::MedianDistance;
use fastmmd::monitor::Leg;
use fastmmd_evaluation::evaluate::signals::{Kind, Signal};
use fastmmd_reference::{real, tolerance};

use super::{Noise, ONE, config, push};

/// The table of the promise. Thresholds could lie beyond what the bounded statistic can reach: on a
/// channel with memory .95, at a promise of 10⁶, the two shortest windows never fired, whatever happened,
/// and a step of 1000 deviations took 126 rows (with memory .99: 629, and one of five was missed).
/// Later, what a spread that comes and goes needs more was added without looking at that.
#[test]
fn windows_that_cannot_fire_are_named_and_the_others_can() {
    for memory in [0.0, 0.95, 0.99] {
        let mut muted = 0;
        for seed in 0..5 {
            let mut noise = Noise::new(seed, memory);
            let mut detector = Detector::new(&ONE, config(1e6, 4096)).expect("in range");
            push(&mut detector, (0..4096).map(|_| [noise.next()]));
            let mute: Vec<_> = detector.mute().collect();
            muted += mute.len();
            // What is named is not listed as watched, and the other way round.
            for leg in detector.legs() {
                let named = mute.iter().any(|other| {
                    (other.leg, other.channel, other.window) == (leg.leg, leg.channel, leg.window)
                });
                assert!(!named || leg.leg == Leg::Spread, "{leg:?} is watched and named");
            }
            let before = detector.rows();
            let alarms = push(&mut detector, (0..64).map(|_| [1000.0 + noise.next()]));
            let delay = alarms.first().map(|alarm| alarm.row - before);
            assert!(delay.is_some_and(|delay| delay < 4), "{memory}, {seed}: {delay:?}");
        }
        println!("memory {memory}: {muted} windows cannot fire, of 5 devices");
        // The control: with a long memory several cannot, and with none hardly any.
        assert!(if memory > 0.98 { muted > 2 } else { memory > 0.0 || muted <= 1 }, "{muted}");
    }
}

/// The same where the spread comes and goes, so that it needs more evidence, far beyond the learning
/// rows: no threshold that is listed lies beyond what the statistic can reach.
#[test]
fn windows_of_a_spread_that_comes_and_goes_are_named_too() {
    // The largest score of a residual upwards, less the least mean that scores have here.
    const REACH: f32 = 12.0;
    let mut named = 0;
    for kind in [Kind::Garch, Kind::Bursts] {
        for seed in 0..5 {
            let mut signal = Signal::new(kind, seed);
            let mut detector = Detector::new(&ONE, config(1e6, 4096)).expect("in range");
            push(&mut detector, (0..4096).map(|_| [signal.reading()]));
            let mute = detector.mute().filter(|mute| mute.leg == Leg::Spread).count();
            let watched: Vec<_> = detector.legs().filter(|leg| leg.leg == Leg::Spread).collect();
            assert!(watched.iter().all(|leg| leg.threshold < REACH), "{kind:?}, {seed}");
            // Two windows, up and down: each is listed once, here or there.
            assert_eq!(mute + watched.len(), 4, "{kind:?}, {seed}");
            named += mute;
        }
    }
    println!("{named} windows of spreads cannot fire, of 10 devices");
    assert!(named > 0, "the control: some need more than they can reach");
}

/// Defect 11. Among ties the median distance decayed to 0: a deviation of 0.2 steps gave a
/// bandwidth of 0.006 steps. Readings above 0 in 2 to 5 % of the rows raised 4 to 7 times as many
/// false alarms as promised, without a warning.
#[test]
fn quantised_and_sparse_readings_keep_the_promise() {
    let mut median = MedianDistance::<1>::new(16);
    let mut noise = Noise::new(1, 0.0);
    for _ in 0..20_000 {
        median.push(&[(0.2 * noise.next()).round()]).expect("finite");
    }
    let distance = median.median().expect("some rows differ");
    tolerance::MEDIAN_STEP.hold("quantised", distance.into(), 1.0);

    let rows = 40_000_usize;
    let pooled = |reading: &dyn Fn(&mut Noise) -> f32| {
        let raised = (0..10).map(|seed| {
            let mut noise = Noise::new(seed, 0.0);
            let mut detector = Detector::new(&ONE, config(1e4, 4096)).expect("in range");
            let alarms = push(&mut detector, (0..4096 + rows).map(|_| [reading(&mut noise)]));
            let quality = detector.quality().next().expect("one channel");
            assert!(quality.ties > 0.5, "the report tells of ties: {quality:?}");
            alarms.len()
        });
        let raised: usize = raised.sum();
        real(10 * rows) / real(raised.max(1)) / 1e4
    };
    let coarse = pooled(&|noise| (0.2 * noise.next()).round());
    let sparse = pooled(&|noise| {
        let (chance, size) = (noise.generator.below(100), noise.next().abs());
        if chance < 4 { 1.0 + size } else { 0.0 }
    });
    println!("time between false alarms over the promise: coarse {coarse:.2}, sparse {sparse:.2}");
    for (case, ratio) in [("coarse", coarse), ("sparse", sparse)] {
        tolerance::DEFECT_OFTEN.hold_below(case, 1.0 / ratio);
    }
}
