//! From options to a detector.

use fastmmd::detector::{Bandwidth, Calibration, Config, LoneOutliers, Policy, Reference};
use fastmmd::{Kernel, Sampling};
use fastmmd_shapes::{MOST_CHANNELS, Settings, Shape, Watch};

use crate::args::{OnAlarm, Outliers, Sigma, ViewChoice, Watching};
use crate::fault::Fault;
use crate::source::Source;
use crate::table::Table;
use crate::time::{self, Span};

/// Rows by which the sampling rate is told.
const RATED_ROWS: usize = 101;
/// Lags of the delay view.
const DELAY_LAGS: usize = 4;

/// Rows read before the detector is made, and the rate they come at.
pub(crate) struct Beginning {
    pub(crate) rows: Vec<Row>,
    pub(crate) rate: Option<f64>,
}

/// A row of a log.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Row {
    /// Counted from 0 over all rows of data.
    pub(crate) number: u64,
    pub(crate) values: Vec<f32>,
    /// As it stands in the log.
    pub(crate) time: Option<Vec<u8>>,
}

impl Row {
    /// Takes the next row of a log; false at its end.
    pub(crate) fn read(&mut self, table: &mut Table) -> Result<bool, Fault> {
        if !table.next(&mut self.values)? {
            return Ok(false);
        }
        self.number = table.rows() - 1;
        match (table.time(), &mut self.time) {
            (Some(cell), Some(time)) => {
                time.clear();
                time.extend_from_slice(cell);
            }
            (cell, time) => *time = cell.map(<[u8]>::to_vec),
        }
        Ok(true)
    }
}

impl Beginning {
    /// Reads the first rows if the rate has to be found from them.
    pub(crate) fn read(
        table: &mut Table,
        given: Option<f64>,
        spans: &[Option<Span>],
    ) -> Result<Self, Fault> {
        let mut beginning = Self { rows: Vec::new(), rate: given };
        let timed = spans.iter().flatten().any(|span| matches!(span, Span::Seconds(_)));
        if given.is_some() || !timed {
            return Ok(beginning);
        }
        let mut row = Row::default();
        while beginning.rows.len() < RATED_ROWS && row.read(table)? {
            beginning.rows.push(row.clone());
        }
        let times = beginning.rows.iter().filter_map(|row| row.time.as_deref());
        let unit = table.time_unit();
        let seconds: Vec<f64> = times.filter_map(|cell| time::seconds(cell, unit)).collect();
        beginning.rate = time::rate(&seconds);
        if beginning.rate.is_none() {
            let why = match table.time_name() {
                Some(name) => format!(
                    "column {name:?} has no times that rise, as seconds or as 2024-03-31 12:00:00"
                ),
                None => "a time was given, but rows have none".to_owned(),
            };
            return Err(Fault::of(table.name(), format!("{why}: add --rate HZ or --time COLUMN")));
        }
        Ok(beginning)
    }
}

/// Rows to learn from where nobody says: 15 %, but from 768 rows, or three quarters of a shorter log, up
/// to what the preset asks for.
fn default_learning(source: &Source, preset: u32, least: u32) -> Result<u32, Fault> {
    // Of longer logs 15 % are more than the preset.
    let most = u64::from(preset) * 100 / 15 + 2;
    let Some(lines) = source.count_lines(most)? else { return Ok(preset) };
    let rows = lines.saturating_sub(1);
    let part = (rows.saturating_mul(15) / 100).max(768.min(rows / 4 * 3)).min(u64::from(preset));
    // At least as many as are needed, if there are.
    let part = part.max(u64::from(least).min(rows));
    Ok(u32::try_from(part).unwrap_or(preset))
}

/// A whole number of rows.
pub(crate) fn whole(what: &str, span: Span, rate: Option<f64>) -> Result<u32, Fault> {
    let rows = span.rows(rate).unwrap_or(f64::NAN).round();
    if !(1.0..=1e9).contains(&rows) {
        return Err(Fault::new(format!("{what} {span}: from 1 to 1e9 rows, not {rows:e}")));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole and in range"
    )]
    let rows = rows as u32;
    Ok(rows)
}

/// The promised mean time between false alarms, in rows.
pub(crate) fn promised(span: Span, rate: Option<f64>) -> Result<f32, Fault> {
    let promise = span.rows(rate).unwrap_or(f64::NAN);
    if !(100.0..=1e9).contains(&promise) {
        let why = "the mean time between false alarms must be from 100 to 1e9 rows";
        return Err(Fault::new(format!("{why}, not {promise}")));
    }
    Ok(fastmmd_reference::single(promise))
}

