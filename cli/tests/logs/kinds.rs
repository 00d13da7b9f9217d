//! Kinds of logs, made here. All hold the same three channels; the second, `b`, steps by 4 deviations
//! at row 2000 of 3000.

use std::io::Write as _;

use fastmmd_reference::generate::Generator;

pub(super) const ROWS: usize = 3000;
pub(super) const STEP: usize = 2000;

/// What a command should say of a log.
pub(super) enum Wanted {
    /// `look` says all of this, and `replay`, with these options, finds the step.
    Read(&'static [&'static str], &'static [&'static str]),
    /// `look` says all of this, and `replay` finds nothing: there is no step.
    Healthy(&'static [&'static str]),
    /// Both are refused for this reason.
    Refused(&'static str),
    /// `replay` alone is refused, for this reason; with these options it finds the step.
    OnlyWith(&'static str, &'static [&'static str], &'static [&'static str]),
}
pub(super) use Wanted::{Healthy, OnlyWith, Read, Refused};

pub(super) struct Kind {
    pub(super) name: &'static str,
    /// The exit code of `replay` without options.
    pub(super) code: i32,
    pub(super) bytes: Vec<u8>,
    pub(super) wanted: Wanted,
}

pub(super) fn kind(
    name: &'static str,
    code: i32,
    bytes: impl Into<Vec<u8>>,
    wanted: Wanted,
) -> Kind {
    Kind { name, code, bytes: bytes.into(), wanted }
}

/// The readings of all rows.
pub(super) fn readings() -> Vec<[f64; 3]> {
    let mut random = Generator::new(4);
    let row = |row: usize| {
        let [a, b, c] = [0; 3].map(|_| random.normal());
        let moved = if row >= STEP { 4.0 } else { 0.0 };
        [a, b + moved, 20.0 + c]
    };
    (0..ROWS).map(row).collect()
}

/// A line of text for each row.
fn lines(of: impl Fn(usize, [f64; 3]) -> String) -> Vec<String> {
    readings().into_iter().enumerate().map(|(row, values)| of(row, values)).collect()
}

/// A log: a header, then a line for each row.
pub(super) fn log(header: &str, of: impl Fn(usize, [f64; 3]) -> String) -> String {
    let begin = if header.is_empty() { String::new() } else { format!("{header}\n") };
    begin + &lines(of).join("\n") + "\n"
}

pub(super) fn cells(values: [f64; 3], separator: &str) -> String {
    values.map(|value| format!("{value:.4}")).join(separator)
}

/// The same with decimal commas.
pub(super) fn commas(values: [f64; 3], separator: &str) -> String {
    values.map(|value| format!("{value:.4}").replace('.', ",")).join(separator)
}

/// The time of a row, ten a second.
pub(super) fn seconds(row: usize) -> f64 {
    fastmmd_reference::real(row) / 10.0
}

pub(super) fn clock(row: usize) -> String {
    let second = row / 10;
    format!("{:02}:{:02}:{:02}.{}00", 10 + second / 3600, second / 60 % 60, second % 60, row % 10)
}

pub(super) fn plain() -> String {
    log("time,a,b,c", |row, values| format!("{:.1},{}", seconds(row), cells(values, ",")))
}

/// A plain log with a line put before these rows.
fn with_lines(at: &[usize], line: &str) -> String {
    let text = plain();
    let mut lines: Vec<&str> = text.lines().collect();
    for row in at.iter().rev() {
        lines.insert(row + 1, line);
    }
    lines.join("\n") + "\n"
}

pub(super) fn gzip(text: &str) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(text.as_bytes()).expect("memory");
    packer.finish().expect("memory")
}

fn zstd(text: &str) -> Vec<u8> {
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    ruzstd::encoding::compress_to_vec(text.as_bytes(), level)
}

fn utf_16(text: &str) -> Vec<u8> {
    "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
}

/// Separators, decimal signs, headers.
pub(super) fn written() -> Vec<Kind> {
    let at = |row: usize| format!("{:.1}", seconds(row));
    vec![
        kind(
            "plain.csv",
            1,
            plain(),
            Read(
                &[
                    "CSV, separator: comma, header, UTF-8",
                    "rows     3000",
                    "time     time (in s, by its name): 10 per second, 5 min",
                    "columns  3 watched of 4",
                ],
                &[],
            ),
        ),
        kind(
            "excel.csv",
            1,
            log("time;a;b;c", |row, v| format!("{};{}", at(row).replace('.', ","), commas(v, ";"))),
            Read(&["separator: semicolon, decimal comma", "10 per second"], &[]),
        ),
        kind(
            "tabs.tsv",
            1,
            log("time\ta\tb\tc", |row, v| format!("{}\t{}", at(row), cells(v, "\t"))),
            Read(&["separator: tab"], &[]),
        ),
        kind(
            "bars.txt",
            1,
            log("time|a|b|c", |row, v| format!("{}|{}", at(row), cells(v, "|"))),
            Read(&["separator: bar"], &[]),
        ),
        kind(
            "aligned.txt",
            1,
            log("  time     a     b    c", |row, v| {
                format!("{:>8} {:>9.4}  {:>9.4} {:>9.4}", at(row), v[0], v[1], v[2])
            }),
            Read(&["separator: spaces, header"], &[]),
        ),
        kind(
            "bare.csv",
            1,
            log("", |row, v| format!("{},{}", at(row), cells(v, ","))),
            Read(&["no header", "time     1 (in s, rises in even steps): 10 per second"], &[]),
        ),
        kind(
            "units.csv",
            1,
            "time,a,b,c\nms,V,A,°C\n".to_owned()
                + &log("", |row, v| format!("{},{}", 100 * row, cells(v, ","))),
            Read(
                &["row of units", "time (in ms, by its name): 10 per second", " in °C, mean"],
                &[],
            ),
        ),
        kind(
            "comments.dat",
            1,
            "# logger 7\n# time a b c\n".to_owned()
                + &log("", |row, v| format!("{} {}", at(row), cells(v, " "))),
            Read(&["separator: spaces, header, comments", "time     time"], &[]),
        ),
        kind(
            "preamble.csv",
            1,
            "Logger 2.1\nserial: 0815\n\n".to_owned() + &plain(),
            Read(&["2 lines before the table left out"], &[]),
        ),
        kind(
            "bom.csv",
            1,
            "\u{feff}".to_owned() + &plain(),
            Read(&["time     time (in s, by its name)"], &[]),
        ),
        kind(
            "utf16.csv",
            1,
            utf_16(&plain().replace(",c\n", ",c (°C)\n")),
            Read(&["UTF-16", "c (°C)"], &[]),
        ),
        kind(
            "latin.csv",
            1,
            {
                let mut bytes = b"time,a,b,c (\xb0C)\n".to_vec();
                bytes.extend(plain().split_once('\n').expect("a header").1.bytes());
                bytes
            },
            Read(&["Latin letters", "c (°C)"], &[]),
        ),
        kind(
            "windows.csv",
            1,
            plain().replace('\n', "\r\n"),
            Read(&["separator: comma, header"], &[]),
        ),
        kind(
            "quoted.csv",
            1,
            log("\"time\",\"a\",\"b, the second\",\"c\"", |row, v| {
                format!("\"{}\",{}", at(row), cells(v, ","))
            }),
            Read(&["b, the second"], &[]),
        ),
        kind(
            "trailing.csv",
            1,
            log("time,a,b,c", |row, v| format!("{},{},", at(row), cells(v, ","))),
            Read(&["columns  3 watched of 5", "(no name)", "left out: empty"], &[]),
        ),
    ]
}

/// Packed, and other formats than text in columns.
pub(super) fn formats() -> Vec<Kind> {
    let object = |row: usize, v: [f64; 3]| {
        format!(r#"{{"time":{:.1},"a":{:.4},"b":{:.4},"c":{:.4}}}"#, seconds(row), v[0], v[1], v[2])
    };
    let nested = |row: usize, v: [f64; 3]| {
        format!(
            r#"{{"at":"2024-05-06T{}Z","pump":{{"a":{:.4},"b":{:.4}}},"c":{:.4},"state":"on"}}"#,
            clock(row),
            v[0],
            v[1],
            v[2]
        )
    };
    let array = format!("[{}]", lines(object).join(",\n"));
    vec![
        kind(
            "packed.csv.gz",
            1,
            gzip(&plain()),
            Read(&["CSV, packed by gzip", "rows     3000"], &[]),
        ),
        kind(
            "packed.csv.zst",
            1,
            zstd(&plain()),
            Read(&["CSV, packed by zstd", "rows     3000"], &[]),
        ),
        kind(
            "objects.jsonl",
            1,
            log("", object),
            Read(&["JSON lines", "10 per second", "columns  3 watched of 4"], &[]),
        ),
        kind(
            "nested.jsonl",
            1,
            log("", nested),
            Read(&["time     at (dates)", "10 per second", "pump.a", "left out: text"], &[]),
        ),
        kind(
            "objects.json",
            2,
            array,
            Refused("JSON that is not one object a line; jq -c '.[]' writes an array so"),
        ),
        kind(
            "table.xlsx",
            2,
            b"PK\x03\x04\x14\0\x06\0\x08\0".to_vec(),
            Refused("a zip archive or a spreadsheet (.xlsx); save its table as CSV"),
        ),
        kind("packed.csv.xz", 2, b"\xfd7zXZ\0\0\x04".to_vec(), Refused("xz; unpack it")),
        kind(
            "table.h5",
            2,
            b"\x89HDF\r\n\x1a\n\0\0".to_vec(),
            Refused("HDF5; write its table as CSV"),
        ),
        kind(
            "torn.csv.gz",
            2,
            {
                let mut bytes = gzip(&plain());
                bytes.truncate(9000);
                bytes
            },
            Refused("gzip: ends in the middle"),
        ),
        kind(
            "noise.bin",
            2,
            vec![7, 0, 1, 0, 0, 9, 200],
            Refused("binary data of a kind that is not known here"),
        ),
        kind("empty.csv", 2, "", Refused("the file is empty")),
        kind(
            "prose.txt",
            2,
            "It was a dark night.\nNothing moved.\n".repeat(20),
            Refused("no column of readings: It was a dark night. (text)"),
        ),
    ]
}

/// Times, and columns that are no readings.
pub(super) fn columns() -> Vec<Kind> {
    let dated = |row: usize| format!("2024-05-06 {}", clock(row));
    vec![
        kind(
            "epoch.csv",
            1,
            log("ts,a,b,c", |row, v| {
                format!("{},{}", 1_715_000_000_000 + 100 * row as u64, cells(v, ","))
            }),
            Read(&["time     ts (in ms, by its name): 10 per second"], &[]),
        ),
        kind(
            "nanoseconds.csv",
            1,
            log("x,a,b,c", |row, v| {
                format!(
                    "{},{}",
                    1_715_000_000_000_000_000 + 100_000_000 * row as u64,
                    cells(v, ",")
                )
            }),
            Read(&["time     x (in ns, rises in even steps): 10 per second"], &[]),
        ),
        kind(
            "dates.csv",
            1,
            log("when,a,b,c", |row, v| format!("{},{}", dated(row), cells(v, ","))),
            Read(&["time     when (dates): 10 per second"], &[]),
        ),
        kind(
            "german.csv",
            1,
            log("Zeit;a;b;c", |row, v| format!("06.05.2024 {};{}", clock(row), commas(v, ";"))),
            Read(&["decimal comma", "time     Zeit (dates): 10 per second"], &[]),
        ),
        kind(
            "american.csv",
            1,
            log("when,a,b,c", |row, v| {
                let (minute, second) = (row / 60, row % 60);
                let (hour, half) = ((11 + minute / 60) % 12, if minute < 60 { "AM" } else { "PM" });
                let hour = if hour == 0 { 12 } else { hour };
                let time = format!("{hour}:{:02}:{second:02} {half}", minute % 60);
                format!("5/6/2024 {time},{}", cells(v, ","))
            }),
            Read(
                &["time     when (dates, month first (a guess: --dates)): 1 per second, 49.98 min"],
                &[],
            ),
        ),
        kind(
            "months.csv",
            1,
            log("when,a,b,c", |row, v| format!("06-May-2024 {},{}", clock(row), cells(v, ","))),
            Read(&["time     when (dates): 10 per second", "columns  3 watched of 4"], &[]),
        ),
        kind(
            "ctime.csv",
            1,
            log("when,a,b,c", |row, v| {
                let time = format!("10:{:02}:{:02}", row / 60, row % 60);
                format!("Mon May  6 {time} 2024,{}", cells(v, ","))
            }),
            Read(&["time     when (dates): 1 per second", "columns  3 watched of 4"], &[]),
        ),
        kind(
            "day-and-time.txt",
            1,
            log("", |row, v| format!("{} {}", dated(row), cells(v, " "))),
            Read(&["time     1 2 (dates): 10 per second", "columns  3 watched of 5"], &[]),
        ),
        kind(
            "pandas.csv",
            1,
            log(",time,a,b,c", |row, v| format!("{row},{:.1},{}", seconds(row), cells(v, ","))),
            Read(&["(no name)  left out: numbers the rows", "columns  3 watched of 5"], &[]),
        ),
        kind(
            "state.csv",
            1,
            log("time,a,b,c,state", |row, v| {
                format!(
                    "{:.1},{},{}",
                    seconds(row),
                    cells(v, ","),
                    if row % 500 < 250 { "on" } else { "off" }
                )
            }),
            Read(&["state  left out: text"], &[]),
        ),
        kind(
            "constant.csv",
            1,
            log("time,a,b,c,supply", |row, v| {
                format!("{:.1},{},24.5", seconds(row), cells(v, ","))
            }),
            Read(&["supply  always 24.5; watched for movement"], &[]),
        ),
        kind(
            "gaps.csv",
            1,
            log("time,a,b,c", |row, v| {
                let gone = if row < 500 {
                    0.0
                } else if row < 900 {
                    60.0
                } else {
                    -90.0
                };
                format!("{:.1},{}", 200.0 + seconds(row) + gone, cells(v, ","))
            }),
            Read(
                &[
                    "a gap, the longest of 60.1 s before row 500",
                    "it goes back once, first at row 900",
                ],
                &[],
            ),
        ),
        kind(
            "missing.csv",
            1,
            log("time,a,b,c", |row, v| {
                let c = if row % 10 == 3 { String::new() } else { format!("{:.4}", v[2]) };
                format!("{:.1},{:.4},{:.4},{c}", seconds(row), v[0], v[1])
            }),
            Read(&[", 300 missing"], &[]),
        ),
        kind(
            "no-time.csv",
            1,
            log("a,b,c", |_, v| cells(v, ",")),
            Read(&["time     none found (--time, or --rate HZ)"], &[]),
        ),
        kind(
            "cyclic.csv",
            1,
            log("time,a,b,c", |row, v| {
                let turn = (fastmmd_reference::real(row) * std::f64::consts::TAU / 50.0).sin();
                format!("{:.1},{:.4},{:.4},{:.4}", seconds(row), v[0] + 5.0 * turn, v[1], v[2])
            }),
            Read(&["cycle    50 rows (5 s), 9"], &["--period", "50"]),
        ),
    ]
}

/// What `look` says where one column of four is not watched, and of a label.
pub(super) const ONE: &str = "columns  3 watched of 4";
const LABEL: &str = "a label? --exclude it, or it is watched";

/// Clocks and counters in whole steps, under all kinds of names.
pub(super) fn counted() -> Vec<Kind> {
    let from = |header: &str, first: usize| {
        log(header, |row, v| format!("{},{}", first + row, cells(v, ",")))
    };
    let clock = |name, header, first, said| kind(name, 1, from(header, first), Read(said, &[]));
    vec![
        clock("zeit.csv", "Zeit,a,b,c", 0, &["time     Zeit (in s, by its name): 1 per", ONE]),
        clock("stamp.csv", "Time Stamp,a,b,c", 0, &["time     Time Stamp (in s, ", ONE]),
        clock("elapsed.csv", "elapsed_time,a,b,c", 0, &["time     elapsed_time (in s, ", ONE]),
        clock("unix.csv", "unix_time,a,b,c", 1_700_000_000, &["time     unix_time (in s, ", ONE]),
        clock("since.csv", "x,a,b,c", 1_700_000_000, &["x (in s, rises in even steps)", ONE]),
        clock("secs.csv", "secs,a,b,c", 5, &["time     secs (in s, by its name)", ONE]),
        clock("clock.csv", "clock,a,b,c", 0, &["time     clock (in s, by its name)", ONE]),
        clock("datum.csv", "Datum/Zeit,a,b,c", 0, &["time     Datum/Zeit (in s, ", ONE]),
        clock("counter.csv", "counter,a,b,c", 0, &["counter  left out: numbers the rows", ONE]),
        clock("frame.csv", "frame,a,b,c", 1, &["frame  left out: numbers the rows", ONE]),
    ]
}

/// Columns of 0 and 1 that say what a row is.
pub(super) fn labelled() -> Vec<Kind> {
    let with = |header: &str, is: &dyn Fn(usize) -> bool| {
        log(header, |row, v| format!("{:.1},{},{}", seconds(row), cells(v, ","), u8::from(is(row))))
    };
    vec![
        kind(
            "labelled.csv",
            1,
            with("time,a,b,c,anomaly", &|row| row >= STEP),
            Read(&[LABEL, " --exclude anomaly"], &["--exclude", "anomaly"]),
        ),
        kind(
            "failure.csv",
            1,
            with("time,a,b,c,failure", &|row| row >= STEP),
            Read(&[LABEL, " --exclude failure"], &["--exclude", "failure"]),
        ),
        kind(
            "event.csv",
            1,
            with("time,a,b,c,lastEvent", &|row| row % 900 > 850),
            Read(&[LABEL, " --exclude lastEvent"], &["--exclude", "lastEvent"]),
        ),
        // No word says so, but it changes twice.
        kind(
            "marked.csv",
            1,
            with("time,a,b,c,y", &|row| (STEP..STEP + 500).contains(&row)),
            Read(&[LABEL, " --exclude y"], &["--exclude", "y"]),
        ),
        // A cycle of a label is none of the channels; its memory is not theirs.
        kind(
            "shifts.csv",
            1,
            with("time,a,b,c,status", &|row| row % 100 < 50),
            Read(&[LABEL, "cycle    none found", "memory   none"], &["--exclude", "status"]),
        ),
    ]
}

/// Lines that are no rows.
pub(super) fn damaged() -> Vec<Kind> {
    let torn = plain().trim_end().rsplit_once(',').expect("cells").0.to_owned();
    vec![
        kind(
            "joined.csv",
            2,
            with_lines(&[700, 1400], "time,a,b,c"),
            OnlyWith(
                "line 702: the header again; --skip-bad N",
                &["2 lines are no rows", " --skip-bad 2"],
                &["--skip-bad", "2"],
            ),
        ),
        kind(
            "boots.csv",
            2,
            with_lines(&[700, 701, 1400], "*** boot after reset 3 ***"),
            OnlyWith(
                "row 700 (line 702): 1 cells instead of 4; --skip-bad N",
                &["3 lines are no rows", " --skip-bad 3"],
                &["--skip-bad", "10"],
            ),
        ),
        kind(
            "glitch.csv",
            2,
            with_lines(&[700], "70.05,0.1,ERR,20.1"),
            OnlyWith(
                "row 700, column \"b\" (line 702): \"ERR\" is not a number",
                &["1 lines are no rows"],
                &["--skip-bad", "1"],
            ),
        ),
        kind(
            "torn.csv",
            2,
            torn,
            OnlyWith(
                "cells instead of 4, and the log ends: a torn line; --skip-bad",
                &["1 lines are no rows", " --skip-bad 1"],
                &["--skip-bad", "1"],
            ),
        ),
        kind(
            "cut.jsonl",
            2,
            log("", |row, v| {
                let text = format!(r#"{{"a":{:.4},"b":{:.4},"c":{:.4}}}"#, v[0], v[1], v[2]);
                if row + 1 == ROWS { text[..9].to_owned() } else { text }
            }),
            OnlyWith("1 cells instead of 3", &["1 lines are no rows"], &["--skip-bad", "1"]),
        ),
    ]
}
