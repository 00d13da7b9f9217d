//! Computes on the board what `cargo xtask parity` computes on the host, bit for bit.

#![no_std]
#![no_main]

use emulated::{entry, println};

#[entry]
fn main() -> ! {
    snapshots::parity::report(|line| println!("{line}"));
    emulated::succeed()
}
