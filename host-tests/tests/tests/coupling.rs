//! The coupling monitor: keeps its false-alarm rate, finds ties that appear or break, and ignores
//! changes of single channels of independent groups, which are for the detector.

use fastmmd::Fourier;
use fastmmd::monitor::coupling::{Config, Monitor, Verdict};
use fastmmd_reference::generate::Generator;
use fastmmd_reference::kernel::gaussian;
use fastmmd_reference::{real, single, tolerance};

type Small<'m> = Monitor<'m, Fourier<1, 16>, Fourier<1, 16>>;

/// How the second channel depends on the first; both are N(0, 1) by themselves.
#[derive(Debug, Clone, Copy)]
enum Tie {
    /// Not at all.
    None,
    /// Correlation 0.7.
    Linear,
    /// Equal up to a random sign: uncorrelated, but of equal size.
    Sign,
}

/// Two channels, each an autoregression with this coefficient, with a tie between them.
struct Source {
    generator: Generator,
    memory: f64,
    state: [f64; 2],
}

impl Source {
    fn new(seed: u64, memory: f64) -> Self {
        Self { generator: Generator::new(seed), memory, state: [0.0; 2] }
    }

    fn row(&mut self, tie: Tie) -> [f64; 2] {
        let fresh = (1.0 - self.memory * self.memory).sqrt();
        for state in &mut self.state {
            *state = self.memory * *state + fresh * self.generator.normal();
        }
        let [x, other] = self.state;
        match tie {
            Tie::None => [x, other],
            Tie::Linear => [x, 0.7 * x + 0.51_f64.sqrt() * other],
            Tie::Sign => [x, if other > 0.0 { x } else { -x }],
        }
    }
}

fn map() -> Fourier<1, 16> {
    Fourier::gaussian(1)
}

/// Rows after learning until the first alarm, at most `most`; `row` makes a row from its number.
fn first_alarm(
    monitor: &mut Small<'_>,
    source: &mut Source,
    most: u32,
    row: impl Fn(&mut Source, u32) -> [f64; 2],
) -> Option<u32> {
    (0..most).find(|&index| {
        let [x, y] = row(source, index).map(single);
        matches!(monitor.push(&[x], &[y]), Ok(Verdict::Alarm(_)))
    })
}

/// A monitor that has learned, of a source with this memory and tie.
fn learned<'m>(map: &'m Fourier<1, 16>, source: &mut Source, tie: Tie, time: f32) -> Small<'m> {
    let mut monitor: Small<'_> = Monitor::new(map, map, Config::rows(time)).expect("in range");
    while monitor.progress() < 1.0 {
        let [x, y] = source.row(tie).map(single);
        monitor.push(&[x], &[y]).expect("finite");
    }
    monitor
}

#[test]
fn false_alarms_come_as_rarely_as_promised() {
    let map = map();
    for (memory, tie) in [(0.0, Tie::None), (0.0, Tie::Linear), (0.9, Tie::None), (0.9, Tie::Sign)]
    {
        let runs = (0..100).map(|device| {
            let mut source = Source::new(1000 + device, memory);
            let mut monitor = learned(&map, &mut source, tie, 1000.0);
            let run = first_alarm(&mut monitor, &mut source, 20_000, |s, _| s.row(tie));
            f64::from(run.unwrap_or(20_000))
        });
        let ratio = runs.sum::<f64>() / 100.0 / 1000.0;
        println!("memory {memory}, {tie:?}: mean run length over promise {ratio:.2}");
        let shortest = tolerance::RUN_LENGTH_SHORTEST.limit;
        assert!(ratio >= shortest, "{ratio} is below {shortest}");
        tolerance::RUN_LENGTH_LONGEST_AT_1000.hold_below("coupling", ratio);
    }
}

#[test]
fn ties_that_appear_or_break_are_found() {
    let map = map();
    let changes = [
        (Tie::None, Tie::Linear),
        (Tie::Linear, Tie::None),
        (Tie::None, Tie::Sign),
        (Tie::Sign, Tie::None),
        (Tie::Linear, Tie::Sign),
    ];
    for (before, after) in changes {
        let (mut found, mut rows) = (0, 0);
        for device in 0..30 {
            let mut source = Source::new(2000 + device, 0.0);
            let mut monitor = learned(&map, &mut source, before, 10_000.0);
            let delay = first_alarm(&mut monitor, &mut source, 1000, |s, _| s.row(after));
            found += u32::from(delay.is_some());
            rows += delay.unwrap_or(1000);
        }
        println!("{before:?} to {after:?}: {found} of 30, mean delay {} rows", rows / 30);
        assert!(found >= 29, "{before:?} to {after:?}: {found}");
    }
}

