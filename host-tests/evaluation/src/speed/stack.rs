//! The stack that drawing a map takes, over the size of the map.
//!
//! A thread draws a map of 64 channels and 1024 frequencies on a stack of a given size, in a process
//! of its own: where the stack is too small, that process is ended by the system. The size is
//! bisected. It is measured, not limited: wanted are 1.2, but the compiler moves a map that is
//! returned, and keeps a second one on the stack for it.

use std::hint::black_box;
use std::process::{Command, Stdio};
use std::{env, thread};

use fastmmd::{Fourier, Kernel};
use fastmmd_reference::real;

/// The argument that makes the program draw the map and end: followed by the size of the stack, in
/// parts of a thousand of the map's own.
pub const ARGUMENT: &str = "--draw-within";

/// What a thread has on its stack besides, with the pages that guard it.
const OWN: usize = 16 * 1024;

type Map = Fourier<64, 1024>;

/// Draws the map if the arguments ask for it; `None` if they are others.
#[must_use]
pub fn draw(arguments: &[String]) -> Option<bool> {
    let [argument, parts] = arguments else { return None };
    let parts: usize = parts.parse().ok().filter(|_| argument == ARGUMENT)?;
    let builder = thread::Builder::new().stack_size(OWN + size_of::<Map>() * parts / 1000);
    let draw = || {
        black_box(&Map::with_kernel(Kernel::GAUSSIAN, black_box(1)));
    };
    Some(builder.spawn(draw).is_ok_and(|thread| thread.join().is_ok()))
}

/// Least size of the stack with which this program draws the map, over the map's own size, to a
/// hundredth; `None` above four times that size.
#[must_use]
pub fn least() -> Option<f64> {
    let is_enough = |parts: usize| {
        let mut command = Command::new(env::current_exe().ok()?);
        command.args([ARGUMENT, &parts.to_string()]).stdin(Stdio::null());
        let status = command.stderr(Stdio::null()).stdout(Stdio::null()).status().ok()?;
        Some(status.success())
    };
    let (mut too_small, mut enough) = (0, 4000);
    if !is_enough(enough)? {
        return None;
    }
    while enough - too_small > 10 {
        let middle = usize::midpoint(too_small, enough);
        if is_enough(middle)? {
            enough = middle;
        } else {
            too_small = middle;
        }
    }
    Some(real(enough) / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_arguments_draw_nothing() {
        let words = |words: [&str; 2]| words.map(str::to_owned);
        assert_eq!(draw(&words(["target/efficiency.svg", "4000"])), None);
        assert_eq!(draw(&words([ARGUMENT, "many"])), None);
        assert_eq!(draw(&words([ARGUMENT, "4000"])), Some(true));
    }
}
