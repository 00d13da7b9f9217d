//! Options that say how a log is read, and how it is watched: of commands, and of the page.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fastmmd::monitor::LEAST_CYCLES;
use fastmmd_tune::learning::{PROMISE, default_rows};

use crate::dialect::Separator;
use crate::order::Order;
use crate::setup::{FREQUENCIES, LEARNED_PERCENT, LEAST_LEARNED, SEED};
use crate::time::Span;

/// How to read a log, and which of its columns to use.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct Columns {
    /// Columns to watch, by name or number from 1 [default: all readings: not the time, text, or
    /// numbers of rows; `fastmmd look` lists them]. A name with a comma stands in double quotes.
    #[arg(long, value_parser = names, value_name = "A,B")]
    pub(crate) columns: Option<Names>,
    /// Columns not to watch.
    #[arg(long, value_parser = names, value_name = "A,B")]
    pub(crate) exclude: Option<Names>,
    /// Column that holds the time: dates and times, or numbers in seconds or in the unit given in
    /// its name, as in `time (ms)` [default: one named time, or of dates, or that rises in even
    /// steps].
    #[arg(long, value_name = "COLUMN")]
    pub(crate) time: Option<String>,
    /// What stands first in dates such as 03/04/2024: the day, the month or the year [default: as all
    /// dates of a file say, or the first ones of a stream].
    #[arg(long, value_enum, value_name = "ORDER")]
    pub(crate) dates: Option<Order>,
    /// What stands between cells: a character, or comma, semicolon, tab, bar or spaces [default: as
    /// the first lines show].
    #[arg(long, value_name = "CHARACTER")]
    pub(crate) delimiter: Option<Separator>,
    /// Leave out up to so many lines that are no rows, and count them: text of a logger that boots,
    /// headers that come again, a torn last line.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) skip_bad: u64,
}

/// Names of columns: one argument, not several.
pub(crate) type Names = Vec<String>;

/// Reads names between commas; one in double quotes may hold commas, and two quotes for each of its own.
pub(crate) fn names(text: &str) -> Result<Names, String> {
    let (mut names, mut rest) = (Vec::new(), text);
    loop {
        let (name, after) = match rest.strip_prefix('"') {
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                (rest[..end].to_owned(), &rest[end..])
            }
            Some(quoted) => {
                let mut name = String::new();
                let mut rest = quoted;
                loop {
                    let end = rest.find('"').ok_or("a quote is not closed")?;
                    name.push_str(&rest[..end]);
                    rest = &rest[end + 1..];
                    let Some(after) = rest.strip_prefix('"') else { break };
                    name.push('"');
                    rest = after;
                }
                (name, rest)
            }
        };
        names.push(name);
        match after.strip_prefix(',') {
            Some(more) => rest = more,
            None if after.is_empty() => return Ok(names),
            None => return Err(format!("no comma before {after:?}")),
        }
    }
}

/// Names as [`names`] reads them.
pub(crate) fn listed(names: &[String]) -> String {
    let one = |name: &String| match name.contains([',', '"']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name.clone(),
    };
    names.iter().map(one).collect::<Vec<_>>().join(",")
}

/// What an empty cell, NaN or infinity means.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// A missing reading: the other channels of the row are still used.
    Reading,
    /// Leave the row out.
    Skip,
    /// Stop, naming row and column.
    Error,
}

/// The detector.
#[derive(Args, Debug, Clone)]
pub(crate) struct Watching {
    #[arg(long, value_name = "N|TIME", allow_negative_numbers = true, help = learn_help())]
    pub(crate) learn: Option<Span>,
    /// Rows per second, to convert times to rows [default: from the time column].
    #[arg(long, value_name = "HZ", value_parser = positive, allow_negative_numbers = true)]
    pub(crate) rate: Option<f64>,
    #[arg(
        long,
        visible_alias = "mtbfa",
        value_name = "N|TIME",
        allow_negative_numbers = true,
        help = promise_help()
    )]
    pub(crate) mean_time_between_false_alarms: Option<Span>,
    /// A cycle that the signal is known to have, such as a day or a turn of a machine, in rows or
    /// as a time. Level and spread are then learned by its phase; learning has to hold several cycles.
    /// `fastmmd tune` finds it.
    #[arg(long, value_name = "N|TIME", allow_negative_numbers = true)]
    pub(crate) period: Option<Span>,
    /// Relearn, with the present readings as healthy, after a drift has lasted this long without a
    /// break [default: never, a drift stays open].
    #[arg(long, value_name = "N|TIME", allow_negative_numbers = true)]
    pub(crate) relearn_after: Option<Span>,
    /// What an empty cell, NaN, NA or infinity means.
    #[arg(long, value_enum, default_value_t = Missing::Reading)]
    pub(crate) missing: Missing,
    /// Take settings from this file, as `tune --save` writes it; what is given beside it wins.
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) settings: Option<PathBuf>,
    /// Number of frequencies L of the map.
    #[arg(long, value_name = "L", default_value_t = FREQUENCIES)]
    pub(crate) features: usize,
    /// Seed of the frequencies; the device must use the same.
    #[arg(long, default_value_t = SEED)]
    pub(crate) seed: u64,
}

impl Watching {
    /// All that may be given as a time.
    pub(crate) fn spans(&self) -> [Option<Span>; 4] {
        [self.learn, self.mean_time_between_false_alarms, self.period, self.relearn_after]
    }
}

fn learn_help() -> String {
    let most = default_rows();
    format!(
        "Rows or time to learn from, all of which should be healthy [default: {LEARNED_PERCENT} % \
         of a file, but at least {LEAST_LEARNED} rows or half of it, and at most {most}; \
         {most} rows of standard input; with --period at least {LEAST_CYCLES} cycles]"
    )
}

fn promise_help() -> String {
    format!(
        "Mean time between false alarms (average run length), in rows or as a time; in short \
         --mtbfa [default: {PROMISE} rows, or as many as the learning rows support]"
    )
}

/// A number above 0.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse().map_err(|_| "not a number".to_owned())?;
    if f64::is_finite(number) && number > 0.0 {
        Ok(number)
    } else {
        Err("must be above 0".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_listed() {
        let all = ["a", "flow, in", "\"x\"", "y (\"z\"), w", "", "ö"].map(str::to_owned);
        let text = listed(&all);
        assert_eq!(text, r#"a,"flow, in","""x""","y (""z""), w",,ö"#);
        assert_eq!(names(&text).as_deref(), Ok(all.as_slice()));
        assert_eq!(names("a,b c"), Ok(vec!["a".to_owned(), "b c".to_owned()]));
        for wrong in ["\"a", "\"a\"b,c", "a,\""] {
            assert!(names(wrong).is_err(), "{wrong}");
        }
    }
}
