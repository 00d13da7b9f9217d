//! The output of the commands: lines of text, or JSON.

use std::io::Write;

use anstyle::{AnsiColor, Style};
use fastmmd::dynamic::Detector;
use fastmmd::{Change, FeatureMap};
use serde_json::{Map, Value, json};

use crate::cost;
use crate::fault::Fault;
use crate::play::{Outcome, Raised};

pub(crate) const RED: Style = AnsiColor::Red.on_default().bold();
pub(crate) const GREEN: Style = AnsiColor::Green.on_default();
pub(crate) const DIM: Style = Style::new().dimmed();

/// Prints a line; colours only reach a terminal that wants them.
pub(crate) fn say(line: impl std::fmt::Display) -> Result<(), Fault> {
    // A reader that closes the pipe early must not cause a panic.
    writeln!(anstream::stdout(), "{line}").map_err(|error| match error.kind() {
        std::io::ErrorKind::BrokenPipe => Fault::nobody_listens(),
        _ => Fault::of_io("standard output", &error),
    })
}

/// Prints a JSON object on a line of its own.
pub(crate) fn say_json(object: &Value) -> Result<(), Fault> {
    say(object)
}

/// A probability with its significant digits.
pub(crate) fn probability(p: f64) -> String {
    if p < 1e-3 { format!("{p:.1e}") } else { format!("{p:.4}") }
}

/// A number for JSON, as short as possible without loss; null for NaN and infinities.
pub(crate) fn number(value: f32) -> Value {
    // Through its shortest decimal form: 0.1 and not 0.10000000149011612.
    value.to_string().parse::<f64>().ok().filter(|x| x.is_finite()).map_or(Value::Null, Value::from)
}

/// Numbers as a list.
pub(crate) fn list(numbers: &[u32], between: &str) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(between)
}

/// The number of alarms in words.
pub(crate) fn alarms(count: u64) -> String {
    if count == 1 { "1 alarm".to_owned() } else { format!("{count} alarms") }
}

/// The time of a row: from the log, or computed from the rate.
pub(crate) struct Moment<'a> {
    pub(crate) cell: Option<&'a [u8]>,
    pub(crate) row: u64,
    pub(crate) rate: Option<f64>,
}

impl Moment<'_> {
    fn seconds(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "a time need not be exact")]
        let row = self.row as f64;
        self.rate.map(|rate| row / rate)
    }

    fn json(&self) -> Value {
        let Some(cell) = self.cell else { return self.seconds().map_or(Value::Null, Value::from) };
        let text = String::from_utf8_lossy(cell);
        let number = text.trim().parse::<f64>().ok().filter(|time| time.is_finite());
        number.map_or_else(|| Value::from(text.trim()), Value::from)
    }

    fn text(&self) -> String {
        match (self.cell, self.seconds()) {
            (Some(cell), _) => String::from_utf8_lossy(cell).trim().to_owned(),
            (None, Some(seconds)) => format!("{seconds:.3} s"),
            (None, None) => String::new(),
        }
    }
}

/// An alarm as JSON.
pub(crate) fn alarm_json(raised: &Raised, moment: &Moment<'_>, names: &[String]) -> Value {
    let alarm = raised.alarm;
    let name = names.get(alarm.channel);
    json!({
        "event": "alarm",
        "row": raised.row,
        "time": moment.json(),
        "since_row": raised.since,
        "score": number(alarm.score),
        "threshold": number(alarm.threshold),
        "window": alarm.window,
        "channel": alarm.channel,
        "channel_name": name,
        "change": alarm.change.name(),
    })
}

/// An alarm as a line.
pub(crate) fn alarm_line(raised: &Raised, moment: &Moment<'_>, names: &[String]) -> String {
    let alarm = raised.alarm;
    let name = names.get(alarm.channel).map_or("?", String::as_str);
    let what = match alarm.change {
        Change::Stuck => "is stuck".to_owned(),
        change @ (Change::Level | Change::Spread | Change::Shape) => {
            format!("changed in {}", change.name())
        }
    };
    let (Raised { row, since, .. }, severity) = (raised, alarm.severity());
    format!(
        "{RED}alarm{RED:#}  row {row:<8} {time:<20} {name} {what} since row {since}; {severity:.2} \
         times the threshold, window of {window} rows",
        time = moment.text(),
        window = alarm.window,
    )
}

/// The results of a log as JSON.
pub(crate) fn summary_json(outcome: &Outcome, detector: &Detector<'_>) -> Value {
    let config = detector.config();
    let warnings: Vec<String> = config.warnings().map(|warning| warning.to_string()).collect();
    let mut object = Map::new();
    for (name, value) in [
        ("event", json!("summary")),
        ("rows", json!(outcome.rows)),
        ("learned", json!(outcome.learned)),
        ("learning_rows_missing", json!(outcome.missing)),
        ("skipped", json!(outcome.skipped)),
        ("warning", json!((!warnings.is_empty()).then(|| warnings.join("; ")))),
        ("alarms", json!(outcome.alarms)),
        ("sigma", detector.bandwidth().map_or(Value::Null, number)),
        ("features", json!(detector.map().recipe().frequencies)),
        ("ram_bytes", json!(cost::ram_bytes(detector))),
        ("windows", json!(config.windows)),
        ("mean_time_between_false_alarms", number(config.mean_time_between_false_alarms)),
    ] {
        object.insert(name.to_owned(), value);
    }
    Value::Object(object)
}

/// The results of a log as lines.
pub(crate) fn summary_lines(outcome: &Outcome, detector: &Detector<'_>) -> String {
    let config = detector.config();
    let watched = outcome.rows.saturating_sub(outcome.learned + outcome.skipped);
    let verdict = match outcome.alarms {
        0 if outcome.missing > 0 => format!("learning: {} rows to go", outcome.missing),
        0 if watched == 0 => "learned from all rows, none left to watch".to_owned(),
        0 => format!("{GREEN}healthy{GREEN:#}"),
        many => format!("{RED}drift{RED:#}: {}", alarms(many)),
    };
    let skipped = match outcome.skipped {
        0 => String::new(),
        rows => format!(", {rows} skipped"),
    };
    let promise = config.mean_time_between_false_alarms;
    let promise = match config.warnings().next() {
        None => format!("set for one false alarm in {promise} rows"),
        Some(_) => format!("set for one false alarm in {promise} rows, uncertain (see the note)"),
    };
    let sigma = detector.bandwidth().map_or("?".to_owned(), |sigma| {
        if sigma < 0.1 { format!("{sigma:.1e}") } else { format!("{sigma:.1}") }
    });
    format!(
        "{verdict}; {watched} rows watched, {learned} learned from{skipped}; \
         {promise}\n{DIM}kernel {sigma} standard deviations wide, {frequencies} frequencies, \
         windows of {windows} rows, {ram} bytes of RAM{DIM:#}",
        learned = outcome.learned,
        frequencies = detector.map().recipe().frequencies,
        windows = list(&config.windows, ", "),
        ram = cost::ram_bytes(detector),
    )
}
