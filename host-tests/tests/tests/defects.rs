//! Fifteen defects that drift detectors are prone to, each with a test that fails where it is there. All
//! numbers are seeded. Where a test is statistical, it says what a detector with the defect does. The tenth
//! is in `promises.rs`.

mod blinded;
mod compared;
mod learned;
mod thresholds;
mod told;

use fastmmd::{Alarm, Config, Detector, Fourier, Verdict};
use fastmmd_reference::generate::Generator;
use fastmmd_reference::single;

static ONE: Fourier<1, 32> = Fourier::additive(1);
static TWO: Fourier<2, 32> = Fourier::additive(1);

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
