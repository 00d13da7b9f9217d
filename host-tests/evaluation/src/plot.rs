//! Plots as SVG.

use std::ops::Range;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::register_font;

use fastmmd_reference::real;

/// An axis.
#[derive(Debug, Clone, Copy)]
pub struct Axis {
    /// What it shows.
    pub label: &'static str,
    /// Whether it is logarithmic. Values that are not positive are then left out.
    pub log: bool,
}

impl Axis {
    /// A linear axis.
    #[must_use]
    pub const fn even(label: &'static str) -> Self {
        Self { label, log: false }
    }

    /// A logarithmic axis.
    #[must_use]
    pub const fn log(label: &'static str) -> Self {
        Self { label, log: true }
    }

    /// The position of a value on the axis.
    fn place(self, value: f64) -> Option<f64> {
        let place = if self.log { value.log10() } else { value };
        place.is_finite().then_some(place)
    }

    fn tick(self, place: f64) -> String {
        let value = if self.log { 10_f64.powf(place) } else { place };
        // Sums of steps give 1e-17 in place of 0.
        if value.abs() < 1e-12 {
            "0".to_owned()
        } else if (0.001..10_000.0).contains(&value.abs()) {
            let digits = if value.abs() < 0.1 { 3 } else { 2 };
            let text = format!("{value:.digits$}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            format!("{value:.0e}")
        }
    }
}

impl Axis {
    /// About five to ten round numbers between two positions: in steps of 1, 2 or 5 times a power
    /// of ten, or these numbers themselves on a logarithmic axis.
    fn ticks(self, low: f64, high: f64) -> Vec<f64> {
        if self.log {
            let decades = (high - low).ceil();
            let factors: &[f64] = if decades <= 2.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
            let stride = (decades / 8.0).ceil().max(1.0);
            let first = (low / stride).floor() * stride;
            let powers = (0..10).map(|step| first + stride * f64::from(step));
            let places = powers.flat_map(|power| factors.iter().map(move |f| power + f.log10()));
            return places.filter(|place| (low..=high).contains(place)).collect();
        }
        let raw = (high - low) / 8.0;
        let power = 10_f64.powf(raw.log10().floor());
        let factors = [1.0, 2.0, 5.0, 10.0];
        let step = power * factors.iter().find(|&f| f * power >= raw).unwrap_or(&10.0);
        // A small margin, so that 1e-17 in place of 0 has its tick.
        let first = (low / step - 1e-9).ceil();
        let places = (0..20).map(|index| (first + f64::from(index)) * step);
        places.take_while(|place| *place <= high + 1e-9 * step).collect()
    }
}

/// A range of positions with our own ticks.
struct Scale {
    range: Range<f64>,
    ticks: Vec<f64>,
}

impl Ranged for Scale {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        RangedCoordf64::from(self.range.clone()).map(value, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// A line.
    Line,
    /// A line with a dot at each point.
    Dots,
    /// The outline of bars, each as wide as its distance to the next.
    Bars,
}

/// Points under one name.
#[derive(Debug, Clone)]
pub struct Series {
    /// As in the legend.
    pub name: String,
    /// x and y.
    pub points: Vec<(f64, f64)>,
    /// How they are drawn.
    pub mark: Mark,
}

impl Series {
    /// A line with dots.
    #[must_use]
    pub fn dots(name: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::new(name, points, Mark::Dots)
    }

    /// A line.
    #[must_use]
    pub fn line(name: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::new(name, points, Mark::Line)
    }

    /// Bars of how many values fall into each of `bins` equal parts of their range, as a density.
    #[must_use]
    pub fn histogram(name: &str, values: &[f64], bins: usize) -> Self {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let width = (high - low) / real(bins.max(1));
        let bar = |bin: usize| {
            let (from, to) = (low + width * real(bin), low + width * real(bin + 1));
            let last = bin + 1 == bins;
            let inside = values.iter().filter(|&&v| v >= from && (v < to || last)).count();
            (from, real(inside) / (real(values.len()) * width))
        };
        Self::new(name, (0..bins).map(bar), Mark::Bars)
    }

    fn new(name: &str, points: impl IntoIterator<Item = (f64, f64)>, mark: Mark) -> Self {
        Self { name: name.to_owned(), points: points.into_iter().collect(), mark }
    }
}

/// Colours that colour-blind people can distinguish.
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(0, 0, 0),
    RGBColor(130, 130, 130),
];

/// One chart.
#[derive(Debug, Clone, Copy)]
pub struct Chart<'a> {
    /// The title above it.
    pub title: &'a str,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The curves.
    pub series: &'a [Series],
}

/// Margin below the curves, as a fraction of their height.
const BELOW: f64 = 0.04;

/// Width and height of a chart.
const SIZE: (u32, u32) = (720, 480);

