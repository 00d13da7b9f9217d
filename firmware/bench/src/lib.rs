//! Counts instructions and stack per sample in QEMU.
//!
//! `cargo xtask bench` generates one program for each case, so that the size of the program is that
//! of the case. Each program calls one of the functions here, which print a line and end the
//! emulator.

#![no_std]

mod count;
pub mod legs;
pub mod maps;

use drift_app::fault::{Device, Fault, FaultKind};
use drift_app::profile::ROWS_BETWEEN_SAVES;
use drift_app::retained::{Retained, memory_bytes};
use fastmmd::features::{Scalar, ScalarOf};
use fastmmd::monitor::{All, Cyclic, FixedShape, Monitor};
use fastmmd::shape::Fixed;
use fastmmd::{Config, Detector, Embedding, Error, FeatureMap, Fourier, Verdict};

use count::Measured;

pub use emulated::entry;

/// Number of samples to average over.
const SAMPLES: u32 = 128;

/// Number of rows of a detector to average over: after so many, all thresholds but those of the
/// longest windows have been computed again.
const ROWS: u32 = 512;

/// Something that takes samples of D channels.
trait Subject<X, const D: usize> {
    /// Takes one sample; `false` if it is refused.
    fn push(&mut self, sample: &[X; D]) -> bool;
}

/// A number that samples are made of.
pub trait Number: Scalar {
    /// Converts noise in which 2¹⁴ is about one unit.
    fn of(noise: i16) -> Self;

    /// This one, higher by some deviations of the noise.
    fn shifted(self) -> Self;
}

impl Number for f32 {
    fn of(noise: i16) -> Self {
        Self::from(noise) / 16_384.0
    }

    fn shifted(self) -> Self {
        self + 3.0
    }
}

impl Number for i16 {
    fn of(noise: i16) -> Self {
        noise >> 3
    }

    fn shifted(self) -> Self {
        self.wrapping_add(6144)
    }
}

