//! Plots of a log: signals, drifts, alarms, and the statistic nearest to its threshold.

use std::ops::Range;
use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::{FontStyle, register_font};

use crate::axis;
use crate::fault::Fault;
use crate::report;
use crate::trace::{Rows, Trace};

const WIDTH: u32 = 1000;
const TITLE_HEIGHT: u32 = 40;
const STATISTIC_HEIGHT: u32 = 200;
/// Height of a line of labels below the axis.
const LABELS_HEIGHT: u32 = 17;
/// Height of the strip of all alarms, where they are too many for a line each.
const ALARMS_HEIGHT: u32 = 46;
/// Height of a channel's strip, in pixels: the more channels, the less.
const STRIP_HEIGHTS: Range<u32> = 84..180;
/// The same of so many that a picture of usual strips would be too high.
const LOW_STRIP: u32 = 48;
/// Number of channels drawn, if there are as many.
const USUAL_STRIPS: usize = 8;
/// Largest number of channels drawn, if alarms name so many.
const MOST_STRIPS: usize = 256;
/// Most alarms that are drawn in the strips of other channels, too.
const FEW_ALARMS: u64 = 50;
/// Height of the heading of each part, in pixels.
const HEADING_HEIGHT: u32 = 19;
const LABEL_WIDTH: u32 = 78;
/// Red, green and blue.
const BYTES_OF_PIXEL: usize = 3;

pub(crate) const INK: RGBColor = RGBColor(40, 40, 40);
pub(crate) const SIGNAL: RGBColor = RGBColor(38, 102, 160);
const STATISTIC: RGBColor = RGBColor(84, 84, 84);
pub(crate) const ALARM: RGBColor = RGBColor(200, 30, 30);
const LEARNING: RGBColor = RGBColor(236, 238, 232);
const CHANGED: RGBColor = RGBColor(250, 222, 218);

pub(crate) type Area<'a, B> = DrawingArea<B, Shift>;
pub(crate) type Drawn<B> = Result<(), DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>>;

/// Something that can be drawn with either backend.
pub(crate) trait Painted {
    /// Width and height, in pixels.
    fn size(&self) -> (u32, u32);

    fn paint<B: DrawingBackend>(&self, root: &Area<'_, B>) -> Drawn<B>;
}

/// Draws a trace into an SVG or PNG file.
pub(crate) fn draw(path: &Path, name: &str, names: &[String], trace: &Trace) -> Result<(), Fault> {
    save(path, &Picture { name, names, trace, strips: strips(names.len(), trace) })
}

/// Draws a picture into an SVG or PNG file.
pub(crate) fn save(path: &Path, picture: &impl Painted) -> Result<(), Fault> {
    // With a built-in font, text needs no font of the system.
    register_font("sans-serif", FontStyle::Normal, dejavu::sans::regular())
        .map_err(|_| Fault::new("the built-in font is broken"))?;
    let failed = |why: String| Fault::of(path.display(), why);
    let size = picture.size();
    if path.extension().is_some_and(|extension| extension == "png") {
        let mut pixels = vec![0; BYTES_OF_PIXEL * size.0 as usize * size.1 as usize];
        {
            let root = BitMapBackend::with_buffer(&mut pixels, size).into_drawing_area();
            picture
                .paint(&root)
                .and_then(|()| root.present())
                .map_err(|e| failed(e.to_string()))?;
        }
        let bytes = encoded(&pixels, size).map_err(|e| failed(e.to_string()))?;
        crate::files::write(path, &bytes)
    } else {
        let mut text = String::new();
        {
            let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
            picture
                .paint(&root)
                .and_then(|()| root.present())
                .map_err(|e| failed(e.to_string()))?;
        }
        crate::files::write(path, text.as_bytes())
    }
}

/// Pixels as a PNG file.
fn encoded(pixels: &[u8], (width, height): (u32, u32)) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(bytes)
}

