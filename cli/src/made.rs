//! The synthetic log of `demo`: a machine that wears out.

use std::fmt::Write as _;

use fastmmd_reference::generate::Generator;

/// Rows per second.
pub(crate) const RATE: u32 = 10;
pub(crate) const ROWS: u32 = 6000;
/// From this row on the bearing is rough: the vibration has more spread.
pub(crate) const ROUGH: u32 = 3500;
/// From this row on it is also warmer.
pub(crate) const WARM: u32 = 4800;

/// Vibration, current and temperature, as CSV.
pub(crate) fn log() -> String {
    let mut random = Generator::new(2);
    let mut text = "time,vibration (g),current (A),temperature (°C)\n".to_owned();
    let (mut load, mut warmth) = (0.0, 0.0);
    for row in 0..ROWS {
        let at = f64::from(row);
        // The load varies slowly and in cycles, and all three channels follow it.
        load = 0.98 * load + 0.02 * random.normal();
        let cycle = (at / 25.0).sin();
        let rough = if row >= ROUGH { 1.8 } else { 1.0 };
        let vibration = 1.0 + 0.05 * cycle + rough * 0.08 * random.normal();
        let current = 4.0 + 0.6 * cycle + load + 0.05 * random.normal();
        let friction = if row >= WARM { 3.0 } else { 0.0 };
        warmth += 0.004 * (2.0 * cycle + friction - warmth);
        let temperature = 45.0 + warmth + friction * 0.3 + 0.1 * random.normal();
        let time = at / f64::from(RATE);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{time:.1},{vibration:.4},{current:.3},{temperature:.2}");
    }
    text
}
