//! What a row costs on a microcontroller, in instructions.
//!
//! `cargo xtask bench` counts them in an emulator and keeps them in `firmware/bench/budget.json`.
//! Shapes that were not measured are put in proportion to one of the same view that was, by the
//! operations they need.

use fastmmd_shapes::Shape;
use serde_json::Value;

const BUDGET: &str = include_str!("../../firmware/bench/budget.json");

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

/// A detector that was measured, and its instructions.
struct Measured {
    shape: Shape,
    instructions: u64,
}

/// What was measured of a view on a core, nearest to what is used most first.
fn measured(core: &str, like: &Shape) -> Vec<Measured> {
    // Windows of the detectors measured, which look at single rows.
    let (map, windows) = if like.innovation { ("innovation", 3) } else { ("detector", 4) };
    let rows: Vec<Value> = serde_json::from_str(BUDGET).unwrap_or_default();
    let detector = |row: &Value| {
        let whole = |name: &str| row[name].as_u64().and_then(|x| usize::try_from(x).ok());
        let ours = row["core"] == core
            && row["map"] == map
            && row["backend"] == "polynomial"
            && row["opt"] == "3";
        let (channels, features) = (whole("d")?, whole("l")?);
        ours.then_some(Measured {
            shape: Shape { channels, lags: 1, features, windows, ..*like },
            instructions: row["instructions"].as_u64()?,
        })
    };
    rows.iter().filter_map(detector).collect()
}

/// Instructions of a row on `m4f` or `m0`; none if nothing was measured there.
pub(crate) fn instructions(core: &str, shape: &Shape) -> Option<Instructions> {
    let all = measured(core, shape);
    if let Some(known) = all.iter().find(|known| known.shape == *shape) {
        return Some(Instructions { count: known.instructions, measured: true });
    }
    all.first().map(|known| Instructions { count: in_proportion(known, shape), measured: false })
}

fn in_proportion(known: &Measured, shape: &Shape) -> u64 {
    known.instructions * operations(shape) / operations(&known.shape).max(1)
}

/// Operations of a row: for each frequency its phase, sine and cosine (24), distance from the
/// reference (5), and in each window a mean and a distance (9); along the axis of each channel
/// three such points; for innovations the prediction of each channel, with a root and divisions;
/// thresholds and verdict of each window.
fn operations(shape: &Shape) -> u64 {
    let inputs = shape.channels * shape.lags;
    let frequencies = shape.features * (2 * inputs + 24 + 5 + 9 * shape.windows);
    let axes = 3 * shape.channels * (24 + 4 * shape.windows);
    let view = if shape.innovation { 60 * shape.channels } else { 0 };
    let windows = 60 * shape.windows;
    u64::try_from(frequencies + axes + view + windows).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastmmd::{Kernel, Sampling};

    /// Estimates are within this share of what was measured.
    const NEAR: f64 = 0.2;

    fn shape(innovation: bool) -> Shape {
        Shape {
            channels: 3,
            lags: 1,
            features: if innovation { 16 } else { 64 },
            windows: if innovation { 3 } else { 4 },
            innovation,
            kernel: Kernel::GAUSSIAN,
            sampling: Sampling::Auto,
            seed: 1,
        }
    }

    #[test]
    fn what_was_measured_is_exact_and_the_rest_in_proportion() {
        for (core, innovation) in [("m4f", false), ("m4f", true), ("m0", false), ("m0", true)] {
            let like = shape(innovation);
            let all = measured(core, &like);
            for known in &all {
                let exact = instructions(core, &known.shape);
                let count = known.instructions;
                assert_eq!(exact, Some(Instructions { count, measured: true }));
            }
            let half = Shape { features: like.features / 2, ..like };
            let about = instructions(core, &half).expect("in proportion");
            assert!(!about.measured && about.to_string().starts_with('~'));
            // From one that was measured to the other.
            let [first, second] = all.as_slice() else { panic!("two of each were measured") };
            #[expect(clippy::cast_precision_loss, reason = "far below 2⁵³")]
            let ratio = in_proportion(first, &second.shape) as f64 / second.instructions as f64;
            println!("{core} {} {ratio:.2}", like.view());
            assert!((ratio - 1.0).abs() < NEAR, "{core} {} {ratio}", like.view());
        }
        assert!(measured("z80", &shape(false)).is_empty());
    }
}
