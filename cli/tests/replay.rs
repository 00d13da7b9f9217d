//! `replay` and `demo` on files and standard input.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::common::{RARELY, directory, fastmmd, fed, file, noise, peak_kilobytes};
use fastmmd::{Config, Detector, Fourier, Verdict};
use fastmmd_reference::generate::Generator;
use fastmmd_reference::tolerance;
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
    let log = file(&at, "log.csv", &noise(4000, 3000, 4.0, 2));
    let ran = fastmmd(&["replay", &log, "--json", RARELY]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let lines = ran.json();
    let (summary, alarms) = lines.split_last().expect("lines");
    let names = ["event", "row", "time", "since_row", "score", "threshold", "window", "channel"];
    has_names(&alarms[0], &[names.as_slice(), &["change", "leg", "amended"]].concat());
    let first = &alarms[0];
    let row = first["row"].as_u64().expect("a row");
    assert!((3000..3020).contains(&row), "{first}");
    assert_eq!((&first["channel"], &first["channel_name"]), (&1.into(), &"b".into()));
    assert_eq!(first["time"].as_f64(), Some(f64::from(u32::try_from(row).unwrap())));
    assert!(first["score"].as_f64() > first["threshold"].as_f64());
    let names = ["event", "rows", "learned", "alarms", "open", "channels", "mute", "features"];
    has_names(summary, &[names.as_slice(), &["ram_bytes", "supported_mean_time"]].concat());
    assert_eq!((&summary["rows"], &summary["learned"]), (&4000.into(), &768.into()));
    assert_eq!(summary["alarms"], ran.alarms().len());
    let open = summary["open"].as_array().expect("what differs still");
    let level = open.iter().find(|open| open["leg"] == "level").expect("the level");
    tolerance::TOOL_SIZE.hold("level", level["size"].as_f64().expect("deviations"), 4.0);
    assert_eq!(level["channel_name"], "b");
    let b = &summary["channels"][1];
    has_names(b, &["name", "level", "deviation", "ties", "missing", "steadiness"]);
    tolerance::TOOL_DEVIATION.hold("b", b["deviation"].as_f64().expect("a number"), 1.0);
}

/// A ramp is amended: more rows tell better since when.
#[test]
fn what_is_amended_is_said_again() {
    let at = directory("replay-amended");
    let text = noise(8000, 9000, 0.0, 5);
    let ramped = text.lines().enumerate().map(|(line, text)| {
        let cells: Vec<&str> = text.split(',').collect();
        let rise = 0.002 * fastmmd_reference::real(line.saturating_sub(6000));
        match cells[2].parse::<f64>() {
            Ok(b) => format!("{},{},{:.4},{}\n", cells[0], cells[1], b + rise, cells[3]),
            Err(_) => format!("{text}\n"),
        }
    });
    let log = file(&at, "log.csv", &ramped.collect::<String>());
    let ran = fastmmd(&["replay", &log, "--learn", "4096", "--json"]);
    let lines = ran.json();
    let amended: Vec<&Value> = lines.iter().filter(|line| line["amended"] == true).collect();
    assert!(!amended.is_empty(), "{}", ran.out);
    // An alarm that was followed by another is said again even if it is as before.
    let mut others = 0;
    for line in amended {
        assert_eq!(line["event"], "amended");
        let same = |other: &&Value| other["row"] == line["row"] && other["event"] == "alarm";
        let alarm = lines.iter().find(same).expect("an alarm of the same row");
        assert_eq!((&alarm["amended"], &alarm["time"]), (&json!(false), &line["time"]));
        let said = |line: &Value| {
            [&line["channel"], &line["change"], &line["since_row"]].map(Value::clone)
        };
        others += usize::from(said(alarm) != said(line));
    }
    assert!(others > 0, "{}", ran.out);
    let text = fastmmd(&["replay", &log, "--learn", "4096"]).out;
    assert!(text.contains("\namended row "), "{text}");
    let last = "still different at the end: b, level, ";
    assert!(text.contains(last) && text.contains(" the threshold, since about row 6"), "{text}");
}

