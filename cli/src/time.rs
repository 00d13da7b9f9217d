//! Parses times and durations.

use std::fmt;
use std::str::FromStr;

use crate::cell::Decimals;
use crate::date;
use crate::order::Order;

/// A number of rows, or a time that a sampling rate turns into one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Span {
    Rows(f64),
    Seconds(f64),
}

impl Span {
    /// In rows, at `rate` rows per second.
    pub(crate) fn rows(self, rate: Option<f64>) -> Option<f64> {
        match self {
            Self::Rows(rows) => Some(rows),
            Self::Seconds(seconds) => rate.map(|rate| seconds * rate),
        }
    }
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let end = text
            .find(|c: char| c.is_ascii_alphabetic() && !matches!(c, 'e' | 'E'))
            .unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let wrong = || "a number of rows, or a time such as 90s, 10min, 8h or 7d".to_owned();
        let number: f64 = number.trim().parse().map_err(|_| wrong())?;
        if !(number.is_finite() && number > 0.0) {
            return Err("must be above 0".to_owned());
        }
        Ok(match unit {
            "" | "rows" | "row" => Self::Rows(number),
            "ms" => Self::Seconds(number / 1e3),
            "s" | "sec" => Self::Seconds(number),
            "m" | "min" => Self::Seconds(number * 60.0),
            "h" => Self::Seconds(number * 3600.0),
            "d" => Self::Seconds(number * 86_400.0),
            _ => return Err(wrong()),
        })
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows(rows) => write!(f, "{rows} rows"),
            Self::Seconds(seconds) => write!(f, "{seconds} s"),
        }
    }
}

/// How the times of a log are written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Clock {
    pub(crate) dates: bool,
    /// Whether 03/04/2024 is the third of April.
    pub(crate) order: Order,
    /// The unit of numbers, in seconds.
    pub(crate) unit: f64,
    pub(crate) decimals: Decimals,
}

impl Clock {
    /// One of dates in which nothing is ambiguous.
    #[cfg(test)]
    pub(crate) fn of_dates() -> Self {
        Self { dates: true, order: Order::Day, unit: 1.0, decimals: Decimals::POINT }
    }

    /// The time of a cell in seconds since any fixed moment: a number of units, or a date and time.
    pub(crate) fn seconds(&self, cell: &[u8]) -> Option<f64> {
        let number = crate::cell::double(cell, self.decimals);
        number.map(|number| number * self.unit).or_else(|| stamp(cell, self.order))
    }
}

/// Whether a cell is a date and time, a date, or a time of the day.
pub(crate) fn is_stamp(cell: &[u8]) -> bool {
    Order::ALL.into_iter().any(|order| stamp(cell, order).is_some())
}

/// A date and time, a date, or a time of the day, in seconds since any fixed moment.
fn stamp(cell: &[u8], order: Order) -> Option<f64> {
    let text = std::str::from_utf8(cell).ok()?.trim();
    // Most cells are numbers, or no times at first sight.
    let has = |marks: &[u8]| text.bytes().skip(1).any(|byte| marks.contains(&byte));
    let begins = match text.as_bytes().first() {
        Some(first) if first.is_ascii_digit() => has(b"-:/. "),
        // The day of the week, or the month.
        Some(first) => first.is_ascii_alphabetic() && has(b":"),
        None => false,
    };
    if text.len() < 5 || !begins {
        return None;
    }
    if crate::cell::double(cell, Decimals::POINT).is_some() {
        return None;
    }
    date::seconds(text, order)
}

/// Whether a cell is a date alone.
pub(crate) fn is_day(cell: &[u8]) -> bool {
    std::str::from_utf8(cell).is_ok_and(|text| date::is_day(text.trim()))
}

/// Whether a cell is a time of the day alone.
pub(crate) fn is_of_day(cell: &[u8]) -> bool {
    std::str::from_utf8(cell).is_ok_and(|text| date::time_of_day(text.trim()).is_some())
}

/// Rows per second, from the median interval between successive times.
pub(crate) fn rate(times: &[f64]) -> Option<f64> {
    let mut steps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    steps.sort_by(f64::total_cmp);
    let step = *steps.get(steps.len() / 2)?;
    // Nine digits: a step of 0.1 s is one of 0.10000000000002274 s late in a log.
    (step > 0.0).then(|| format!("{:.8e}", 1.0 / step).parse().unwrap_or(1.0 / step))
}

