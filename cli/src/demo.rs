//! `demo`: a synthetic log of a machine that wears out.

use std::path::Path;

use clap::Parser;

use crate::args::{Arguments, Command};
use crate::fault::Fault;
use crate::files;
use crate::made::{self, RATE, ROUGH, ROWS, WARM};
use crate::replay::{self, Output, Saying};
use crate::report;
use crate::rows::Rows;
use crate::setup;
use crate::source::Source;

pub(crate) fn run(plot: Option<&Path>, csv: Option<&Path>, json: bool) -> Result<bool, Fault> {
    let text = made::log();
    if let Some(path) = csv {
        files::write(path, text.as_bytes())?;
    }
    // The default options of `replay`.
    let defaults = ["fastmmd", "replay", "demo", "--learn", "2000"];
    let Command::Replay(arguments) = Arguments::parse_from(defaults).command else {
        return Err(Fault::new("the demo's options are wrong"));
    };
    let source = Source::Memory("demo".to_owned(), text.into_bytes().into());
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
    .map(|watched| watched.drift)
}
