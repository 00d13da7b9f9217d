//! Makes a detector from the options.

use std::ops::RangeInclusive;

use fastmmd::dynamic::{self, Map};
use fastmmd::monitor::{
    LEARNING_ROWS, LEAST_CYCLES, MEAN_TIMES, NotANumber, PERIODS, RELEARN_ROWS,
};
use fastmmd::{Config, Error, Kernel, Parameter, Sampling};
use fastmmd_tune::detector::Detector;
pub(crate) use fastmmd_tune::detector::FREQUENCIES;
use fastmmd_tune::learning::{GOOD_CYCLES, PROMISE, default_promise, default_rows, least_rows};

use crate::fault::Fault;
use crate::options::{Missing, Watching};
use crate::rows::Rows;
use crate::table::Table;
use crate::time::Span;

/// Default seed of the frequencies.
pub(crate) const SEED: u64 = 1;
/// Default part of a log to learn from, in percent.
pub(crate) const LEARNED_PERCENT: u64 = 15;
/// Least number of rows to learn from by default, if half of the log is more.
pub(crate) const LEAST_LEARNED: u64 = 768;

/// Everything that a detector is made from, with the map that it borrows.
pub(crate) struct Plan {
    pub(crate) map: Map,
    pub(crate) config: Config,
}

impl Plan {
    /// A new detector.
    pub(crate) fn detector(&self) -> Result<Detector<'_>, Error> {
        Detector::new(&self.map, self.config)
    }
}

/// The map of a detector.
pub(crate) fn map(channels: usize, frequencies: usize, seed: u64) -> Result<Map, Fault> {
    Map::fourier(Kernel::GAUSSIAN, Sampling::Additive, seed, channels, frequencies).map_err(|_| {
        let most = dynamic::MOST;
        let shape = format!("{channels} channels and {frequencies} frequencies");
        Fault::new(format!("{shape}: must be from 1 to {most} each"))
    })
}

/// A span as a whole number of rows.
pub(crate) fn whole(
    what: &str,
    span: Span,
    rate: Option<f64>,
    range: &RangeInclusive<u32>,
) -> Result<u32, Fault> {
    let rows = span.rows(rate).unwrap_or(f64::NAN).round();
    let (least, most) = (*range.start(), *range.end());
    if !(f64::from(least)..=f64::from(most)).contains(&rows) {
        let why = format!("must be from {least} to {most} rows, not {rows}");
        return Err(Fault::new(format!("{what} {span}: {why}")));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole and in range"
    )]
    let rows = rows as u32;
    Ok(rows)
}

/// The stated mean time between false alarms, in rows, or the default one.
pub(crate) fn promised(
    span: Option<Span>,
    rate: Option<f64>,
    config: &Config,
) -> Result<f32, Fault> {
    let Some(span) = span else { return Ok(default_promise(config)) };
    let promise = fastmmd_reference::single(span.rows(rate).unwrap_or(f64::NAN));
    if !MEAN_TIMES.contains(&promise) {
        let why = "the mean time between false alarms must be from";
        let (least, most) = (MEAN_TIMES.start(), MEAN_TIMES.end());
        return Err(Fault::new(format!("{why} {least} to {most:e} rows, not {promise}")));
    }
    Ok(promise)
}

/// The plan of the detector that the options ask for.
pub(crate) fn plan(options: &Watching, log: &Rows) -> Result<Plan, Fault> {
    let (table, rate) = (&log.table, log.rate);
    let period = options.period.map(|span| span.rows(rate).unwrap_or(f64::NAN));
    let learning_rows = match options.learn {
        Some(span) => whole("--learn", span, rate, &LEARNING_ROWS)?,
        None => default_learning(table, period)?,
    };
    let config = settings(options, rate, learning_rows, period)?;
    Ok(Plan { map: map(table.names().len(), options.features, options.seed)?, config })
}

/// The settings with so many learning rows and this period.
pub(crate) fn settings(
    options: &Watching,
    rate: Option<f64>,
    learning_rows: u32,
    period: Option<f64>,
) -> Result<Config, Fault> {
    let mut config = Config {
        learning_rows,
        not_a_number: match options.missing {
            Missing::Reading => NotANumber::Missing,
            Missing::Skip | Missing::Error => NotANumber::Refused,
        },
        period: period.map(fastmmd_reference::single),
        relearn_after: match options.relearn_after {
            Some(span) => Some(whole("--relearn-after", span, rate, &RELEARN_ROWS)?),
            None => None,
        },
        ..Config::rows(PROMISE)
    };
    config.mean_time_between_false_alarms =
        promised(options.mean_time_between_false_alarms, rate, &config)?;
    let checked = match config.period {
        None => config.check(),
        Some(period) => config.with_period(period).check(),
    };
    checked.map_err(|error| match error {
        Error::OutOfRange(Parameter::Period) => {
            let (rows, least) = (period.unwrap_or_default(), config.least_learning_rows());
            let (shortest, longest) = (PERIODS.start(), PERIODS.end());
            Fault::new(format!(
                "--period of {rows} rows: must be from {shortest} to {longest} rows, and learning \
                 has to hold {LEAST_CYCLES} cycles: {least} rows (--learn), not {learning_rows}"
            ))
        }
        other => Fault::new(other),
    })?;
    Ok(config)
}

/// Default number of rows to learn from: a part of the log, but at least [`LEAST_LEARNED`] rows or
/// half of a shorter log, and at most the number of the core; or some cycles.
fn default_learning(table: &Table, period: Option<f64>) -> Result<u32, Fault> {
    let preset = u64::from(default_rows());
    let cycles = |count: f64| period.map_or(0, |period| whole_rows(count * period));
    // That part of a longer log is more than the preset.
    let most = (preset * 100 / LEARNED_PERCENT).max(2 * cycles(GOOD_CYCLES)) + 1;
    let learn = match table.count_rows(most)? {
        None => preset.max(cycles(GOOD_CYCLES)),
        Some(rows) => {
            let part = rows.saturating_mul(LEARNED_PERCENT) / 100;
            let part = part.max(LEAST_LEARNED.min(rows / 2)).min(preset);
            part.max(cycles(GOOD_CYCLES).min(rows / 2))
        }
    };
    let most = *LEARNING_ROWS.end();
    let least = least_rows(period).min(most);
    Ok(u32::try_from(learn).unwrap_or(most).clamp(least, most))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and rows are positive"
)]
fn whole_rows(rows: f64) -> u64 {
    rows.ceil() as u64
}
