//! `odd`: devices against their peers.

use serde_json::{Value, json};

use crate::args::Odd;
use crate::fault::Fault;
use crate::fleet::Fleet;
use crate::output::{GREEN, RED, TOO_FEW, probability, say};
use crate::picture;
use crate::report::Page;
use crate::session::Connect;
use crate::statistics::peers::{self, Findings, Oddness};
use crate::statistics::{Device, plane};
use crate::table::{Table, known, number};

/// How far the tail may be off normal devices before that is told, as a factor.
const POOR: f64 = 1.25;

pub(crate) async fn run(arguments: &Odd, connect: Option<Connect>) -> Result<bool, Fault> {
    let telemetry = &arguments.telemetry;
    let fleet = Fleet::read(telemetry, &["true"], connect).await?;
    let devices = &fleet.times[0];
    fleet.check(peers::with_peers(devices), "peers")?;
    let findings = peers::rank(devices, telemetry.level);
    let mut ranked: Vec<(&Device, &Oddness)> = devices.iter().zip(&findings.devices).collect();
    // Those that were not tested come last.
    let p_value = |found: &Oddness| found.p_value.unwrap_or(f64::INFINITY);
    ranked.sort_by(|(_, a), (_, b)| {
        p_value(a).total_cmp(&p_value(b)).then(b.mmd2.total_cmp(&a.mmd2))
    });
    let is_odd = |found: &Oddness| found.is_odd(telemetry.level);
    let odd = ranked.iter().filter(|(_, found)| is_odd(found)).count();
    let lonely: Vec<&str> = ranked
        .iter()
        .filter(|(_, found)| found.p_value.is_none())
        .map(|(device, _)| &*device.name)
        .collect();
    let mut notes = poor_fit(&findings).into_iter().collect::<Vec<_>>();
    if let [first, rest @ ..] = &lonely[..] {
        let more =
            if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        notes.push(format!("not tested, {TOO_FEW} in the group: {first}{more}"));
    }
    let listed = if arguments.all { ranked.len() } else { odd };
    let mut table = Table::new(&["device", "peers", "rows", "MMD²", "usual", "p", "q"]);
    for (device, found) in &ranked[..listed] {
        table.rows.push(vec![
            device.name.clone(),
            device.group.clone(),
            device.rows.to_string(),
            scientific(found.p_value.map(|_| found.mmd2)),
            scientific(found.p_value.map(|_| found.expected)),
            found.p_value.map_or(TOO_FEW.to_owned(), |p_value| probability(Some(p_value))),
            probability(found.q_value),
        ]);
    }
    let summary = format!(
        "{odd} of {} devices are odd; of such lists, {} % are wrong entries on average",
        devices.len() - lonely.len(),
        100.0 * telemetry.level,
    );
    if let Some(path) = &telemetry.report {
        let plane = plane::lay_out(devices);
        let odd: Vec<bool> = findings.devices.iter().map(is_odd).collect();
        let mut page = Page::new("Odd devices", &summary);
        page.picture(&picture::plane(devices, &plane, &odd));
        page.table(&table);
        notes.iter().for_each(|note| page.note(note));
        page.notes(&fleet);
        page.write(path)?;
    }
    if telemetry.json {
        for (device, found) in &ranked[..listed] {
            say(json!({
                "device": device.name,
                "peers": device.group,
                "rows": number(device.rows),
                "mmd2": known(found.p_value.map(|_| found.mmd2)),
                "usual": known(found.p_value.map(|_| found.expected)),
                "p_value": known(found.p_value),
                "q_value": known(found.q_value),
                "tested": found.p_value.is_some(),
                "odd": found.p_value.map(|_| is_odd(found)),
            }))?;
        }
        let summary = json!({
            "event": "summary",
            "devices": devices.len(),
            "odd": odd,
            "not_tested": lonely,
            "level": telemetry.level,
            "calibration": number(findings.calibration),
        });
        say_summary(summary, &fleet)?;
        return Ok(odd > 0);
    }
    table.say()?;
    let style = if odd > 0 { RED } else { GREEN };
    say(format!("{style}{summary}{style:#}"))?;
    notes.iter().try_for_each(|note| say(format!("note: {note}")))?;
    say_notes(&fleet)?;
    Ok(odd > 0)
}

/// What is said if normal devices are not as the fitted tail has them.
fn poor_fit(findings: &Findings) -> Option<String> {
    let fit = findings.calibration;
    let poor = fit.is_finite() && !(1.0 / POOR..=POOR).contains(&fit);
    poor.then(|| {
        format!(
            "normal devices have {fit:.2} times the statistic that is fitted to them: p and q are rough"
        )
    })
}

/// A number in a table; none of what was not compared.
fn scientific(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.3e}"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_poor_fit_is_told() {
        let told = |calibration| poor_fit(&Findings { devices: vec![], calibration });
        assert!(told(1.5).is_some_and(|told| told.contains("1.50 times")));
        assert!(told(0.5).is_some());
        assert_eq!((told(1.0), told(1.2), told(0.85)), (None, None, None));
    }
}
