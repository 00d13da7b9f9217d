//! Every kind of log that users bring: what `look` and `replay` say of it, and their exit codes.
//!
//! `kinds` and `unclear` make them.

mod kinds;
mod unclear;

use std::path::Path;

use crate::common::{RARELY, directory, fastmmd};
use kinds::*;
use unclear::{ambiguous, healthy};

fn write(at: &Path, kind: &Kind) -> String {
    let path = at.join(kind.name);
    std::fs::write(&path, &kind.bytes).expect("a small file");
    path.to_str().expect("UTF-8").to_owned()
}

fn says(out: &str, wanted: &[&str], name: &str) {
    for part in wanted {
        assert!(out.contains(part), "{name}: {part:?} is missing in\n{out}");
    }
}

/// The step is found, in the channel in which it is.
fn finds(path: &str, options: &[&str]) {
    let ran = fastmmd(&[&["replay", path, "--json", RARELY], options].concat());
    assert_eq!(ran.code, 1, "{path} {ran:?}");
    let first = &ran.alarms()[0];
    let row = first["row"].as_u64().expect("a row");
    assert!((STEP as u64..STEP as u64 + 100).contains(&row), "{path} {first}");
    let name = first["channel_name"].as_str().expect("a name");
    assert!(name.contains('b') || ["3", "4"].contains(&name), "{path} {first}");
    let summary = ran.json().pop().expect("a summary");
    let rows = summary["rows"].as_u64().expect("a number");
    assert!((ROWS as u64 - 1..=ROWS as u64).contains(&rows), "{path} {summary}");
}

fn refused(arguments: &[&str], why: &str) {
    let ran = fastmmd(arguments);
    assert_eq!(ran.code, 2, "{arguments:?} {ran:?}");
    assert_eq!(ran.err.lines().count(), 1, "{arguments:?} {}", ran.err);
    assert!(ran.err.contains(why), "{arguments:?} {}", ran.err);
    // Nothing is shown as bytes.
    assert!(ran.err.chars().all(|c| c == '\n' || !c.is_control()), "{:?}", ran.err);
}

fn check(folder: &str, kinds: &[Kind]) {
    let at = directory(folder);
    for kind in kinds {
        let path = write(&at, kind);
        let look = || fastmmd(&["look", &path]);
        let code = fastmmd(&["replay", &path]).code;
        assert_eq!(code, kind.code, "replay {}", kind.name);
        match kind.wanted {
            Healthy(said) => {
                let ran = look();
                assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", kind.name);
                says(&ran.out, said, kind.name);
                let ran = fastmmd(&["replay", &path, "--json"]);
                assert_eq!((ran.code, ran.alarms().len()), (0, 0), "{} {ran:?}", kind.name);
            }
            Read(said, options) => {
                let ran = look();
                assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", kind.name);
                says(&ran.out, said, kind.name);
                finds(&path, options);
                runs_its_command(&ran.out);
            }
            Refused(why) => {
                refused(&["look", &path], why);
                refused(&["replay", &path], why);
            }
            OnlyWith(why, said, options) => {
                let ran = look();
                assert_eq!(ran.code, 0, "{} {ran:?}", kind.name);
                says(&ran.out, said, kind.name);
                refused(&["replay", &path], why);
                finds(&path, options);
                runs_its_command(&ran.out);
            }
        }
    }
}

/// The last line of `look` is a command that finds the step.
fn runs_its_command(out: &str) {
    let line = out.lines().last().expect("a command");
    let mut words: Vec<&str> = line.split(' ').collect();
    assert_eq!(words.remove(0), "fastmmd", "{line}");
    let ran = fastmmd(&[words.as_slice(), &["--json"]].concat());
    assert_eq!(ran.code, 1, "{line} {ran:?}");
    assert!(
        ran.alarm_rows().iter().any(|row| (STEP..STEP + 100).contains(row)),
        "{line} {}",
        ran.out
    );
    let summary = ran.json().pop().expect("a summary");
    assert_eq!(summary["warning"], serde_json::Value::Null, "{line} {summary}");
    assert_eq!(summary["learned_over"], serde_json::json!([]), "{line} {summary}");
}

#[test]
fn logs_are_read_however_they_are_written() {
    check("logs-written", &written());
}

#[test]
fn logs_are_unpacked_or_named() {
    check("logs-formats", &formats());
}

#[test]
fn times_and_columns_are_told_apart() {
    check("logs-columns", &columns());
}

#[test]
fn dates_and_numbers_are_read_as_the_whole_log_says() {
    check("logs-ambiguous", &ambiguous());
}

