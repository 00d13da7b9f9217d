//! Counts the rows on which a detector in integers calls floating-point routines. They are for what is
//! rare: setting a threshold, solving for a prediction, an alarm.
//!
//! Where a processor has no floating-point unit, the compiler calls the routines of the ARM run-time
//! ABI. The linker is told (in `build.rs`) to have each of them called by way of a counter here.

#![no_std]
#![no_main]

use core::arch::global_asm;
use core::sync::atomic::{AtomicU32, Ordering};

use emulated::{entry, println};
use fastmmd::monitor::Monitor;
use fastmmd::{Config, Detector, Fourier, fixed};

/// Calls of floating-point routines so far.
// SAFETY: no other symbol of the program has this name.
#[unsafe(no_mangle)]
static FLOAT_CALLS: AtomicU32 = AtomicU32::new(0);

// Those that count, and then do their work.
global_asm!(include_str!(concat!(env!("OUT_DIR"), "/counters.s")), options(raw));

static INTEGERS: fixed::Fourier<3, 32> = fixed::Fourier::additive(1);
static FLOATS: Fourier<3, 32> = Fourier::additive(1);

const SETTINGS: Config = Config::rows(10_000.0);

/// Healthy rows after learning: several blocks of the thresholds.
const ROWS: u32 = 4096;

/// Rows of the control, a detector of `f32`.
const CONTROL_ROWS: u32 = 64;

#[entry]
fn main() -> ! {
    let (Ok(mut integers), Ok(mut floats)) =
        (Detector::new(&INTEGERS, SETTINGS), Detector::new(&FLOATS, SETTINGS))
    else {
        panic!("the settings are refused");
    };
    floating("learning", &mut integers, 0, SETTINGS.learning_rows, |x| x);
    floating("monitoring", &mut integers, SETTINGS.learning_rows, ROWS, |x| x);
    floating("control", &mut floats, 0, CONTROL_ROWS, f32::from);
    emulated::succeed()
}

/// Pushes so many rows of noise, and prints on how many of them floating-point routines were called, and
/// how often.
fn floating<X>(
    name: &str,
    monitor: &mut impl Monitor<Row = [X; 3]>,
    first: u32,
    rows: u32,
    of: fn(i16) -> X,
) {
    let start = FLOAT_CALLS.load(Ordering::Relaxed);
    let mut found = 0;
    for index in first..first + rows {
        let row = noise(index).map(of);
        let before = FLOAT_CALLS.load(Ordering::Relaxed);
        assert!(monitor.push(&row).is_ok(), "row {index} is refused");
        found += u32::from(FLOAT_CALLS.load(Ordering::Relaxed) != before);
    }
    let calls = FLOAT_CALLS.load(Ordering::Relaxed) - start;
    println!("{name}: {found} of {rows} rows, {calls} calls");
}

/// The same on every core.
fn noise(index: u32) -> [i16; 3] {
    let mut word = index.wrapping_mul(0x9e37_79b9).wrapping_add(1);
    core::array::from_fn(|_| {
        word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let [_, _, low, high] = word.to_le_bytes();
        i16::from_le_bytes([low, high]) >> 3
    })
}
