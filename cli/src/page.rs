//! What the page in `web/` shows: a log as `look` sees it, and what the detector finds in it.
//!
//! The page calls the same functions as the commands, compiled to WebAssembly. `replay --report`
//! writes the same results into a file.

use fastmmd_tune::detector::Detector;
use serde_json::{Value, json};

use crate::cost;
use crate::fault::Fault;
use crate::look;
use crate::made;
use crate::options::{Columns, Missing, Watching};
use crate::paste;
use crate::play::{Outcome, Step, play};
use crate::progress::Progress;
use crate::report::{self, number};
use crate::rows::Rows;
use crate::settings;
use crate::setup;
use crate::source::Source;
use crate::summary;
use crate::time::Span;
use crate::trace::Trace;

/// Cores of the instruction budget, and their names. Those without a floating-point unit run the
/// detector in integers.
const CORES: [(&str, &str); 5] = [
    ("m4f", "Cortex-M4F"),
    ("m7", "Cortex-M7"),
    ("m3", "Cortex-M3, integers"),
    ("m0", "Cortex-M0, integers"),
    ("rv32", "RV32IMC, integers"),
];

/// Called with the part of the work that is done, from 0 to 1.
pub type Told<'t> = &'t mut dyn FnMut(f64);

/// A log in memory.
pub struct Log {
    source: Source,
}

/// What was found in a log.
pub struct Watched {
    /// Results as JSON, to be shown.
    pub results: String,
    /// The detector when it had learned, as the device saves it: what `export` writes.
    pub reference: Vec<u8>,
}

impl Log {
    /// A file's content: text in any form that the tool reads, packed or not.
    #[must_use]
    pub fn new(name: &str, bytes: Vec<u8>) -> Self {
        Self { source: Source::Memory(name.to_owned(), bytes.into()) }
    }

    /// The synthetic log of `demo`.
    #[must_use]
    pub fn demo() -> Self {
        Self::new("pump.csv", made::log().into_bytes())
    }

    /// What `look --json` prints, with its `lines` as text.
    ///
    /// # Errors
    ///
    /// A line that says what cannot be read.
    pub fn look(&self, told: Told<'_>) -> Result<String, String> {
        let mut tell = |done: u64, all: Option<u64>| told(part(done, all));
        let looked = look::look(&self.source, &Columns::default(), Progress::Told(&mut tell));
        let looked = looked.map_err(|fault| fault.to_string())?;
        let mut found = looked.json();
        found["lines"] = json!(plain(&looked.lines()));
        Ok(found.to_string())
    }

    /// Runs the detector over the log, with options as JSON: `learn`, `mean_time_between_false_alarms`
    /// and `period` as on the command line, `features`, `seed`, `skip_bad`, and `columns`, a list of
    /// names.
    ///
    /// # Errors
    ///
    /// A line that says what is wrong with the options or the log.
    pub fn watch(&self, options: &str, told: Told<'_>) -> Result<Watched, String> {
        let (columns, options) = read(options)?;
        let mut tell = |done: u64, all: Option<u64>| told(part(done, all));
        let progress = Progress::Told(&mut tell);
        watch(&self.source, &columns, &options, progress).map_err(|fault| fault.to_string())
    }
}

#[expect(clippy::cast_precision_loss, reason = "a part that is shown")]
fn part(done: u64, all: Option<u64>) -> f64 {
    all.map_or(0.0, |all| (done as f64 / all.max(1) as f64).min(1.0))
}

/// The options of the page as those of the tool.
fn read(options: &str) -> Result<(Columns, Watching), String> {
    let given: Value = serde_json::from_str(options).map_err(|error| error.to_string())?;
    let span = |name: &str| -> Result<Option<Span>, String> {
        let text = given[name].as_str().filter(|text| !text.trim().is_empty());
        let read = |text: &str| text.parse().map_err(|why| format!("{name} {text}: {why}"));
        text.map(read).transpose()
    };
    let whole = |name: &str, default: u64| given[name].as_u64().unwrap_or(default);
    let names = given["columns"]
        .as_array()
        .map(|names| names.iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>());
    let columns = Columns { columns: names, skip_bad: whole("skip_bad", 0), ..Columns::default() };
    let watching = Watching {
        learn: span("learn")?,
        rate: given["rate"].as_f64(),
        mean_time_between_false_alarms: span("mean_time_between_false_alarms")?,
        period: span("period")?,
        relearn_after: None,
        missing: Missing::Reading,
        settings: None,
        features: usize::try_from(whole("features", setup::FREQUENCIES as u64))
            .unwrap_or(usize::MAX),
        seed: whole("seed", setup::SEED),
    };
    Ok((columns, watching))
}

