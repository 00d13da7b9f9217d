//! Fifteen defects that drift detectors are prone to, each with a test that fails where it is there. All
//! numbers are seeded. Where a test is statistical, it says what a detector with the defect does. The tenth
//! is in `promises.rs`.

use fastmmd::condition::MedianDistance;
use fastmmd::monitor::{Leg, NotANumber, Steadiness, coupling};
use fastmmd::{
    Alarm, Change, Config, Detector, Error, Fourier, Kernel, Parameter, Profile, Stage, Verdict,
};
use fastmmd_evaluation::evaluate::signals::{Kind, Signal};
use fastmmd_reference::generate::Generator;
use fastmmd_reference::{real, single, tolerance};

static ONE: Fourier<1, 32> = Fourier::additive(1);
static TWO: Fourier<2, 32> = Fourier::additive(1);

/// The median distance over the true one: anchors of four to eight correlation times before still
/// know a little of a row.
const MEDIAN: f64 = 0.99;

/// Noise of variance 1 that remembers this part of the row before.
struct Noise {
    generator: Generator,
    memory: f64,
    last: f64,
}

impl Noise {
    fn new(seed: u64, memory: f64) -> Self {
        let mut generator = Generator::new(seed);
        let last = generator.normal();
        Self { generator, memory, last }
    }

    fn next(&mut self) -> f32 {
        let fresh = (1.0 - self.memory * self.memory).sqrt();
        self.last = self.memory * self.last + fresh * self.generator.normal();
        single(self.last)
    }
}

/// The default settings for a promise, with these learning rows.
fn config(promise: f32, learning_rows: u32) -> Config {
    Config { learning_rows, ..Config::rows(promise) }
}

/// Pushes rows and gives the alarms, as they were amended.
fn push<const C: usize>(
    detector: &mut Detector<'_, Fourier<C, 32>>,
    rows: impl Iterator<Item = [f32; C]>,
) -> Vec<Alarm> {
    let mut alarms = Vec::new();
    for row in rows {
        match detector.push(&row).expect("good rows") {
            Verdict::Alarm(alarm) => alarms.push(alarm),
            Verdict::Amended(alarm) => {
                // An alarm may be amended after others were raised; its row tells which it is.
                let before =
                    alarms.iter_mut().rev().find(|before: &&mut Alarm| before.row == alarm.row);
                *before.expect("an alarm was raised on that row") = alarm;
            }
            Verdict::Learning { .. } | Verdict::Healthy | Verdict::Drifting => {}
        }
    }
    alarms
}

/// A new detector and its alarms on two channels of white noise that `change` may alter.
fn watched(
    config: Config,
    seed: u64,
    rows: usize,
    mut change: impl FnMut(usize, &mut [f32; 2]),
) -> (Detector<'static, Fourier<2, 32>>, Vec<Alarm>) {
    let mut detector = Detector::new(&TWO, config).expect("in range");
    let mut noise = [Noise::new(2 * seed, 0.0), Noise::new(2 * seed + 1, 0.0)];
    let rows = (0..rows).map(|row| {
        let mut readings = noise.each_mut().map(Noise::next);
        change(row, &mut readings);
        readings
    });
    let alarms = push(&mut detector, rows);
    (detector, alarms)
}

/// How many of `runs` seeds something is true for.
fn count(runs: u64, truth: impl Fn(u64) -> bool) -> usize {
    (0..runs).filter(|seed| truth(*seed)).count()
}

/// Whether an alarm was raised in the `within` rows from `onset` on.
fn found(alarms: &[Alarm], onset: usize, within: usize) -> bool {
    alarms.iter().any(|alarm| (onset..onset + within).contains(&row_of(alarm)))
}

fn row_of(alarm: &Alarm) -> usize {
    usize::try_from(alarm.row).expect("few rows")
}