#[test]
fn nothing_is_found_in_healthy_logs() {
    check("logs-healthy", &healthy());
}

/// The order of dates as it is given, and as a stream says it, which can be read once only.
#[test]
fn the_order_of_dates_can_be_given() {
    let at = directory("logs-dates");
    let look = |options: &[&str]| {
        let path = write(&at, &healthy().pop().expect("a kind"));
        fastmmd(&[&["look", path.as_str()], options].concat()).out
    };
    assert!(look(&[]).contains("(dates, day first (a guess: --dates))"), "{}", look(&[]));
    for (order, name) in [("dmy", "day"), ("mdy", "month")] {
        let out = look(&["--dates", order]);
        assert!(out.contains(&format!("(dates, {name} first): ")), "{out}");
        assert!(out.contains(&format!(" --dates {order} ")), "{out}");
    }
    // There is no such date.
    assert!(look(&["--dates", "ymd"]).contains("1300 times cannot be read"));
    assert_eq!(fastmmd(&["look", "-", "--dates", "ydm"]).code, 2);
    // From the day after, on which the day and the month are the same.
    let late = String::from_utf8(ambiguous().swap_remove(0).bytes).expect("text");
    let lines = late.lines().enumerate().filter(|(at, _)| !(1..=9).contains(at));
    let late: String = lines.map(|(_, line)| format!("{line}\n")).collect();
    let piped = crate::common::fed(&["look", "-"], &late);
    assert!(piped.out.contains("(dates, month first (a guess: --dates))"), "{}", piped.out);
    assert!(piped.out.contains("later dates say day first: --dates dmy"), "{}", piped.out);
    assert!(piped.out.contains("fastmmd replay - --dates dmy"), "{}", piped.out);
    // Every command that reads logs takes it.
    for command in ["look", "replay", "tune", "export", "test", "independence", "nystrom"] {
        let help = fastmmd(&[command, "--help"]).out;
        assert!(help.contains("--dates <ORDER>"), "{command} {help}");
    }
}

#[test]
fn what_counts_the_rows_is_not_watched() {
    check("logs-counted-rows", &counted());
    // Whoever names a column means it.
    let at = directory("logs-counter");
    let path = write(&at, counted().last().expect("a kind"));
    let look = fastmmd(&["look", &path, "--columns", "frame,b"]).out;
    assert!(look.contains("columns  2 watched of 4"), "{look}");
}

#[test]
fn labels_are_asked_for() {
    check("logs-labelled", &labelled());
    // The control: a valve that opens often is measured, and "default" is no fault.
    let at = directory("logs-valves");
    let mut text = "a,valve,default\n".to_owned();
    for (row, [a, ..]) in readings().into_iter().enumerate() {
        text.push_str(&format!("{a:.4},{},{}\n", row % 70 / 35, row % 90 / 45));
    }
    let look = fastmmd(&["look", &crate::common::file(&at, "log.csv", &text)]).out;
    assert!(!look.contains("a label?") && !look.contains("--exclude"), "{look}");
}

/// `replay` says of which columns `look` does that they look like labels.
#[test]
fn labels_are_said_alike() {
    let at = directory("logs-labels");
    let mut text = "a,anomaly,y,valve\n".to_owned();
    for (row, [a, ..]) in readings().into_iter().enumerate() {
        let (named, marked) = (u8::from(row % 900 > 850), u8::from(row >= 1500));
        text.push_str(&format!("{a:.4},{named},{marked},{}\n", row % 70 / 35));
    }
    let log = crate::common::file(&at, "log.csv", &text);
    let look = fastmmd(&["look", &log]).out;
    assert!(look.contains(" --exclude anomaly,y "), "{look}");
    let replay = fastmmd(&["replay", &log]).out;
    let told = |text: &str, name: &str| {
        text.contains(&format!("note: {name} is watched, and looks like a label: --exclude"))
    };
    for (name, label) in [("a", false), ("anomaly", true), ("y", true), ("valve", false)] {
        assert_eq!(told(&replay, name), label, "{name} in {replay}");
    }
    // Beside the JSON, which stays whole; nothing where nothing is wanted.
    let json = fastmmd(&["replay", &log, "--json"]);
    assert!(told(&json.err, "anomaly") && told(&json.err, "y"), "{json:?}");
    assert!(!json.json().is_empty());
    assert_eq!(fastmmd(&["replay", &log, "--quiet"]).err, "");
}