impl<X, M: Monitor<Row = [X; D]>, const D: usize> Subject<X, D> for M {
    fn push(&mut self, sample: &[X; D]) -> bool {
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
    report(&mut Nothing, SAMPLES, 0, 0)
}

/// Measures a loop of [`KNOWN`] instructions: the control of the counter.
pub fn known() -> ! {
    struct Loop;
    impl Subject<f32, 16> for Loop {
        fn push(&mut self, sample: &[f32; 16]) -> bool {
            core::hint::black_box(sample);
            // SAFETY: it counts a register down, and touches nothing else.
            #[cfg(target_arch = "arm")]
            unsafe {
                core::arch::asm!("2: subs {0}, #1", "bne 2b", inout(reg) KNOWN / 2 => _);
            }
            // SAFETY: the same.
            #[cfg(target_arch = "riscv32")]
            unsafe {
                core::arch::asm!("2: addi {0}, {0}, -1", "bnez {0}, 2b", inout(reg) KNOWN / 2 => _);
            }
            true
        }
    }
    report(&mut Loop, SAMPLES, 0, 0)
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
    report(&mut Adding(map, embedding), SAMPLES, ram, size_of_val(map))
}

/// The settings of all detectors here: the default ones.
const SETTINGS: Config = Config::rows(10_000.0);

/// Rows of the cycle of the detector that has one.
const PERIOD: f32 = 500.0;

/// Declares functions that measure one row of a detector after learning.
macro_rules! detectors {
    ($($(#[$about:meta])* $name:ident: $legs:ty = $settings:expr;)*) => {$(
        $(#[$about])*
        pub fn $name<M, const D: usize>(map: &M) -> !
        where
            M: FeatureMap<Inputs = Fixed<D>> + FixedShape<$legs>,
            ScalarOf<M>: Number,
        {
            watching(Detector::new(map, $settings), size_of_val(map))
        }
    )*};
}

detectors! {
    /// All legs.
    detector: All = SETTINGS;
    /// All legs, and a profile by the phase of a cycle.
    cyclic: Cyclic<32> = SETTINGS.with_period(PERIOD);
    /// Level and jumps.
    lean: legs::Lean = SETTINGS.with_legs();
    /// Only what is always watched.
    base: legs::Base = SETTINGS.with_legs();
    /// The level alone.
    level: legs::Level = SETTINGS.with_legs();
    /// Jumps alone.
    jump: legs::Jump = SETTINGS.with_legs();
    /// The spread alone.
    spread: legs::Spread = SETTINGS.with_legs();
    /// The joint distribution of values alone.
    values: legs::Values = SETTINGS.with_legs();
    /// The joint distribution of innovations alone.
    innovations: legs::Innovations = SETTINGS.with_legs();
}

#[inline(always)]
fn watching<X: Number, const D: usize>(
    mut monitor: Result<impl Monitor<Row = [X; D]>, Error>,
    map: usize,
) -> ! {
    let Ok(monitor) = &mut monitor else {
        panic!("the settings are refused");
    };
    learn(monitor);
    let ram = size_of_val(monitor);
    report(monitor, ROWS, ram, map)
}

fn learn<X: Number, const D: usize>(monitor: &mut impl Monitor<Row = [X; D]>) {
    for index in 0..SETTINGS.learning_rows {
        Subject::push(monitor, &sample(index));
    }
}

/// Measures one row of the detector of all legs where rows are pushed [`MANY`] at a time.
pub fn many<M, const D: usize>(map: &M) -> !
where
    M: FeatureMap<Inputs = Fixed<D>> + FixedShape,
    ScalarOf<M>: Number,
{
    let Ok(mut detector) = Detector::new(map, SETTINGS) else {
        panic!("the settings are refused");
    };
    learn(&mut detector);
    count::start();
    let mut total = Cost { ticks: 0, samples: ROWS, stack: 0 };
    for batch in 0..ROWS / MANY {
        let rows: [[ScalarOf<M>; D]; MANY as usize] =
            core::array::from_fn(|index| sample(batch * MANY + u32::try_from(index).unwrap_or(0)));
        let measured = count::measure(|| detector.push_many(&rows, |_| ()).is_ok());
        assert!(measured.result, "batch {batch} is refused");
        total.ticks += measured.ticks;
        total.stack = measured.stack.max(total.stack);
    }
    total.print(size_of_val(&detector), size_of_val(map))
}

/// Rows of a batch: what a sensor's FIFO holds.
const MANY: u32 = 32;

/// Measures the rows that the detector of all legs learns from: their mean.
pub fn learning<M, const D: usize>(map: &M) -> !
where
    M: FeatureMap<Inputs = Fixed<D>> + FixedShape,
    ScalarOf<M>: Number,
{
    let Ok(mut detector) = Detector::new(map, SETTINGS) else {
        panic!("the settings are refused");
    };
    let ram = size_of_val(&detector);
    report(&mut detector, SETTINGS.learning_rows, ram, size_of_val(map))
}

/// Measures the dearest row of the same detector: while it learns, when learning ends, on healthy
/// rows, and on rows that differ, from the alarm until after it is amended.
pub fn peak<M, const D: usize>(map: &M) -> !
where
    M: FeatureMap<Inputs = Fixed<D>> + FixedShape,
    ScalarOf<M>: Number,
{
    let Ok(mut detector) = Detector::new(map, SETTINGS) else {
        panic!("the settings are refused");
    };
    count::start();
    let mut most = Cost { ticks: 0, samples: 1, stack: 0 };
    let mut alarms = 0_u32;
    let healthy = SETTINGS.learning_rows + ROWS;
    for index in 0..healthy + ROWS {
        let mut row: [ScalarOf<M>; D] = sample(index);
        if index >= healthy {
            row = row.map(Number::shifted);
        }
        let measured = count::measure(|| detector.push(&row));
        alarms += u32::from(matches!(measured.result, Ok(Verdict::Alarm(_))));
        most.ticks = measured.ticks.max(most.ticks);
        most.stack = measured.stack.max(most.stack);
    }
    assert!(alarms > 0, "no alarm was raised");
    most.print(size_of_val(&detector), size_of_val(map))
}

/// Room for the saved state of every detector here.
const SAVED_BYTES: usize = 8 * 1024;

/// Declares functions that measure one call on the detector of all legs that has learned; `saved`
/// has its state.
macro_rules! calls {
    ($($(#[$about:meta])* $name:ident = |$detector:ident, $saved:ident| $call:expr;)*) => {$(
        $(#[$about])*
        pub fn $name<M, const D: usize>(map: &M) -> !
        where
            M: FeatureMap<Inputs = Fixed<D>> + FixedShape,
            ScalarOf<M>: Number,
        {
            let Ok(mut $detector) = Detector::new(map, SETTINGS) else {
                panic!("the settings are refused");
            };
            learn(&mut $detector);
            let mut $saved = [0; SAVED_BYTES];
            assert!($detector.save(&mut $saved).is_ok(), "the state is too long");
            count::start();
            let measured = count::measure(|| $call);
            assert!(measured.result, "the call is refused");
            let Measured { ticks, stack, .. } = measured;
            Cost { ticks, samples: 1, stack }.print(size_of_val(&$detector), size_of_val(map))
        }
    )*};
}

calls! {
    /// Saving its state.
    save = |detector, saved| detector.save(&mut saved).is_ok();
    /// Restoring its state.
    restore = |detector, saved| match saved.get(..detector.saved_bytes()) {
        Some(state) => detector.restore(state).is_ok(),
        None => false,
    };
    /// Beginning to learn anew.
    relearn = |detector, saved| detector.relearn_with(SETTINGS).is_ok();
}

/// Measures what the app does on each row so that a reset loses none: the mean from one save of the
/// state to the next, with room for as many rows as the boards have.
pub fn keeping<const L: usize>(map: &Fourier<CHANNELS, L>) -> ! {
    let Ok(mut detector) = Detector::new(map, SETTINGS) else {
        panic!("the settings are refused");
    };
    learn(&mut detector);
    let saved = detector.saved_bytes();
    let mut memory = [0; memory_bytes(SAVED_BYTES, ROWS_BETWEEN_SAVES, CHANNELS)];
    let Some(memory) = memory.get_mut(..memory_bytes(saved, ROWS_BETWEEN_SAVES, CHANNELS)) else {
        panic!("the state is too long");
    };
    let ram = memory.len();
    let mut retained = Retained::new(memory, saved);
    let save = |retained: &mut Retained<'_>| {
        retained.replace(|room| detector.save(room).map_err(|_| REFUSED)).is_ok()
    };
    assert!(save(&mut retained), "the state is refused");
    count::start();
    let mut total = Cost { ticks: 0, samples: 0, stack: 0 };
    loop {
        let row = sample(total.samples).map(|number: i16| Some(f32::from(number) * STEP));
        let measured =
            count::measure(|| retained.append(&row, Some([STEP; CHANNELS])) || save(&mut retained));
        assert!(measured.result, "the state is refused");
        total.samples += 1;
        total.ticks += measured.ticks;
        total.stack = measured.stack.max(total.stack);
        if u32::try_from(ROWS_BETWEEN_SAVES).is_ok_and(|rows| total.samples > rows) {
            total.print(ram, size_of_val(map));
        }
    }
}

/// Channels of the detector that is kept.
const CHANNELS: usize = 3;
/// The step of their readings.
const STEP: f32 = 0.15;

const REFUSED: Fault = Fault::new(Device::Detector, FaultKind::Refused);

/// What was counted.
struct Cost {
    ticks: u32,
    samples: u32,
    stack: usize,
}

impl Cost {
    /// Prints it, with the sizes of state and map in bytes, and ends the emulator.
    fn print(&self, ram: usize, map: usize) -> ! {
        let Self { ticks, samples, stack } = self;
        let per_ten = count::TICKS_OF_TEN;
        emulated::println!(
            "ticks {ticks} per_ten {per_ten} samples {samples} stack {stack} ram {ram} map {map}"
        );
        emulated::succeed()
    }
}

/// Measures, prints and ends the emulator. `ram` and `map` are the sizes of the state and of the
/// map, in bytes.
fn report<X: Number, const D: usize>(
    subject: &mut impl Subject<X, D>,
    samples: u32,
    ram: usize,
    map: usize,
) -> ! {
    count::start();
    let mut total = Cost { ticks: 0, samples, stack: 0 };
    for index in 0..samples {
        let sample: [X; D] = sample(index);
        let measured = count::measure(|| subject.push(&sample));
        assert!(measured.result, "sample {index} is refused");
        total.ticks += measured.ticks;
        total.stack = measured.stack.max(total.stack);
    }
    total.print(ram, map)
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
