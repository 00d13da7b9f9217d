//! `demo`: a made-up log of a machine that wears.

use std::fmt::Write as _;
use std::path::Path;

use clap::Parser;
use fastmmd_reference::generate::Generator;

use crate::args::{Arguments, Command};
use crate::fault::Fault;
use crate::files;
use crate::replay::{self, Output};
use crate::report;
use crate::rows::Rows;
use crate::setup;
use crate::source::Source;

/// Rows a second.
const RATE: u32 = 10;
const ROWS: u32 = 6000;
/// From here on the bearing is rough: vibration spreads.
pub(crate) const ROUGH: u32 = 3500;
/// From here on it runs warm as well.
pub(crate) const WARM: u32 = 4800;

pub(crate) fn run(plot: Option<&Path>, csv: Option<&Path>, json: bool) -> Result<bool, Fault> {
    let text = made_up();
    if let Some(path) = csv {
        files::write(path, text.as_bytes())?;
    }
    // The options that the same log as a file would have by default.
    let defaults = ["fastmmd", "replay", "demo", "--learn", "2000"];
    let Command::Replay(arguments) = Arguments::parse_from(defaults).command else {
        return Err(Fault::new("the demo is out of order"));
    };
    let source = Source::Made("demo", text.into_bytes());
    let options = &arguments.watching;
    let log = Rows::open(&source, &arguments.columns, options.rate, &[options.learn])?;
    let plan = setup::plan(options, &log)?;
    if !json {
        report::say(format!(
            "A machine's log, made up: {ROWS} rows at {RATE} a second. From row {ROUGH} on its \
             vibration is rougher,\nfrom row {WARM} on its bearing warmer. The detector knows \
             nothing of that; it learns from the first 2000 rows."
        ))?;
    }
    replay::watch(
        log,
        &mut plan.detector().map_err(Fault::new)?,
        options,
        &Output { json, plot, state: None, following: false, may_end_learning: false },
    )
}

/// Vibration, current and temperature, as CSV.
fn made_up() -> String {
    let mut random = Generator::new(2);
    let mut text = "time,vibration (g),current (A),temperature (°C)\n".to_owned();
    let (mut load, mut warmth) = (0.0, 0.0);
    for row in 0..ROWS {
        let at = f64::from(row);
        // The load wanders and cycles, and all three follow it.
        load = 0.98 * load + 0.02 * random.normal();
        let cycle = (at / 120.0).sin();
        let rough = if row >= ROUGH { 1.8 } else { 1.0 };
        let vibration = 1.0 + 0.05 * cycle + rough * 0.08 * random.normal();
        let current = 4.0 + 0.6 * cycle + load + 0.05 * random.normal();
        let friction = if row >= WARM { 3.0 } else { 0.0 };
        warmth += 0.004 * (2.0 * cycle + friction - warmth);
        let temperature = 45.0 + warmth + friction * 0.3 + 0.1 * random.normal();
        let time = at / f64::from(RATE);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{time:.1},{vibration:.4},{current:.3},{temperature:.2}");
    }
    text
}