/// A channel that stood still is learned from up to where it moves.
#[test]
fn what_begins_to_move_is_found_where_it_does() {
    let at = directory("logs-moving");
    let mut text = "a,b\n".to_owned();
    for (row, [a, b, _]) in readings().into_iter().enumerate() {
        let b = if row < STEP { 24.7 } else { 24.7 + b };
        text.push_str(&format!("{a:.4},{b:.4}\n"));
    }
    let look = fastmmd(&["look", &crate::common::file(&at, "log.csv", &text), "--json"]);
    let look = look.json().swap_remove(0);
    let row = look["changes"][0]["row"].as_u64().expect("a change");
    assert!(row.abs_diff(STEP as u64) <= 64, "{look}");
    assert!(look["learn"].as_u64() > Some(1000), "{look}");
    runs_its_command(&format!("{}\n", look["command"].as_str().expect("a command")));
}

#[test]
fn lines_that_are_no_rows_are_left_out_by_choice() {
    check("logs-damaged", &damaged());
    let at = directory("logs-counted");
    let joined = damaged().swap_remove(0);
    let path = write(&at, &joined);
    // One fewer than there are.
    refused(
        &["replay", &path, "--skip-bad", "1"],
        "1 such lines are left out already (--skip-bad)",
    );
    let ran = fastmmd(&["replay", &path, "--skip-bad", "2"]);
    assert!(ran.out.contains("note: lines left out that are no rows: 2\n"), "{}", ran.out);
    let summary = fastmmd(&["replay", &path, "--skip-bad", "9", "--json"]).json().pop();
    assert_eq!(summary.expect("a summary")["bad_lines"], 2);
}

#[test]
fn there_are_more_than_thirty_kinds() {
    let kinds = [written(), formats(), columns(), counted(), labelled(), damaged()];
    let all = kinds.into_iter().chain([ambiguous(), healthy()]).flatten();
    let names: std::collections::BTreeSet<&str> = all.map(|kind| kind.name).collect();
    assert!(names.len() >= 30, "{names:?}");
}

/// A short log, and one whose first half holds the fault.
#[test]
fn learning_from_too_much_or_over_a_change_is_said() {
    let at = directory("logs-learning");
    let part = |rows: std::ops::Range<usize>| {
        let text = plain();
        let lines: Vec<&str> = text.lines().collect();
        format!("{}\n{}\n", lines[0], lines[1 + rows.start..1 + rows.end].join("\n"))
    };
    let short = crate::common::file(&at, "short.csv", &part(0..200));
    refused(&["replay", &short], "too few rows to learn from: 200 in all, 256 are needed");
    let look = fastmmd(&["look", &short]);
    assert!(
        look.code == 0 && look.out.contains("learn    too few rows: 512 are needed"),
        "{look:?}"
    );
    let few = crate::common::file(&at, "few.csv", &part(0..400));
    let ran = fastmmd(&["replay", &few]);
    assert!(
        ran.out.contains("note: more than half of the rows were learned from: 256 of 400"),
        "{}",
        ran.out
    );
    // 1000 rows, of which the default learns 500, and the fault begins at row 300.
    let faulty = crate::common::file(&at, "faulty.csv", &part(STEP - 300..STEP + 700));
    let ran = fastmmd(&["replay", &faulty]);
    assert!(
        ran.out.contains("note: b changed in level while learning, at about row "),
        "{}",
        ran.out
    );
    let look = fastmmd(&["look", &faulty]).out;
    assert!(
        look.contains("change   b: level differs by ") && look.contains("before what differs"),
        "{look}"
    );
    let words: Vec<&str> = look.lines().last().expect("a command").split(' ').skip(1).collect();
    let ran = fastmmd(&words);
    assert!(ran.code == 1 && !ran.out.contains("while learning"), "{}", ran.out);
    let last = ran.out.lines().last().expect("a line");
    assert!(last.starts_with("still different at the end: b, level, "), "{}", ran.out);
    assert!(last.contains(" times the threshold, since about row "), "{}", ran.out);
    // The control: an ordinary log is learned from without a note.
    let healthy = crate::common::file(&at, "healthy.csv", &part(0..STEP));
    let ran = fastmmd(&["replay", &healthy]);
    assert!(ran.code < 2 && !ran.out.contains("note"), "{}", ran.out);
}

