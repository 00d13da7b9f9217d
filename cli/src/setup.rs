//! Makes a detector from the options.

use fastmmd::condition::ViewKind;
use fastmmd::dynamic::{self, Config, Detector, Map};
use fastmmd::monitor::{Bandwidth, Calibration, MEAN_TIMES, Policy, Reference};
use fastmmd::{Error, Kernel, Parameter, Sampling};

use crate::args::{Sigma, ViewChoice, Watching};
use crate::choice;
use crate::fault::Fault;
use crate::report;
use crate::rows::Rows;
use crate::table::Table;
use crate::time::Span;

/// Lags of the delay view.
pub(crate) const DELAY_LAGS: u32 = 4;
/// Default part of a log to learn from, in percent.
pub(crate) const LEARNED_PERCENT: u64 = 15;
/// Least number of rows to learn from by default, if three quarters of the log are more.
pub(crate) const LEAST_LEARNED: u64 = 768;
/// Default number of rows after an alarm until a relearned reference becomes final.
pub(crate) const SETTLE: u32 = 1000;

/// Default number of frequencies of a view.
pub(crate) fn frequencies(view: ViewKind) -> usize {
    match view {
        ViewKind::Innovation => 16,
        ViewKind::Raw => 64,
    }
}

/// Everything that a detector is made from, with the map that it borrows.
pub(crate) struct Plan {
    pub(crate) map: Map,
    pub(crate) channels: usize,
    pub(crate) view: ViewKind,
    pub(crate) config: Config,
}

impl Plan {
    /// A new detector.
    pub(crate) fn detector(&self) -> Result<Detector<'_>, Error> {
        dynamic::detector(&self.map, self.channels, self.view, self.config.clone())
    }
}

/// A map for vectors of `lags` rows.
pub(crate) fn map(channels: usize, lags: u32, frequencies: usize, seed: u64) -> Result<Map, Error> {
    let inputs = channels.saturating_mul(usize::try_from(lags).unwrap_or(usize::MAX));
    Map::fourier(Kernel::GAUSSIAN, Sampling::Auto, seed, inputs, frequencies)
}

/// Default number of rows to learn from: a part of the log, but at least [`LEAST_LEARNED`] rows or
/// three quarters of a shorter log, and at most the number of the preset.
fn default_learning(table: &Table, preset: u64, least: u64) -> Result<u64, Fault> {
    // That part of a longer log is more than the preset.
    let most = preset * 100 / LEARNED_PERCENT + 1;
    let Some(rows) = table.count_rows(most)? else { return Ok(preset) };
    let part = rows.saturating_mul(LEARNED_PERCENT) / 100;
    let part = part.max(LEAST_LEARNED.min(rows / 4 * 3)).min(preset);
    // At least as many as are needed, if there are that many.
    Ok(part.max(least.min(rows)))
}

/// A span as a whole number of rows.
pub(crate) fn whole(what: &str, span: Span, rate: Option<f64>) -> Result<u32, Fault> {
    let rows = span.rows(rate).unwrap_or(f64::NAN).round();
    if !(1.0..=1e9).contains(&rows) {
        return Err(Fault::new(format!("{what} {span}: must be from 1 to 1e9 rows, not {rows:e}")));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole and in range"
    )]
    let rows = rows as u32;
    Ok(rows)
}

/// The stated mean time between false alarms, in rows.
pub(crate) fn promised(span: Span, rate: Option<f64>) -> Result<f32, Fault> {
    let promise = span.rows(rate).unwrap_or(f64::NAN);
    let [least, most] = [MEAN_TIMES.start(), MEAN_TIMES.end()].map(|time| f64::from(*time));
    if !(least..=most).contains(&promise) {
        let why = "the mean time between false alarms must be from";
        return Err(Fault::new(format!("{why} {least} to {most:e} rows, not {promise}")));
    }
    Ok(fastmmd_reference::single(promise))
}

