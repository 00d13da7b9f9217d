//! Several logs, quiet runs, statistics as CSV, rotation, completions and the manual.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use crate::common::{RARELY, directory, fastmmd, file, noise};
use serde_json::Value;

#[test]
fn several_logs_are_a_table() {
    let at = directory("plumbing-several");
    let healthy = file(&at, "healthy.csv", &noise(3000, 9999, 0.0, 2));
    let drifted = file(&at, "drifted.csv", &noise(3000, 2000, 4.0, 3));
    let broken = file(&at, "broken.csv", "");
    let ran = fastmmd(&["replay", &healthy, &drifted, RARELY]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines.len(), 3, "{}", ran.out);
    assert!(lines[0].starts_with("log ") && lines[0].ends_with("state"), "{}", ran.out);
    assert!(lines[1].contains("3000") && lines[1].ends_with("healthy"), "{}", ran.out);
    assert!(lines[2].contains("still different at the end: b, level"), "{}", ran.out);
    // The same as of one log alone.
    let alone = fastmmd(&["replay", &drifted, "--json", RARELY]);
    let all = fastmmd(&["replay", &healthy, &drifted, "--json", RARELY]).json();
    let mut told = all[1].clone();
    let object = told.as_object_mut().expect("an object");
    assert_eq!(object.remove("log"), Some(drifted.clone().into()));
    assert_eq!(object.remove("first_alarm"), Some(alone.alarm_rows()[0].into()));
    assert_eq!(Some(&told), alone.json().last());
    // A log that cannot be read does not stop the others.
    let ran = fastmmd(&["replay", &broken, &drifted, RARELY]);
    assert_eq!((ran.code, ran.err.as_str()), (2, "error: a log could not be watched\n"));
    assert!(
        ran.out.contains("error: the file is empty") && ran.out.contains("still"),
        "{}",
        ran.out
    );
    let refused = fastmmd(&["replay", &healthy, &drifted, "--follow"]);
    assert_eq!(refused.err, "error: --follow is for a single log\n");
}

#[test]
fn a_quiet_run_tells_by_its_exit_code() {
    let at = directory("plumbing-quiet");
    for (step, code) in [(9999, 0), (2000, 1)] {
        let log = file(&at, "log.csv", &noise(3000, step, 4.0, 2));
        let ran = fastmmd(&["replay", &log, "--quiet", RARELY]);
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (code, "", ""));
        let ran = fastmmd(&["replay", &log, &log, "-q", RARELY]);
        assert_eq!((ran.code, ran.out.as_str()), (code, ""));
    }
    assert_eq!(fastmmd(&["replay", "nowhere.csv", "-q"]).code, 2);
}

#[test]
fn statistics_are_written_as_csv() {
    let at = directory("plumbing-trace");
    let log = file(&at, "log.csv", &noise(3000, 2000, 4.0, 2));
    let trace = at.join("trace.csv").to_str().expect("UTF-8").to_owned();
    let ran = fastmmd(&["replay", &log, "--trace", &trace, "--json", RARELY]);
    let text = fs::read_to_string(&trace).expect("statistics");
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let names = "row,time,stage,leg,channel,window,statistic,threshold,ratio,alarm";
    assert_eq!((lines.len(), lines[0].join(",").as_str()), (3001, names));
    assert!(lines.iter().all(|line| line.len() == 10), "{text}");
    assert_eq!(&lines[1], &["0", "0", "learning", "", "", "", "", "", "", "0"]);
    let alarms: Vec<usize> = lines
        .iter()
        .filter(|line| line[9] == "1")
        .map(|line| line[0].parse().expect("a row"))
        .collect();
    assert_eq!(alarms, ran.alarm_rows());
    let ratio: f64 = lines[1 + alarms[0]][8].parse().expect("a number");
    let before: f64 = lines[1990][8].parse().expect("a number");
    assert!(ratio > 1.0 && before < 1.0, "{ratio} {before}");
    // It can be read again.
    assert_eq!(fastmmd(&["look", &trace]).code, 0);
    assert_eq!(fastmmd(&["replay", &log, "--trace", &log]).code, 2);
}

/// A log that is moved away and begun anew, or cut to nothing, is followed on.
#[test]
#[cfg(unix)]
fn rotated_logs_are_followed() {
    let at = directory("plumbing-rotated");
    let text = noise(4500, 4000, 8.0, 1);
    let lines: Vec<&str> = text.lines().collect();
    let log = file(&at, "log.csv", &(lines[..2001].join("\n") + "\n"));
    let mut child = Command::new(env!("CARGO_BIN_EXE_fastmmd"))
        .args(["replay", &log, "--follow", "--learn", "1000", "--json", RARELY])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let pause = || std::thread::sleep(std::time::Duration::from_millis(700));
    pause();
    fs::rename(&log, at.join("log.csv.1")).expect("moved");
    pause();
    // A new file of the name, with its header.
    fs::write(&log, [&lines[..1], &lines[2001..3001]].concat().join("\n") + "\n").expect("room");
    pause();
    // The same file from its beginning.
    let mut again = fs::OpenOptions::new().write(true).truncate(true).open(&log).expect("the log");
    pause();
    again.write_all((lines[3001..].join("\n") + "\n").as_bytes()).expect("room");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("an alarm");
    let alarm: Value = serde_json::from_str(&line).expect("JSON");
    assert!((4000..4020).contains(&alarm["row"].as_u64().expect("a row")), "{alarm}");
    child.kill().expect("it still follows");
    child.wait().expect("it ends");
}

