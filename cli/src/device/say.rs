//! How the host tool prints what a device says.

use drift_app::message::{Report, flags};
use fastmmd::Alarm;
use serde_json::{Value, json};

use crate::fault::Fault;
use crate::report;

pub(super) fn say_report(report: &Report, as_json: bool) -> Result<(), Fault> {
    let status = &report.status;
    let names: Vec<&str> = flags::names(report.flags).collect();
    if as_json {
        return report::say_json(&json!({
            "event": "report",
            "stage": status.stage.name(),
            "rows": status.rows,
            "progress": status.progress,
            "statistic": status.statistic,
            "threshold": status.threshold,
            "open": status.open,
            "pending": report.pending,
            "missed": report.missed,
            "flags": names,
        }));
    }
    let stage = status.stage.name();
    let value = if status.stage.is_learned() {
        format!("statistic {:.3} of {:.3}", status.statistic, status.threshold)
    } else {
        format!("{:.0} % learned", 100.0 * status.progress)
    };
    let mut line = format!("row {:<9} {stage:<10} {value}", status.rows);
    if status.open > 0 {
        line.push_str(&format!(", {} open", status.open));
    }
    if report.missed > 0 {
        line.push_str(&format!(", {} missed", report.missed));
    }
    if !names.is_empty() {
        line.push_str(&format!(" ({})", names.join(", ")));
    }
    report::say(line)
}

pub(super) fn say_alarm(
    alarm: &Alarm,
    event: &str,
    ago: Option<u64>,
    as_json: bool,
) -> Result<(), Fault> {
    if as_json {
        return report::say_json(&json!({
            "event": event,
            "row": alarm.row,
            "since_row": alarm.since,
            "channel": alarm.channel,
            "change": alarm.change.name(),
            "leg": alarm.leg.name(),
            "window": alarm.window,
            "score": alarm.score,
            "threshold": alarm.threshold,
            "periods_ago": ago,
        }));
    }
    let Alarm { row, since, channel, .. } = *alarm;
    let change = alarm.change.name();
    let age = ago.map_or(String::new(), |ago| format!(", {ago} periods ago"));
    report::say(format!("{event}: {change} of channel {channel} since row {since}, row {row}{age}"))
}

pub(super) fn say_value(value: &Value, as_json: bool) -> Result<(), Fault> {
    if as_json {
        return report::say_json(value);
    }
    for (name, value) in value.as_object().into_iter().flatten() {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        report::say(format!("{:<22} {value}", name.replace('_', " ")))?;
    }
    Ok(())
}
