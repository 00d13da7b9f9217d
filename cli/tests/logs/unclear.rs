//! Kinds of logs whose dates and numbers could mean several things, and healthy ones.

use super::kinds::{Healthy, Kind, ONE, Read, cells, clock, commas, gzip, kind, log, plain};

/// Dates in which the day, the month or the year may be first, and numbers with their thousands in groups.
pub(super) fn ambiguous() -> Vec<Kind> {
    // The time of a row, so many seconds apart, from ten minutes to midnight on a day of March or April.
    let moment = |row: usize, step: usize, first: usize| {
        let second = 85_800 + row * step;
        let day = first + second / 86_400;
        let (day, month) = if day > 31 { (day - 31, 4) } else { (day, 3) };
        let second = second % 86_400;
        (day, month, format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60))
    };
    // The third of April.
    let april = 34;
    let dated = |step: usize, first: usize, of: &dyn Fn(usize, usize, String) -> String| {
        log("when;a;b;c", |row, v| {
            let (day, month, time) = moment(row, step, first);
            format!("{};{}", of(day, month, time), cells(v, ";"))
        })
    };
    let grouped = |value: f64, parting: &str, point: &str| {
        let text = format!("{:.2}", 100.0 * value.abs());
        let (whole, decimals) = text.split_once('.').expect("decimals");
        let sign = if value < 0.0 { "-" } else { "" };
        match whole.len().checked_sub(3) {
            Some(end) if end > 0 => {
                format!("{sign}{}{parting}{}{point}{decimals}", &whole[..end], &whole[end..])
            }
            _ => format!("{sign}{whole}{point}{decimals}"),
        }
    };
    vec![
        // The first date that can be read in one way only comes in row 1441.
        kind(
            "late.csv",
            1,
            dated(600, april, &|day, month, time| format!("{day:02}/{month:02}/2024 {time}")),
            Read(&["(dates, day first): 0.001667 per second, 20.83 days in all\ncolumns"], &[]),
        ),
        kind(
            "late-american.csv",
            1,
            dated(600, april, &|day, month, time| format!("{month}/{day}/2024 {time}")),
            Read(&["(dates, month first): 0.001667 per second, 20.83 days in all\ncolumns"], &[]),
        ),
        // None does, but a day follows on the day before.
        kind(
            "midnight.csv",
            1,
            dated(60, april, &|day, month, time| format!("{day:02}/{month:02}/2024 {time}")),
            Read(&["(dates, day first (as the days follow)): 0.01667 per second, 2.08 days"], &[]),
        ),
        kind(
            "dashes.csv",
            1,
            dated(60, 31, &|day, month, time| format!("{day:02}-{month:02}-2024 {}", &time[..5])),
            Read(&["(dates, day first): 0.01667 per second, 2.08 days in all\ncolumns"], &[]),
        ),
        kind(
            "points.csv",
            1,
            dated(60, 31, &|day, month, time| format!("{day:02}.{month:02}.24 {time}")),
            Read(&["(dates, day first (as the days follow)): 0.01667 per second, 2.08 days"], &[]),
        ),
        kind(
            "years.csv",
            1,
            dated(60, 30, &|day, month, time| format!("24-{month:02}-{day:02} {time}")),
            Read(&["(dates, year first (as the days follow)): 0.01667 per second, 2.08 days"], &[]),
        ),
        kind(
            "thousands.csv",
            1,
            log("time,a,b,c", |row, v| {
                format!("{row}.5,{:.4},{:.4},\"{}\"", v[0], v[1], grouped(v[2], ",", "."))
            }),
            Read(&["separator: comma, thousands in groups", "mean 2000 ± "], &[]),
        ),
        kind(
            "tausender.csv",
            1,
            log("time;a;b;c", |row, v| {
                format!(
                    "{row},5;{};{}",
                    commas(v, ";").rsplit_once(';').expect("three").0,
                    grouped(v[2], ".", ",")
                )
            }),
            Read(&["semicolon, decimal comma, thousands in groups", "mean 2000 ± "], &[]),
        ),
        kind(
            "spreadsheet.csv",
            1,
            log("a,b,c", |row, v| {
                let a = if row % 10 == 3 { "#N/A".to_owned() } else { format!("{:.4}", v[0]) };
                format!("{a},{:.4},{:.4}", v[1], v[2])
            }),
            Read(&["CSV, separator: comma, header, UTF-8", "rows     3000", ", 300 missing"], &[]),
        ),
        kind(
            "macintosh.csv",
            1,
            plain().replace('\n', "\r"),
            Read(&["separator: comma, header", "rows     3000", "10 per second"], &[]),
        ),
        kind(
            "macintosh.txt",
            1,
            plain().replace(',', "  ").replace('\n', "\r"),
            Read(&["separator: spaces, header", "rows     3000", "10 per second"], &[]),
        ),
    ]
}

/// Rows in which there is no step, and no false alarm: of as many as the promise has rows, e⁻¹ have none.
const CALM: usize = 1300;

/// Logs without a step: nothing is found in them.
pub(super) fn healthy() -> Vec<Kind> {
    let before = |text: String| {
        let lines: Vec<&str> = text.lines().take(1 + CALM).collect();
        lines.join("\n") + "\n"
    };
    let said: &[&str] = &["rows     1300", ONE];
    let dated = log("when;a;b;c", |row, v| format!("03/04/2024 {};{}", clock(row), commas(v, ";")));
    vec![
        kind("healthy.csv", 0, before(plain()), Healthy(said)),
        kind("healthy.csv.gz", 0, gzip(&before(plain())), Healthy(said)),
        kind("healthy-german.csv", 0, before(dated), Healthy(&["(dates, day first (a guess", ONE])),
    ]
}
