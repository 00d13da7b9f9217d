//! Running the programs, and folders that go when a test ends.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fastmmd_fleet::made::Fleet;
use serde_json::Value;

/// A program of this workspace, which `cargo build --workspace` has built.
pub(crate) fn program(name: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let folder = own.parent().and_then(Path::parent).unwrap();
    let program = folder.join(name).with_extension(std::env::consts::EXE_EXTENSION);
    assert!(program.exists(), "{}: cargo build --workspace makes it", program.display());
    program
}

/// A folder for a test, which is removed with all that is in it.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        // Numbered: another thread may still be removing the last one of this name.
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("fastmmd-fleet-{}-{number}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    /// The path of a file in it, as text.
    pub(crate) fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn text(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Deref for Scratch {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn tool(arguments: &[&str]) -> Output {
    Command::new(program("fastmmd-fleet")).args(arguments).output().unwrap()
}

pub(crate) fn generate(fleet: &Fleet, name: &str) -> Scratch {
    let folder = Scratch::new(name);
    let Fleet { devices, rows, odd, moved, seed } = *fleet;
    let numbers = [devices, rows, odd, moved].map(|number| number.to_string());
    let [devices, rows, odd, moved] = &numbers;
    let seed = seed.to_string();
    let sizes = ["--devices", devices, "--rows", rows, "--odd", odd, "--moved", moved];
    let made = tool(&[&["generate", folder.text(), "--seed", &seed][..], &sizes].concat());
    assert!(made.status.success(), "{}", said(&made).1);
    folder
}

/// Lines of JSON.
pub(crate) fn lines(output: &Output) -> Vec<Value> {
    let (text, complaint) = said(output);
    assert!(output.status.code() != Some(2), "{complaint}");
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

/// What it printed, and what it complained of.
pub(crate) fn said(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// Numbers of the devices that are listed.
pub(crate) fn listed(output: &Output) -> Vec<u32> {
    let lines = lines(output);
    let names = lines.iter().filter_map(|line| line["device"].as_str());
    names.map(|name| name.trim_start_matches("pump-").parse().unwrap()).collect()
}

/// What a process has used so far: ticks of processor time, and kilobytes at most.
pub(crate) fn used(process: &Child) -> (u64, u64) {
    let read = |file: &str| {
        std::fs::read_to_string(format!("/proc/{}/{file}", process.id())).unwrap_or_default()
    };
    let stat = read("stat");
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let field = |at: usize| fields.get(at).and_then(|x| x.parse::<u64>().ok()).unwrap_or(0);
    let status = read("status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    (field(11) + field(12), kilobytes.unwrap_or(0))
}

/// Waits for a process to end well, and says what it used.
pub(crate) fn watched(mut process: Child) -> (u64, u64) {
    let (mut ticks, mut kilobytes) = (0, 0);
    while process.try_wait().unwrap().is_none() {
        let now = used(&process);
        (ticks, kilobytes) = (ticks.max(now.0), kilobytes.max(now.1));
        std::thread::sleep(Duration::from_millis(5));
    }
    let code = process.wait().unwrap().code();
    assert!(code == Some(0) || code == Some(1), "{code:?}");
    (ticks, kilobytes)
}