/// Ordinary runs have no note, however many channels there are.
#[test]
fn twelve_healthy_channels_are_no_reason_for_a_note() {
    use fastmmd_reference::generate::Generator;
    let at = directory("logs-twelve");
    let mut random = Generator::new(12);
    let names: Vec<String> = (1..=12).map(|it| format!("ch{it}")).collect();
    let mut text = names.join(",") + "\n";
    for _ in 0..4000 {
        let cells: Vec<String> = (0..12).map(|_| format!("{:.4}", random.normal())).collect();
        text.push_str(&(cells.join(",") + "\n"));
    }
    let log = crate::common::file(&at, "log.csv", &text);
    let ran = fastmmd(&["replay", &log]);
    assert!(ran.code == 0 && !ran.out.contains("note"), "{ran:?}");
    let summary = fastmmd(&["replay", &log, "--json"]).json().pop().expect("a summary");
    let mute = summary["mute"].as_array().expect("statistics").len();
    let told: Vec<&str> = ran.out.lines().filter(|line| line.contains("cannot reach")).collect();
    assert!(mute > 0 && told.len() == 1, "{mute} {}", ran.out);
    assert!(told[0].starts_with(&format!("{mute} of ")), "{told:?}");
    assert!(summary["mute"][0]["leg"].is_string(), "{summary}");
}

#[test]
fn a_look_is_told_as_json() {
    let at = directory("logs-json");
    let path = crate::common::file(&at, "log.csv", &plain());
    let look = fastmmd(&["look", &path, "--json"]).json().swap_remove(0);
    assert_eq!((&look["event"], &look["rows"]), (&"look".into(), &ROWS.into()));
    assert_eq!((&look["time"]["rate"], &look["time"]["gaps"]), (&10.0.into(), &0.into()));
    let b = &look["columns"][2];
    assert_eq!((&b["name"], &b["watched"]), (&"b".into(), &true.into()));
    assert!(b["autocorrelation"].is_number() && look["learn"].is_number(), "{look}");
    assert_eq!(look["changes"][0]["channel_name"], "b");
    assert!(look["command"].as_str().is_some_and(|line| line.starts_with("fastmmd replay ")));
    // Everything is also read from standard input.
    let piped = crate::common::fed(&["look", "-", "--json"], &plain());
    assert_eq!(piped.json()[0]["rows"], ROWS);
}

#[test]
fn columns_and_delimiters_are_as_asked_for() {
    let at = directory("logs-asked");
    let path = crate::common::file(&at, "log.csv", &plain());
    let ran = fastmmd(&["replay", &path, "--exclude", "a,4", "--json", RARELY]);
    assert_eq!(ran.alarms()[0]["channel"], 0);
    refused(&["replay", &path, "--exclude", "d"], "no column \"d\"; its columns: time, a, b, c");
    refused(
        &["replay", &path, "--exclude", "a,b,c"],
        "no column of readings: time (the time), a (not asked for)",
    );
    refused(&["replay", &path, "--delimiter", ";"], "no column of readings");
    assert_eq!(fastmmd(&["replay", &path, "--delimiter", "wide"]).code, 2);
    assert_eq!(fastmmd(&["replay", &path, "--delimiter", "comma"]).code, 1);
}

/// A cycle is suggested where a detector that knows it is better, and not where it is worse.
#[test]
fn a_cycle_is_suggested_only_if_it_helps() {
    use fastmmd_reference::generate::Generator;
    let at = directory("logs-cycle");
    let demo = at.join("demo.csv").to_str().expect("UTF-8").to_owned();
    fastmmd(&["demo", "--csv", &demo, "--json"]);
    // The length of the cycle, rows in all, and its height in deviations of the noise.
    let cyclic = |name: &str, length: f64, rows: u32, height: f64| {
        let mut random = Generator::new(11);
        let mut text = "a,b\n".to_owned();
        for row in 0..rows {
            let cycle = height * (f64::from(row) * std::f64::consts::TAU / length).sin();
            let [a, b] = [cycle, 0.0].map(|level| level + random.normal());
            text.push_str(&format!("{a:.3},{b:.3}\n"));
        }
        crate::common::file(&at, name, &text)
    };
    let fast = cyclic("fast.csv", 1000.0, 20_000, 8.0);
    let slow = cyclic("slow.csv", 2000.0, 30_000, 5.0);
    for (log, suggested) in [(&demo, false), (&fast, true), (&slow, true)] {
        let look = fastmmd(&["look", log]);
        let line = look.out.lines().last().expect("a command");
        assert_eq!(line.contains(" --period "), suggested, "{}", look.out);
        assert_eq!(look.out.contains("no better with it"), !suggested, "{}", look.out);
        // With the other choice there are at least as many alarms.
        let words: Vec<&str> = line.split(' ').skip(1).collect();
        let json = fastmmd(&["look", log, "--json"]).json().swap_remove(0);
        let period = json["cycle"]["rows"].as_f64().expect("a cycle").round().to_string();
        let other = match words.iter().position(|word| *word == "--period") {
            Some(at) => [&words[..at], &words[at + 2..]].concat(),
            None => [words.as_slice(), &["--period", &period]].concat(),
        };
        let [own, other] = [words, other]
            .map(|words| fastmmd(&[words.as_slice(), &["--json"]].concat()).alarm_rows().len());
        assert!(own <= other, "{log}: {own} alarms, and {other} otherwise");
    }
}

