//! The stack that drawing a map takes, over the size of the map.
//!
//! A thread draws a map of 64 channels and 1024 frequencies on a stack of a given size, in a process
//! of its own: where the stack is too small, that process is ended by the system. The size is
//! bisected.

use std::hint::black_box;
use std::process::{Command, Stdio};
use std::{env, thread};

use fastmmd::{Fastfood, Fourier, Kernel};
use fastmmd_reference::{real, tolerance};

/// The argument that makes the program draw a map and end: followed by the map's name and the size
/// of the stack, in parts of a thousand of the map's own.
pub const ARGUMENT: &str = "--draw-within";

/// What a thread has on its stack besides, with the pages that guard it.
const OWN: usize = 16 * 1024;

type Dense = Fourier<64, 1024>;
type Structured = Fastfood<64, 64, 1024>;

/// Draws the map that the arguments name. `None` if they are others.
#[must_use]
pub fn draw(arguments: &[String]) -> Option<bool> {
    let [argument, name, parts] = arguments else { return None };
    let parts: usize = parts.parse().ok()?;
    let within = |size: usize, draw: fn()| {
        let builder = thread::Builder::new().stack_size(OWN + size * parts / 1000);
        builder.spawn(draw).is_ok_and(|thread| thread.join().is_ok())
    };
    match name.as_str() {
        _ if argument != ARGUMENT => None,
        "Fourier" => Some(within(size_of::<Dense>(), || {
            black_box(&Dense::with_kernel(Kernel::GAUSSIAN, black_box(1)));
        })),
        "Fastfood" => Some(within(size_of::<Structured>(), || {
            black_box(&Structured::gaussian(black_box(1)));
        })),
        _ => None,
    }
}

/// Least size of the stack with which this program draws the map, in parts of a thousand of the
/// map's own size; `None` above four times that size.
fn least(name: &str) -> Option<usize> {
    let is_enough = |parts: usize| {
        let program = env::current_exe().ok()?;
        let mut command = Command::new(program);
        command.args([ARGUMENT, name, &parts.to_string()]).stdin(Stdio::null());
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
    Some(enough)
}

/// Whether drawing keeps its limit, with the measured value.
#[must_use]
pub fn promises() -> Vec<(String, bool)> {
    ["Fourier", "Fastfood"].map(|name| promise(name, least(name))).to_vec()
}

fn promise(name: &str, parts: Option<usize>) -> (String, bool) {
    let limit = tolerance::STACK_OF_DRAWING;
    // Less than the map itself would mean that nothing was drawn on that stack.
    let found = parts.map_or(f64::INFINITY, |parts| real(parts) / 1000.0);
    let kept = (1.0..=limit.limit).contains(&found);
    (format!("{}, {name} 64/1024: {found:.2}, at most {}", limit.operation, limit.limit), kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_large_a_stack_is_noticed_and_so_is_none() {
        assert!(promise("", Some(1200)).1 && promise("", Some(1000)).1);
        assert!(!promise("", Some(1210)).1 && !promise("", Some(500)).1 && !promise("", None).1);
    }

    #[test]
    fn other_arguments_draw_nothing() {
        let words = |words: [&str; 3]| words.map(str::to_owned);
        assert_eq!(draw(&words(["target/efficiency.svg", "Fourier", "2000"])), None);
        assert_eq!(draw(&words([ARGUMENT, "Offset", "2000"])), None);
        assert_eq!(draw(&words([ARGUMENT, "Fourier", "4000"])), Some(true));
    }
}
