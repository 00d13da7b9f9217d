//! `odd`: devices against their peers.

use serde_json::{Value, json};

use crate::args::Odd;
use crate::fault::Fault;
use crate::fleet::Fleet;
use crate::output::{GREEN, RED, probability, say};
use crate::picture;
use crate::report::Page;
use crate::session::Connect;
use crate::statistics::peers::{self, Oddness};
use crate::statistics::{Device, plane};
use crate::table::{Table, number};

pub(crate) async fn run(arguments: &Odd, connect: Option<Connect>) -> Result<bool, Fault> {
    let telemetry = &arguments.telemetry;
    let fleet = Fleet::read(telemetry, &["true"], connect).await?;
    let devices = &fleet.times[0];
    fleet.check(devices.len())?;
    let findings = peers::rank(devices, telemetry.level);
    let mut ranked: Vec<(&Device, &Oddness)> = devices.iter().zip(&findings.devices).collect();
    ranked
        .sort_by(|(_, a), (_, b)| a.p_value.total_cmp(&b.p_value).then(b.mmd2.total_cmp(&a.mmd2)));
    let is_odd = |found: &Oddness| found.q_value <= telemetry.level;
    let odd = ranked.iter().filter(|(_, found)| is_odd(found)).count();
    let listed = if arguments.all { ranked.len() } else { odd };
    let mut table = Table::new(&["device", "peers", "rows", "MMD²", "usual", "p", "q"]);
    for (device, found) in &ranked[..listed] {
        table.rows.push(vec![
            device.name.clone(),
            device.group.clone(),
            device.rows.to_string(),
            format!("{:.3e}", found.mmd2),
            format!("{:.3e}", found.expected),
            probability(found.p_value),
            probability(found.q_value),
        ]);
    }
    let summary = format!(
        "{odd} of {} devices are odd; of such lists, {} % are wrong entries on average",
        devices.len(),
        100.0 * telemetry.level,
    );
    if let Some(path) = &telemetry.report {
        let plane = plane::lay_out(devices);
        let odd: Vec<bool> = findings.devices.iter().map(is_odd).collect();
        let mut page = Page::new("Odd devices", &summary);
        page.picture(&picture::plane(devices, &plane, &odd));
        page.table(&table);
        page.notes(&fleet);
        page.write(path)?;
    }
    if telemetry.json {
        for (device, found) in &ranked[..listed] {
            say(json!({
                "device": device.name,
                "peers": device.group,
                "rows": number(device.rows),
                "mmd2": number(found.mmd2),
                "usual": number(found.expected),
                "p_value": number(found.p_value),
                "q_value": number(found.q_value),
                "odd": is_odd(found),
            }))?;
        }
        let summary = json!({
            "event": "summary",
            "devices": devices.len(),
            "odd": odd,
            "level": telemetry.level,
            "calibration": number(findings.calibration),
        });
        say_summary(summary, &fleet)?;
        return Ok(odd > 0);
    }
    table.say()?;
    let style = if odd > 0 { RED } else { GREEN };
    say(format!("{style}{summary}{style:#}"))?;
    say_notes(&fleet)?;
    Ok(odd > 0)
}

/// Says what was looked at, and what was not.
pub(crate) fn say_notes(fleet: &Fleet) -> Result<(), Fault> {
    fleet.notes().iter().try_for_each(|note| say(format!("note: {note}")))
}

/// Says the same at the end of lines of JSON.
pub(crate) fn say_summary(mut summary: Value, fleet: &Fleet) -> Result<(), Fault> {
    if let Value::Object(summary) = &mut summary {
        summary.extend(fleet.facts());
    }
    say(summary)
}
