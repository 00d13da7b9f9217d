//! Instructions and stack of one sample, counted in QEMU.
//!
//! `cargo xtask bench` writes a program for each thing to be measured, so that its size is its
//! own; each calls one of the functions here, which print a line and end the emulator.

#![no_std]

mod count;
pub mod maps;

use core::mem::{size_of, size_of_val};

use fastmmd::detector::{Config, Detector, Raw, View};
use fastmmd::innovation::Innovation;
use fastmmd::{Backend, Embedding, FeatureMap, Scalar};

pub use emulated::entry;

/// Samples over which the count is a mean: whole periods of whatever happens only now and then.
const SAMPLES: u32 = 128;

/// Something that takes samples of D channels.
trait Subject<X, const D: usize> {
    /// Takes one; false if it refuses.
    fn push(&mut self, sample: &[X; D]) -> bool;
}

/// A number that samples are made of.
pub trait Number: Scalar {
    /// That of a noise of which 2¹⁴ is about the unit.
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

impl<M: FeatureMap<D, L>, V: View<D>, const D: usize, const L: usize, const S: usize>
    Subject<f32, D> for Detector<'_, M, V, D, D, L, S>
{
    fn push(&mut self, sample: &[f32; D]) -> bool {
        Detector::push(self, sample).is_ok()
    }
}

/// Costs of a program that measures nothing: to be taken off all others.
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

/// Costs of a loop of [`KNOWN`] instructions: if they come out otherwise, nothing here is true.
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

/// Instructions of [`known`], but for a few that set it up.
const KNOWN: u32 = 10_000;

/// Costs of adding a sample to an embedding with the backend `B`.
pub fn embedding<B: Backend<Scalar: Number>, const D: usize, const L: usize>(
    map: &impl FeatureMap<D, L, B::Scalar>,
) -> ! {
    struct Adding<'m, M, const L: usize, B: Backend>(&'m M, Embedding<L, B>);
    impl<M: FeatureMap<D, L, B::Scalar>, const D: usize, const L: usize, B: Backend>
        Subject<B::Scalar, D> for Adding<'_, M, L, B>
    {
        fn push(&mut self, sample: &[B::Scalar; D]) -> bool {
            self.1.add(self.0, sample).is_ok()
        }
    }
    let ram = size_of::<Embedding<L, B>>();
    report(&mut Adding(map, Embedding::<L, B>::new(map)), ram, size_of_val(map))
}

/// Costs of a row in a detector that monitors raw values with four windows.
pub fn detector<M: FeatureMap<D, L>, const D: usize, const L: usize>(map: &M) -> ! {
    watching::<Raw, _, D, L, 4>(map, Config::rows(1000.0).with_scales([4, 8, 16, 32]))
}

/// Costs of a row in a detector that monitors innovations with three windows, as
/// [`Config::innovation`] has it: the reference moves on, and all thresholds are set anew every 128
/// rows.
pub fn innovation<M: FeatureMap<D, L>, const D: usize, const L: usize>(map: &M) -> ! {
    // Windows' lengths make no difference but to how often thresholds are set anew.
    let config = Config::innovation(1000.0).with_scales([62, 63, 64]);
    watching::<Innovation<D>, _, D, L, 3>(map, config)
}

fn watching<V: View<D>, M: FeatureMap<D, L>, const D: usize, const L: usize, const S: usize>(
    map: &M,
    config: Config<S>,
) -> ! {
    // As short as allowed: what a row costs once all is learned does not depend on it.
    const SCALING: u32 = 16;
    const LEARNING: u32 = 256;
    let config = Config { scaling_rows: SCALING, learning_rows: LEARNING, ..config };
    let Ok(mut detector) = Detector::<'_, _, V, D, D, L, S>::new(map, config) else {
        panic!("the settings are refused");
    };
    for index in 0..SCALING + LEARNING {
        Subject::push(&mut detector, &sample(index));
    }
    let ram = size_of::<Detector<'_, M, V, D, D, L, S>>();
    report(&mut detector, ram, size_of_val(map))
}

/// Measures, prints and ends. `ram` and `map` are the bytes of the state and of the map.
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
        // Its upper half less the middle.
        X::of(i16::from_le_bytes([low, high]) ^ i16::MIN)
    })
}
