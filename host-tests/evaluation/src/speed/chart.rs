//! The two charts as SVG.

use super::Times;
use crate::plot::{self, Axis, Chart, Series};
use fastmmd_reference::real;

/// Names and times of the lines.
type Line = (&'static str, fn(&Times) -> f64);
const LINES: [Line; 5] = [
    ("exact MMD", |t| t.exact),
    ("B-test", |t| t.b_test),
    ("MMD-linear", |t| t.linear),
    ("dense (Fourier)", |t| t.fourier),
    ("Fastfood", |t| t.fastfood),
];

/// The lines of one chart; times relative to the first of Fastfood. None without times.
#[must_use]
pub fn lines(times: &[Times]) -> Option<Vec<Series>> {
    let unit = times.first()?.fastfood;
    let line = |(name, time): &Line| {
        Series::dots(name, times.iter().map(|t| (real(t.at), time(t) / unit)))
    };
    Some(LINES.iter().map(line).collect())
}

/// Both charts side by side, double logarithmic.
///
/// # Errors
/// If a chart has no line.
pub fn svg(over_samples: &[Times], over_dimensions: &[Times]) -> Result<String, String> {
    let (Some(left), Some(right)) = (lines(over_samples), lines(over_dimensions)) else {
        return Err("no times".to_owned());
    };
    let y = Axis::log("time, over the first of Fastfood");
    plot::svg(&[
        Chart {
            title: "16 channels, 128 frequencies",
            x: Axis::log("samples in each set"),
            y,
            series: &left,
        },
        Chart {
            title: "10⁴ samples, 8192 frequencies",
            x: Axis::log("channels"),
            y,
            series: &right,
        },
    ])
}
