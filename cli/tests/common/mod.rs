//! The command, and files to run it on.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use fastmmd_reference::generate::Generator;
use serde_json::Value;

/// A time between false alarms so long that none comes in some thousand rows, even with few
/// learning rows.
pub(crate) const RARELY: &str = "--mean-time-between-false-alarms=1e8";

/// The result of a run of the command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// Each line of JSON.
    pub(crate) fn json(&self) -> Vec<Value> {
        let parsed = |line: &str| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
        self.out.lines().map(parsed).collect()
    }

    /// The alarms among them.
    pub(crate) fn alarms(&self) -> Vec<Value> {
        self.json().into_iter().filter(|line| line["event"] == "alarm").collect()
    }

    /// Rows of the alarms.
    pub(crate) fn alarm_rows(&self) -> Vec<usize> {
        let row = |alarm: &Value| usize::try_from(alarm["row"].as_u64().unwrap()).unwrap();
        self.alarms().iter().map(row).collect()
    }
}

/// Runs the command.
pub(crate) fn fastmmd<A: AsRef<std::ffi::OsStr>>(arguments: &[A]) -> Ran {
    fed(arguments, "")
}

/// Runs the command with something on its standard input.
pub(crate) fn fed<A: AsRef<std::ffi::OsStr>>(arguments: &[A], input: &str) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fastmmd"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    let input = input.to_owned();
    let feeder = std::thread::spawn(move || {
        // A command that stops at an error closes the pipe early.
        let _ = pipe.write_all(input.as_bytes());
    });
    let output = child.wait_with_output().expect("it ends");
    feeder.join().expect("it was fed");
    Ran {
        code: output.status.code().expect("an exit code"),
        out: String::from_utf8(output.stdout).expect("UTF-8"),
        err: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// Peak memory of a process so far, in kilobytes, from Linux; 0 after it has ended.
pub(crate) fn peak_kilobytes(process: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// An empty directory for one test.
pub(crate) fn directory(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a directory for this test");
    path
}

/// Writes a file and returns its path as text.
pub(crate) fn file(directory: &Path, name: &str, text: &str) -> String {
    let path = directory.join(name);
    fs::write(&path, text).expect("a small file");
    path.to_str().expect("UTF-8").to_owned()
}

/// Noise of three channels with a step in the second from row `step` on.
pub(crate) fn noise(rows: usize, step: usize, size: f64, seed: u64) -> String {
    let mut random = Generator::new(seed);
    let mut text = "time,a,b,c\n".to_owned();
    for row in 0..rows {
        let moved = if row >= step { size } else { 0.0 };
        let [a, b, c] = [0; 3].map(|_| random.normal());
        text.push_str(&format!("{row},{a:.4},{:.4},{c:.4}\n", b + moved));
    }
    text
}
