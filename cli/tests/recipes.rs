//! The recipes of the README for alarms elsewhere, as they stand, with the programs that they need.
#![cfg(unix)]

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{RARELY, directory, fastmmd, file, noise};

/// Where programs are; nothing if one is missing, which fails where everything should be installed.
fn programs<const N: usize>(names: [&str; N]) -> Option<[PathBuf; N]> {
    let path = std::env::var_os("PATH").expect("a path");
    // Brokers are among the programs of administrators, which not every path has.
    let more = ["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
    let folders: Vec<PathBuf> = std::env::split_paths(&path).chain(more).collect();
    let found = names.map(|name| {
        let file = folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file());
        file.unwrap_or_default()
    });
    let missing = names.iter().zip(&found).filter(|(_, file)| file.as_os_str().is_empty());
    let missing: Vec<_> = missing.map(|(name, _)| *name).collect();
    if missing.is_empty() {
        return Some(found);
    }
    let missing = missing.join(", ");
    assert!(std::env::var_os("CI").is_none(), "not run: {missing} missing");
    println!("skipped: {missing} missing");
    None
}

/// Runs a recipe in a folder, with the tool in its path.
fn shell(recipe: &str, at: &Path) {
    let folder = Path::new(env!("CARGO_BIN_EXE_fastmmd")).parent().expect("a folder");
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").expect("a path"));
    let done = Command::new("sh").args(["-c", recipe]).env("PATH", path).current_dir(at).output();
    let done = done.expect("a shell");
    let told = String::from_utf8_lossy(&done.stderr);
    // The tool's own end is not that of the pipe; nothing in it may complain.
    assert!(done.status.success() && !told.contains("rror"), "{recipe}\n{told}");
}

/// Ends the program when dropped.
struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        // Both fail only if it has already ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Alarms to a broker.
#[test]
fn alarms_reach_a_broker() {
    let Some([broker, _, subscriber]) = programs(["mosquitto", "mosquitto_pub", "mosquitto_sub"])
    else {
        return;
    };
    let recipe =
        "fastmmd replay pump.csv --follow --json | mosquitto_pub -h localhost -t pump/drift -l";
    assert!(include_str!("../README.md").contains(recipe));
    let at = directory("report-broker");
    let log = file(&at, "pump.csv", &noise(3000, 2000, 4.0, 3));
    let free = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port");
    let port = free.port().to_string();
    let settings = format!("listener {port} 127.0.0.1\nallow_anonymous true\n");
    let settings = file(&at, "mosquitto.conf", &settings);
    let quiet = |command: &mut Command| {
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Ends(command.spawn().expect("it starts"))
    };
    let _broker = quiet(Command::new(broker).args(["-c", &settings]));
    let begin = Instant::now();
    while TcpStream::connect(free).is_err() {
        assert!(begin.elapsed() < Duration::from_secs(20), "the broker does not answer");
        std::thread::sleep(Duration::from_millis(50));
    }
    let wanted = fastmmd(&["replay", &log, "--json", RARELY]);
    let count = wanted.json().len().to_string();
    // Subscribes and goes away: the broker keeps what comes.
    let listen = |more: &[&str]| {
        let place = ["-h", "localhost", "-p", &port, "-t", "pump/drift", "-q", "1"];
        let listener = ["-c", "-i", "listener", "-W", "20"];
        let done = Command::new(&subscriber).args(place).args(listener).args(more).output();
        String::from_utf8(done.expect("it starts").stdout).expect("UTF-8")
    };
    assert_eq!(listen(&["-E"]), "");
    // Without waiting for more rows, so that it ends.
    let recipe = recipe.replace("--follow", RARELY);
    let recipe = recipe.replace("-h localhost", &format!("-q 1 -h localhost -p {port}"));
    shell(&recipe, &at);
    assert_eq!(listen(&["-C", &count]), wanted.out);
    assert!(wanted.alarm_rows().len() == 1, "{}", wanted.out);
}

/// Counts for Prometheus: the recipe as it stands, over a log that is not followed, so that it ends.
#[test]
fn counts_reach_a_text_file_of_prometheus() {
    if programs(["jq"]).is_none() {
        return;
    }
    let readme = include_str!("../README.md");
    let recipe = readme.split("```sh\n").find(|part| part.contains("jq --unbuffered"));
    let recipe = recipe.and_then(|part| part.split("```").next()).expect("the recipe");
    let at = directory("recipes-prometheus");
    // Everything in a name that has a meaning of its own in a shell, in JSON or to Prometheus.
    let text = noise(3000, 2000, 4.0, 3);
    let text = text.replacen("time,a,b,c", r#"time,a;\n%,"b ""in"" C:\b","c $(x) ;""#, 1);
    let log = file(&at, "pump.csv", &text);
    // Often enough that a channel has more than one alarm.
    let often = "--mean-time-between-false-alarms 100";
    let wanted = fastmmd(&["replay", &log, "--json", "--mean-time-between-false-alarms", "100"]);
    shell(&recipe.replace("--follow", often), &at);
    let text = fs::read_to_string(at.join("fastmmd.prom")).expect("a file for Prometheus");
    let mut counts = std::collections::BTreeMap::new();
    for alarm in wanted.alarms() {
        *counts.entry(alarm["channel_name"].as_str().expect("a name").to_owned()).or_insert(0) += 1;
    }
    let line = |(name, count): (&String, &i32)| {
        let name = name.replace('\\', r"\\").replace('"', "\\\"");
        format!("fastmmd_alarms_total{{channel=\"{name}\"}} {count}")
    };
    let mut told: Vec<&str> = text.lines().collect();
    told.sort_unstable();
    let mut wanted: Vec<String> = counts.iter().map(line).collect();
    wanted.sort_unstable();
    assert_eq!(told, wanted);
    assert!(counts.len() == 3, "{counts:?}: not every name is tried");
    assert!(counts.values().any(|count| *count > 1), "{counts:?}: nothing is counted");
    assert!(!at.join("new.prom").exists(), "a file is there whole or not at all");
}
