//! What a row costs on a microcontroller, in instructions.
//!
//! `cargo xtask bench` counts them in an emulator and keeps them in `firmware/bench/budget.json`.
//! Shapes that were not measured are put in proportion to one that was, by the operations they
//! need.

use fastmmd_shapes::Shape;
use serde_json::Value;

const BUDGET: &str = include_str!("../../firmware/bench/budget.json");
/// Windows of the detectors measured, which look at raw values of single rows.
const MEASURED_WINDOWS: usize = 4;

/// Instructions of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Instructions {
    pub(crate) count: u64,
    /// Whether this very shape was measured.
    pub(crate) measured: bool,
}

impl std::fmt::Display for Instructions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let about = if self.measured { "" } else { "~" };
        f.pad(&format!("{about}{}", self.count))
    }
}

/// A detector that was measured: its channels, frequencies and instructions.
struct Measured {
    channels: usize,
    features: usize,
    instructions: u64,
}

/// What was measured on a core.
fn measured(core: &str) -> Vec<Measured> {
    let rows: Vec<Value> = serde_json::from_str(BUDGET).unwrap_or_default();
    let detector = |row: &Value| {
        let whole = |name: &str| row[name].as_u64().and_then(|x| usize::try_from(x).ok());
        let ours = row["core"] == core
            && row["map"] == "detector"
            && row["backend"] == "polynomial"
            && row["opt"] == "3";
        ours.then_some(Measured {
            channels: whole("d")?,
            features: whole("l")?,
            instructions: row["instructions"].as_u64()?,
        })
    };
    rows.iter().filter_map(detector).collect()
}

/// Instructions of a row on `m4f` or `m0`; none if nothing was measured there.
pub(crate) fn instructions(core: &str, shape: &Shape) -> Option<Instructions> {
    let all = measured(core);
    let plain = !shape.innovation && shape.lags == 1 && shape.windows == MEASURED_WINDOWS;
    let same =
        |known: &&Measured| known.channels == shape.channels && known.features == shape.features;
    if let Some(known) = all.iter().find(same)
        && plain
    {
        return Some(Instructions { count: known.instructions, measured: true });
    }
    let known = all.first()?;
    let model = Shape {
        channels: known.channels,
        features: known.features,
        lags: 1,
        windows: MEASURED_WINDOWS,
        innovation: false,
        ..*shape
    };
    let count = known.instructions * operations(shape) / operations(&model).max(1);
    Some(Instructions { count, measured: false })
}

/// Operations of a row: for each frequency its phase, sine and cosine (24), distance from the
/// reference (5), and in each window a mean and a distance (9); along the axis of each channel
/// three such points; the prediction of each channel.
fn operations(shape: &Shape) -> u64 {
    let inputs = shape.channels * shape.lags;
    let frequencies = shape.features * (2 * inputs + 24 + 5 + 9 * shape.windows);
    let axes = 3 * shape.channels * (24 + 4 * shape.windows);
    let view = if shape.innovation { 18 * shape.channels } else { 0 };
    u64::try_from(frequencies + axes + view).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastmmd::{Kernel, Sampling};

    #[test]
    fn measured_shapes_are_exact_and_others_in_proportion() {
        for core in ["m4f", "m0"] {
            let known = measured(core).swap_remove(0);
            let shape = Shape {
                channels: known.channels,
                lags: 1,
                features: known.features,
                windows: 4,
                innovation: false,
                kernel: Kernel::GAUSSIAN,
                sampling: Sampling::Auto,
                seed: 1,
            };
            let exact = instructions(core, &shape).expect("measured");
            assert_eq!(exact, Instructions { count: known.instructions, measured: true });
            let half = Shape { features: known.features / 2, ..shape };
            let about = instructions(core, &half).expect("in proportion");
            assert!(!about.measured && about.to_string().starts_with('~'));
            assert!(about.count > exact.count / 3 && about.count < exact.count * 2 / 3);
        }
        assert!(measured("z80").is_empty());
    }
}
