//! The two charts as SVG.

use plotters::prelude::*;

use super::Times;
use crate::real;

type Failed = Box<dyn std::error::Error>;

/// Names, colours (apart for the colour-blind) and times of the lines.
type Line = (&'static str, RGBColor, fn(&Times) -> f64);
const LINES: [Line; 5] = [
    ("exact MMD", RGBColor(213, 94, 0), |t| t.exact),
    ("B-test", RGBColor(230, 159, 0), |t| t.b_test),
    ("MMD-linear", RGBColor(0, 158, 115), |t| t.linear),
    ("dense (Fourier)", RGBColor(86, 180, 233), |t| t.fourier),
    ("Fastfood", RGBColor(0, 114, 178), |t| t.fastfood),
];

/// Both charts side by side, double logarithmic; times relative to the first of Fastfood.
///
/// # Errors
/// If a chart has no line.
pub fn svg(over_samples: &[Times], over_dimensions: &[Times]) -> Result<String, Failed> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (1100, 480)).into_drawing_area();
        area.fill(&WHITE)?;
        let (left, right) = area.split_horizontally(550);
        one(&left, "16 channels, 128 frequencies", "samples in each set", over_samples)?;
        one(&right, "10⁴ samples, 8192 frequencies", "channels", over_dimensions)?;
        area.present()?;
    }
    Ok(text)
}

fn one(
    area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    title: &str,
    label: &str,
    times: &[Times],
) -> Result<(), Failed> {
    let (Some(first), Some(last)) = (times.first(), times.last()) else {
        return Err("no times".into());
    };
    let unit = first.fastfood;
    let all = || LINES.iter().flat_map(|(_, _, time)| times.iter().map(move |t| time(t) / unit));
    let lowest = all().fold(f64::INFINITY, f64::min);
    let highest = all().fold(0.0, f64::max);
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(70)
        .build_cartesian_2d(
            (real(first.at)..real(last.at)).log_scale(),
            (lowest / 2.0..highest * 2.0).log_scale(),
        )?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc(label)
        .y_desc("time, over that of Fastfood on the left")
        .x_label_formatter(&|x| power(*x))
        .y_label_formatter(&|y| power(*y))
        .draw()?;
    for (name, colour, time) in LINES {
        let points: Vec<_> = times.iter().map(|t| (real(t.at), time(t) / unit)).collect();
        chart
            .draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
        chart.draw_series(points.iter().map(|at| Circle::new(*at, 3, colour.filled())))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.8))
        .label_font(("sans-serif", 13))
        .draw()?;
    Ok(())
}

/// A short label of an axis.
fn power(value: f64) -> String {
    if (0.01..10_000.0).contains(&value) { format!("{value}") } else { format!("{value:.0e}") }
}