/// The channels to draw: those that alarms name, then others, in the order of the log.
fn strips(channels: usize, trace: &Trace) -> Vec<usize> {
    let named = |channel: &usize| trace.concerned.contains(channel);
    let (first, others): (Vec<usize>, Vec<usize>) = (0..channels).partition(named);
    let count = first.len().clamp(USUAL_STRIPS, MOST_STRIPS);
    let mut strips: Vec<usize> = first.into_iter().chain(others).take(count).collect();
    strips.sort_unstable();
    strips
}

struct Picture<'a> {
    name: &'a str,
    names: &'a [String],
    trace: &'a Trace,
    /// Channels drawn.
    strips: Vec<usize>,
}

impl Painted for Picture<'_> {
    fn size(&self) -> (u32, u32) {
        (WIDTH, self.height())
    }

    fn paint<B: DrawingBackend>(&self, root: &Area<'_, B>) -> Drawn<B> {
        root.fill(&WHITE)?;
        let (title, rest) = root.split_vertically(TITLE_HEIGHT);
        let alarms = match self.trace.alarm_count {
            0 => "no alarm".to_owned(),
            many => report::alarms(many),
        };
        let hidden = self.names.len() - self.strips.len();
        let more =
            if hidden > 0 { format!("; {hidden} channels not shown") } else { String::new() };
        let file = Path::new(self.name).file_name().and_then(|name| name.to_str());
        let name = file.unwrap_or(self.name);
        let line = format!("{name}: {alarms} in {} rows{more}", self.trace.rows);
        title.draw_text(&line, &text(18, &INK), (16, 12))?;
        let mut rest = rest;
        if self.trace.is_crowded() {
            let (strip, below) = rest.split_vertically(ALARMS_HEIGHT);
            self.density(&strip)?;
            rest = below;
        }
        for channel in &self.strips {
            let (strip, below) = rest.split_vertically(self.strip_height());
            self.signal(&strip, *channel)?;
            rest = below;
        }
        self.statistic(&rest)
    }
}

