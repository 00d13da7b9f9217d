//! The same bits on every core.

use anyhow::{Result, bail};

use crate::outcome::{Failures, Outcome};
use crate::project::Project;
use crate::{qemu, setup, snapshot};

// The program of the boards, compiled for the host.
#[expect(unreachable_pub, reason = "public where the boards use it")]
#[path = "../../firmware/snapshots/src/parity.rs"]
mod computation;

/// Core, QEMU machine, and the target to build for it.
const BOARDS: [(&str, &str, &str); 4] = [
    ("Cortex-M4F", "mps2-an386", "thumbv7em-none-eabihf"),
    ("Cortex-M7", "mps2-an500", "thumbv7em-none-eabihf"),
    ("Cortex-M3, soft float", "mps2-an385", "thumbv7m-none-eabi"),
    // QEMU has no small Cortex-M0 board with this memory map; an M3 runs the code of an M0.
    ("ARMv6-M code", "mps2-an385", "thumbv6m-none-eabi"),
];

pub(crate) fn run(project: &Project) -> Result<Outcome> {
    setup::targets(project, &BOARDS.map(|(_, _, target)| target))?;
    setup::qemu(project)?;
    let mut expected = String::new();
    computation::report(|line| expected.push_str(&format!("{line}\n")));
    print!("{}", snapshot::indented(&expected));
    // All at once: one program keeps one processor busy.
    let mut targets = BOARDS.map(|(_, _, target)| target).to_vec();
    targets.dedup();
    snapshot::build(project, &targets, "release", "parity")?;
    let mut failures = Failures::default();
    failures.note("the host computes the golden values", is_golden(&expected));
    for (core, board, target) in BOARDS {
        let result = qemu::run(board, &project.firmware_file(target, "release", "parity"))
            .and_then(|printed| snapshot::compare(&expected, &printed));
        failures.note(&format!("{core} ({board}) as the host"), result);
    }
    failures.finish()
}

/// Every answer of the report to a question is yes.
fn is_golden(report: &str) -> Result<()> {
    if report.contains("false") || !report.contains("golden values: true") {
        bail!("it does not: see above, and host-tests/tests/golden.rs");
    }
    Ok(())
}
