//! Logs that grow while they are read, and interruptions.

#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};

use crate::common::{RARELY, directory, fed, file, noise};
use serde_json::{Value, json};

#[test]
fn a_growing_file_is_followed_until_interrupted() {
    let at = directory("replay-follow");
    let state = at.join("state.bin").to_str().expect("UTF-8").to_owned();
    let text = noise(4000, 3000, 6.0, 1);
    let lines: Vec<&str> = text.lines().collect();
    let log = file(&at, "log.csv", &(lines[..2500].join("\n") + "\n"));
    let mut child = Command::new(env!("CARGO_BIN_EXE_fastmmd"))
        .args(["replay", &log, "--follow", "--learn", "1000", "--json", RARELY])
        .args(["--state", &state])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut growing = fs::OpenOptions::new().append(true).open(&log).expect("the log");
    for piece in lines[2500..].chunks(300) {
        // A read may end anywhere in a row.
        let piece = piece.join("\n") + "\n";
        let (begin, end) = piece.split_at(piece.len() / 2);
        growing.write_all(begin.as_bytes()).expect("room");
        std::thread::sleep(std::time::Duration::from_millis(20));
        growing.write_all(end.as_bytes()).expect("room");
    }
    let mut line = String::new();
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    output.read_line(&mut line).expect("an alarm");
    let alarm: Value = serde_json::from_str(&line).expect("JSON");
    assert!((3000..3010).contains(&alarm["row"].as_u64().expect("a row")), "{alarm}");
    // An incomplete row is not used.
    growing.write_all(b"4000,0.1,0").expect("room");
    std::thread::sleep(std::time::Duration::from_millis(300));
    interrupt(&child);
    assert_eq!(child.wait().expect("it ends").code(), Some(1));
    let mut rest = String::new();
    output.read_to_string(&mut rest).expect("text");
    let last = rest.lines().last().unwrap_or_default();
    let summary: Value = serde_json::from_str(last).expect("a summary");
    assert_eq!((&summary["event"], &summary["rows"]), (&json!("summary"), &json!(4000)));
    assert!(fs::metadata(&state).is_ok_and(|about| about.len() > 1000));
}

/// Interrupts a process, as control-C does.
fn interrupt(child: &Child) {
    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-s", "INT", &pid]).status();
    assert!(sent.expect("the command kill").success());
}

/// An interruption while waiting for standard input saves the state, and the next run continues
/// from it.
#[test]
fn an_interruption_while_learning_loses_nothing() {
    let at = directory("replay-interrupted");
    let state = at.join("state.bin").to_str().expect("UTF-8").to_owned();
    let text = noise(4000, 3000, 6.0, 1);
    let lines: Vec<&str> = text.lines().collect();
    let options = ["replay", "-", "--learn", "1000", "--json", RARELY, "--state", &state];
    let mut child = Command::new(env!("CARGO_BIN_EXE_fastmmd"))
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all((lines[..501].join("\n") + "\n").as_bytes()).expect("it reads");
    std::thread::sleep(std::time::Duration::from_millis(500));
    interrupt(&child);
    let output = child.wait_with_output().expect("it ends");
    let summary: Value = serde_json::from_slice(&output.stdout).expect("a summary");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        (&summary["learned"], &summary["learning_rows_missing"]),
        (&json!(500), &json!(500))
    );
    let rest = [&lines[..1], &lines[501..]].concat().join("\n") + "\n";
    let resumed = fed(&options, &rest);
    let whole = fed(&options[..6], &text);
    let shifted: Vec<usize> = resumed.alarm_rows().iter().map(|row| row + 500).collect();
    assert_eq!(shifted, whole.alarm_rows());
    assert_eq!((resumed.code, shifted.is_empty()), (1, false));
}
