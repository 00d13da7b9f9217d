//! The healthy part of a log, and settings that suit it.

use fastmmd::Config;
use fastmmd::monitor::LEARNING_ROWS;
use fastmmd_tune::learning::PROMISE;
use fastmmd_tune::log::Log;

use crate::args::{Columns, Missing, TuneArguments};
use crate::cost;
use crate::fault::Fault;
use crate::rows::{Row, Rows};
use crate::setup::{self, Plan};
use crate::source::Source;

/// Frequencies below which there is no joint leg worth its cost.
const LEAST_FREQUENCIES: usize = 4;

/// The healthy part of a log, as it was read from a file.
pub(crate) struct Healthy {
    pub(crate) name: String,
    pub(crate) names: Vec<String>,
    /// How the log was read.
    pub(crate) columns: Columns,
    pub(crate) missing: Missing,
    pub(crate) rate: Option<f64>,
    pub(crate) log: Log,
}

impl Healthy {
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
        let period = options.period.map(|span| span.rows(rate).unwrap_or(f64::NAN));
        let learn = whole("--learn", options.learn, LEARNING_ROWS)?;
        let within = whole("--within", arguments.within, 1..=u32::MAX)?;
        let within = within.map(|rows| rows as usize);
        Ok(Self {
            name: log.table.name().to_owned(),
            columns: arguments.columns.clone(),
            missing: options.missing,
            rate,
            log: Log::new(rows, names.len(), period, learn, within),
            names,
        })
    }

    /// The settings to try.
    pub(crate) fn plans(&self, arguments: &TuneArguments) -> Result<Vec<Plan>, Fault> {
        let options = &arguments.watching;
        // What was stated is checked before anything is read from it.
        let stated = options.mean_time_between_false_alarms;
        let stated =
            stated.map(|span| setup::promised(Some(span), self.rate, &Config::rows(PROMISE)));
        let stated = stated.transpose()?;
        let mut each = Vec::new();
        for period in self.log.periods() {
            let learn = self.log.learning_rows(period, stated);
            let learn = learn.map_err(|error| Fault::of(&self.name, error))?;
            each.push(setup::settings(options, self.rate, learn, period)?);
        }
        each.into_iter().map(|config| self.plan(arguments, config)).collect()
    }

    /// A map for these settings that fits into the RAM allowed.
    fn plan(&self, arguments: &TuneArguments, config: Config) -> Result<Plan, Fault> {
        let options = &arguments.watching;
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
}
