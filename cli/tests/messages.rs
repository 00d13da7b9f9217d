//! Every message about bad input: one line, with file, row and column, and exit code 2.

use crate::common::{RARELY, directory, fastmmd, fed, file, noise};
use fastmmd::features::sampling::QUASI_MAX_INPUTS;
use fastmmd::monitor::LEARNING_ROWS;
use fastmmd::{Config, MapKind, Profile, Sampling};

/// The line that a command ends with; nothing else may be printed.
fn refused(arguments: &[&str]) -> String {
    let ran = fastmmd(arguments);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.ends_with('\n') && ran.err.lines().count() == 1, "{}", ran.err);
    let line = ran.err.trim_end().strip_prefix("error: ").expect("an error").to_owned();
    assert!(!line.contains('\u{1b}'), "no colours in a pipe");
    line
}

#[test]
fn files_that_are_not_there_or_hold_nothing() {
    let at = directory("messages-files");
    let missing = at.join("none.csv");
    let missing = missing.to_str().expect("UTF-8");
    assert_eq!(refused(&["replay", missing]), format!("{missing}: no such file or directory"));
    assert_eq!(
        refused(&["test", missing, missing]),
        format!("{missing}: no such file or directory")
    );
    assert_eq!(refused(&["inspect", missing]), format!("{missing}: no such file or directory"));
    let empty = file(&at, "empty.csv", "");
    assert_eq!(refused(&["replay", &empty]), format!("{empty}: the file is empty"));
    let header = file(&at, "header.csv", "time,a,b\n");
    assert_eq!(refused(&["replay", &header]), format!("{header}: a header and no rows"));
    let folder = at.to_str().expect("UTF-8");
    assert_eq!(refused(&["replay", folder]), format!("{folder}: is a directory"));
    assert_eq!(fed(&["replay", "-"], "").err, "error: standard input: the file is empty\n");
}

/// A log of 2,000 rows with one line replaced.
fn with_line(at: &std::path::Path, name: &str, row: usize, line: &str) -> String {
    let text = noise(2000, 2000, 0.0, 1);
    let mut lines: Vec<&str> = text.lines().collect();
    lines[row + 1] = line;
    file(at, name, &(lines.join("\n") + "\n"))
}

#[test]
fn cells_that_are_no_numbers() {
    let at = directory("messages-cells");
    let text = with_line(&at, "text.csv", 17, "17,1.0,abc,2.0");
    assert_eq!(
        refused(&["replay", &text]),
        format!(
            "{text}: row 17, column \"b\" (line 19): \"abc\" is not a number; choose others with \
             --columns, or leave such lines out with --skip-bad N"
        )
    );
    for (name, line, what) in [
        ("empty-cell.csv", "900,1.0,,2.0", "empty"),
        ("nan.csv", "900,1.0,NaN,2.0", "\"NaN\""),
        ("inf.csv", "900,1.0,-inf,2.0", "\"-inf\""),
    ] {
        let path = with_line(&at, name, 900, line);
        let place = format!("{path}: row 900, column \"b\" (line 902)");
        let wanted = format!("{place}: {what}; --missing skip leaves such rows out");
        let error = ["--missing", "error"];
        assert_eq!(refused(&[&["replay", &path], &error[..]].concat()), wanted);
        assert_eq!(refused(&["test", &path, &path]), wanted);
        assert_eq!(refused(&[&["export", &path, "-o", "/dev/null"], &error[..]].concat()), wanted);
        assert_eq!(refused(&[&["tune", &path], &error[..]].concat()), wanted);
        let skipped = fastmmd(&["replay", &path, "--missing", "skip", "--json", RARELY]);
        assert_eq!(skipped.code, 0, "{skipped:?}");
        let summary = &skipped.json()[0];
        assert_eq!((&summary["rows"], &summary["skipped"]), (&2000.into(), &1.into()));
        let missing = fastmmd(&["replay", &path, "--json", RARELY]);
        let summary = &missing.json()[0];
        assert_eq!((&summary["skipped"], &summary["missing_readings"]), (&0.into(), &1.into()));
        let told = fastmmd(&["replay", &path, RARELY]).out;
        assert!(told.contains("note: readings missing: 1\n"), "{told}");
    }
    // A two-sample test needs whole rows.
    let path = at.join("nan.csv").to_str().expect("UTF-8").to_owned();
    assert_eq!(fastmmd(&["test", &path, &path, "--missing", "reading"]).code, 2);
    assert_eq!(fastmmd(&["test", &path, &path, "--missing", "skip"]).code, 0);
    let ragged = with_line(&at, "ragged.csv", 3, "3,1.0,2.0");
    let wanted = format!(
        "{ragged}: row 3 (line 5): 3 cells instead of 4; --skip-bad N leaves up to N such lines out"
    );
    assert_eq!(refused(&["replay", &ragged]), wanted);
    let huge = with_line(&at, "huge.csv", 5, "5,1.0,2e20,1.0");
    let wanted = format!("{huge}: row 5, column \"b\": 200000000000000000000 is beyond ±1e15");
    assert_eq!(refused(&["replay", &huge]), wanted);
}