/// Parquet is read, or named.
#[test]
fn parquet_is_read_with_the_feature_or_named() {
    let help = fastmmd(&["--help"]);
    assert_eq!(help.out.contains("Parquet"), cfg!(feature = "parquet"), "{}", help.out);
    let at = directory("logs-parquet");
    let path = at.join("table.parquet");
    #[cfg(not(feature = "parquet"))]
    {
        std::fs::write(&path, b"PAR1\x15\x04\x15\0PAR1").expect("a small file");
        let path = path.to_str().expect("UTF-8");
        refused(
            &["look", path],
            "Parquet; cargo install --path cli --features parquet reads it; or",
        );
        refused(
            &["replay", path],
            "Parquet; cargo install --path cli --features parquet reads it; or",
        );
    }
    #[cfg(feature = "parquet")]
    {
        for unit in ["TIMESTAMP_MILLIS", "TIMESTAMP_MICROS"] {
            parquet_file(&path, unit);
            let path = path.to_str().expect("UTF-8");
            let look = fastmmd(&["look", path]);
            let said = [
                "Parquet\nrows     3000\ntime     at (dates): 10 per second, 5 min",
                "columns  4 watched of 6",
                ", 300 missing",
                "state  left out: text",
            ];
            says(&look.out, &said, unit);
            // Integers are read as they are.
            let json = fastmmd(&["look", path, "--json"]).json().swap_remove(0);
            let count = &json["columns"][4];
            assert_eq!(
                (&count["name"], &count["least"], &count["largest"]),
                (&"count".into(), &(-6.0).into(), &6.0.into()),
                "{count}"
            );
            finds(path, &[]);
        }
    }
}

/// A file of two groups of rows, with integers, nulls, text, and times in a unit.
#[cfg(feature = "parquet")]
fn parquet_file(path: &Path, unit: &str) {
    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    let schema = format!(
        "message log {{ required int64 at ({unit}); optional double a; required double b; \
         required double c; required int32 count; required binary state (UTF8); }}"
    );
    let schema = parquet::schema::parser::parse_message_type(&schema).expect("a schema");
    let compression = parquet::basic::Compression::SNAPPY;
    let properties = WriterProperties::builder().set_compression(compression).build();
    let file = std::fs::File::create(path).expect("a file");
    let mut writer = SerializedFileWriter::new(file, schema.into(), properties.into()).expect("it");
    let second = if unit == "TIMESTAMP_MILLIS" { 1000 } else { 1_000_000 };
    let all: Vec<(usize, [f64; 3])> = readings().into_iter().enumerate().collect();
    for rows in all.chunks(ROWS / 2) {
        let mut group = writer.next_row_group().expect("a group");
        for column in 0..6 {
            let mut to = group.next_column().expect("a column").expect("a column");
            let written = match column {
                0 => {
                    let begin = 1_715_000_000 * second;
                    let at = |row: usize| begin + second / 10 * i64::try_from(row).expect("few");
                    let times: Vec<i64> = rows.iter().map(|(row, _)| at(*row)).collect();
                    to.typed::<Int64Type>().write_batch(&times, None, None)
                }
                1 => {
                    let there: Vec<i16> =
                        rows.iter().map(|(row, _)| i16::from(row % 10 != 3)).collect();
                    let values: Vec<f64> = rows
                        .iter()
                        .filter(|(row, _)| row % 10 != 3)
                        .map(|(_, values)| values[0])
                        .collect();
                    to.typed::<DoubleType>().write_batch(&values, Some(&there), None)
                }
                2 | 3 => {
                    let values: Vec<f64> =
                        rows.iter().map(|(_, values)| values[column - 1]).collect();
                    to.typed::<DoubleType>().write_batch(&values, None, None)
                }
                4 => {
                    // The third channel in halves.
                    let above = |value: f64| {
                        let step = |step| i32::from(2.0 * (value - 20.0) > f64::from(step));
                        (-6..6).map(step).sum::<i32>() - 6
                    };
                    let counts: Vec<i32> = rows.iter().map(|(_, row)| above(row[2])).collect();
                    to.typed::<Int32Type>().write_batch(&counts, None, None)
                }
                _ => {
                    let states = vec![ByteArray::from("on"); rows.len()];
                    to.typed::<ByteArrayType>().write_batch(&states, None, None)
                }
            };
            written.expect("room");
            to.close().expect("written");
        }
        group.close().expect("written");
    }
    writer.close().expect("written");
}
