//! Checks that every core computes the same bits, and that integers are computed without floating
//! point.

use anyhow::{Result, bail};

use crate::boards::{CORE_TARGETS, CORES, Core};
use crate::outcome::{Failures, Outcome};
use crate::project::Project;
use crate::{qemu, setup, snapshot};

// The program of the cores, compiled for the host.
#[expect(unreachable_pub, reason = "public where the cores use it")]
#[path = "../../firmware/snapshots/src/parity.rs"]
mod computation;

pub(crate) fn run(project: &Project) -> Result<Outcome> {
    setup::targets(project, &CORE_TARGETS)?;
    setup::qemu(project)?;
    let mut expected = String::new();
    computation::report(|line| expected.push_str(&format!("{line}\n")));
    print!("{}", snapshot::indented(&expected));
    // All targets at once: building one program keeps only one processor busy.
    snapshot::build(project, &CORE_TARGETS, "release", "parity")?;
    let mut failures = Failures::default();
    failures.note("the host computes the golden values", is_golden(&expected));
    for Core { name, machine, target, .. } in &CORES {
        let result = qemu::run(machine, &project.firmware_file(target, "release", "parity"))
            .and_then(|printed| snapshot::compare(&expected, &printed));
        failures.note(&format!("{name} ({machine}) as the host"), result);
    }
    // The routines counted are those of ARM.
    let soft = CORES.iter().filter(|core| core.target.ends_with("eabi"));
    let targets: Vec<_> = soft.clone().map(|core| core.target).collect();
    project
        .firmware_cargo("build")
        .args(["--quiet", "--release", "--package=floats"])
        .args(targets.iter().map(|target| format!("--target={target}")))
        .run()?;
    for Core { name, machine, target, .. } in soft {
        let result = qemu::run(machine, &project.firmware_file(target, "release", "floats"))
            .and_then(|printed| is_in_integers(&printed));
        failures.note(&format!("{name}: rows in integers need floating point rarely"), result);
    }
    failures.finish()
}

/// At most one row in so many calls a floating-point routine.
const RARE: u32 = 20;

/// While a detector in integers monitors, few rows need floating point; those of one in `f32` all do.
fn is_in_integers(printed: &str) -> Result<()> {
    print!("{}", snapshot::indented(printed));
    let of = |name: &str| -> Option<(u32, u32)> {
        let line = printed.lines().find_map(|line| line.strip_prefix(name))?;
        let mut words = line.split_whitespace();
        Some((words.nth(1)?.parse().ok()?, words.nth(1)?.parse().ok()?))
    };
    let (Some((found, rows)), Some((control, all))) = (of("monitoring"), of("control")) else {
        bail!("no counts");
    };
    if control != all || all == 0 {
        bail!("the counter misses routines: {control} of {all} rows in f32 call one");
    }
    if found * RARE > rows {
        bail!("{found} of {rows} rows call floating-point routines");
    }
    Ok(())
}

/// Every comparison in the report is true.
fn is_golden(report: &str) -> Result<()> {
    if report.contains("false") || !report.contains("golden values: true") {
        bail!("other values: see above, and host-tests/tests/golden.rs");
    }
    Ok(())
}
