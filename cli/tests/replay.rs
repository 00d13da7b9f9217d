//! `replay` and `demo` on files, standard input and a growing file.

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};

use common::{RARELY, directory, fastmmd, fed, file, noise, peak_kilobytes};
use fastmmd_reference::generate::Generator;
use serde_json::{Value, json};

/// Checks that an object has these names.
fn has_names(object: &Value, names: &[&str]) {
    let given: Vec<&str> =
        object.as_object().expect("an object").keys().map(String::as_str).collect();
    for name in names {
        assert!(given.contains(name), "{name} is missing in {object}");
    }
}

#[test]
fn a_step_is_found_and_told_as_json() {
    let at = directory("replay-json");
    let log = file(&at, "log.csv", &noise(4000, 3000, 4.0, 1));
    let ran = fastmmd(&["replay", &log, "--json", RARELY]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let lines = ran.json();
    let (summary, alarms) = lines.split_last().expect("lines");
    let names =
        ["event", "row", "time", "since_row", "score", "threshold", "window", "channel", "change"];
    has_names(&alarms[0], &names);
    let first = &alarms[0];
    let row = first["row"].as_u64().expect("a row");
    assert!((3000..3010).contains(&row), "{first}");
    assert_eq!((&first["channel"], &first["channel_name"]), (&1.into(), &"b".into()));
    assert_eq!(first["time"].as_f64(), Some(f64::from(u32::try_from(row).unwrap())));
    assert!(first["score"].as_f64() > first["threshold"].as_f64());
    let names = ["event", "rows", "learned", "alarms", "sigma", "features", "ram_bytes"];
    has_names(summary, &names);
    assert_eq!((&summary["rows"], &summary["learned"]), (&4000.into(), &768.into()));
    assert_eq!(summary["alarms"], alarms.len());
    assert_eq!((summary["sigma"].as_f64(), &summary["features"]), (Some(16.0), &16.into()));
}

#[test]
fn exit_codes_tell_healthy_from_drift() {
    let at = directory("replay-codes");
    let healthy = file(&at, "healthy.csv", &noise(4000, 4000, 0.0, 2));
    let drifted = file(&at, "drifted.csv", &noise(4000, 3000, 4.0, 2));
    for view in ["raw", "delay", "innovation", "auto"] {
        for (log, code) in [(&healthy, 0), (&drifted, 1)] {
            let ran = fastmmd(&["replay", log, "--view", view, "--learn", "2000", RARELY]);
            assert_eq!(ran.code, code, "{view} {ran:?}");
        }
    }
    let ran = fastmmd(&["replay", &healthy, "--learn", "2000", RARELY]);
    assert!(ran.out.contains("healthy; 2000 rows watched, 2000 learned from"), "{}", ran.out);
    assert!(!ran.out.contains('\u{1b}') && ran.err.is_empty(), "{ran:?}");
    let ran = fastmmd(&["replay", &drifted, "--learn", "2000"]);
    assert!(ran.out.contains("alarm") && ran.out.contains(" b changed in "), "{}", ran.out);
}

#[test]
fn policies_differ_in_how_often_they_alarm() {
    let at = directory("replay-policies");
    let log = file(&at, "log.csv", &noise(6000, 3000, 4.0, 3));
    let alarms = |policy: &str| {
        let options = ["--view", "raw", "--on-alarm", policy, "--hold-off", "100", "--json"];
        fastmmd(&[&["replay", &log, "--learn", "2000"], &options[..]].concat()).alarms().len()
    };
    assert_eq!((alarms("latch"), alarms("once")), (1, 1));
    assert!(alarms("hold-off") >= 25, "{}", alarms("hold-off"));
    assert!((1..4).contains(&alarms("relearn")));
}

#[test]
fn standard_input_is_the_same_as_a_file() {
    let at = directory("replay-standard-input");
    let text = noise(4000, 3000, 4.0, 1);
    let log = file(&at, "log.csv", &text);
    let from_file = fastmmd(&["replay", &log, "--learn", "1000", "--json", RARELY]);
    let from_pipe = fed(&["replay", "-", "--learn", "1000", "--json", RARELY], &text);
    assert_eq!((from_file.code, &from_file.out), (from_pipe.code, &from_pipe.out));
    // Without a header, columns have numbers; semicolons and tabs are accepted too.
    let bare: String = text.lines().skip(1).map(|line| line.replace(',', ";") + "\n").collect();
    let ran =
        fed(&["replay", "-", "--learn", "1000", "--columns", "2,3,4", "--json", RARELY], &bare);
    assert_eq!(ran.alarm_rows(), from_file.alarm_rows());
    assert_eq!(ran.alarms()[0]["channel_name"], "3");
    assert_eq!(ran.alarms()[0]["time"], Value::Null);
}

#[test]
fn times_and_rates_count_as_rows() {
    let at = directory("replay-times");
    let text = noise(4000, 3000, 4.0, 1);
    let log = file(&at, "log.csv", &text);
    let by_rows = fastmmd(&["replay", &log, "--learn", "1200", "--json", RARELY]);
    // The time column is in seconds: one row per second.
    let by_time = fastmmd(&["replay", &log, "--learn", "20min", "--json", RARELY]);
    assert_eq!(by_rows.out, by_time.out);
    let stamped: String = text
        .lines()
        .skip(1)
        .zip(0..)
        .map(|(line, row): (&str, u32)| {
            let cells: Vec<&str> = line.split(',').collect();
            let (minute, second) = (row / 60, row % 60);
            let time = format!("2024-05-06 {:02}:{:02}:{second:02}", minute / 60, minute % 60);
            format!("{time},{}\n", cells[1..].join(","))
        })
        .collect();
    let stamped = file(&at, "stamped.csv", &format!("when,a,b,c\n{stamped}"));
    let ran = fastmmd(&["replay", &stamped, "--learn", "20min", "--json", RARELY]);
    assert_eq!(ran.alarm_rows(), by_rows.alarm_rows());
    assert!(ran.alarms()[0]["time"].as_str().expect("as it stands").starts_with("2024-05-06 00:5"));
    let rate = ["--time", "c", "--columns", "a,b", "--rate", "10", "--learn", "2min"];
    assert_eq!(fastmmd(&[&["replay", &log, "--json"], &rate[..]].concat()).code, 1);
}

#[test]
fn rows_left_out_do_not_shift_the_row_numbers() {
    let at = directory("replay-missing");
    let text = noise(4000, 3000, 6.0, 1);
    let gaps: String = text
        .lines()
        .enumerate()
        .map(|(line, text)| {
            let row = text.rsplit_once(',').expect("cells").0;
            if line > 1500 && line % 10 == 0 { format!("{row},\n") } else { format!("{text}\n") }
        })
        .collect();
    let log = file(&at, "gaps.csv", &gaps);
    let ran = fastmmd(&["replay", &log, "--learn", "1000", "--missing", "skip", "--json", RARELY]);
    let first = &ran.alarms()[0];
    let (row, since) = (first["row"].as_i64().unwrap(), first["since_row"].as_i64().unwrap());
    assert!((3000..3010).contains(&row) && (2990..=row).contains(&since), "{first}");
}

#[test]
fn a_state_is_resumed_where_it_was() {
    let at = directory("replay-state");
    let text = noise(4000, 3000, 4.0, 1);
    let lines: Vec<&str> = text.lines().collect();
    let part = |rows: std::ops::Range<usize>| {
        format!("{}\n{}\n", lines[0], lines[1 + rows.start..1 + rows.end].join("\n"))
    };
    let whole = file(&at, "whole.csv", &text);
    let (first, second) =
        (file(&at, "1.csv", &part(0..2500)), file(&at, "2.csv", &part(2500..4000)));
    let state = at.join("state.bin");
    let state = state.to_str().expect("UTF-8");
    let options = ["--learn", "1000", "--json", RARELY];
    let at_once = fastmmd(&[&["replay", &whole], &options[..]].concat());
    let begun = fastmmd(&[&["replay", &first, "--state", state], &options[..]].concat());
    assert_eq!(begun.code, 0, "{begun:?}");
    let resumed = fastmmd(&["replay", &second, "--state", state, "--json"]);
    let moved: Vec<usize> = resumed.alarm_rows().iter().map(|row| row + 2500).collect();
    assert_eq!(moved, at_once.alarm_rows());
    let (one, other) = (&at_once.alarms()[0], &resumed.alarms()[0]);
    assert_eq!((&one["score"], &one["threshold"]), (&other["score"], &other["threshold"]));
    assert_eq!(resumed.json().last().expect("a summary")["learned"], 0);
    let few = fastmmd(&["replay", &second, "--state", state, "--columns", "a"]);
    assert_eq!(few.err, format!("error: {state}: a detector of 3 channels; the log has 1\n"));
    fs::write(state, "rubbish").expect("a small file");
    let ran = fastmmd(&["replay", &second, "--state", state]);
    assert_eq!(ran.err, format!("error: {state}: the bytes are not a saved state\n"));
}

#[test]
#[cfg(unix)]
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
#[cfg(unix)]
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

#[test]
fn a_time_column_may_name_its_unit() {
    let at = directory("replay-units");
    let text = noise(3000, 2000, 6.0, 1);
    let rows = |heading: &str, step: usize| {
        let mut all = heading.to_owned();
        for (row, line) in text.lines().skip(1).enumerate() {
            let (_, values) = line.split_once(',').expect("columns");
            all.push_str(&format!("\n{},{values}", row * step));
        }
        all + "\n"
    };
    // 1000 rows at 100 per second.
    for (heading, step) in
        [("Time (s),a,b,c", 1), ("time [ms],a,b,c", 10), ("time_us,a,b,c", 10_000)]
    {
        let log = file(&at, "log.csv", &rows(heading, step));
        let learn = if step == 1 { "1000s" } else { "10s" };
        let ran = fastmmd(&["replay", &log, "--learn", learn, "--json", RARELY]);
        let last = ran.json().pop().expect("a summary");
        assert_eq!((ran.code, &last["learned"]), (1, &json!(1000)), "{heading} {ran:?}");
        assert_eq!(ran.alarms()[0]["channel_name"], "b");
    }
}

#[test]
fn lags_choose_the_view_of_vectors() {
    let at = directory("replay-lags");
    let log = file(&at, "log.csv", &noise(4000, 3000, 4.0, 1));
    let learn = ["replay", &log, "--learn", "1500", "--json", RARELY];
    for lags in ["2", "3", "5", "8"] {
        let auto = fastmmd(&[learn.as_slice(), &["--lags", lags]].concat());
        let delay = fastmmd(&[learn.as_slice(), &["--view", "delay", "--lags", lags]].concat());
        assert_eq!((auto.code, &auto.out), (1, &delay.out), "{auto:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn long_logs_take_no_more_memory() {
    /// Peak memory of a replay, in kilobytes.
    fn peak(log: &str) -> u64 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_fastmmd"))
            .args(["replay", log, "--json"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let mut most = 0;
        while child.try_wait().expect("a child").is_none() {
            most = most.max(peak_kilobytes(&child));
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        most
    }
    let at = directory("replay-memory");
    let text = noise(100_000, usize::MAX, 0.0, 1);
    let (_, rows) = text.split_once('\n').expect("a heading");
    let log = file(&at, "log.csv", &text);
    let short = peak(&log);
    for _ in 0..4 {
        let mut file = fs::OpenOptions::new().append(true).open(&log).expect("the log");
        file.write_all(rows.as_bytes()).expect("room");
    }
    let long = peak(&log);
    assert!(short > 1000 && long < 50_000, "{short} {long}");
    assert!(long < short + short / 4, "{short} {long}");
}

#[test]
fn pictures_have_their_parts() {
    let at = directory("replay-pictures");
    let log = file(&at, "log.csv", &noise(20_000, 15_000, 4.0, 1));
    let path = |name: &str| at.join(name).to_str().expect("UTF-8").to_owned();
    let (svg, png) = (path("plot.svg"), path("plot.png"));
    for picture in [&svg, &png] {
        assert_eq!(fastmmd(&["replay", &log, "--plot", picture]).code, 1);
    }
    let text = fs::read_to_string(&svg).expect("a picture");
    let parts = [
        "<svg",
        "\na\n",
        "\nb\n",
        "\nc\n",
        "threshold",
        "learning",
        "row",
        "alarm",
        "20000",
        "level",
    ];
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing");
    }
    // Signals, statistic and alarms are lines, whose number of points is limited.
    assert!(text.matches("<polyline").count() >= 5 && text.len() < 400_000, "{}", text.len());
    let image = fs::read(&png).expect("a picture");
    assert!(image.starts_with(b"\x89PNG\r\n\x1a\n") && image.len() > 10_000, "{}", image.len());
    let word = |at: usize| u32::from_be_bytes(image[at..at + 4].try_into().expect("four bytes"));
    assert_eq!(word(16), 1000);
    assert!((400..1000).contains(&word(20)));
    // The control: the plot of a healthy log has no alarm.
    let healthy = file(&at, "healthy.csv", &noise(20_000, 20_000, 0.0, 2));
    let calm = path("calm.svg");
    fastmmd(&["replay", &healthy, "--plot", &calm, RARELY]);
    let text = fs::read_to_string(&calm).expect("a picture");
    assert!(text.contains("no alarm") && !text.contains("level"));
}

#[test]
fn the_demo_finds_its_drifts() {
    let at = directory("replay-demo");
    let path = |name: &str| at.join(name).to_str().expect("UTF-8").to_owned();
    let (csv, svg) = (path("demo.csv"), path("demo.svg"));
    let ran = fastmmd(&["demo", "--json", "--csv", &csv, "--plot", &svg]);
    assert_eq!(ran.code, 1);
    let rows = ran.alarm_rows();
    let near = |from: usize| rows.iter().any(|row| (from..from + 60).contains(row));
    assert!(near(3500) && near(4800), "{rows:?}");
    assert!(rows.iter().all(|row| *row >= 3500), "{rows:?}");
    let again = fastmmd(&["replay", &csv, "--learn", "2000", "--json"]);
    assert_eq!(again.out, ran.out);
    assert!(fs::read_to_string(&svg).expect("a picture").contains("vibration (g)"));
    let ran = fastmmd(&["demo"]);
    assert!(ran.out.contains("A machine's log") && ran.out.contains("drift"), "{}", ran.out);
}

/// The picture in the README is the one that the command draws.
#[test]
fn the_picture_of_the_readme_is_up_to_date() {
    let at = directory("replay-readme");
    let svg = at.join("replay.svg");
    fastmmd(&["demo", "--plot", svg.to_str().expect("UTF-8")]);
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/replay.svg");
    let (drawn, kept) = (fs::read(&svg), fs::read(kept));
    assert!(
        drawn.expect("a picture") == kept.expect("the picture of the README"),
        "draw it again: cargo run -p fastmmd-cli -- demo --plot cli/replay.svg"
    );
}

/// Noise of many channels with a step in one of them from row `step` on.
fn wide(channels: usize, rows: usize, step: usize, moved: usize) -> String {
    let mut random = Generator::new(1);
    let names: Vec<String> = (0..channels).map(|channel| format!("c{channel}")).collect();
    let mut text = names.join(",") + "\n";
    for row in 0..rows {
        let cells = (0..channels).map(|channel| {
            let level = if row >= step && channel == moved { 8.0 } else { 0.0 };
            format!("{:.3}", level + random.normal())
        });
        text.push_str(&(cells.collect::<Vec<_>>().join(",") + "\n"));
    }
    text
}

#[test]
fn many_channels_are_watched() {
    let at = directory("replay-wide");
    let log = file(&at, "log.csv", &wide(40, 1600, 1400, 33));
    for view in ["innovation", "raw", "delay"] {
        let windows = ["--windows", "4,16,64", "--learn", "1200", "--json", RARELY];
        let ran = fastmmd(&[&["replay", &log, "--view", view], &windows[..]].concat());
        assert_eq!(ran.code, 1, "{view} {ran:?}");
        let first = &ran.alarms()[0];
        let row = first["row"].as_u64().expect("a row");
        assert!((1400..1440).contains(&row), "{view} {first}");
        assert_eq!(first["channel_name"], "c33", "{view} {first}");
    }
}

#[test]
fn any_number_of_windows_is_watched() {
    let at = directory("replay-windows");
    let log = file(&at, "log.csv", &noise(4000, 3000, 4.0, 1));
    for windows in ["8", "4,16", "2,4,8,16,32", "2,3,4,6,8,12,16,24,32,48,64,96"] {
        let ran =
            fastmmd(&["replay", &log, "--learn", "2500", "--windows", windows, "--json", RARELY]);
        assert_eq!(ran.code, 1, "{windows} {ran:?}");
        assert!((3000..3020).contains(&ran.alarm_rows()[0]), "{windows} {ran:?}");
        let summary = ran.json().pop().expect("a summary");
        assert_eq!(
            summary["windows"],
            serde_json::from_str::<Value>(&format!("[{windows}]")).unwrap()
        );
    }
}

#[test]
fn the_largest_shape_is_made_learned_and_saved() {
    let at = directory("replay-largest");
    let log = file(&at, "log.csv", &wide(256, 90, 90, 0));
    let state = at.join("state.bin").to_str().expect("UTF-8").to_owned();
    let shape = ["--view", "raw", "--lags", "2", "--features", "4096", "--windows", "2,4"];
    let rows = ["--scaling", "16", "--learn", "81", "--json", "--state", &state];
    let ran = fastmmd(&[&["replay", &log], &shape[..], &rows].concat());
    let summary = ran.json().pop().expect("a summary");
    assert!(ran.code < 2 && summary["features"] == 4096, "{ran:?}");
    let inspected = fastmmd(&["inspect", &state, "--json"]).json().swap_remove(0);
    assert_eq!((&inspected["channels"], &inspected["lags"]), (&json!(256), &json!(2)));
    assert_eq!((&inspected["stage"], &inspected["rows"]), (&json!("monitoring"), &json!(90)));
}

#[test]
fn vectors_may_have_many_rows() {
    let at = directory("replay-long");
    let log = file(&at, "log.csv", &noise(4000, 3500, 8.0, 1));
    let options = ["--lags", "64", "--features", "256", "--learn", "3000"];
    let ran = fastmmd(&[&["replay", &log, "--json", RARELY], &options[..]].concat());
    assert!(ran.code == 1 && ran.alarm_rows()[0] >= 3500, "{ran:?}");
}