fn watch(
    source: &Source,
    columns: &Columns,
    options: &Watching,
    progress: Progress<'_>,
) -> Result<Watched, Fault> {
    let log = Rows::open(source, columns, options)?;
    let plan = setup::plan(options, &log)?;
    let mut detector = plan.detector().map_err(Fault::new)?;
    let (names, rate) = (log.table.names(), log.rate);
    let mut trace = Trace::zoomed(log.table.clock(), names.len());
    let mut learned = Learned::default();
    let see = |step: &Step<'_>| {
        trace.note(step);
        learned.note(step, &names)
    };
    let outcome = play(log, &mut detector, progress, see)?.learned(&source.name())?;
    let command = paste::command(&source.name(), columns, options.missing, &detector);
    let seen = Seen {
        log: &source.name(),
        command: &command,
        columns,
        missing: options.missing,
        rate,
        names: &names,
        outcome: &outcome,
        detector: &detector,
        trace: &trace,
    };
    let results = seen.results().to_string();
    let (reference, _) = learned.taken(&source.name())?;
    Ok(Watched { results, reference })
}

/// The detector as it was when it had learned: later rows must not change what is exported.
#[derive(Default)]
pub(crate) struct Learned {
    bytes: Option<(Vec<u8>, Vec<String>)>,
}

impl Learned {
    pub(crate) fn note(&mut self, step: &Step<'_>, names: &[String]) -> Result<(), Fault> {
        if self.bytes.is_none() && step.detector.stage().is_learned() {
            let bytes = step.detector.bytes().map_err(Fault::new)?;
            self.bytes = Some((bytes, summary::learned_lines(step.detector, names)));
        }
        Ok(())
    }

    /// Its bytes, and what is noteworthy about it.
    pub(crate) fn taken(self, log: &str) -> Result<(Vec<u8>, Vec<String>), Fault> {
        self.bytes.ok_or_else(|| Fault::of(log, "nothing was learned"))
    }
}

/// Everything that was seen of a log.
pub(crate) struct Seen<'a> {
    pub(crate) log: &'a str,
    /// The command that shows the same.
    pub(crate) command: &'a str,
    pub(crate) columns: &'a Columns,
    pub(crate) missing: Missing,
    pub(crate) rate: Option<f64>,
    pub(crate) names: &'a [String],
    pub(crate) outcome: &'a Outcome,
    pub(crate) detector: &'a Detector<'a>,
    pub(crate) trace: &'a Trace,
}