/// The plan of the detector that the options ask for.
pub(crate) fn plan(options: &Watching, log: &Rows) -> Result<Plan, Fault> {
    let (table, rate) = (&log.table, log.rate);
    let channels = table.names().len();
    let lags = options.lags.unwrap_or(match options.view {
        ViewChoice::Delay => DELAY_LAGS,
        ViewChoice::Raw | ViewChoice::Innovation | ViewChoice::Auto => 1,
    });
    if lags == 0 {
        return Err(Fault::new("--lags 0: must be at least 1"));
    }
    let view = match options.view {
        ViewChoice::Innovation => ViewKind::Innovation,
        ViewChoice::Auto if lags == 1 => ViewKind::Innovation,
        ViewChoice::Raw | ViewChoice::Delay | ViewChoice::Auto => ViewKind::Raw,
    };
    let frequencies = options.features.unwrap_or_else(|| frequencies(view));
    let preset = Config::preset(view, promised(options.mean_time_between_false_alarms, rate)?);
    let fine = &options.fine;
    let mut config = Config {
        scaling_rows: fine.scaling.unwrap_or(preset.scaling_rows),
        bandwidth: bandwidth(fine.sigma, preset.bandwidth),
        reference: match fine.reference_memory {
            None => preset.reference,
            Some(0) => Reference::Learned,
            Some(rows) => Reference::Moving(rows),
        },
        lone_outliers: fine.lone_outliers.unwrap_or(preset.lone_outliers),
        policy: policy(options, preset.policy, SETTLE),
        ..preset
    };
    if let Some(windows) = &options.windows {
        config = config.with_lengths(windows.clone());
    }
    config.learning_rows = learning_rows(options, log, &config, lags)?;
    // Only defaults are lengthened: what was asked for is used, or refused.
    config = config.lengthened();
    if let Some(rows) = options.settle {
        config.policy = policy(options, preset.policy, rows);
    }
    config.calibration = match fine.threshold_memory {
        Some(0) => Calibration::Learned,
        Some(rows) => Calibration::Adaptive(rows),
        None => config.calibration,
    };
    config.check().map_err(|error| match error {
        Error::OutOfRange(Parameter::Windows) => {
            let windows = report::list(&config.windows, ",");
            Fault::new(format!("--windows {windows}: must be window lengths in rows, ascending"))
        }
        Error::OutOfRange(Parameter::HoldOff) => {
            too_short(options, &config).unwrap_or_else(|| Fault::new(error))
        }
        other => Fault::new(other),
    })?;
    let map = map(channels, lags, frequencies, options.seed).map_err(|_| {
        let most = dynamic::MOST;
        let shape = format!("{channels} channels, {lags} lags and {frequencies} frequencies");
        let why =
            format!("{shape}: channels times lags, and frequencies, must be from 1 to {most}");
        Fault::of(table.name(), why)
    })?;
    Ok(Plan { map, channels, view, config })
}

/// What is wrong with `--settle`, if that is.
fn too_short(options: &Watching, config: &Config) -> Option<Fault> {
    let (given, Policy::Relearn { settle, .. }) =
        (options.settle?, config.clone().lengthened().policy)
    else {
        return None;
    };
    let why = format!("must be at least the hold-off and the longest window: {settle} rows");
    (given < settle).then(|| Fault::new(format!("--settle {given}: {why}")))
}

/// The number of learning rows: the rows of the options without those for scaling.
fn learning_rows(options: &Watching, log: &Rows, config: &Config, lags: u32) -> Result<u32, Fault> {
    let before = config.rows_to_learn(lags) - u64::from(config.learning_rows);
    let least = before + u64::from(config.least_learning_rows());
    let learn = match options.learn {
        Some(span) => u64::from(whole("--learn", span, log.rate)?),
        None => default_learning(&log.table, config.rows_to_learn(1), least)?,
    };
    if learn < least {
        let why = format!(
            "too few rows to learn from: {learn}, at least {least} are needed ({} to scale, {} to \
             learn with windows of up to {} rows)",
            config.scaling_rows,
            config.least_learning_rows(),
            config.windows.iter().max().unwrap_or(&0),
        );
        return Err(Fault::of(log.table.name(), why));
    }
    Ok(u32::try_from(learn - before).unwrap_or(u32::MAX))
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

/// The policy that the options ask for.
fn policy(options: &Watching, preset: Policy, settle: u32) -> Policy {
    let name = options.on_alarm.as_deref().unwrap_or(preset.name());
    // A preset without a hold-off leaves it to the options: 0 is refused.
    let hold_off = options.hold_off.or(choice::hold_off(preset)).unwrap_or(0);
    Policy::from_name(name, [hold_off, settle]).unwrap_or(preset)
}
