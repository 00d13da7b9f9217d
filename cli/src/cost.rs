//! The cost of a row on a microcontroller, in instructions.
//!
//! `cargo xtask bench` counts them in an emulator and records them in `firmware/bench/budget.json`.
//! For other shapes, the cost is estimated from a measured shape of the same view, in proportion to
//! the number of operations.

use fastmmd::condition::ViewKind;
use fastmmd::dynamic::Detector;
use fastmmd::{FeatureMap, Recipe};
use serde_json::Value;

/// Padding after each window, in bytes: its 8-byte row numbers are aligned to 8.
const PADDING: usize = 4;
/// Bytes in memory beyond the saved ones: the pointer to the map, and alignment of the settings,
/// the stage and the last alarm.
const REST: usize = 28;

const BUDGET: &str = include_str!("../../firmware/bench/budget.json");

/// Instructions per row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Instructions {
    pub(crate) count: u64,
    /// Whether exactly this shape was measured.
    pub(crate) measured: bool,
}

impl std::fmt::Display for Instructions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let about = if self.measured { "" } else { "~" };
        f.pad(&format!("{about}{}", self.count))
    }
}

/// The sizes on which the instructions per row depend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Size {
    view: ViewKind,
    channels: u64,
    inputs: u64,
    frequencies: u64,
    windows: u64,
}

impl Size {
    fn of(detector: &Detector<'_>) -> Self {
        let (shape, recipe) = (detector.shape(), detector.map().recipe());
        Self {
            view: shape.view,
            channels: shape.channels.into(),
            inputs: recipe.inputs.into(),
            frequencies: recipe.frequencies.into(),
            windows: shape.windows.into(),
        }
    }
}

/// A detector that was measured, and its instructions.
struct Measured {
    size: Size,
    instructions: u64,
}

/// The measured detectors of a view on a core, the most common shape first.
fn measured(core: &str, view: ViewKind) -> Vec<Measured> {
    // Number of windows of the measured detectors, which use single rows.
    let (map, windows) = match view {
        ViewKind::Innovation => ("innovation", 3),
        ViewKind::Raw => ("detector", 4),
    };
    let rows: Vec<Value> = serde_json::from_str(BUDGET).unwrap_or_default();
    let detector = |row: &Value| {
        let ours = row["core"] == core
            && row["map"] == map
            && row["backend"] == "polynomial"
            && row["opt"] == "3";
        let (channels, frequencies) = (row["d"].as_u64()?, row["l"].as_u64()?);
        ours.then_some(Measured {
            size: Size { view, channels, inputs: channels, frequencies, windows },
            instructions: row["instructions"].as_u64()?,
        })
    };
    rows.iter().filter_map(detector).collect()
}

/// Instructions per row on `m4f` or `m0`; `None` if nothing was measured there.
pub(crate) fn instructions(core: &str, detector: &Detector<'_>) -> Option<Instructions> {
    instructions_of(core, Size::of(detector))
}

fn instructions_of(core: &str, size: Size) -> Option<Instructions> {
    let all = measured(core, size.view);
    if let Some(known) = all.iter().find(|known| known.size == size) {
        return Some(Instructions { count: known.instructions, measured: true });
    }
    all.first().map(|known| Instructions { count: in_proportion(known, size), measured: false })
}

fn in_proportion(known: &Measured, size: Size) -> u64 {
    known.instructions * operations(size) / operations(known.size).max(1)
}

/// Operations per row. For each frequency: its phase, sine and cosine (24), distance from the
/// reference (5), and in each window a mean and a distance (9). For each channel: three more such
/// points along its axis, and for innovations a prediction, with a square root and divisions. For
/// each window: threshold and verdict.
fn operations(size: Size) -> u64 {
    let Size { view, channels, inputs, frequencies, windows } = size;
    let on_circles = frequencies * (2 * inputs + 24 + 5 + 9 * windows);
    let axes = 3 * channels * (24 + 4 * windows);
    let view = match view {
        ViewKind::Innovation => 60 * channels,
        ViewKind::Raw => 0,
    };
    on_circles + axes + view + 60 * windows
}

/// RAM of a detector of this shape on the device, where the shape is in its type, in bytes. It is
/// the saved length without the frame of the record, plus alignment and the pointer to the map. A
/// microcontroller's shorter pointers save a few bytes.
pub(crate) fn ram_bytes(detector: &Detector<'_>) -> usize {
    let kept = detector.saved_bytes() - Recipe::SAVED_BYTES;
    let windows = detector.config().windows.len();
    (kept + PADDING * windows + REST).next_multiple_of(size_of::<u64>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup;
    use fastmmd::dynamic::{self, Config};
    use fastmmd::shape::Windows;
    use fastmmd::{Fourier, condition};

    /// Largest relative error of the estimates.
    const NEAR: f64 = 0.2;

    fn size(view: ViewKind) -> Size {
        let (frequencies, windows) = match view {
            ViewKind::Innovation => (16, 3),
            ViewKind::Raw => (64, 4),
        };
        Size { view, channels: 3, inputs: 3, frequencies, windows }
    }

    #[test]
    fn what_was_measured_is_exact_and_the_rest_in_proportion() {
        let views = ViewKind::ALL.into_iter();
        for (core, view) in views.flat_map(|view| [("m4f", view), ("m0", view)]) {
            let like = size(view);
            let all = measured(core, view);
            for known in &all {
                let exact = instructions_of(core, known.size);
                let count = known.instructions;
                assert_eq!(exact, Some(Instructions { count, measured: true }));
            }
            let half = Size { frequencies: like.frequencies / 2, ..like };
            let about = instructions_of(core, half).expect("in proportion");
            assert!(!about.measured && about.to_string().starts_with('~'));
            // Estimates each measured shape from the other.
            let [first, second] = all.as_slice() else { panic!("two of each were measured") };
            #[expect(clippy::cast_precision_loss, reason = "far below 2⁵³")]
            let ratio = in_proportion(first, second.size) as f64 / second.instructions as f64;
            println!("{core} {} {ratio:.2}", view.name());
            assert!((ratio - 1.0).abs() < NEAR, "{core} {} {ratio}", view.name());
        }
        assert!(measured("z80", ViewKind::Raw).is_empty());
    }

    /// Compares the size of a compiled detector with the estimate for its shape.
    macro_rules! sizes {
        ($($view:ident $c:literal $d:literal $l:literal $w:literal),* $(,)?) => {[$({
            type Compiled =
                fastmmd::Detector<'static, Fourier<$d, $l>, condition::$view<$c, $d>, Windows<$w>>;
            let map = setup::map($c, $d / $c, $l, 1).unwrap();
            let config = Config::preset(ViewKind::$view, 1e4).with_lengths((2..2 + $w).collect());
            let detector = dynamic::detector(&map, $c, ViewKind::$view, config).unwrap();
            (size_of::<Compiled>(), ram_bytes(&detector))
        }),*]};
    }

    #[test]
    fn ram_is_that_of_a_compiled_detector() {
        let all = sizes![
            Raw 1 1 8 1, Raw 1 1 64 4, Raw 3 3 64 4, Raw 8 8 64 3, Raw 2 8 16 5, Raw 16 16 128 4,
            Innovation 1 1 16 3, Innovation 3 3 16 3, Innovation 8 8 32 3, Innovation 4 12 64 2,
        ];
        for (size, estimate) in all {
            println!("{size} {estimate}");
            assert!(size.abs_diff(estimate) <= size / 50, "{size} {estimate}");
        }
    }
}