/// Defect 1. A channel that stood still for the first rows got a tiny deviation, and every channel
/// went blind: a step of 10 deviations on another one took 694 rows and was missed by 2 of 20; of
/// 5000 deviations on the channel itself was missed by 17 of 20.
#[test]
fn a_channel_that_stands_still_at_first_blinds_nobody() {
    const ONSET: usize = 6000;
    // Off for the first 300 rows, then 5 ± 1.
    let motor = |row: usize, x: &mut [f32; 2]| x[0] = if row < 300 { 0.0 } else { 5.0 + x[0] };
    let other = count(20, |seed| {
        let (_, alarms) = watched(config(1e5, 4096), seed, ONSET + 20, |row, x| {
            motor(row, x);
            x[1] += if row >= ONSET { 10.0 } else { 0.0 };
        });
        found(&alarms, ONSET, 5)
    });
    let own = count(20, |seed| {
        let (detector, alarms) = watched(config(1e5, 4096), seed, ONSET + 20, |row, x| {
            motor(row, x);
            x[0] += if row >= ONSET { 5000.0 } else { 0.0 };
        });
        let quality: Vec<_> = detector.quality().collect();
        assert!(quality[0].deviation > 0.5 && quality[0].deviation < 3.0, "{quality:?}");
        // It is told that the channel hardly moved at first.
        assert!(quality[0].ties > 0.05 && quality[1].ties == 0.0, "{quality:?}");
        found(&alarms, ONSET, 5)
    });
    assert_eq!((other, own), (20, 20));
}

/// Defect 2. A channel that never moved while learning raised `Stuck` later, and the detector was
/// then in drift for good: a step of 10 deviations elsewhere raised nothing. A sensor that is truly
/// stuck hid all other faults in the same way.
#[test]
fn neither_a_constant_channel_nor_a_stuck_one_hides_others() {
    const ONSET: usize = 6000;
    let constant = count(20, |seed| {
        let (_, alarms) = watched(config(1e5, 4096), seed, ONSET + 20, |row, x| {
            x[0] = 20.0;
            x[1] += if row >= ONSET { 10.0 } else { 0.0 };
        });
        assert!(alarms.iter().all(|alarm| alarm.change != Change::Stuck));
        found(&alarms, ONSET, 5)
    });
    let stuck = count(20, |seed| {
        let (_, alarms) = watched(config(1e5, 4096), seed, ONSET + 20, |row, x| {
            if row >= ONSET - 1000 {
                x[0] = 0.25;
            }
            x[1] += if row >= ONSET { 10.0 } else { 0.0 };
        });
        let stuck = alarms.iter().find(|alarm| alarm.change == Change::Stuck);
        let stuck = stuck.is_some_and(|alarm| alarm.channel == 0 && row_of(alarm) < ONSET - 900);
        stuck && found(&alarms, ONSET, 5)
    });
    assert_eq!((constant, stuck), (20, 20));
}

/// Defect 3. An alarm hid those after it until all was calm. At a promise of 1000 rows, a step of
/// 1.5 deviations raised no alarm in 102 of 300 runs.
#[test]
fn an_early_alarm_does_not_hide_the_real_one() {
    const ONSET: usize = 1024 + 600;
    let (mut raised, mut masked, mut raised_of_masked) = (0, 0, 0);
    for seed in 0..300 {
        let (_, alarms) = watched(config(1000.0, 1024), seed, ONSET + 300, |row, x| {
            x[0] += if row >= ONSET { 1.5 } else { 0.0 };
        });
        let seen = found(&alarms, ONSET, 300);
        let before = found(&alarms, ONSET - 300, 300);
        raised += u32::from(seen);
        masked += u32::from(before);
        raised_of_masked += u32::from(before && seen);
    }
    println!("{raised} of 300; after an alarm {raised_of_masked} of {masked}");
    assert!(raised >= 294, "{raised} of 300");
    assert!(
        masked >= 20 && 100 * raised_of_masked >= 95 * masked,
        "{raised_of_masked} of {masked}"
    );
}