/// Help is broken to the width of a page.
#[test]
fn help_fits_100_columns() {
    let commands = ["look", "replay", "tune", "export", "test", "independence", "device", "merge"];
    let all = commands.map(|command| fastmmd(&[command, "--help"]).out);
    for line in all.iter().flat_map(|out| out.lines()).chain(fastmmd(&["--help"]).out.lines()) {
        assert!(line.chars().count() <= 100, "{line}");
    }
    assert!(all[1].contains("--mtbfa"), "{}", all[1]);
}

/// A line that the rotation tore is one of its own, and the first of the new file another.
#[test]
#[cfg(unix)]
fn a_line_torn_by_rotation_is_not_joined() {
    let at = directory("plumbing-torn");
    let text = noise(2500, 2000, 8.0, 1);
    let lines: Vec<&str> = text.lines().collect();
    let log = file(&at, "log.csv", &(lines[..1501].join("\n") + "\n1500,0.1"));
    let mut child = Command::new(env!("CARGO_BIN_EXE_fastmmd"))
        .args(["replay", &log, "--follow", "--learn", "1000", "--json", "--skip-bad", "1", RARELY])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts");
    std::thread::sleep(std::time::Duration::from_millis(700));
    fs::rename(&log, at.join("log.csv.1")).expect("moved");
    fs::write(&log, lines[1501..].join("\n") + "\n").expect("room");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("an alarm");
    child.kill().expect("it still follows");
    child.wait().expect("it ends");
    let alarm: Value = serde_json::from_str(&line).expect("JSON");
    // The first line of the new file has the time 1500, and none is lost.
    let (row, time) = (alarm["row"].as_u64().expect("a row"), alarm["time"].as_f64());
    assert!((2000..2020).contains(&row), "{alarm}");
    assert_eq!(time.map(|time| time.to_string()), Some(row.to_string()), "{alarm}");
}

#[test]
fn completions_and_the_manual_know_every_command() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = fastmmd(&["completions", shell]);
        assert_eq!(ran.code, 0);
        for word in ["replay", "look", "skip-bad"] {
            assert!(ran.out.contains(word), "{shell} {word}");
        }
    }
    let ran = fastmmd(&["man"]);
    assert!(ran.code == 0 && ran.out.starts_with(".ie"), "{}", ran.out);
    assert!(ran.out.contains("fastmmd\\-replay"), "{}", ran.out);
    let ran = fastmmd(&["man", "replay"]);
    assert!(ran.out.contains(".TH fastmmd-replay 1"), "{}", ran.out);
    assert!(ran.out.contains("mean\\-time\\-between\\-false\\-alarms"), "{}", ran.out);
    assert!(ran.out.contains("\\-\\-mtbfa"), "{}", ran.out);
    assert_eq!(fastmmd(&["man", "fly"]).err, "error: no command \"fly\"\n");
}

/// Every line of the README on logs runs as it stands.
#[test]
#[cfg(unix)]
fn the_lines_of_the_readme_run() {
    let at = directory("plumbing-readme");
    let readme = include_str!("../../README.md");
    let part = readme.split("## On your own log").nth(1).expect("a part on logs");
    let block = part.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next());
    let lines: Vec<&str> = block.expect("commands").lines().collect();
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_fastmmd")).parent().expect("a folder");
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").expect("a path"));
    let mut ran = 0;
    for line in lines.into_iter().filter(|line| !line.starts_with("cargo install")) {
        let done =
            Command::new("sh").args(["-c", line]).env("PATH", &path).current_dir(&at).output();
        let done = done.expect("a shell");
        let code = done.status.code().expect("an exit code");
        assert!(code < 2, "{line} {}", String::from_utf8_lossy(&done.stderr));
        ran += usize::from(line.starts_with("fastmmd"));
    }
    assert!(ran >= 7, "{ran}");
    let all = ["drift.svg", "pump.csv", "pump.svg", "pump.html", "pump.toml", "reference.bin"];
    for made in all {
        assert!(at.join(made).is_file(), "{made}");
    }
}

/// However its path is spelled, a log is never written over.
#[test]
fn a_log_is_not_written_over() {
    let at = directory("plumbing-over");
    let rows = noise(3000, 9999, 0.0, 2);
    let log = file(&at, "log.csv", &rows);
    let same = at.join("../plumbing-over/./log.csv").display().to_string();
    for arguments in [
        vec!["replay", &log, "--trace", &same],
        vec!["replay", &log, "--state", &log],
        vec!["export", &log, "-o", &same],
        vec!["tune", &log, "--save", &same],
        vec!["reweight", &log, &log, "-o", &same],
    ] {
        let ran = fastmmd(&arguments);
        assert_eq!(ran.code, 2, "{arguments:?} {ran:?}");
        assert!(ran.err.contains("is read from: choose another file"), "{}", ran.err);
        assert_eq!(fs::read_to_string(&log).expect("the log"), rows);
    }
}
