//! Where distributions, devices or groups of channels were compared.

use fastmmd::condition::MedianDistance;
use fastmmd::monitor::coupling;
use fastmmd::{Detector, Error, Fourier, Kernel, Profile, Stage};
use fastmmd_reference::{single, tolerance};

use super::{Noise, ONE, config, count, push};

/// The median distance over the true one: anchors of four to eight correlation times before still
/// know a little of a row.
const MEDIAN: f64 = 0.99;

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