impl Picture<'_> {
    fn strip_height(&self) -> u32 {
        let share = 420 / u32::try_from(self.strips.len().max(1)).unwrap_or(1);
        let least = if self.strips.len() > 32 { LOW_STRIP } else { STRIP_HEIGHTS.start };
        share.clamp(least, STRIP_HEIGHTS.end)
    }

    /// Lines of labels below the axis: rows, and times if the log has any.
    fn label_lines(&self) -> u32 {
        if self.trace.clock.is_some() { 2 } else { 1 }
    }

    fn height(&self) -> u32 {
        let strips = u32::try_from(self.strips.len()).unwrap_or(0);
        let alarms = if self.trace.is_crowded() { ALARMS_HEIGHT } else { 0 };
        let statistic = STATISTIC_HEIGHT + self.label_lines() * LABELS_HEIGHT;
        TITLE_HEIGHT + alarms + strips * self.strip_height() + statistic
    }

    fn rows(&self) -> Range<f64> {
        0.0..real(self.trace.rows.max(1))
    }

    /// The first and the last row of a stretch.
    fn span(&self, at: usize) -> (f64, f64) {
        let length = real(self.trace.length);
        let begin = real(u64::try_from(at).unwrap_or(u64::MAX)) * length;
        (begin, (begin + length).min(real(self.trace.rows)))
    }

    fn signal<B: DrawingBackend>(&self, area: &Area<'_, B>, channel: usize) -> Drawn<B> {
        let ranges = self.trace.stretches.iter().filter_map(|stretch| stretch.ranges.get(channel));
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for [least, largest] in ranges.clone() {
            (low, high) = (low.min(f64::from(*least)), high.max(f64::from(*largest)));
        }
        let margin = (0.08 * (high - low)).max(1e-6 * high.abs()).max(1e-9);
        let values = low - margin..high + margin;
        let mut chart = ChartBuilder::on(area)
            .margin_right(16)
            .margin_top(HEADING_HEIGHT)
            .y_label_area_size(LABEL_WIDTH)
            .x_label_area_size(4)
            .build_cartesian_2d(self.rows(), values.clone())?;
        chart
            .draw_series(self.trace.learning.iter().map(|rows| block(*rows, &values, LEARNING)))?;
        let drifts = self.trace.drifts.iter().filter(|drift| drift.channel == channel);
        chart.draw_series(drifts.map(|drift| block(drift.rows, &values, CHANGED)))?;
        let own = self.trace.alarms.iter().filter(|told| told.alarm.channel == channel);
        chart
            .configure_mesh()
            .disable_x_mesh()
            .disable_x_axis()
            .light_line_style(TRANSPARENT)
            .bold_line_style(RGBColor(225, 225, 225))
            .y_labels(3)
            .y_label_style(text(11, &INK))
            .y_label_formatter(&|value| tick(*value, high - low))
            .axis_style(RGBColor(190, 190, 190))
            .draw()?;
        // Smallest and largest value of each stretch in turn: a line for any number of rows, which
        // breaks where readings are missing.
        let points: Vec<(usize, [f32; 2])> = ranges.copied().enumerate().collect();
        for line in points.split(|(_, [least, _])| least.is_nan()) {
            let line = line.iter().flat_map(|(at, [least, largest])| {
                let (begin, end) = self.span(*at);
                let middle = 0.5 * (begin + end);
                [(middle, f64::from(*least)), (middle, f64::from(*largest))]
            });
            chart.draw_series(LineSeries::new(line, SIGNAL.stroke_width(1)))?;
        }
        let shown = self.trace.alarms.iter().filter(|_| !self.trace.is_crowded());
        for told in shown {
            let mine = told.alarm.channel == channel;
            if !mine && self.trace.alarm_count > FEW_ALARMS {
                continue;
            }
            let style = if mine { ALARM.stroke_width(2) } else { ALARM.mix(0.25).stroke_width(1) };
            let at = place(told.row);
            chart.draw_series([PathElement::new([(at, values.start), (at, values.end)], style)])?;
        }
        // The kind of change beside each alarm, unless labels would overlap.
        let label = self.names.get(channel).map_or("", String::as_str);
        let mut free = i32::try_from(LABEL_WIDTH).unwrap_or(0)
            + 9 * i32::try_from(label.chars().count()).unwrap_or(0);
        for told in own.filter(|_| !self.trace.is_crowded()) {
            let (x, y) = chart.backend_coord(&(place(told.row), values.end));
            let (left, top) = area.get_base_pixel();
            let (x, y) = (x - left, y - top);
            let change = told.alarm.change.name();
            let width = 8 * i32::try_from(change.len()).unwrap_or(0) + 12;
            let x = x.min(i32::try_from(WIDTH).unwrap_or(0) - 16 - width);
            if x >= free {
                area.draw_text(change, &text(13, &ALARM), (x, y - 16))?;
                free = x + width;
            }
        }
        heading(area, label, &SIGNAL)
    }

    fn statistic<B: DrawingBackend>(&self, area: &Area<'_, B>) -> Drawn<B> {
        let ratios = self.trace.stretches.iter().enumerate();
        let ratios = ratios.filter_map(|(at, stretch)| Some((at, f64::from(stretch.ratio?))));
        let points: Vec<(f64, f64)> = ratios
            .map(|(at, ratio)| {
                let (begin, end) = self.span(at);
                (0.5 * (begin + end), ratio.max(1e-4))
            })
            .collect();
        // Three powers of ten at least, so that the axis has a scale.
        let low = points.iter().map(|(_, ratio)| *ratio).fold(0.1, f64::min) * 0.8;
        let high = points.iter().map(|(_, ratio)| *ratio).fold(10.0, f64::max) * 1.3;
        let mut chart = ChartBuilder::on(area)
            .margin_right(16)
            .margin_top(HEADING_HEIGHT)
            .margin_bottom(8)
            .y_label_area_size(LABEL_WIDTH)
            .x_label_area_size(4 + LABELS_HEIGHT * self.label_lines())
            .build_cartesian_2d(self.rows(), (low..high).log_scale())?;
        let learning = self.trace.learning.iter();
        chart.draw_series(learning.map(|rows| block(*rows, &(low..high), LEARNING)))?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(RGBColor(225, 225, 225))
            .x_labels(0)
            .y_labels(5)
            .y_label_formatter(&|ratio| format!("{ratio}"))
            .label_style(text(12, &INK))
            .axis_style(RGBColor(190, 190, 190))
            .draw()?;
        chart.draw_series(LineSeries::new(points, STATISTIC.stroke_width(1)))?;
        let threshold = [(0.0, 1.0), (self.rows().end, 1.0)];
        chart.draw_series(DashedLineSeries::new(threshold, 7, 4, ALARM.stroke_width(1)))?;
        for told in self.trace.alarms.iter().filter(|_| !self.trace.is_crowded()) {
            let at = place(told.row);
            let style = ALARM.stroke_width(1);
            chart.draw_series([PathElement::new([(at, low), (at, high)], style)])?;
        }
        let (left, top) = area.get_base_pixel();
        let beside = |(x, y): (i32, i32), up: i32| (x - left + 8, y - top - up);
        let threshold = beside(chart.backend_coord(&(0.0, 1.0)), 15);
        area.draw_text("threshold", &text(12, &ALARM), threshold)?;
        if !self.trace.learning.is_empty() {
            let learning = beside(chart.backend_coord(&(0.0, low)), 18);
            area.draw_text("learning", &text(12, &STATISTIC), learning)?;
        }
        let place = |row: u64| {
            let (x, y) = chart.backend_coord(&(real(row), low));
            (x - left, y - top)
        };
        self.labels(area, place)?;
        heading(area, "nearest statistic ÷ its threshold", &STATISTIC)
    }

    /// Rows below the axis, and what the clock says at them.
    fn labels<B: DrawingBackend>(
        &self,
        area: &Area<'_, B>,
        place: impl Fn(u64) -> (i32, i32),
    ) -> Drawn<B> {
        let ticks = axis::ticks(self.trace.rows.saturating_sub(1).max(1));
        let rows = ticks.iter().map(u64::to_string).collect();
        let time = |row: &u64| self.trace.stretch(*row).and_then(|it| it.time.as_deref());
        let times = self
            .trace
            .clock
            .map(|clock| axis::labels(clock, &ticks.iter().map(time).collect::<Vec<_>>()));
        let lines: Vec<(&str, Vec<String>)> =
            [("row", rows)].into_iter().chain(times.map(|times| ("time", times))).collect();
        for (line, (name, labels)) in (0_i32..).zip(lines) {
            let down = 6 + line * i32::try_from(LABELS_HEIGHT).unwrap_or(0);
            let top = place(0).1 + down;
            area.draw_text(name, &text(12, &INK), (16, top))?;
            for (row, label) in ticks.iter().zip(&labels) {
                // The middle of the text, about, within the picture and beside the name.
                let half = 3 * i32::try_from(label.chars().count()).unwrap_or(0);
                let most = i32::try_from(WIDTH).unwrap_or(0) - 2 * half - 8;
                let left = (place(*row).0 - half).clamp(50, most.max(50));
                area.draw_text(label, &text(12, &INK), (left, top))?;
            }
        }
        Ok(())
    }

    /// All alarms, where they are too many for a line each: the darker, the more.
    fn density<B: DrawingBackend>(&self, area: &Area<'_, B>) -> Drawn<B> {
        let most = self.trace.stretches.iter().map(|stretch| stretch.alarms).max().unwrap_or(1);
        let mut chart = ChartBuilder::on(area)
            .margin_right(16)
            .margin_top(HEADING_HEIGHT)
            .y_label_area_size(LABEL_WIDTH)
            .x_label_area_size(4)
            .build_cartesian_2d(self.rows(), 0.0..1.0)?;
        let crowded = self.trace.stretches.iter().enumerate().filter(|(_, it)| it.alarms > 0);
        chart.draw_series(crowded.map(|(at, stretch)| {
            let (begin, end) = self.span(at);
            let part = 0.15 + 0.85 * real(stretch.alarms) / real(most.max(1));
            let style = ShapeStyle { filled: true, ..ALARM.mix(part).into() };
            Rectangle::new([(begin, 0.0), (end, 1.0)], style)
        }))?;
        heading(area, &format!("alarms, at most {most} in {} rows", self.trace.length), &ALARM)
    }
}

