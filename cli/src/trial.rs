//! A candidate tried on a healthy log, as JSON.

use fastmmd_tune::tries::{Compared, Tried, Tries};
use serde_json::{Value, json};

use crate::cost;
use crate::fault::Fault;
use crate::healthy::Healthy;
use crate::report::number;
use crate::setup::Plan;
use crate::summary;

/// The results of a candidate, with notes on what was learned.
pub(crate) type Trial<'p> = Tries<'p, Vec<String>>;

/// Compares all plans; `done` is told how many have been tried.
pub(crate) fn compared<'p>(
    healthy: &Healthy,
    plans: &'p [Plan],
    done: impl FnMut(usize),
) -> Result<Compared<'p, Vec<String>>, Fault> {
    let candidates: Vec<_> = plans.iter().map(|plan| (&plan.map, plan.config)).collect();
    let notes = |detector: &_| summary::learned_lines(detector, &healthy.names);
    Compared::make(&healthy.log, &candidates, notes, done)
        .map_err(|(error, _)| Fault::of(&healthy.name, error))?
        .ok_or_else(|| Fault::of(&healthy.name, "nothing to try"))
}

/// A candidate.
pub(crate) fn candidate(trial: &Trial<'_>, suggested: bool) -> Value {
    let config = trial.detector.config();
    let [m4f, m0] = ["m4f", "m0"].map(|core| cost::instructions(core, &trial.detector));
    json!({
        "event": "candidate",
        "learning_rows": config.learning_rows,
        "period": config.period.map(number),
        "mean_time_between_false_alarms": number(config.mean_time_between_false_alarms),
        "supported_mean_time": number(config.supported_mean_time()),
        "features": trial.detector.recipe().frequencies,
        "watched": trial.watched,
        "false_alarms": trial.false_alarms,
        "expected": trial.expected(),
        "within": trial.within,
        "found": trial.found(),
        "tried": trial.tried(),
        "ram_bytes": cost::ram_bytes(&trial.detector),
        "instructions_m4f": m4f.map(|it| it.count),
        "instructions_m0": m0.map(|it| it.count),
        "instructions_measured": m4f.is_some_and(|it| it.measured),
        "suggested": suggested,
    })
}

/// How one kind of change of one channel was found.
pub(crate) fn change(tried: &Tried, names: &[String]) -> Value {
    json!({
        "event": "trial",
        "channel": tried.channel,
        "channel_name": names[tried.channel],
        "change": tried.kind.name(),
        "size": tried.kind.size().map(number),
        "found": tried.delays.len(),
        "tried": tried.tried,
        "median_delay": tried.median(),
    })
}
