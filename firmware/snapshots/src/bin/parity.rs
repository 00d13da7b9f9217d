//! Computes on the board what `cargo xtask parity` computes on the host, bit for bit.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use semihosting::println;

#[entry]
fn main() -> ! {
    snapshots::parity::report(|line| println!("{line}"));
    snapshots::succeed()
}
