//! A control: uses up the stack, and must end with the memory fault's exit code.

#![no_std]
#![no_main]

use core::hint::black_box;

use cortex_m_rt::entry;
use mps2_an386::Board;

#[entry]
fn main() -> ! {
    let _board = Board::take();
    defmt::info!("going down");
    black_box(deeper(black_box(1)));
    // Reached only if the guard does not work; the runner expects another exit code.
    semihosting::process::exit(0)
}

#[expect(unconditional_recursion, reason = "the purpose of this program")]
fn deeper(level: u32) -> u32 {
    let ballast = black_box([level; 16]);
    deeper(black_box(level + 1)) + ballast.iter().sum::<u32>()
}