/// Defect 4. Impulses of 1000 deviations every 9th to 50th row, as a bearing makes them, never
/// alarmed in 24,000 rows. Dropouts in 5 % of the rows were found by 15 of 20, after 14,500 rows.
#[test]
fn impulses_and_dropouts_are_found_soon() {
    const ONSET: usize = 5000;
    // Where every ninth row is one, the spread has changed as well.
    for (every, named) in [(9, false), (20, false), (50, true)] {
        let impulses = count(20, |seed| {
            let (_, alarms) = watched(config(1e5, 4096), seed, ONSET + 400, |row, x| {
                if row >= ONSET && row % every == 0 {
                    x[0] = 1000.0;
                }
            });
            let first = alarms.iter().find(|alarm| row_of(alarm) >= ONSET);
            first.is_some_and(|alarm| {
                let change = !named || alarm.change == Change::Outliers;
                alarm.channel == 0 && row_of(alarm) <= ONSET + 2 * every && change
            })
        });
        assert!(impulses >= if named { 17 } else { 20 }, "every {every} rows: {impulses} of 20");
    }
    let dropouts = count(20, |seed| {
        let mut generator = Generator::new(900 + seed);
        let (_, alarms) = watched(config(1e5, 4096), seed, ONSET + 400, |row, x| {
            x[0] += 20.0;
            if row >= ONSET && generator.below(20) == 0 {
                x[0] = 0.0;
            }
        });
        found(&alarms, ONSET, 400)
    });
    assert_eq!(dropouts, 20);
}

/// Defect 5. A glitch among the first 8 rows, 4095 for 20 ± 1, made the learned deviation 255:
/// steps of 5 deviations were missed by 16 of 20.
#[test]
fn a_glitch_at_power_on_is_not_learned() {
    const ONSET: usize = 5000;
    let steps = count(20, |seed| {
        let glitch = usize::try_from(seed % 8).expect("few");
        let (detector, alarms) = watched(config(1e5, 4096), seed, ONSET + 20, |row, x| {
            x[0] = if row == glitch { 4095.0 } else { 20.0 + x[0] };
            x[0] += if row >= ONSET { 5.0 } else { 0.0 };
        });
        let quality = detector.quality().next().expect("two channels");
        tolerance::DEFECT_DEVIATION.hold_below("learned", quality.deviation.into());
        tolerance::DEFECT_LEVEL.hold("learned", quality.level.into(), 20.0);
        found(&alarms, ONSET, 10)
    });
    assert_eq!(steps, 20);
}

/// Defect 6. The earlier default learned from the fault: after noise of 5 times the spread for 1000
/// rows and a repair, a second fault of 3 times the spread was found by 0 of 20.
#[test]
fn nothing_is_learned_from_a_fault() {
    const ONSET: usize = 5000;
    const REPAIRED: usize = ONSET + 1000;
    const AGAIN: usize = REPAIRED + 1000;
    let both = count(20, |seed| {
        let (_, alarms) = watched(config(1e5, 4096), seed, AGAIN + 100, |row, x| {
            x[0] *= match row {
                ONSET..REPAIRED => 5.0,
                AGAIN.. => 3.0,
                _ => 1.0,
            };
        });
        let again = alarms.iter().find(|alarm| row_of(alarm) >= AGAIN);
        // Each is told apart from the one before.
        let apart = again.is_some_and(|alarm| alarm.since > REPAIRED as u64);
        found(&alarms, ONSET, 20) && found(&alarms, AGAIN, 100) && apart
    });
    assert_eq!(both, 20);
}

/// Defect 7. Recursive least squares in `f32` diverged on a clean cycle from row 27,000 on. The
/// prediction is now solved while learning, and then left alone.
#[test]
fn a_clean_cycle_stays_healthy() {
    let mut raised = 0;
    for seed in 0..4 {
        let mut noise = Noise::new(seed, 0.0);
        let mut detector = Detector::new(&ONE, config(1e6, 8192)).expect("in range");
        let alarms = push(
            &mut detector,
            (0..60_000_u32).map(|row| {
                let phase = std::f64::consts::TAU * f64::from(row) / 500.0;
                [single(phase.sin()) + 1e-3 * noise.next()]
            }),
        );
        raised += alarms.len();
        assert!(detector.legs().all(|leg| leg.statistic.is_finite()));
    }
    println!("{raised} alarms in 4 · 52,000 rows");
    assert!(raised <= 2, "{raised}");
}