/// The detector that the options ask for.
pub(crate) fn detector(
    options: &Watching,
    source: &Source,
    channels: usize,
    rate: Option<f64>,
) -> Result<(Shape, Box<dyn Watch>), Fault> {
    let lags = options.lags.unwrap_or(match options.view {
        ViewChoice::Delay => DELAY_LAGS,
        _ => 1,
    });
    let innovation = match options.view {
        ViewChoice::Innovation => true,
        ViewChoice::Auto => lags == 1,
        ViewChoice::Raw | ViewChoice::Delay => false,
    };
    let promise = promised(options.mean_time_between_false_alarms, rate)?;
    let preset = if innovation {
        Settings::of(&Config::innovation(promise))
    } else {
        Settings::of(&Config::rows(promise))
    };
    let mut preset_scales = preset.scales.clone();
    if lags > 1 {
        // Vectors of several rows are on offer with three windows.
        preset_scales.truncate(3);
    }
    let scales = options.scales.clone().unwrap_or(preset_scales);
    let scaling_rows = options.fine.scaling.unwrap_or(preset.config.scaling_rows);
    if lags == 0 {
        return Err(Fault::new("--lags 0: from 1 on"));
    }
    if !scales.is_sorted_by(|a, b| a < b) || scales.contains(&0) {
        return Err(Fault::new(format!("--scales {}: rows, ascending", list(&scales))));
    }
    let shape = Shape {
        channels,
        lags,
        features: options.features.unwrap_or(if innovation { 16 } else { 64 }),
        windows: scales.len(),
        innovation,
        kernel: Kernel::GAUSSIAN,
        sampling: Sampling::Auto,
        seed: options.seed,
    };
    shape.check().map_err(|why| {
        let hint = if channels > MOST_CHANNELS { "; choose some with --columns" } else { "" };
        Fault::of(source.name(), format!("{why}{hint}"))
    })?;
    let history = u32::try_from(lags.saturating_sub(1)).unwrap_or(0);
    let longest = scales.iter().copied().max().unwrap_or(0);
    let least = longest.saturating_mul(4).max(64);
    let least = least.saturating_add(scaling_rows).saturating_add(history);
    let learn = match options.learn {
        Some(span) => whole("--learn", span, rate)?,
        None => {
            let preset = scaling_rows.saturating_add(preset.config.learning_rows);
            default_learning(source, preset, least)?
        }
    };
    if learn < least {
        return Err(Fault::of(
            source.name(),
            format!(
                "too few rows to learn from: {learn}, at least {least} are needed ({scaling_rows} \
                 to scale, four times the longest window of {longest} to learn)"
            ),
        ));
    }
    let learning_rows = learn - scaling_rows - history;
    let config = Config {
        scaling_rows,
        learning_rows,
        bandwidth: bandwidth(options.fine.sigma, preset.config.bandwidth),
        reference: match options.fine.reference_memory {
            None => preset.config.reference,
            Some(0) => Reference::Learned,
            Some(rows) => Reference::Moving(rows),
        },
        calibration: match (options.fine.threshold_memory, preset.config.calibration) {
            (Some(0), _) => Calibration::Learned,
            (Some(rows), _) => Calibration::Adaptive(rows),
            (None, preset) => long_enough(preset, longest, learning_rows),
        },
        lone_outliers: match options.fine.lone_outliers {
            None => preset.config.lone_outliers,
            Some(Outliers::Count) => LoneOutliers::Count,
            Some(Outliers::HoldBack) => LoneOutliers::HoldBack,
        },
        policy: policy(options, preset.config.policy),
        ..preset.config
    };
    let settings = Settings { config, scales };
    let detector = fastmmd_shapes::detector(&shape, &settings).map_err(Fault::new)?;
    Ok((shape, detector))
}

/// A calibration that remembers at least four of the blocks whose largest values thresholds are set
/// by: they grow with the longest window and the learning rows.
pub(crate) fn long_enough(preset: Calibration, longest: u32, learning_rows: u32) -> Calibration {
    match preset {
        Calibration::Adaptive(rows) => {
            let block = longest.saturating_mul(2).max(learning_rows / 32);
            Calibration::Adaptive(rows.max(block.saturating_mul(4)))
        }
        Calibration::Learned => Calibration::Learned,
    }
}

fn list(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

fn bandwidth(choice: Option<Sigma>, preset: Bandwidth) -> Bandwidth {
    #[expect(clippy::cast_possible_truncation, reason = "rounding to f32 is what the core wants")]
    let deviations = |number: f64| Bandwidth::Deviations(number as f32);
    match choice {
        None => preset,
        Some(Sigma::Number(number)) => deviations(number),
        Some(Sigma::Median) => Bandwidth::MedianDistance(1.0),
        Some(Sigma::Family) => Bandwidth::Family,
    }
}

fn policy(options: &Watching, preset: Policy) -> Policy {
    let rows = options.hold_off.unwrap_or(match preset {
        Policy::OncePerChange(rows)
        | Policy::HoldOff(rows)
        | Policy::Relearn { hold_off: rows, .. } => rows,
        Policy::Latch => 100,
    });
    match options.on_alarm {
        None | Some(OnAlarm::Once) => Policy::OncePerChange(rows),
        Some(OnAlarm::Latch) => Policy::Latch,
        Some(OnAlarm::Holdoff) => Policy::HoldOff(rows),
        Some(OnAlarm::Relearn) => {
            Policy::Relearn { hold_off: rows, settle: options.settle.max(rows) }
        }
    }
}
