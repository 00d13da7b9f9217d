//! Processes all samples that the emulator's loader has put into the large RAM, in one run.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use drift_app::endurance::{self, MARK};
use mps2_an386::Board;
use semihosting::process::exit;

const DATA: *const u32 = 0x2100_0000 as *const u32;
/// Number of samples that fit behind the mark and the count.
const MOST: u32 = (16 << 20) / 12 - 1;

/// A word of the data.
fn word(index: usize) -> u32 {
    // SAFETY: `index` is at most 2 + 3·MOST, which is inside the 16 MB of RAM at `DATA`; nothing
    // else uses this RAM, and any bits are a `u32`.
    unsafe { DATA.add(index).read_volatile() }
}

#[entry]
fn main() -> ! {
    let _board = Board::take();
    let count = word(1);
    if word(0) != MARK || count > MOST {
        defmt::error!("no samples are loaded");
        exit(1);
    }
    let sample = |number: u32| {
        let first = 2 + 3 * number as usize;
        [first, first + 1, first + 2].map(|index| f32::from_bits(word(index)))
    };
    let result = endurance::run((0..count).map(sample), |alarm| {
        defmt::info!("{}", defmt::Display2Format(&alarm));
    });
    match result {
        Ok(summary) => {
            defmt::info!("{}", defmt::Display2Format(&summary));
            exit(0)
        }
        Err(error) => {
            defmt::error!("{}", error);
            exit(2)
        }
    }
}
