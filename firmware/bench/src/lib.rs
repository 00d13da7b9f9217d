//! Counts instructions and stack per sample in QEMU.
//!
//! `cargo xtask bench` generates one program for each case, so that the size of the program is that
//! of the case. Each program calls one of the functions here, which print a line and end the
//! emulator.

#![no_std]

mod count;
pub mod maps;

use fastmmd::features::{Scalar, ScalarOf};
use fastmmd::monitor::Monitor;
use fastmmd::shape::Fixed;
use fastmmd::{Config, Detector, Embedding, FeatureMap, Fourier, drift};

pub use emulated::entry;

/// Number of samples to average over: a multiple of the period of all work that is not done on
/// every sample.
const SAMPLES: u32 = 128;

/// Something that takes samples of D channels.
trait Subject<X, const D: usize> {
    /// Takes one sample; `false` if it is refused.
    fn push(&mut self, sample: &[X; D]) -> bool;
}

/// A number that samples are made of.
pub trait Number: Scalar {
    /// Converts noise in which 2¹⁴ is about one unit.
    fn of(noise: i16) -> Self;
}

impl Number for f32 {
    fn of(noise: i16) -> Self {
        Self::from(noise) / 16_384.0
    }
}

impl Number for i16 {
    fn of(noise: i16) -> Self {
        noise >> 3
    }
}

impl<M: Monitor<Row = [f32; D]>, const D: usize> Subject<f32, D> for M {
    fn push(&mut self, sample: &[f32; D]) -> bool {
        Monitor::push(self, sample).is_ok()
    }
}

/// Measures an empty program, whose cost is subtracted from all others.
pub fn nothing() -> ! {
    struct Nothing;
    impl Subject<f32, 16> for Nothing {
        fn push(&mut self, sample: &[f32; 16]) -> bool {
            core::hint::black_box(sample);
            true
        }
    }
    report(&mut Nothing, 0, 0)
}

/// Measures a loop of [`KNOWN`] instructions: the control of the counter.
pub fn known() -> ! {
    struct Loop;
    impl Subject<f32, 16> for Loop {
        fn push(&mut self, sample: &[f32; 16]) -> bool {
            core::hint::black_box(sample);
            // SAFETY: it counts a register down, and touches nothing else.
            unsafe {
                core::arch::asm!("2: subs {0}, #1", "bne 2b", inout(reg) KNOWN / 2 => _);
            }
            true
        }
    }
    report(&mut Loop, 0, 0)
}

/// Instructions of [`known`], without a few that set it up.
const KNOWN: u32 = 10_000;

/// Measures adding a sample to an embedding over a map.
pub fn embedding<M, const D: usize>(map: &M) -> !
where
    M: FeatureMap<Inputs = Fixed<D>>,
    ScalarOf<M>: Number,
{
    struct Adding<'m, M: FeatureMap>(&'m M, Embedding<M>);
    impl<M: FeatureMap<Inputs = Fixed<D>>, const D: usize> Subject<ScalarOf<M>, D> for Adding<'_, M> {
        fn push(&mut self, sample: &[ScalarOf<M>; D]) -> bool {
            self.1.add(self.0, sample).is_ok()
        }
    }
    let embedding = Embedding::new(map);
    let ram = size_of_val(&embedding);
    report(&mut Adding(map, embedding), ram, size_of_val(map))
}

/// Number of rows to learn from, as few as allowed: the cost of a row after learning does not
/// depend on it.
const SCALING: u32 = 16;
const LEARNING: u32 = 256;

/// Measures one row of a detector that monitors raw values with four windows.
pub fn detector<const D: usize, const L: usize>(map: &Fourier<D, L>) -> ! {
    let config = Config::rows(1000.0).with_windows([4, 8, 16, 32]);
    let config = Config { scaling_rows: SCALING, learning_rows: LEARNING, ..config };
    let Ok(mut detector) = Detector::new(map, config) else {
        panic!("the settings are refused");
    };
    watching(&mut detector, size_of_val(map))
}

/// Measures one row of a detector with [`Config::innovation`]: innovations, three windows, a moving
/// reference, and thresholds that are computed again every 128 rows.
pub fn innovation<const D: usize, const L: usize>(map: &Fourier<D, L>) -> ! {
    // The window lengths only affect how often thresholds are computed again.
    let config = Config::innovation(1000.0).with_windows([62, 63, 64]);
    let config = Config { scaling_rows: SCALING, learning_rows: LEARNING, ..config };
    let Ok(mut detector) = Detector::new(map, config) else {
        panic!("the settings are refused");
    };
    watching(&mut detector, size_of_val(map))
}

/// Measures one row of a drift detector with all legs.
pub fn drift<const D: usize, const L: usize>(map: &Fourier<D, L>) -> ! {
    struct Drift<'m, const D: usize, const L: usize>(drift::Detector<'m, Fourier<D, L>>);
    impl<const D: usize, const L: usize> Subject<f32, D> for Drift<'_, D, L> {
        fn push(&mut self, sample: &[f32; D]) -> bool {
            self.0.push(sample).is_ok()
        }
    }
    let config = drift::Config::rows(10_000.0);
    let Ok(detector) = drift::Detector::new(map, config) else {
        panic!("the settings are refused");
    };
    let ram = size_of_val(&detector);
    let mut detector = Drift(detector);
    for index in 0..config.learning_rows {
        detector.push(&sample(index));
    }
    report(&mut detector, ram, size_of_val(map))
}

fn watching<const D: usize>(monitor: &mut impl Monitor<Row = [f32; D]>, map: usize) -> ! {
    for index in 0..SCALING + LEARNING {
        Subject::push(monitor, &sample(index));
    }
    let ram = size_of_val(monitor);
    report(monitor, ram, map)
}

/// Measures, prints and ends the emulator. `ram` and `map` are the sizes of the state and of the
/// map, in bytes.
fn report<X: Number, const D: usize>(
    subject: &mut impl Subject<X, D>,
    ram: usize,
    map: usize,
) -> ! {
    count::start();
    let mut ticks = 0;
    let mut stack = 0;
    for index in 0..SAMPLES {
        let sample: [X; D] = sample(index);
        let measured = count::measure(|| subject.push(&sample));
        assert!(measured.result, "sample {index} is refused");
        ticks += measured.ticks;
        stack = measured.stack.max(stack);
    }
    emulated::println!("ticks {ticks} samples {SAMPLES} stack {stack} ram {ram} map {map}");
    emulated::succeed()
}

/// Noise of about unit spread, the same on every core.
fn sample<X: Number, const D: usize>(index: u32) -> [X; D] {
    let mut word = index.wrapping_mul(0x9e37_79b9).wrapping_add(1);
    core::array::from_fn(|_| {
        word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let [_, _, low, high] = word.to_le_bytes();
        // The upper half minus its middle.
        X::of(i16::from_le_bytes([low, high]) ^ i16::MIN)
    })
}
