//! `moved`: groups of devices at two times.

use std::collections::HashMap;

use serde_json::json;

use crate::args::Moved;
use crate::fault::Fault;
use crate::fleet::Fleet;
use crate::odd::{say_notes, say_summary};
use crate::output::{GREEN, RED, TOO_FEW, probability, say};
use crate::picture;
use crate::report::Page;
use crate::session::Connect;
use crate::statistics::movement::{self, Movement};
use crate::statistics::peers::{FEWEST, Oddness};
use crate::statistics::{Device, plane};
use crate::table::{Table, known, number};

pub(crate) async fn run(arguments: &Moved, connect: Option<Connect>) -> Result<bool, Fault> {
    let telemetry = &arguments.telemetry;
    let times = [&*arguments.before, &*arguments.after];
    let fleet = Fleet::read(telemetry, &times, connect).await?;
    let before: HashMap<&str, &Device> =
        fleet.times[0].iter().map(|device| (&*device.name, device)).collect();
    let pairs = fleet.times[1].iter().filter_map(|after| Some((*before.get(&*after.name)?, after)));
    let moves: Vec<Device> = pairs.map(|(a, b)| movement::movement(a, b)).collect();
    fleet.check(moves.len(), "rows at both times")?;
    let found = movement::test(&moves, telemetry.level);
    let has_moved = |group: &Movement| group.has_moved(telemetry.level);
    let mut ranked: Vec<&Movement> = found.groups.iter().collect();
    // Those that were not tested come last.
    let p_value = |group: &Movement| group.p_value.unwrap_or(f64::INFINITY);
    ranked.sort_by(|a, b| p_value(a).total_cmp(&p_value(b)));
    let count = ranked.iter().filter(|group| has_moved(group) == Some(true)).count();
    let tested = ranked.iter().filter(|group| group.p_value.is_some()).count();
    let mut table =
        Table::new(&["group", "devices", "MMD²", "usual", "p", "q", "moved", "devices that moved"]);
    for group in &ranked {
        table.rows.push(vec![
            if group.group.is_empty() { "all".to_owned() } else { group.group.clone() },
            group.devices.to_string(),
            format!("{:.3e}", group.mmd2),
            format!("{:.3e}", group.expected),
            probability(group.p_value),
            probability(group.q_value),
            has_moved(group).map_or(TOO_FEW, |moved| if moved { "yes" } else { "no" }).to_owned(),
            group.moved.to_string(),
        ]);
    }
    let groups = if tested == 1 { "group" } else { "groups" };
    let mut summary = format!(
        "{count} of {tested} {groups} moved from ({}) to ({})",
        arguments.before, arguments.after
    );
    if tested < ranked.len() {
        let rest = ranked.len() - tested;
        summary += &format!("; {rest} not tested, having {TOO_FEW} (fewer than {FEWEST})");
    }
    let single: Vec<bool> =
        found.devices.devices.iter().map(|device| device.is_odd(telemetry.level)).collect();
    let by_name = own_ways(&moves, &found.devices.devices, telemetry.level);
    if let Some(path) = &telemetry.report {
        let mut page = Page::new("What moved", &summary);
        page.picture(&picture::plane(&moves, &plane::lay_out(&moves), &single));
        page.table(&table);
        if !by_name.rows.is_empty() {
            page.note(OWN_WAYS);
            page.table(&by_name);
        }
        page.note("Each point is a device's movement.");
        page.notes(&fleet);
        page.write(path)?;
    }
    if telemetry.json {
        for group in &ranked {
            say(json!({
                "group": group.group,
                "devices": group.devices,
                "mmd2": number(group.mmd2),
                "usual": number(group.expected),
                "p_value": known(group.p_value),
                "q_value": known(group.q_value),
                "tested": group.p_value.is_some(),
                "moved": has_moved(group),
                "devices_moved": group.moved,
            }))?;
        }
        let names = moves.iter().zip(&single).filter(|(_, moved)| **moved);
        let summary = json!({
            "event": "summary",
            "groups": ranked.len(),
            "tested": tested,
            "moved": count,
            "level": telemetry.level,
            "devices_moved": names.map(|(device, _)| &*device.name).collect::<Vec<_>>(),
        });
        say_summary(summary, &fleet)?;
        return answer(count, tested);
    }
    table.say()?;
    let style = if count > 0 { RED } else { GREEN };
    say(format!("{style}{summary}{style:#}"))?;
    if !by_name.rows.is_empty() {
        say(OWN_WAYS)?;
        by_name.say()?;
    }
    say_notes(&fleet)?;
    answer(count, tested)
}

/// Whether groups moved. That none was tested is not that none did.
fn answer(count: usize, tested: usize) -> Result<bool, Fault> {
    if tested > 0 {
        return Ok(count > 0);
    }
    Err(Fault::new(format!(
        "no group has {FEWEST} devices with rows at both times: none was tested"
    )))
}

const OWN_WAYS: &str = "devices that moved otherwise than their peers:";

/// Devices that moved otherwise than their peers, the clearest first.
fn own_ways(moves: &[Device], found: &[Oddness], level: f64) -> Table {
    let mut table = Table::new(&["device", "peers", "MMD²", "usual", "p", "q"]);
    let mut moved: Vec<_> =
        moves.iter().zip(found).filter(|(_, found)| found.is_odd(level)).collect();
    let p_value = |found: &Oddness| found.p_value.unwrap_or(f64::INFINITY);
    moved.sort_by(|(_, a), (_, b)| p_value(a).total_cmp(&p_value(b)));
    for (device, found) in moved {
        table.rows.push(vec![
            device.name.clone(),
            device.group.clone(),
            format!("{:.3e}", found.mmd2),
            format!("{:.3e}", found.expected),
            probability(found.p_value),
            probability(found.q_value),
        ]);
    }
    table
}
