//! Checks that every core computes the same bits.

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
    failures.finish()
}

/// Every comparison in the report is true.
fn is_golden(report: &str) -> Result<()> {
    if report.contains("false") || !report.contains("golden values: true") {
        bail!("other values: see above, and host-tests/tests/golden.rs");
    }
    Ok(())
}
