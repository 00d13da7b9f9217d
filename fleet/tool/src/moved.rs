//! `moved`: groups of devices at two times.

use std::collections::HashMap;

use serde_json::json;

use crate::args::Moved;
use crate::fault::Fault;
use crate::fleet::Fleet;
use crate::odd::{say_notes, say_summary};
use crate::output::{GREEN, RED, probability, say};
use crate::picture;
use crate::report::Page;
use crate::session::Connect;
use crate::statistics::movement::{self, Movement};
use crate::statistics::peers::Oddness;
use crate::statistics::{Device, plane};
use crate::table::{Table, number};

pub(crate) async fn run(arguments: &Moved, connect: Option<Connect>) -> Result<bool, Fault> {
    let telemetry = &arguments.telemetry;
    let times = [&*arguments.before, &*arguments.after];
    let fleet = Fleet::read(telemetry, &times, connect).await?;
    let before: HashMap<&str, &Device> =
        fleet.times[0].iter().map(|device| (&*device.name, device)).collect();
    let pairs = fleet.times[1].iter().filter_map(|after| Some((*before.get(&*after.name)?, after)));
    let moves: Vec<Device> = pairs.map(|(a, b)| movement::movement(a, b)).collect();
    fleet.check(moves.len())?;
    let found = movement::test(&moves, telemetry.level);
    let has_moved = |group: &Movement| group.q_value <= telemetry.level;
    let mut ranked: Vec<&Movement> = found.groups.iter().collect();
    ranked.sort_by(|a, b| a.p_value.total_cmp(&b.p_value));
    let count = ranked.iter().filter(|group| has_moved(group)).count();
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
            if has_moved(group) { "yes" } else { "no" }.to_owned(),
            group.moved.to_string(),
        ]);
    }
    let groups = if ranked.len() == 1 { "group" } else { "groups" };
    let summary = format!(
        "{count} of {} {groups} moved from ({}) to ({})",
        ranked.len(),
        arguments.before,
        arguments.after
    );
    let single: Vec<bool> =
        found.devices.devices.iter().map(|device| device.q_value <= telemetry.level).collect();
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
                "p_value": number(group.p_value),
                "q_value": number(group.q_value),
                "moved": has_moved(group),
                "devices_moved": group.moved,
            }))?;
        }
        let names = moves.iter().zip(&single).filter(|(_, moved)| **moved);
        let summary = json!({
            "event": "summary",
            "groups": ranked.len(),
            "moved": count,
            "level": telemetry.level,
            "devices_moved": names.map(|(device, _)| &*device.name).collect::<Vec<_>>(),
        });
        say_summary(summary, &fleet)?;
        return Ok(count > 0);
    }
    table.say()?;
    let style = if count > 0 { RED } else { GREEN };
    say(format!("{style}{summary}{style:#}"))?;
    if !by_name.rows.is_empty() {
        say(OWN_WAYS)?;
        by_name.say()?;
    }
    say_notes(&fleet)?;
    Ok(count > 0)
}

const OWN_WAYS: &str = "devices that moved otherwise than their peers:";

/// Devices that moved otherwise than their peers, the clearest first.
fn own_ways(moves: &[Device], found: &[Oddness], level: f64) -> Table {
    let mut table = Table::new(&["device", "peers", "MMD²", "usual", "p", "q"]);
    let mut moved: Vec<_> =
        moves.iter().zip(found).filter(|(_, found)| found.q_value <= level).collect();
    moved.sort_by(|(_, a), (_, b)| a.p_value.total_cmp(&b.p_value));
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
