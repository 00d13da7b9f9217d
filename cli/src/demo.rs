//! `demo`: a synthetic log of a machine that wears out.

use std::fmt::Write as _;
use std::path::Path;

use clap::Parser;
use fastmmd_reference::generate::Generator;

use crate::args::{Arguments, Command};
use crate::fault::Fault;
use crate::files;
use crate::replay::{self, Output, Saying};
use crate::report;
use crate::rows::Rows;
use crate::setup;
use crate::source::Source;

/// Rows per second.
const RATE: u32 = 10;
const ROWS: u32 = 6000;
/// From this row on the bearing is rough: the vibration has more spread.
pub(crate) const ROUGH: u32 = 3500;
/// From this row on it is also warmer.
pub(crate) const WARM: u32 = 4800;

pub(crate) fn run(plot: Option<&Path>, csv: Option<&Path>, json: bool) -> Result<bool, Fault> {
    let text = made_up();
    if let Some(path) = csv {
        files::write(path, text.as_bytes())?;
    }
    // The default options of `replay`.
    let defaults = ["fastmmd", "replay", "demo", "--learn", "2000"];
    let Command::Replay(arguments) = Arguments::parse_from(defaults).command else {
        return Err(Fault::new("the demo's options are wrong"));
    };
    let source = Source::Made("demo", text.into_bytes());
    let options = &arguments.watching;
    let log = Rows::open(&source, &arguments.columns, options)?;
    let plan = setup::plan(options, &log)?;
    if !json {
        report::say(format!(
            "A machine's log, synthetic: {ROWS} rows at {RATE} per second. From row {ROUGH} its \
             vibration is rougher,\nfrom row {WARM} its bearing is warmer. The detector learns \
             from the first 2000 rows."
        ))?;
    }
    replay::watch(
        log,
        &mut plan.detector().map_err(Fault::new)?,
        &Output {
            said: if json { Saying::Json } else { Saying::Lines },
            plot,
            ..Output::default()
        },
    )
    .map(|watched| watched.outcome.alarms > 0)
}

/// Vibration, current and temperature, as CSV.
fn made_up() -> String {
    let mut random = Generator::new(2);
    let mut text = "time,vibration (g),current (A),temperature (°C)\n".to_owned();
    let (mut load, mut warmth) = (0.0, 0.0);
    for row in 0..ROWS {
        let at = f64::from(row);
        // The load varies slowly and in cycles, and all three channels follow it.
        load = 0.98 * load + 0.02 * random.normal();
        let cycle = (at / 25.0).sin();
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