/// Defect 8. Learning anew kept the thresholds of the old regime: 61 to 113 alarms in 34,000 rows
/// at a promise of 10⁵ where the new regime was more autocorrelated.
#[test]
fn a_new_regime_gets_thresholds_of_its_own() {
    const ONSET: u32 = 5000;
    let mut most = 0;
    for seed in 0..8 {
        let (mut white, mut slow) = (Noise::new(seed, 0.0), Noise::new(100 + seed, 0.99));
        let settings = Config { relearn_after: Some(1000), ..config(1e5, 4096) };
        let mut detector = Detector::new(&ONE, settings).expect("in range");
        let alarms = push(
            &mut detector,
            (0..ONSET + 34_000).map(|row| [if row < ONSET { white.next() } else { slow.next() }]),
        );
        assert!(found(&alarms, 5000, 1000), "the new regime is a change");
        let after = alarms.iter().filter(|alarm| alarm.row > u64::from(ONSET) + 6000).count();
        most = most.max(after);
        assert!(alarms.len() <= 8, "{alarms:?}");
    }
    println!("at most {most} alarms after the new regime was learned");
    assert!(most <= 3, "{most}");
}

/// Defect 9. The documentation of `coupling` said that the level of a channel by itself does not
/// alarm. It does where the groups go together, half a deviation in 20 of 20, and the
/// documentation says so now; where they are independent, it does not.
#[test]
fn a_coupling_alarms_at_a_level_only_where_groups_go_together() {
    let map = Fourier::<1, 16>::gaussian(1);
    let alarms = |tie: f64| {
        count(20, |seed| {
            let settings = coupling::Config::rows(1e5);
            let mut monitor = coupling::Monitor::new(&map, &map, settings).expect("in range");
            let (mut x, mut y) = (Noise::new(seed, 0.0), Noise::new(500 + seed, 0.0));
            let own = single((1.0 - tie * tie).sqrt());
            (0..7000).any(|row| {
                let first = x.next();
                let second = single(tie) * first + own * y.next();
                let shift = if row < 5000 { 0.0 } else { 0.5 };
                let verdict = monitor.push(&[first + shift], &[second]).expect("good rows");
                row >= 5000 && matches!(verdict, coupling::Verdict::Alarm(_))
            })
        })
    };
    let (tied, independent) = (alarms(0.9), alarms(0.0));
    println!("{tied} of 20 tied, {independent} of 20 independent");
    assert!(tied >= 19 && independent <= 2, "{tied} {independent}");
}

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

/// Defect 12. Two devices of the same process differed at p < .05 in 19 % of pairs with an
/// autocorrelation of .99, and in 63 % with .999.
#[test]
fn devices_of_a_slow_process_are_not_called_different() {
    let different = |seed: u64, memory: f64, shift: f32| {
        let mut first = Detector::new(&ONE, config(4e4, 4096)).expect("in range");
        let mut noise = Noise::new(seed, memory);
        push(&mut first, (0..4096).map(|_| [noise.next()]));
        let mut second = first.clone();
        second.relearn_reference();
        let mut noise = Noise::new(1000 + seed, memory);
        push(&mut second, (0..4096).map(|_| [noise.next() + shift]));
        match first.difference(&second) {
            Ok(difference) => difference.p_value < 0.05,
            // A slow device may have been measured by another scale.
            Err(error) => {
                assert_eq!(error, Error::NotComparable);
                false
            }
        }
    };
    for memory in [0.99, 0.999] {
        let low = count(100, |seed| different(seed, memory, 0.0));
        println!("memory {memory}: {low} of 100");
        // 5 are expected; 12 or more come less than once in 200 times.
        assert!(low <= 11, "{memory}: {low} of 100");
    }
    // The control: a level that is off by far more than two hundred independent rows leave open.
    let noticed = count(100, |seed| different(seed, 0.9, 1.5));
    assert!(noticed >= 90, "{noticed} of 100");
}

