//! The cost of a row on a microcontroller, in instructions, and of a detector in RAM.
//!
//! `cargo xtask bench` counts instructions in an emulator and records them in
//! `firmware/bench/budget.json`. For other shapes they are estimated from two that were measured.

use fastmmd::Recipe;
use fastmmd_tune::detector::Detector;
use serde_json::Value;

/// The default detector in the budget, and the one with the profile of a cycle.
const PLAIN: &str = "detector";
const CYCLIC: &str = "cyclic";
/// Bytes in memory beyond the saved ones: the pointer to the map, and alignment.
const REST: usize = 28;

/// Cores with a floating-point unit.
const FLOATING: [&str; 2] = ["m4f", "m7"];

/// The detectors of the budget (`build.rs`).
const BUDGET: &str = include_str!(concat!(env!("OUT_DIR"), "/detectors.json"));

/// Instructions per row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Instructions {
    pub(crate) count: u64,
    /// Whether exactly this shape was measured.
    pub(crate) measured: bool,
}

impl std::fmt::Display for Instructions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let about = if self.measured { "" } else { "about " };
        f.pad(&format!("{about}{}", self.count))
    }
}

/// A detector that was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Measured {
    channels: u64,
    frequencies: u64,
    instructions: u64,
}

impl Measured {
    fn is(&self, channels: u64, frequencies: u64) -> bool {
        (self.channels, self.frequencies) == (channels, frequencies)
    }
}

/// The detectors of a name that were measured on a core: in integers where it has no floating-point
/// unit.
fn measured(core: &str, name: &str) -> Vec<Measured> {
    let rows: Vec<Value> = serde_json::from_str(BUDGET).unwrap_or_default();
    let backend = if FLOATING.contains(&core) { "polynomial" } else { "fixed" };
    let ours = |row: &&Value| {
        row["core"] == core && row["map"] == name && row["backend"] == backend && row["opt"] == "3"
    };
    let found = rows.iter().filter(ours).filter_map(|row| {
        Some(Measured {
            channels: row["d"].as_u64()?,
            frequencies: row["l"].as_u64()?,
            instructions: row["instructions"].as_u64()?,
        })
    });
    found.collect()
}

/// Instructions per row on a core of the budget; `None` if too little was measured there.
pub(crate) fn instructions(core: &str, detector: &Detector<'_>) -> Option<Instructions> {
    let recipe = detector.recipe();
    let (channels, frequencies) = (recipe.inputs.into(), recipe.frequencies.into());
    let plain = measured(core, PLAIN);
    match detector.config().period {
        None => estimated(&plain, channels, frequencies),
        Some(_) => with_profile(&plain, &measured(core, CYCLIC), channels, frequencies),
    }
}

/// The same with the profile of a cycle, which adds a part for each channel.
fn with_profile(
    plain: &[Measured],
    cyclic: &[Measured],
    channels: u64,
    frequencies: u64,
) -> Option<Instructions> {
    if let Some(exact) = cyclic.iter().find(|one| one.is(channels, frequencies)) {
        return Some(Instructions { count: exact.instructions, measured: true });
    }
    let profile = cyclic.iter().find_map(|one| {
        let same = plain.iter().find(|other| other.is(one.channels, one.frequencies))?;
        let more = one.instructions.checked_sub(same.instructions)?;
        Some(more * channels / one.channels.max(1))
    })?;
    let count = estimated(plain, channels, frequencies)?.count + profile;
    Some(Instructions { count, measured: false })
}

/// A part for each channel, and one for each frequency.
fn estimated(known: &[Measured], channels: u64, frequencies: u64) -> Option<Instructions> {
    if let Some(one) = known.iter().find(|one| one.is(channels, frequencies)) {
        return Some(Instructions { count: one.instructions, measured: true });
    }
    let first = known.first()?;
    let alike = |other: &&Measured| {
        other.frequencies == first.frequencies && other.channels > first.channels
    };
    let second = known.iter().find(alike)?;
    let more = second.instructions.checked_sub(first.instructions)?;
    let of_channel = more / (second.channels - first.channels);
    let of_map = first.instructions.checked_sub(first.channels * of_channel)?;
    let count = of_channel * channels + of_map * frequencies / first.frequencies.max(1);
    Some(Instructions { count, measured: false })
}

/// RAM of a detector of this shape on the device, where the shape is in its type, in bytes. It is
/// the saved length without the frame of the record, plus alignment and the pointer to the map. A
/// microcontroller's shorter pointers save a few bytes.
pub(crate) fn ram_bytes(detector: &Detector<'_>) -> usize {
    let kept = detector.saved_bytes() - Recipe::SAVED_BYTES;
    (kept + REST).next_multiple_of(size_of::<u64>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup;
    use fastmmd::monitor::{All, Cyclic};
    use fastmmd::{Config, Fourier};

    #[test]
    fn what_was_measured_is_exact_and_the_rest_estimated() {
        for core in ["m4f", "m0"] {
            let known = measured(core, PLAIN);
            let default = known.iter().find(|one| one.channels == 3 && one.frequencies == 32);
            let default = default.expect("the default detector of 3 channels");
            for one in &known {
                let exact = estimated(&known, one.channels, one.frequencies);
                let count = one.instructions;
                assert_eq!(exact, Some(Instructions { count, measured: true }));
            }
            let [more, fewer, half] = [(5, 32), (1, 32), (3, 16)].map(|(channels, frequencies)| {
                let about = estimated(&known, channels, frequencies).expect("an estimate");
                assert!(!about.measured && about.to_string().starts_with("about "));
                about.count
            });
            let count = default.instructions;
            assert!(more > count && fewer < count && (count / 3..count).contains(&half));
        }
        assert_eq!(estimated(&measured("z80", PLAIN), 3, 32), None);
    }

    /// The profile of a cycle costs something, more in more channels, and is counted.
    #[test]
    fn the_profile_of_a_cycle_is_counted() {
        for core in ["m4f", "m0"] {
            let (plain, cyclic) = (measured(core, PLAIN), measured(core, CYCLIC));
            let both = |channels, frequencies| {
                let with = with_profile(&plain, &cyclic, channels, frequencies).expect("a cost");
                let without = estimated(&plain, channels, frequencies).expect("a cost");
                (with, with.count - without.count)
            };
            let ((exact, of_three), (about, of_six)) = (both(3, 32), both(6, 32));
            assert!(exact.measured && !about.measured && of_three > 0, "{exact:?} {about:?}");
            assert_eq!(of_six, 2 * of_three);
        }
    }

    /// Compares the size of a compiled detector with the estimate for its shape.
    macro_rules! sizes {
        ($($legs:ty, $c:literal $l:literal $period:expr);* $(;)?) => {[$({
            type Compiled = fastmmd::Detector<'static, Fourier<$c, $l>, $legs>;
            let map = setup::map($c, $l, 1).unwrap();
            let config = Config { period: $period, ..Config::rows(1e4) };
            (size_of::<Compiled>(), ram_bytes(&Detector::new(&map, config).unwrap()))
        }),*]};
    }

    #[test]
    fn ram_is_that_of_a_compiled_detector() {
        let all = sizes![
            All, 1 8 None; All, 1 32 None; All, 3 32 None; All, 8 32 None; All, 16 128 None;
            Cyclic<32>, 1 32 Some(100.0); Cyclic<32>, 3 32 Some(100.0); Cyclic<32>, 8 64 Some(9.0);
        ];
        for (size, estimate) in all {
            println!("{size} {estimate}");
            assert!(size.abs_diff(estimate) <= size / 50, "{size} {estimate}");
        }
    }
}