/// The name of a part, above it.
fn heading<B: DrawingBackend>(
    area: &Area<'_, B>,
    name: &str,
    colour: &'static RGBColor,
) -> Drawn<B> {
    area.draw_text(name, &text(13, colour), (i32::try_from(LABEL_WIDTH).unwrap_or(0), 2))
}

fn block(rows: Rows, values: &Range<f64>, colour: RGBColor) -> Rectangle<(f64, f64)> {
    let style = ShapeStyle { filled: true, ..colour.into() };
    Rectangle::new([(real(rows.from), values.start), (real(rows.to), values.end)], style)
}

/// The place of a row, or of the beginning if it is in an earlier log.
fn place(row: i64) -> f64 {
    real(u64::try_from(row).unwrap_or(0))
}

pub(crate) fn text(size: u32, colour: &'static RGBColor) -> TextStyle<'static> {
    ("sans-serif", size).into_text_style(&(WIDTH, WIDTH)).color(colour)
}

/// A value with as many decimals as its axis needs.
fn tick(value: f64, range: f64) -> String {
    let size = range.max(1e-300).log10().floor();
    if !(-4.0..6.0).contains(&size) || value.abs() >= 1e7 {
        return format!("{value:.2e}");
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 0 to 5, as just checked"
    )]
    let decimals = (1.0 - size).max(0.0) as usize;
    format!("{value:.decimals$}")
}