/// Defect 13. The newest anchor counted as one of the oldest: .928 of the true median at an
/// autocorrelation of .99.
#[test]
fn the_median_distance_is_that_of_independent_rows() {
    let ratios = (0..20).map(|seed| {
        let mut noise = Noise::new(seed, 0.99);
        let mut median = MedianDistance::<1>::new(100);
        for _ in 0..300_000 {
            median.push(&[noise.next()]).expect("finite");
        }
        // The median of |x − y| for normal x and y of variance 1 is 0.6745·√2.
        f64::from(median.median().expect("rows differ")) / 0.9539
    });
    let ratio = ratios.sum::<f64>() / 20.0;
    println!("{ratio:.3} of the true median");
    tolerance::MEDIAN_KNOWN.hold("ratio", ratio, MEDIAN);
}

/// Defect 14, first part. A lone step of the level by 8 deviations was called a change of spread 99
/// of 99 times, by 4 deviations 50 times.
#[test]
fn a_step_of_the_level_is_called_one() {
    const ONSET: usize = 3000;
    for size in [2.0, 4.0, 8.0] {
        let right = count(50, |seed| {
            let (_, alarms) = watched(config(1e5, 2048), seed, ONSET + 60, |row, x| {
                x[1] += if row >= ONSET { size } else { 0.0 };
            });
            let first = alarms.iter().find(|alarm| row_of(alarm) >= ONSET);
            first.is_some_and(|alarm| (alarm.channel, alarm.change) == (1, Change::Level))
        });
        println!("{size} deviations: {right} of 50");
        assert!(right >= 47, "{size} deviations: {right} of 50");
    }
}

/// Defect 14, second part. The row of a coupling's alarm began at 0 after learning anew.
#[test]
fn rows_of_a_coupling_go_on_after_relearning() {
    let map = Fourier::<1, 16>::gaussian(1);
    let settings =
        coupling::Config { window: 32, learning_rows: 1024, ..coupling::Config::rows(1e4) };
    let mut monitor = coupling::Monitor::new(&map, &map, settings).expect("in range");
    let (mut x, mut y) = (Noise::new(1, 0.0), Noise::new(2, 0.0));
    let mut alarms = Vec::new();
    for row in 0..6000_u64 {
        if row == 2000 {
            monitor.relearn();
        }
        let first = x.next();
        let second = if row < 4000 { first } else { y.next() };
        let verdict = monitor.push(&[first], &[second]).expect("good rows");
        if let coupling::Verdict::Alarm(alarm) = verdict {
            assert_eq!(alarm.row, row);
            alarms.push(row);
        }
    }
    assert!(alarms.iter().any(|row| *row >= 4000), "{alarms:?}");
    assert_eq!((monitor.rows(), monitor.stage()), (6000, Stage::Drift));
}

/// Defect 14, third part. One channel without a reading refused the whole row: with another channel
/// off by 20 deviations, 2000 errors and no alarm.
#[test]
fn a_missing_reading_costs_its_channel_alone() {
    const ONSET: usize = 5000;
    let missing = Config { not_a_number: NotANumber::Missing, ..config(1e5, 4096) };
    let (detector, alarms) = watched(missing, 1, ONSET + 100, |row, x| {
        if row >= ONSET {
            *x = [f32::NAN, x[1] + 20.0];
        }
    });
    let other = alarms.iter().find(|alarm| alarm.channel == 1).expect("a large step");
    assert!((ONSET..ONSET + 3).contains(&row_of(other)), "{other:?}");
    assert!(alarms.iter().any(|alarm| (alarm.channel, alarm.leg) == (0, Leg::Missing)));
    assert!(detector.open().any(|open| open.leg == Leg::Missing));
    // Unless that is asked for, it is an error that names the channel.
    let mut strict = Detector::new(&TWO, config(1e5, 4096)).expect("in range");
    let refused = strict.push(&[f32::NAN, 0.0]);
    assert_eq!(refused, Err(Error::NonFinite(Parameter::Channel(0))));
    assert!(strict.push_partial(&[None, Some(0.0)]).is_ok());
}

