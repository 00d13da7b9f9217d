//! The healthy part of a log, and settings that suit it.

use fastmmd::Config;
use fastmmd::monitor::LEARNING_ROWS;
use fastmmd_reference::real;

use crate::args::{Columns, Missing, TuneArguments};
use crate::cost;
use crate::fault::Fault;
use crate::period::{self, Cycle, ceiling, rounded};
use crate::rows::{Row, Rows};
use crate::setup::{self, GOOD_CYCLES, Plan, least_learning};
use crate::source::Source;

/// Longest delay by default, in rows.
const WITHIN: usize = 1000;
/// Frequencies below which there is no joint leg worth its cost.
const LEAST_FREQUENCIES: usize = 4;

/// The healthy part of a log, and what is asked of a detector.
pub(crate) struct Log {
    pub(crate) name: String,
    pub(crate) names: Vec<String>,
    /// How the log was read.
    pub(crate) columns: Columns,
    pub(crate) missing: Missing,
    pub(crate) rate: Option<f64>,
    pub(crate) rows: Vec<Vec<f32>>,
    /// The cycle that was found.
    pub(crate) cycle: Option<Cycle>,
    /// The period that was given.
    pub(crate) given: Option<f64>,
    /// Rows to learn from, if given.
    pub(crate) learn: Option<u32>,
    /// Rows within which a change must be found, if given.
    pub(crate) within: Option<usize>,
    /// Standard deviation of each channel.
    pub(crate) deviations: Vec<f32>,
}

impl Log {
    pub(crate) fn read(arguments: &TuneArguments) -> Result<Self, Fault> {
        let source = Source::new(&arguments.log, false);
        let options = &arguments.watching;
        let spans = [options.spans().as_slice(), &[arguments.healthy, arguments.within]].concat();
        let mut log = Rows::with_spans(&source, &arguments.columns, options, &spans)?;
        let rate = log.rate;
        let whole = |what, span: Option<_>, range| {
            span.map(|span| setup::whole(what, span, rate, &range)).transpose()
        };
        let most = whole("--healthy", arguments.healthy, 1..=u32::MAX)?;
        let most = most.map_or(usize::MAX, |rows| rows as usize);
        let (mut rows, mut row) = (Vec::new(), Row::default());
        while rows.len() < most && log.next(&mut row)? {
            rows.push(row.values.clone());
        }
        let names = log.table.names();
        let given = options.period.map(|span| span.rows(rate).unwrap_or(f64::NAN));
        let cycle = if given.is_none() { period::find(&rows, names.len()) } else { None };
        Ok(Self {
            name: log.table.name().to_owned(),
            columns: arguments.columns.clone(),
            missing: options.missing,
            rate,
            cycle,
            given,
            learn: whole("--learn", options.learn, LEARNING_ROWS)?,
            within: whole("--within", arguments.within, 1..=u32::MAX)?.map(|rows| rows as usize),
            deviations: (0..names.len()).map(|channel| deviation(&rows, channel)).collect(),
            names,
            rows,
        })
    }

    /// The periods to try: none, and the one that was found or given.
    pub(crate) fn periods(&self) -> Vec<Option<f64>> {
        let found = self.cycle.as_ref().filter(|cycle| self.has_cycles(cycle.rows));
        match (self.given, found) {
            (Some(given), _) => vec![Some(given)],
            (None, Some(cycle)) => vec![None, Some(rounded(cycle.rows))],
            (None, None) => vec![None],
        }
    }

    /// Whether there are enough cycles to learn from.
    pub(crate) fn has_cycles(&self, rows: f64) -> bool {
        let half = self.learn.map_or(real(self.rows.len()) / 2.0, f64::from);
        f64::from(least_learning(Some(rows))) <= half
    }

    /// The settings with this period, or none.
    pub(crate) fn plan(
        &self,
        arguments: &TuneArguments,
        period: Option<f64>,
    ) -> Result<Plan, Fault> {
        let options = &arguments.watching;
        let learn = match self.learn {
            Some(rows) => rows,
            None => self.learning_rows(arguments, period)?,
        };
        let least = *LEARNING_ROWS.start();
        if self.rows.len() < learn as usize + least as usize {
            let why = format!(
                "too few rows to learn from: {} healthy ones; {learn} to learn from, and {least} \
                 more to try changes in, are needed",
                self.rows.len()
            );
            return Err(Fault::of(&self.name, why));
        }
        let config = setup::settings(options, self.rate, learn, period)?;
        let mut frequencies = options.features;
        loop {
            let map = setup::map(self.names.len(), frequencies, options.seed)?;
            let plan = Plan { map, config };
            let ram = cost::ram_bytes(&plan.detector().map_err(Fault::new)?);
            match arguments.ram {
                Some(most) if ram > most && frequencies <= LEAST_FREQUENCIES => {
                    let why = format!("{ram} bytes of RAM are needed, and --ram allows {most}");
                    return Err(Fault::of(&self.name, why));
                }
                Some(most) if ram > most => frequencies /= 2,
                _ => return Ok(plan),
            }
        }
    }

    /// Rows to learn from: as many as the core's default, as the promise needs, or as hold enough
    /// cycles, but no more than half of the log.
    fn learning_rows(&self, arguments: &TuneArguments, period: Option<f64>) -> Result<u32, Fault> {
        let (least, most) = (*LEARNING_ROWS.start(), *LEARNING_ROWS.end());
        let half = u32::try_from(self.rows.len() / 2).unwrap_or(most).clamp(least, most);
        let mut rows = setup::learning_rows();
        if let Some(period) = period {
            rows = rows.max(ceiling(GOOD_CYCLES * period));
        }
        let promise = arguments.watching.mean_time_between_false_alarms;
        let supports = |rows: u32| -> Result<bool, Fault> {
            let period = period.map(fastmmd_reference::single);
            let config = Config { learning_rows: rows, period, ..Config::rows(setup::PROMISE) };
            Ok(config.supported_mean_time() >= setup::promised(promise, self.rate, &config)?)
        };
        while rows < half && !supports(rows)? {
            rows = rows.saturating_mul(2);
        }
        Ok(rows.min(half).max(least_learning(period)).min(most))
    }

    /// Rows within which a change must be found after so many were learned from.
    pub(crate) fn within(&self, learned: usize) -> usize {
        let rest = self.rows.len().saturating_sub(learned);
        self.within.unwrap_or(WITHIN).min(rest / 3).max(1)
    }
}

fn deviation(rows: &[Vec<f32>], channel: usize) -> f32 {
    let values = || rows.iter().map(|row| f64::from(row[channel])).filter(|x| x.is_finite());
    let count = real(values().count().max(1));
    let mean = values().sum::<f64>() / count;
    let variance = values().map(|value| (value - mean) * (value - mean)).sum::<f64>() / count;
    fastmmd_reference::single(variance.sqrt())
}