#[expect(clippy::cast_precision_loss, reason = "a place in a picture need not be exact")]
fn real(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture of so many alarms, all of the last of forty channels.
    fn drawn(alarms: u64) -> String {
        let clock = crate::time::Clock::of_dates();
        let mut trace = Trace::new(Some(clock));
        let stretch = |at: u64| crate::trace::Stretch {
            ranges: vec![[0.0, 1.0]; 40],
            ratio: Some(0.5),
            alarms: alarms / 100,
            time: Some(format!("2024-05-06 10:{at:02}:00").into_bytes()),
        };
        trace.stretches = (0..100).map(stretch).collect();
        (trace.length, trace.rows, trace.alarm_count) = (10, 1000, alarms);
        trace.concerned.insert(39);
        let names: Vec<String> = (0..40).map(|channel| format!("c{channel}")).collect();
        let path =
            std::env::temp_dir().join(format!("fastmmd-{}-{alarms}.svg", std::process::id()));
        draw(&path, "log.csv", &names, &trace).expect("drawn");
        let text = std::fs::read_to_string(&path).expect("a picture");
        std::fs::remove_file(&path).expect("it is there");
        text
    }

    #[test]
    fn many_alarms_are_a_strip_and_times_an_axis() {
        let crowded = drawn(5000);
        assert!(crowded.contains("alarms, at most 50 in 10 rows"), "{crowded}");
        for part in ["\nc39\n", "32 channels not shown", "\n10:20:00\n", "\ntime\n", "\n200\n"] {
            assert!(crowded.contains(part), "{part:?}");
        }
        // The control: a few are lines.
        assert!(!drawn(1000).contains("at most"));
    }

    #[test]
    fn ticks_have_the_decimals_they_need() {
        assert_eq!(tick(0.25, 0.5), "0.25");
        assert_eq!(tick(20.0, 30.0), "20");
        assert_eq!(tick(79.5, 2.0), "79.5");
        assert_eq!(tick(3e8, 1e9), "3.00e8");
    }
}