/// An ordinary run has no warning; a promise that learning does not support has one.
#[test]
fn the_promise_follows_from_the_rows_learned() {
    let at = directory("replay-promise");
    let log = file(&at, "log.csv", &noise(3000, 3000, 0.0, 6));
    for (learn, promise) in [("256", 250.0), ("768", 1400.0), ("2048", 10_000.0)] {
        let summary = fastmmd(&["replay", &log, "--learn", learn, "--json"]).json().pop();
        let summary = summary.expect("a summary");
        assert_eq!(summary["mean_time_between_false_alarms"], promise);
        assert_eq!(summary["warning"], Value::Null);
    }
    let ran = fastmmd(&["replay", &log, "--learn", "768", "--mtbfa", "10000"]);
    assert!(ran.out.contains("note: the promised time between false alarms"), "{}", ran.out);
    assert!(ran.out.contains("promised: one false alarm in 10000 rows"), "{}", ran.out);
}

/// A cycle with noise, whose level rises from row `rise` on by 0.001 deviations of the noise a row.
fn cyclic(rows: usize, rise: usize) -> String {
    let mut random = Generator::new(3);
    let mut text = "time,a\n".to_owned();
    for row in 0..rows {
        let turn = fastmmd_reference::real(row) * std::f64::consts::TAU / 300.0;
        let risen = 0.002 * fastmmd_reference::real(row.saturating_sub(rise));
        text.push_str(&format!("{row},{:.4}\n", 10.0 * turn.sin() + risen + random.normal()));
    }
    text
}

#[test]
fn a_cycle_is_no_drift_and_a_slow_rise_under_it_is() {
    let at = directory("replay-cycle");
    let rising = file(&at, "rising.csv", &cyclic(12_000, 8000));
    let period = ["--period", "300", "--learn", "4800", "--json"];
    let ran = fastmmd(&[&["replay", &rising], &period[..]].concat());
    let first = &ran.alarms()[0];
    assert!((8000..9500).contains(&first["row"].as_u64().expect("a row")), "{first}");
    assert_eq!((&first["change"], ran.code), (&json!("level"), 1));
    // The same as a time, and by default eight cycles are learned from.
    let timed = ["--period", "5min", "--learn", "80min", "--json"];
    assert_eq!(fastmmd(&[&["replay", &rising], &timed[..]].concat()).out, ran.out);
    let summary = fastmmd(&["replay", &rising, "--period", "300", "--json"]).json().pop();
    let summary = summary.expect("a summary");
    assert_eq!((&summary["learned"], &summary["period"]), (&json!(2400), &json!(300.0)));
    // A saved state goes on with its profile.
    let state = at.join("state.bin").to_str().expect("UTF-8").to_owned();
    let lines: Vec<String> = cyclic(12_000, 8000).lines().map(str::to_owned).collect();
    let [begin, rest] = [&lines[1..6001], &lines[6001..]]
        .map(|part| format!("{}\n{}\n", lines[0], part.join("\n")));
    let [begin, rest] =
        [("1.csv", begin), ("2.csv", rest)].map(|(name, text)| file(&at, name, &text));
    fastmmd(&[&["replay", &begin, "--state", &state], &period[..]].concat());
    let resumed = fastmmd(&["replay", &rest, "--state", &state, "--json"]);
    let moved: Vec<usize> = resumed.alarm_rows().iter().map(|row| row + 6000).collect();
    assert_eq!(moved, ran.alarm_rows());
}

#[test]
fn a_drift_that_lasts_is_learned_if_asked_for() {
    let at = directory("replay-relearn");
    let log = file(&at, "log.csv", &noise(8000, 3000, 4.0, 3));
    let options = ["--learn", "1000", "--relearn-after", "500", "--json", RARELY];
    let ran = fastmmd(&[&["replay", &log], &options[..]].concat());
    let lines = ran.json();
    let anew = lines.iter().find(|line| line["event"] == "relearning").expect("it is said");
    assert!((3500..3520).contains(&anew["row"].as_u64().expect("a row")), "{anew}");
    let summary = lines.last().expect("a summary");
    assert_eq!((&summary["learned"], &summary["open"]), (&json!(2000), &json!([])));
    let kept = fastmmd(&["replay", &log, "--learn", "1000", RARELY]).out;
    assert!(kept.contains("still different at the end: b, level, "), "{kept}");
}

