//! The output of the commands: lines of text, or JSON.

use std::io::Write;

use anstyle::{AnsiColor, Style};
use fastmmd::Change;
use serde_json::{Value, json};

use crate::fault::Fault;
use crate::play::Told;

pub(crate) const RED: Style = AnsiColor::Red.on_default().bold();
pub(crate) const GREEN: Style = AnsiColor::Green.on_default();
pub(crate) const DIM: Style = Style::new().dimmed();

/// The word for what was found, in red, or for nothing, in green.
pub(crate) fn verdict(found: bool, something: &str, nothing: &str) -> String {
    let (style, word) = if found { (RED, something) } else { (GREEN, nothing) };
    format!("{style}{word}{style:#}")
}

/// Prints a line; colours only reach a terminal that wants them.
pub(crate) fn say(line: impl std::fmt::Display) -> Result<(), Fault> {
    // A reader that closes the pipe early must not cause a panic.
    writeln!(anstream::stdout(), "{line}").map_err(|error| match error.kind() {
        std::io::ErrorKind::BrokenPipe => Fault::nobody_listens(),
        _ => Fault::of_io("standard output", &error),
    })
}

/// Prints a line beside the results, on standard error. That nobody reads it is no fault.
pub(crate) fn say_aside(line: impl std::fmt::Display) {
    let _ = writeln!(anstream::stderr(), "{line}");
}

/// A line broken at spaces into lines of some width; those after the first are indented. A word that is
/// longer has a line of its own.
pub(crate) fn wrapped(text: &str, width: usize) -> String {
    let (mut all, mut used) = (String::new(), 0);
    for (at, word) in text.split(' ').enumerate() {
        let length = word.chars().count();
        if at > 0 && used + 1 + length > width {
            all.push_str("\n  ");
            used = 2;
        } else if at > 0 {
            all.push(' ');
            used += 1;
        }
        all.push_str(word);
        used += length;
    }
    all
}

/// Prints bytes as they are.
pub(crate) fn say_bytes(bytes: &[u8]) -> Result<(), Fault> {
    std::io::stdout().write_all(bytes).map_err(|error| match error.kind() {
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

/// The number of alarms in words.
pub(crate) fn alarms(count: u64) -> String {
    if count == 1 { "1 alarm".to_owned() } else { format!("{count} alarms") }
}

/// The time of a row: from the log, or computed from the rate.
struct Moment<'a> {
    cell: Option<&'a [u8]>,
    seconds: Option<f64>,
}

impl<'a> Moment<'a> {
    fn of(told: &'a Told, rate: Option<f64>) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "a time need not be exact")]
        let row = told.row as f64;
        Self { cell: told.time.as_deref(), seconds: rate.map(|rate| row / rate) }
    }

    fn json(&self) -> Value {
        let Some(cell) = self.cell else { return self.seconds.map_or(Value::Null, Value::from) };
        let text = String::from_utf8_lossy(cell);
        let number = text.trim().parse::<f64>().ok().filter(|time| time.is_finite());
        number.map_or_else(|| Value::from(text.trim()), Value::from)
    }

    fn text(&self) -> String {
        match (self.cell, self.seconds) {
            (Some(cell), _) => String::from_utf8_lossy(cell).trim().to_owned(),
            (None, Some(seconds)) => format!("{seconds:.3} s"),
            (None, None) => String::new(),
        }
    }
}

/// An alarm as JSON.
pub(crate) fn alarm_json(told: &Told, amended: bool, rate: Option<f64>, names: &[String]) -> Value {
    let alarm = told.alarm;
    json!({
        "event": if amended { "amended" } else { "alarm" },
        "row": told.row,
        "time": Moment::of(told, rate).json(),
        "since_row": told.since,
        "score": number(alarm.score),
        "threshold": number(alarm.threshold),
        "window": alarm.window,
        "channel": alarm.channel,
        "channel_name": names.get(alarm.channel),
        "change": alarm.change.name(),
        "leg": alarm.leg.name(),
        "amended": amended,
    })
}

/// An alarm as a line.
pub(crate) fn alarm_line(
    told: &Told,
    amended: bool,
    rate: Option<f64>,
    names: &[String],
) -> String {
    let alarm = told.alarm;
    let name = names.get(alarm.channel).map_or("?", String::as_str);
    let what = match alarm.change {
        Change::Stuck => "is stuck".to_owned(),
        Change::Missing => "has no readings".to_owned(),
        Change::Outliers => "has outliers".to_owned(),
        change @ (Change::Level | Change::Spread | Change::Shape) => {
            format!("changed in {}", change.name())
        }
    };
    let (Told { row, since, .. }, time) = (told, Moment::of(told, rate).text());
    if amended {
        return format!(
            "{DIM}amended{DIM:#} row {row:<8} {time:<20} {name} {what} since row {since}"
        );
    }
    let window = match alarm.window {
        0 => String::new(),
        1 => " over 1 row".to_owned(),
        rows => format!(" over {rows} rows"),
    };
    format!(
        "{RED}alarm{RED:#}   row {row:<8} {time:<20} {name} {what} since row {since}; {leg}{window} is \
         {severity:.2} times its threshold",
        leg = alarm.leg.name(),
        severity = alarm.severity(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_at_spaces() {
        assert_eq!(wrapped("note: a b", 9), "note: a b");
        assert_eq!(wrapped("> x    one two three", 10), "> x    one\n  two\n  three");
        assert_eq!(wrapped("averylongname: é é é", 5), "averylongname:\n  é é\n  é");
    }
}