/// Charts side by side as the text of an SVG file, each 720 × 480.
///
/// # Errors
/// Errors of the drawing library, as text; none are expected.
pub fn svg(charts: &[Chart<'_>]) -> Result<String, String> {
    let mut text = String::new();
    draw_all(&mut text, charts).map_err(|error| error.to_string())?;
    Ok(text)
}

type Failure = Box<dyn std::error::Error>;

fn draw_all(text: &mut String, charts: &[Chart<'_>]) -> Result<(), Failure> {
    // With a built-in font, text needs no font of the system.
    register_font("sans-serif", FontStyle::Normal, dejavu::sans::regular())
        .map_err(|_| "the built-in font is broken")?;
    let width = SIZE.0 * u32::try_from(charts.len())?;
    let area = SVGBackend::with_string(text, (width, SIZE.1)).into_drawing_area();
    area.fill(&WHITE)?;
    for (part, chart) in area.split_evenly((1, charts.len())).iter().zip(charts) {
        draw(part, chart)?;
    }
    area.present()?;
    Ok(())
}

fn draw(area: &DrawingArea<SVGBackend<'_>, Shift>, chart: &Chart<'_>) -> Result<(), Failure> {
    let &Chart { title, x, y, series } = chart;
    let placed: Vec<Vec<(f64, f64)>> = series
        .iter()
        .map(|one| one.points.iter().filter_map(|&(a, b)| Some((x.place(a)?, y.place(b)?))))
        .map(Iterator::collect)
        .collect();
    let extent = |pick: fn(&(f64, f64)) -> f64| {
        let all = || placed.iter().flatten().map(pick);
        let low = all().fold(f64::INFINITY, f64::min);
        let high = all().fold(f64::NEG_INFINITY, f64::max);
        if low < high { (low, high) } else { (low.min(0.0), high.max(1.0)) }
    };
    // Round numbers within the data, and margins; the one above the curves is for the legend.
    let range = |axis: Axis, (low, high): (f64, f64), margins: [f64; 2]| {
        let range = (low - margins[0] * (high - low))..(high + margins[1] * (high - low));
        Scale { range, ticks: axis.ticks(low, high) }
    };
    // The legend takes 16 of the frame's 390 pixels for each curve, and 30 more.
    let legend = (16.0 * real(series.len()) + 30.0) / 390.0;
    let headroom = (1.0 + BELOW) * legend / (1.0 - legend).max(0.1);
    let across = range(x, extent(|p| p.0), [0.02, 0.02]);
    let up = range(y, extent(|p| p.1), [BELOW, headroom]);
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(42)
        .y_label_area_size(64)
        .build_cartesian_2d(across, up)?;
    chart
        .configure_mesh()
        .x_desc(x.label)
        .y_desc(y.label)
        .x_label_formatter(&|place| x.tick(*place))
        .y_label_formatter(&|place| y.tick(*place))
        .light_line_style(WHITE)
        .draw()?;
    for ((one, points), colour) in series.iter().zip(placed).zip(COLOURS.iter().cycle()) {
        let style = colour.stroke_width(2);
        let line = if one.mark == Mark::Bars { steps(&points) } else { points.clone() };
        chart
            .draw_series(LineSeries::new(line, style))?
            .label(one.name.as_str())
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
        if one.mark == Mark::Dots {
            let dots = points.into_iter().map(|point| Circle::new(point, 3, colour.filled()));
            chart.draw_series(dots)?;
        }
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.85))
        .border_style(RGBColor(200, 200, 200))
        .label_font(("sans-serif", 13))
        .draw()?;
    Ok(())
}

/// The outline of bars that begin at each point.
fn steps(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let Some(&[first, second]) = points.first_chunk() else { return points.to_vec() };
    let width = second.0 - first.0;
    let mut outline = vec![(first.0, 0.0)];
    for &(x, y) in points {
        outline.extend([(x, y), (x + width, y)]);
    }
    outline.extend(points.last().map(|&(x, _)| (x + width, 0.0)));
    outline
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastmmd_reference::tolerance;

    #[test]
    fn ticks_are_short() {
        let (even, log) = (Axis::even(""), Axis::log(""));
        assert_eq!([even.tick(0.5), even.tick(1e-17), even.tick(20.0)], ["0.5", "0", "20"]);
        assert_eq!([log.tick(3.0), log.tick(-2.0), log.tick(5.0)], ["1000", "0.01", "1e5"]);
    }

    #[test]
    fn ticks_are_round() {
        let shown = |axis: Axis, low: f64, high: f64| -> Vec<String> {
            axis.ticks(low, high).into_iter().map(|place| axis.tick(place)).collect()
        };
        assert_eq!(shown(Axis::even(""), -0.1, 0.35), ["-0.1", "0", "0.1", "0.2", "0.3"]);
        assert_eq!(shown(Axis::log(""), 1.2, 3.1), ["20", "50", "100", "200", "500", "1000"]);
        assert_eq!(shown(Axis::log(""), -6.5, 0.2).len(), 7);
        assert!(Axis::log("").ticks(-40.0, 40.0).len() <= 10);
    }

    #[test]
    fn histograms_have_an_area_of_one() {
        let values = [0.0, 1.0, 1.5, 2.0, 4.0];
        let bars = Series::histogram("", &values, 4).points;
        let area: f64 = bars.iter().map(|bar| bar.1).sum();
        tolerance::REFERENCE_IDENTITY.hold("area", area, 1.0);
    }

    /// Includes data without a range, and values that have no logarithm.
    #[test]
    fn every_chart_is_an_svg() {
        let series = [
            Series::dots("a < b", [(1.0, 0.0), (10.0, 2.0)]),
            Series::line("single", [(3.0, 1.0)]),
            Series::histogram("bars", &[1.0, 2.0, 3.0], 3),
        ];
        for axis in [Axis::even("x"), Axis::log("x")] {
            for series in [&series[..], &series[1..2]] {
                let chart = Chart { title: "title", x: axis, y: axis, series };
                let text = svg(&[chart, chart]).expect("drawn");
                assert_eq!(text.matches("title").count(), 2);
                assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"));
                assert!(!text.contains("NaN") && !text.contains("a < b"));
            }
        }
    }
}