/// A reading that does not come costs its channel's evidence, not the row.
#[test]
fn missing_readings_are_counted_and_told() {
    let at = directory("replay-readings");
    let text = noise(4000, 9999, 0.0, 7);
    let without = |from: usize, every: usize| -> String {
        let line = |(line, text): (usize, &str)| {
            let row = text.rsplit_once(',').expect("cells").0;
            let gone = line > from && line % every == 0;
            if gone { format!("{row},NA\n") } else { format!("{text}\n") }
        };
        text.lines().enumerate().map(line).collect()
    };
    let some = file(&at, "some.csv", &without(0, 10));
    let ran = fastmmd(&["replay", &some, "--learn", "1000", "--json", RARELY]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let summary = ran.json().pop().expect("a summary");
    assert_eq!((&summary["missing_readings"], &summary["learned"]), (&json!(400), &json!(1000)));
    assert_eq!(summary["channels"][2]["missing"], 0.1);
    let told = fastmmd(&["replay", &some, "--learn", "1000", RARELY]).out;
    assert!(told.contains("note: c: 10 % of the learning rows had no reading"), "{told}");
    let gone = file(&at, "gone.csv", &without(3000, 1));
    let ran = fastmmd(&["replay", &gone, "--learn", "1000", "--json", RARELY]);
    let first = &ran.alarms()[0];
    assert_eq!((&first["change"], &first["channel_name"]), (&json!("missing"), &json!("c")));
    assert!((3000..3040).contains(&first["row"].as_u64().expect("a row")), "{first}");
}

/// In a long log false alarms are to be expected; in a short one any alarm is drift, also if it is over.
#[test]
fn promised_false_alarms_are_no_drift() {
    let at = directory("replay-promised");
    let short = ["--learn", "2000", "--json"];
    let often = ["--learn", "2000", "--mtbfa", "1000", "--json"];
    let healthy = file(&at, "long.csv", &noise(40_000, 40_000, 0.0, 3));
    let ran = fastmmd(&[&["replay", &healthy], &often[..]].concat());
    let summary = ran.json().pop().expect("a summary");
    assert!(ran.code == 0 && summary["drift"] == false, "{summary}");
    assert!(summary["alarms"].as_u64() > Some(3) && summary["promised_false_alarms"] == 38.0);
    let said = fastmmd(&[&["replay", &healthy], &often[..4]].concat()).out;
    let told = format!("healthy: {} alarms, where about 38 false ones", summary["alarms"]);
    assert!(said.contains(&told), "{said}");
    // The same with a step at its end.
    let stepped = file(&at, "stepped.csv", &noise(40_000, 39_000, 4.0, 3));
    assert_eq!(fastmmd(&[&["replay", &stepped], &often[..]].concat()).code, 1);
    // Something that passes.
    let [calm, moved] = [4000, 0].map(|step| noise(4000, step, 6.0, 3));
    let rows = calm.lines().zip(moved.lines()).enumerate();
    let lines =
        rows.map(|(at, (calm, moved))| if (3000..3100).contains(&at) { moved } else { calm });
    let passing = file(&at, "passing.csv", &lines.collect::<Vec<_>>().join("\n"));
    let ran = fastmmd(&[&["replay", &passing], &short[..]].concat());
    let summary = ran.json().pop().expect("a summary");
    assert!(ran.code == 1 && summary["open"] == json!([]), "{summary}");
}

#[test]
fn exit_codes_tell_healthy_from_drift() {
    let at = directory("replay-codes");
    let healthy = file(&at, "healthy.csv", &noise(4000, 4000, 0.0, 2));
    let drifted = file(&at, "drifted.csv", &noise(4000, 3000, 4.0, 2));
    for (log, code) in [(&healthy, 0), (&drifted, 1)] {
        let ran = fastmmd(&["replay", log, "--learn", "2000", RARELY]);
        assert_eq!(ran.code, code, "{ran:?}");
    }
    let ran = fastmmd(&["replay", &healthy, "--learn", "2000", RARELY]);
    assert!(ran.out.contains("healthy; 2000 rows watched, 2000 learned from"), "{}", ran.out);
    assert!(!ran.out.contains('\u{1b}') && ran.err.is_empty(), "{ran:?}");
    let ran = fastmmd(&["replay", &drifted, "--learn", "2000"]);
    assert!(ran.out.contains("alarm") && ran.out.contains(" b changed in "), "{}", ran.out);
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
    assert!((3000..3010).contains(&row) && (2980..=row).contains(&since), "{first}");
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
#[cfg(target_os = "linux")]
fn long_logs_take_no_more_memory() {
    /// Peak memory of a command, in kilobytes.
    fn peak(command: &str, log: &str) -> u64 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_fastmmd"))
            .args([command, log, "--json"])
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
    let short = ["replay", "look"].map(|command| peak(command, &log));
    for _ in 0..4 {
        let mut file = fs::OpenOptions::new().append(true).open(&log).expect("the log");
        file.write_all(rows.as_bytes()).expect("room");
    }
    for (short, command) in short.into_iter().zip(["replay", "look"]) {
        let long = peak(command, &log);
        assert!(short > 1000 && long < 50_000, "{command} {short} {long}");
        assert!(long < short + short / 4, "{command} {short} {long}");
    }
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
        "\ntime\n",
        " h\n",
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
    // The rise of temperature is a drift that stays one.
    let summary = ran.json().pop().expect("a summary");
    let open = summary["open"].as_array().expect("what differs still");
    let warm = |open: &&Value| open["channel_name"] == "temperature (°C)" && open["leg"] == "level";
    let warm = open.iter().find(warm).expect("the level of the temperature");
    assert!(warm["size"].as_f64() > Some(5.0), "{warm}");
    let last = "still different at the end: temperature (°C), level, ";
    assert!(fastmmd(&["demo"]).out.contains(last));
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

/// The map that the tool draws by default, for 40 channels.
static FORTY: Fourier<40, 32> = Fourier::additive(1);

#[test]
fn many_channels_are_watched() {
    let at = directory("replay-wide");
    let text = wide(40, 1600, 1400, 33);
    let log = file(&at, "log.csv", &text);
    let picture = at.join("plot.svg").to_str().expect("UTF-8").to_owned();
    let ran = fastmmd(&["replay", &log, "--learn", "1200", "--json", RARELY, "--plot", &picture]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let first = &ran.alarms()[0];
    assert!((1400..1440).contains(&first["row"].as_u64().expect("a row")), "{first}");
    assert_eq!(first["channel_name"], "c33", "{first}");
    // The same alarms as of a detector whose shape is in its type.
    let config = Config { learning_rows: 1200, ..Config::rows(1e8) };
    let mut compiled = Box::new(Detector::new(&FORTY, config).expect("in range"));
    let rows = text.lines().skip(1).map(|line| {
        let cells: Vec<f32> = line.split(',').map(|cell| cell.parse().expect("a number")).collect();
        <[f32; 40]>::try_from(cells).expect("40 cells")
    });
    let verdicts: Vec<Verdict> = rows.map(|row| compiled.push(&row).expect("finite")).collect();
    let alarms = verdicts.iter().filter_map(|verdict| match verdict {
        Verdict::Alarm(alarm) => Some(*alarm),
        Verdict::Learning { .. } | Verdict::Healthy | Verdict::Drifting | Verdict::Amended(_) => {
            None
        }
    });
    let told = ran.alarms().into_iter().map(|alarm| {
        let number = |name: &str| alarm[name].as_u64().expect("a number");
        let score = fastmmd_reference::single(alarm["score"].as_f64().expect("a number"));
        (number("row"), number("since_row"), number("channel"), score.to_bits())
    });
    let compiled = alarms
        .map(|alarm| (alarm.row, alarm.since, alarm.channel as u64, alarm.score.to_bits()))
        .collect::<Vec<_>>();
    assert_eq!(told.collect::<Vec<_>>(), compiled);
    // Of all channels that one is drawn.
    let text = fs::read_to_string(&picture).expect("a picture");
    assert!(text.contains("\nc33\n") && text.contains("32 channels not shown"));
}

#[test]
fn the_largest_shape_is_made_learned_and_saved() {
    let at = directory("replay-largest");
    let log = file(&at, "log.csv", &wide(256, 300, 300, 0));
    let state = at.join("state.bin").to_str().expect("UTF-8").to_owned();
    let shape = ["--features", "4096", "--learn", "256", "--json", "--state", &state];
    let ran = fastmmd(&[&["replay", &log], &shape[..]].concat());
    let summary = ran.json().pop().expect("a summary");
    assert!(ran.code < 2 && summary["features"] == 4096, "{ran:?}");
    let inspected = fastmmd(&["inspect", &state, "--json"]).json().swap_remove(0);
    assert_eq!((&inspected["channels"], &inspected["rows"]), (&json!(256), &json!(300)));
}