impl Seen<'_> {
    /// The results as the page shows them.
    pub(crate) fn results(&self) -> Value {
        let Self { log, names, outcome, detector, trace, .. } = *self;
        let config = detector.config();
        let each = |end: usize| -> Vec<Vec<Value>> {
            let of = |channel: usize| {
                trace.stretches.iter().map(|it| number(it.ranges[channel][end])).collect()
            };
            (0..names.len()).map(of).collect()
        };
        let times = trace.clock.map(|_| {
            let text = |time: &Vec<u8>| crate::cell::text(time).trim().to_owned();
            trace.stretches.iter().map(|it| it.time.as_ref().map(text)).collect::<Vec<_>>()
        });
        let ratios = trace.stretches.iter().map(|it| it.ratio.map_or(Value::Null, number));
        let alarms = trace.alarms.iter().map(|told| {
            let mut alarm = report::alarm_json(told, false, self.rate, names);
            alarm["severity"] = number(told.alarm.severity());
            alarm
        });
        let drifts = trace.drifts.iter().map(|it| json!([it.channel, it.rows.from, it.rows.to]));
        let counts = || trace.stretches.iter().map(|it| it.alarms).collect::<Vec<_>>();
        let made_by = format!("fastmmd replay {log}");
        json!({
            "log": log,
            "command": self.command,
            "names": names,
            "rows": trace.rows,
            "length": trace.length,
            "low": each(0),
            // Of single rows the lowest value is the highest, too.
            "high": if trace.length > 1 { json!(each(1)) } else { Value::Null },
            "times": times,
            "ratios": ratios.collect::<Vec<_>>(),
            "learning": trace.learning.iter().map(|it| [it.from, it.to]).collect::<Vec<_>>(),
            "drifts": drifts.collect::<Vec<_>>(),
            "alarms": alarms.collect::<Vec<_>>(),
            // Where there are more than those.
            "alarm_counts": trace.is_crowded().then(counts),
            "summary": summary::json(outcome, detector, names),
            "lines": plain(&summary::lines(outcome, detector, names)),
            "warnings": config.warnings().map(|it| it.to_string()).collect::<Vec<_>>(),
            "legs": self.legs(),
            "learn": config.learning_rows,
            "cores": self.cores(),
            "settings": settings::text(&made_by, self.columns, self.missing, detector),
            "rust": paste::rust(detector),
            "c": paste::c(detector),
        })
    }

    /// Every statistic with its threshold, as they are at the end.
    fn legs(&self) -> Vec<Value> {
        let leg = |it: fastmmd::monitor::LegStatus| {
            json!({
                "leg": it.leg.name(),
                "channel_name": it.channel.and_then(|channel| self.names.get(channel)),
                "window": it.window,
                "statistic": number(it.statistic),
                "threshold": number(it.threshold),
                "ratio": number(it.ratio()),
            })
        };
        self.detector.legs().into_iter().map(leg).collect()
    }

    /// Instructions of a row on each core.
    fn cores(&self) -> Vec<Value> {
        let core = |(core, name): &(&str, &str)| {
            let it = cost::instructions(core, self.detector)?;
            let (count, measured) = (it.count, it.measured);
            Some(json!({ "core": core, "name": name, "instructions": count, "measured": measured }))
        };
        CORES.iter().filter_map(core).collect()
    }
}

/// Lines without the colours of a terminal.
pub(crate) fn plain(lines: &[String]) -> Vec<String> {
    lines.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watched(options: &str) -> Result<Watched, String> {
        Log::demo().watch(options, &mut |_| {})
    }

    #[test]
    fn the_demo_is_looked_at_and_watched() {
        let mut parts = Vec::new();
        let looked = Log::demo().look(&mut |part| parts.push(part)).expect("a log");
        let looked: Value = serde_json::from_str(&looked).expect("JSON");
        assert_eq!(looked["rows"].as_u64(), Some(6000));
        assert!(parts.iter().all(|part| (0.0..=1.0).contains(part)) && !parts.is_empty());
        let watched = watched(r#"{ "learn": "2000" }"#).expect("a log");
        let results: Value = serde_json::from_str(&watched.results).expect("JSON");
        assert_eq!(results["low"].as_array().map(Vec::len), Some(3));
        assert_eq!(results["low"][0].as_array().map(Vec::len), Some(6000));
        assert!(results["alarms"].as_array().is_some_and(|alarms| !alarms.is_empty()));
        assert_eq!(results["cores"].as_array().map(Vec::len), Some(CORES.len()));
        let text = results.to_string();
        assert!(!text.contains("\\u001b"), "colours of a terminal");
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (options, what) in [
            ("no", "expected"),
            (r#"{ "learn": "5" }"#, "--learn"),
            (r#"{ "learn": "2 apples" }"#, "learn 2 apples"),
            (r#"{ "learn": "2000", "features": 0 }"#, "frequencies"),
            (r#"{ "learn": "2000", "columns": ["pressure"] }"#, "no column"),
            (r#"{ "learn": "70000" }"#, "too few rows"),
        ] {
            let why = watched(options).err().expect("refused");
            assert!(why.contains(what), "{options}: {why}");
        }
    }
}
