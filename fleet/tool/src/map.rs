//! `map`: devices on a plane.

use serde_json::json;

use crate::args::Map;
use crate::fault::Fault;
use crate::fleet::Fleet;
use crate::odd::{say_notes, say_summary};
use crate::output::say;
use crate::picture;
use crate::report::Page;
use crate::session::Connect;
use crate::statistics::{peers, plane};
use crate::table::number;

pub(crate) async fn run(arguments: &Map, connect: Option<Connect>) -> Result<bool, Fault> {
    let telemetry = &arguments.telemetry;
    let fleet = Fleet::read(telemetry, &["true"], connect).await?;
    let devices = &fleet.times[0];
    if devices.is_empty() {
        return Err(Fault::of(&telemetry.path, "no device has rows"));
    }
    let plane = plane::lay_out(devices);
    // Places need no peers; who is odd cannot be told of a few.
    let told = peers::with_peers(devices) >= peers::FEWEST;
    let odd: Vec<bool> = if told {
        let findings = peers::rank(devices, telemetry.level).devices;
        findings.iter().map(|found| found.is_odd(telemetry.level)).collect()
    } else {
        vec![false; devices.len()]
    };
    let svg = picture::plane(devices, &plane, &odd);
    std::fs::write(&arguments.picture, &svg)
        .map_err(|error| Fault::of(&arguments.picture, error))?;
    let mut summary = format!(
        "{} devices; the plane shows {:.0} % of their squared distances",
        devices.len(),
        100.0 * plane.shown
    );
    if !told {
        summary +=
            &format!("; too few devices to tell which is odd (fewer than {})", peers::FEWEST);
    }
    if let Some(path) = &telemetry.report {
        let mut page = Page::new("Devices on a plane", &summary);
        page.picture(&svg);
        page.notes(&fleet);
        page.write(path)?;
    }
    if telemetry.json {
        for ((device, place), odd) in devices.iter().zip(&plane.places).zip(&odd) {
            let [x, y] = place.map(number);
            let (name, peers) = (&device.name, &device.group);
            let odd = told.then_some(*odd);
            say(json!({ "device": name, "peers": peers, "x": x, "y": y, "odd": odd }))?;
        }
        let shown = number(plane.shown);
        let count = devices.len();
        say_summary(json!({ "event": "summary", "devices": count, "shown": shown }), &fleet)?;
        return Ok(false);
    }
    say(format!("{}: {summary}", arguments.picture.display()))?;
    say_notes(&fleet)?;
    Ok(false)
}