/// Defect 14, fourth part. The bandwidth of the map's kernel was ignored without a word. The joint
/// legs now use the map as it is.
#[test]
fn the_bandwidth_of_the_map_counts() {
    let statistics = |bandwidth: f32| {
        let kernel = Kernel::new(Profile::Gaussian, bandwidth).expect("in range");
        let map = Fourier::<2, 32>::with_kernel(kernel, 1);
        let mut detector = Detector::new(&map, config(1e5, 1024)).expect("in range");
        let mut noise = Noise::new(1, 0.0);
        push(&mut detector, (0..1500).map(|_| [noise.next(), noise.next()]));
        let joint = detector.legs().filter(|leg| leg.channel.is_none());
        joint.map(|leg| leg.threshold).collect::<Vec<_>>()
    };
    let (narrow, wide) = (statistics(0.2), statistics(5.0));
    assert_eq!((narrow.len(), wide.len()), (2, 2));
    assert!(
        narrow.iter().zip(&wide).all(|(a, b)| (a / b - 1.0).abs() > 0.05),
        "{narrow:?} {wide:?}"
    );
}

/// Defect 15. "Since" began anew whenever the statistic dipped below its mean: for a spread of 1.5
/// times it was 144 rows late at the median, and 1335 in one of ten; for a ramp of an
/// autoregression 1138 rows.
#[test]
fn since_is_near_the_onset() {
    const ONSET: usize = 5000;
    let off = |alarms: &[Alarm]| {
        let alarm = alarms.iter().find(|alarm| row_of(alarm) >= ONSET)?;
        let since = usize::try_from(alarm.since).expect("few rows");
        Some((since.abs_diff(ONSET), row_of(alarm) - ONSET))
    };
    let mut spread: Vec<usize> = (0..40)
        .filter_map(|seed| {
            let (_, alarms) = watched(config(1e5, 4096), seed, ONSET + 1000, |row, x| {
                x[0] *= if row >= ONSET { 1.5 } else { 1.0 };
            });
            off(&alarms).map(|(off, _)| off)
        })
        .collect();
    spread.sort_unstable();
    assert!(spread.len() >= 37, "{spread:?}");
    println!("spread: median {} rows, nine of ten within {}", spread[19], spread[33]);
    assert!(spread[19] <= 20 && spread[33] <= 60, "{spread:?}");

    // A ramp of 3 deviations over 3000 rows.
    let mut ramp: Vec<f64> = (0..40)
        .filter_map(|seed| {
            let mut noise = Noise::new(seed, 0.9);
            let mut detector = Detector::new(&ONE, config(1e5, 4096)).expect("in range");
            let rows = (0..ONSET + 4000).map(|row| {
                let ramp = 1e-3 * real(row.saturating_sub(ONSET));
                [noise.next() + single(ramp)]
            });
            let alarms = push(&mut detector, rows);
            let quality = detector.quality().next().expect("one channel");
            assert_ne!(quality.steadiness, Steadiness::Wandering);
            let (off, delay) = off(&alarms)?;
            Some(real(off) / real(delay.max(1)))
        })
        .collect();
    ramp.sort_unstable_by(f64::total_cmp);
    assert!(ramp.len() >= 39, "{ramp:?}");
    println!("ramp: median {:.2} of the delay, nine of ten within {:.2}", ramp[20], ramp[36]);
    tolerance::DEFECT_RAMP.hold_below("median of 40", ramp[20]);
}