/// Sensors often stand still, or send a glitch, before they measure. The tie is learned all the same,
/// and its end is found.
#[test]
fn first_rows_that_stand_still_or_lie_do_not_hide_a_tie() {
    let map = map();
    let cases = [
        ("nothing", 0, None),
        ("a glitch in row 3", 0, Some(3)),
        ("still for all rows of scaling", 256, None),
        ("still for half of learning", 2300, None),
        ("still for nearly all of it", 4300, None),
    ];
    for (name, still, glitch) in cases {
        let found = (0..20).filter(|device| {
            let mut source = Source::new(4000 + device, 0.0);
            let mut monitor: Small<'_> =
                Monitor::new(&map, &map, Config::rows(1e5)).expect("in range");
            let mut row = 0;
            let mut push = |monitor: &mut Small<'_>, tie| {
                let [x, y] = source.row(tie);
                let y = if row < still { 20.0 } else { 20.0 + y };
                let y = if Some(row) == glitch { 4095.0 } else { y };
                row += 1;
                monitor.push(&[single(x)], &[single(y)]).expect("finite")
            };
            while monitor.progress() < 1.0 {
                push(&mut monitor, Tie::Linear);
            }
            let healthy = (0..500).all(|_| push(&mut monitor, Tie::Linear) == Verdict::Healthy);
            let alarm =
                (0..1000).any(|_| matches!(push(&mut monitor, Tie::None), Verdict::Alarm(_)));
            healthy && alarm
        });
        let found = found.count();
        println!("{name}: {found} of 20");
        assert!(found >= 19, "{name}: {found}");
    }
}

/// A change of level by two deviations does not make independent groups dependent. For groups that
/// go together, see `defects/compared.rs`.
#[test]
fn a_change_of_one_channel_is_left_to_the_detector() {
    let map = map();
    let alarms = (0..30).filter(|device| {
        let mut source = Source::new(3000 + device, 0.0);
        let mut monitor = learned(&map, &mut source, Tie::None, 10_000.0);
        let shifted = |s: &mut Source, _| {
            let [x, y] = s.row(Tie::None);
            [x + 2.0, y]
        };
        first_alarm(&mut monitor, &mut source, 1000, shifted).is_some()
    });
    let share = real(alarms.count()) / 30.0;
    println!("a shifted level alarms {share:.2} of the monitors in 1000 rows");
    tolerance::COUPLING_OTHER.hold_below("shifted level", share);
}

/// HSIC as m⁻² tr(HKHL), from its definition.
fn exact_hsic(rows: &[[f64; 2]]) -> f64 {
    let m = rows.len();
    let kernel = gaussian(1.0);
    let gram = |channel: usize| -> Vec<Vec<f64>> {
        let value = |i: usize, j: usize| kernel(&[rows[i][channel]], &[rows[j][channel]]);
        let plain: Vec<Vec<f64>> = (0..m).map(|i| (0..m).map(|j| value(i, j)).collect()).collect();
        let means: Vec<f64> = plain.iter().map(|r| r.iter().sum::<f64>() / real(m)).collect();
        let all = means.iter().sum::<f64>() / real(m);
        (0..m).map(|i| (0..m).map(|j| plain[i][j] - means[i] - means[j] + all).collect()).collect()
    };
    let (k, l) = (gram(0), gram(1));
    let trace: f64 = k.iter().flatten().zip(l.iter().flatten()).map(|(k, l)| k * l).sum();
    trace / (real(m) * real(m))
}

#[test]
fn strength_is_hsic() {
    let map = Fourier::<1, 64>::gaussian(1);
    for tie in [Tie::Linear, Tie::Sign] {
        let config = Config { learning_rows: 2048, ..Config::rows(1000.0) };
        let mut monitor = Box::new(Monitor::new(&map, &map, config).expect("in range"));
        let mut source = Source::new(5, 0.0);
        let mut rows = Vec::new();
        while monitor.progress() < 1.0 {
            let row = source.row(tie);
            monitor.push(&[single(row[0])], &[single(row[1])]).expect("finite");
            rows.push(row);
        }
        let ratio = f64::from(monitor.learned_strength()) / exact_hsic(&rows[256..]);
        println!("{tie:?}: strength over exact HSIC {ratio:.3}");
        tolerance::COUPLING_HSIC.hold("strength", ratio, 1.0);
    }
}

#[test]
fn fits_a_small_device() {
    assert!(size_of::<Small<'_>>() <= 5 * 1024, "{}", size_of::<Small<'_>>());
}