/// A number with four digits.
pub(crate) fn round(number: f64) -> String {
    let size = number.abs().max(1e-300).log10().floor();
    if !(-4.0..6.0).contains(&size) && number != 0.0 {
        return format!("{number:.3e}");
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 7")]
    let decimals = (3.0 - size).clamp(0.0, 7.0) as usize;
    let text = format!("{number:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// The usual unit of a duration, in seconds, and its name.
pub(crate) fn usual_unit(seconds: f64) -> (f64, &'static str) {
    match seconds.abs() {
        long if long >= 2.0 * 86_400.0 => (86_400.0, "days"),
        long if long >= 2.0 * 3600.0 => (3600.0, "h"),
        long if long >= 120.0 => (60.0, "min"),
        long if long >= 1.0 || long <= 0.0 => (1.0, "s"),
        _ => (1e-3, "ms"),
    }
}

/// A duration in a unit.
pub(crate) fn lasting_in((unit, name): (f64, &str), seconds: f64) -> String {
    format!("{} {name}", round((seconds / unit * 100.0).round() / 100.0))
}

/// A duration in its usual unit.
pub(crate) fn lasting(seconds: f64) -> String {
    lasting_in(usual_unit(seconds), seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_rows_or_times() {
        let parsed = |text: &str| text.parse::<Span>();
        assert_eq!(parsed("400"), Ok(Span::Rows(400.0)));
        assert_eq!(parsed("1e4"), Ok(Span::Rows(1e4)));
        assert_eq!(parsed("1E4"), Ok(Span::Rows(1e4)));
        assert_eq!(parsed("10min"), Ok(Span::Seconds(600.0)));
        assert_eq!(parsed("1.5 h"), Ok(Span::Seconds(5400.0)));
        assert_eq!(parsed("7d"), Ok(Span::Seconds(604_800.0)));
        assert!(parsed("soon").is_err() && parsed("-3").is_err() && parsed("3 years").is_err());
        assert_eq!(Span::Seconds(60.0).rows(Some(10.0)), Some(600.0));
        assert_eq!(Span::Seconds(60.0).rows(None), None);
    }

    #[test]
    fn times_are_read_in_the_usual_forms() {
        let order = Order::Month;
        let clock = |unit, decimals| Clock { dates: false, order, unit, decimals };
        let at = |text: &str| clock(1.0, Decimals::POINT).seconds(text.as_bytes());
        let apart = |a: &str, b: &str| at(b).zip(at(a)).map(|(b, a)| b - a);
        assert_eq!(apart("2020-03-09 10:14:33", "2020-03-09 10:15:34"), Some(61.0));
        assert_eq!(apart("2020-03-09T10:14:33Z", "2020-03-09T10:14:33.5Z"), Some(0.5));
        assert_eq!(apart("0.5", "0.75"), Some(0.25));
        assert_eq!(apart("31.03.2024 10:14:33", "31.03.2024 10:14:34.5"), Some(1.5));
        assert_eq!(apart("2024/03/31 10:14:33", "2024/03/31 10:15:33"), Some(60.0));
        assert_eq!(apart("03/31/2024 10:14:33", "03/31/2024 10:15:33"), Some(60.0));
        assert_eq!(apart("10:14:33", "10:15:33.25"), Some(60.25));
        assert_eq!(apart("5/6/2024 11:59:59 AM", "5/6/2024 12:00:01 PM"), Some(2.0));
        assert_eq!(apart("06-May-2024 10:00:01", "Mon May  6 10:00:02 2024"), Some(1.0));
        assert_eq!(clock(1e-3, Decimals::POINT).seconds(b"1500"), Some(1.5));
        assert_eq!(clock(1.0, Decimals::COMMA).seconds(b"1,5"), Some(1.5));
        assert!(is_day(b"2024-03-31") && is_day(b"31.03.2024") && !is_day(b"2024-03-31 10:00:00"));
        assert!(is_of_day(b"10:14:33.5") && !is_of_day(b"10"));
        assert_eq!((at("pump"), at("")), (None, None));
    }

    #[test]
    fn numbers_are_short() {
        let rounded = [0.0, 1.0, 0.123_456, 1234.5678, -20.5, 1e9, 5e-6].map(round);
        assert_eq!(rounded, ["0", "1", "0.1235", "1235", "-20.5", "1.000e9", "5.000e-6"]);
        let long = [0.02, 15.7, 600.0, 10_800.0, 1e6, 0.0].map(lasting);
        assert_eq!(long, ["20 ms", "15.7 s", "10 min", "3 h", "11.57 days", "0 s"]);
    }

    #[test]
    fn the_rate_is_that_of_most_rows() {
        assert_eq!(rate(&[0.0, 0.5, 1.0, 9.0, 9.5]), Some(2.0));
        assert_eq!((rate(&[1.0]), rate(&[3.0, 2.0])), (None, None));
    }
}
