//! A candidate tried on a healthy log.
//!
//! It learns from the first part and watches the rest: once unchanged, to count false alarms, and
//! then with changes injected into one channel at a time.

mod tries;

use serde_json::{Value, json};

use crate::args::Missing;
use crate::cost;
use crate::fault::Fault;
use crate::healthy::Log;
use crate::report::number;
use crate::setup::Plan;
use crate::summary;

pub(crate) use tries::best;
use tries::{Healthy, Tried, Tries};

/// The results of a candidate, with notes on what was learned.
pub(crate) type Trial<'p> = Tries<'p, Vec<String>>;

impl<'p> Trial<'p> {
    pub(crate) fn run(log: &Log, plan: &'p Plan) -> Result<Self, Fault> {
        let refused = |error: fastmmd::Error| Fault::of(&log.name, error);
        let detector = plan.detector().map_err(refused)?;
        let healthy = Healthy {
            rows: &log.rows,
            deviations: &log.deviations,
            within: log.within(plan.config.learning_rows as usize),
            lost: if log.missing == Missing::Reading { f32::NAN } else { 0.0 },
        };
        let notes = |detector: &_| summary::learned_lines(detector, &log.names);
        Self::make(&healthy, detector, notes).map_err(|(error, _)| refused(error))
    }

    pub(crate) fn json(&self, suggested: bool) -> Value {
        let config = self.detector.config();
        let [m4f, m0] = ["m4f", "m0"].map(|core| cost::instructions(core, &self.detector));
        json!({
            "event": "candidate",
            "learning_rows": config.learning_rows,
            "period": config.period.map(number),
            "mean_time_between_false_alarms": number(config.mean_time_between_false_alarms),
            "supported_mean_time": number(config.supported_mean_time()),
            "features": self.detector.recipe().frequencies,
            "watched": self.watched,
            "false_alarms": self.false_alarms,
            "expected": self.expected(),
            "within": self.within,
            "found": self.found(),
            "tried": self.tried(),
            "ram_bytes": cost::ram_bytes(&self.detector),
            "instructions_m4f": m4f.map(|it| it.count),
            "instructions_m0": m0.map(|it| it.count),
            "instructions_measured": m4f.is_some_and(|it| it.measured),
            "suggested": suggested,
        })
    }
}

impl Tried {
    pub(crate) fn json(&self, log: &Log) -> Value {
        json!({
            "event": "trial",
            "channel": self.channel,
            "channel_name": log.names[self.channel],
            "change": self.kind.name(),
            "size": self.kind.size().map(number),
            "found": self.delays.len(),
            "tried": self.tried,
            "median_delay": self.median(),
        })
    }
}
