//! Runs a program on an emulated board.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::boards::RISC_V_MACHINE;

/// QEMU's programs, and the packages of Debian that have them.
pub(crate) const FOR_ARM: &str = "qemu-system-arm";
pub(crate) const FOR_RISC_V: &str = "qemu-system-riscv32";
pub(crate) const PACKAGES: [(&str, &str); 2] =
    [(FOR_ARM, "qemu-system-arm"), (FOR_RISC_V, "qemu-system-misc")];

/// Time limit: long enough for every program here, in a debug build on a busy machine.
pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Kills the emulator when dropped.
pub(crate) struct Emulator(pub(crate) Child);

impl Drop for Emulator {
    fn drop(&mut self) {
        // Both fail only if the process has already ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs `program` on the QEMU machine `board` and returns what it printed.
///
/// Everything other than an exit with code 0 in time is an error, including the signal by which
/// QEMU ends when the emulated core locks up.
pub(crate) fn run(board: &str, program: &Path) -> Result<String> {
    run_for(board, program, &[], TIME_LIMIT)
}

/// The same with a clock that advances with instructions, by 64 ns each on ARM, so that the program can
/// count them.
pub(crate) fn run_counting(board: &str, program: &Path) -> Result<String> {
    // The counter of a RISC-V core counts instructions at any speed.
    let shift = if board == RISC_V_MACHINE { "shift=0" } else { "shift=6" };
    run_for(board, program, &["-icount", shift], TIME_LIMIT)
}

/// Starts `program` on the machine `board`, with pipes for what both print.
pub(crate) fn start(board: &str, program: &Path, options: &[&str]) -> Result<Emulator> {
    let (emulator, without): (_, &[_]) = match board {
        RISC_V_MACHINE => (FOR_RISC_V, &["-bios", "none"]),
        _ => (FOR_ARM, &[]),
    };
    let child = Command::new(emulator)
        .args(["-machine", board, "-nographic"])
        .args(without)
        .args(options)
        .args(["-monitor", "none", "-serial", "none"])
        .args(["-semihosting-config", "enable=on,target=native"])
        .arg("-kernel")
        .arg(program)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {emulator}"))?;
    Ok(Emulator(child))
}

/// The same with options of QEMU's, and with a time limit of its own.
pub(crate) fn run_for(
    board: &str,
    program: &Path,
    options: &[&str],
    limit: Duration,
) -> Result<String> {
    let mut emulator = start(board, program, options)?;
    let stdout = collect(emulator.0.stdout.take());
    let stderr = collect(emulator.0.stderr.take());
    let status = wait(&mut emulator.0, limit)?;
    // The pipes are closed now, so the collectors end.
    drop(emulator);
    let printed = |thread: JoinHandle<String>| thread.join().unwrap_or_default();
    let (stdout, stderr) = (printed(stdout), printed(stderr));
    match status {
        Some(status) if status.success() => Ok(stdout),
        Some(status) => bail!("{board} ended with {status}\n{stdout}{stderr}"),
        None => bail!("{board} did not end in {limit:?}\n{stdout}{stderr}"),
    }
}

fn wait(child: &mut Child, limit: Duration) -> Result<Option<ExitStatus>> {
    let start = Instant::now();
    while start.elapsed() < limit {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(Duration::from_millis(10));
    }
    Ok(None)
}

/// Reads a pipe to its end, so that the emulator never waits for a reader.
fn collect(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What was read before an error is kept.
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