#[test]
fn columns_that_are_not_there_or_do_not_move() {
    let at = directory("messages-columns");
    let log = file(&at, "log.csv", &noise(2000, 2000, 0.0, 1));
    assert_eq!(
        refused(&["replay", &log, "--columns", "a,d"]),
        format!("{log}: no column \"d\"; its columns: time, a, b, c")
    );
    assert_eq!(
        refused(&["replay", &log, "--columns", "a,b,2"]),
        format!("{log}: --columns names \"a\" twice")
    );
    assert_eq!(
        refused(&["replay", &log, "--columns", "time", "--time", "9"]),
        format!("{log}: no column \"9\"; its columns: time, a, b, c")
    );
}

/// A channel that stands still is reported, and watched for movement.
#[test]
fn a_channel_that_stands_still_is_no_error() {
    let at = directory("messages-still");
    let still = |moved: usize| -> String {
        let row = |row: usize| {
            let b = if row >= moved { 7.6 } else { 7.5 };
            format!("{row},{},{b}\n", (row * row) % 97)
        };
        format!("time,a,b\n{}", (0..2000).map(row).collect::<String>())
    };
    let log = file(&at, "still.csv", &still(9999));
    let ran = fastmmd(&["replay", &log, "--columns", "b"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let told = "note: b: stood still while learning, at 7.5; a movement of it that lasts, or comes again soon, is an alarm";
    assert!(ran.out.contains(told), "{}", ran.out);
    let ran = fastmmd(&["export", &log, "-o", "/dev/null"]);
    assert!(ran.code == 0 && ran.out.contains(told), "{ran:?}");
    assert_eq!(fastmmd(&["tune", &log]).code, 0);
    assert!(refused(&["test", &log, &log]).contains("rows 0 to 1999, column \"b\": always 7.5"));
    let moved = file(&at, "moved.csv", &still(1500));
    let ran = fastmmd(&["replay", &moved, "--json", "--columns", "b"]);
    let first = &ran.alarms()[0];
    assert!((1500..1520).contains(&first["row"].as_u64().expect("a row")), "{first}");
    assert_eq!(first["leg"], "range");
    let summary = ran.json().pop().expect("a summary");
    assert_eq!(summary["channels"][0]["deviation"], 0.0, "{summary}");
}

#[test]
fn too_few_rows_to_learn() {
    let at = directory("messages-few");
    let short = file(&at, "short.csv", &noise(200, 200, 0.0, 1));
    let line = format!("{short}: too few rows to learn from: 200 in all, 256 are needed (--learn)");
    assert_eq!(refused(&["replay", &short]), line);
    let line = format!("{short}: too few rows to learn from: 200 in all, 500 are needed (--learn)");
    assert_eq!(refused(&["replay", &short, "--learn", "500"]), line);
    assert!(refused(&["tune", &short]).contains("too few rows to learn from"));
    let one = file(&at, "one.csv", "a\n1\n");
    assert_eq!(refused(&["test", &one, &one]), format!("{one}: 1 rows; at least 2 are needed"));
}

#[test]
fn settings_that_mean_nothing() {
    let at = directory("messages-settings");
    let log = file(&at, "log.csv", &noise(2000, 2000, 0.0, 1));
    let replay = |options: &[&str]| refused(&[&["replay", &log], options].concat());
    let shape = "must be from 1 to 65536 each";
    assert!(replay(&["--features", "0"]).ends_with(shape));
    assert!(replay(&["--features", "65537"]).ends_with(shape));
    let [least, most] = [LEARNING_ROWS.start(), LEARNING_ROWS.end()];
    assert_eq!(
        replay(&["--learn", "1e18"]),
        format!("--learn {} rows: must be from {least} to {most} rows, not {}", 1e18, 1e18)
    );
    assert!(replay(&["--learn", "255"]).contains("must be from 256"));
    assert_eq!(
        replay(&["--period", "300", "--learn", "1000"]),
        "--period of 300 rows: must be from 4 to 1048576 rows, and learning has to hold 4 cycles: 1200 \
         rows (--learn), not 1000"
    );
    assert!(replay(&["--period", "3"]).contains("must be from 4 to 1048576 rows"));
    assert!(replay(&["--relearn-after", "0.1"]).contains("must be from 1 to"));
    assert!(replay(&["--period", "1d", "--time", "a"]).contains("add --rate HZ"));
    assert!(replay(&["--mean-time-between-false-alarms", "5"]).contains("from 100 to 1e15 rows"));
    assert!(replay(&["--learn", "10min", "--time", "a"]).contains("add --rate HZ"));
    for wrong in [
        vec!["replay", &log, "--learn", "soon"],
        vec!["replay", &log, "--plot", "picture.gif"],
        vec!["replay", &log, "--rate", "-3"],
        vec!["test", &log, &log, "--sigma", "wide"],
        vec!["test", &log, &log, "--alpha", "2"],
        vec!["merge", &log, "-o", "x.bin"],
        vec!["fly"],
    ] {
        let ran = fastmmd(&wrong);
        assert_eq!(ran.code, 2, "{wrong:?} {ran:?}");
        assert!(ran.err.starts_with("error: "), "{}", ran.err);
    }
}

#[test]
fn numbers_too_large_are_left_out_by_choice() {
    let at = directory("messages-large");
    let log = with_line(&at, "large.csv", 1500, "1500,0.1,1e300,0.2");
    for missing in ["reading", "error", "skip"] {
        let line = refused(&["replay", &log, "--missing", missing]);
        assert!(line.contains("row 1500, column \"b\""), "{line}");
        let why =
            "\"1e300\" is beyond what single precision holds; --skip-bad N leaves such lines out";
        assert!(line.ends_with(why), "{line}");
    }
    let look = fastmmd(&["look", &log]);
    assert!(look.code == 0 && look.out.contains("1 lines are no rows"), "{look:?}");
    let summary = fastmmd(&["replay", &log, "--skip-bad", "5", "--json"]).json().pop();
    assert_eq!(summary.expect("a summary")["bad_lines"], 1);
}

#[test]
#[cfg(unix)]
fn endless_input_is_refused() {
    let zeros = "/dev/zero";
    let line = format!("{zeros}: binary data of a kind that is not known here");
    assert_eq!(refused(&["replay", zeros]), line);
    assert_eq!(refused(&["inspect", zeros]), format!("{zeros}: longer than any saved state"));
}

#[test]
fn files_that_cannot_be_written() {
    let at = directory("messages-written");
    let log = file(&at, "log.csv", &noise(2000, 2000, 0.0, 1));
    let nowhere = at.join("none/out.bin");
    let nowhere = nowhere.to_str().expect("UTF-8");
    let wanted = format!("{nowhere}: no such file or directory");
    assert_eq!(refused(&["export", &log, "-o", nowhere]), wanted);
    for picture in ["none/out.svg", "none/out.png"] {
        let path = at.join(picture);
        let ran = fastmmd(&["replay", &log, "--plot", path.to_str().expect("UTF-8")]);
        assert_eq!((ran.code, ran.err.lines().count()), (2, 1), "{ran:?}");
    }
}

/// Names and defaults in the help are those of the core.
#[test]
fn every_choice_of_the_core_is_offered() {
    let [replay, test] = ["replay", "test"].map(|command| fastmmd(&[command, "--help"]).out);
    let maps = MapKind::ALL.into_iter().filter(|kind| kind.is_dynamic()).map(MapKind::name);
    let others =
        Profile::ALL.map(Profile::name).into_iter().chain(Sampling::ALL.map(Sampling::name));
    for name in maps.chain(others) {
        assert!(test.contains(&format!("- {name}: ")), "{name} in {test}");
    }
    for kind in MapKind::ALL.into_iter().filter(|kind| !kind.is_dynamic()) {
        assert!(!test.contains(&format!("- {}: ", kind.name())), "{test}");
    }
    assert!(test.contains(&format!("for up to {QUASI_MAX_INPUTS} channels")), "{test}");
    let rows = Config::rows(1e4).learning_rows;
    assert!(replay.contains(&format!("at most {rows}; {rows} rows of standard input")), "{replay}");
}

#[test]
fn help_has_an_example_of_every_command() {
    for command in [
        "look",
        "test",
        "replay",
        "tune",
        "export",
        "inspect",
        "merge",
        "compare",
        "demo",
        "completions",
        "man",
    ] {
        let ran = fastmmd(&[command, "--help"]);
        assert_eq!(ran.code, 0);
        assert!(ran.out.contains(&format!("fastmmd {command} ")), "{}", ran.out);
        assert!(ran.out.contains("Example"), "{}", ran.out);
    }
    assert!(fastmmd(&["--help"]).out.contains("Exit codes: 0"));
}
