//! Ticks of the axis of rows, and what the clock of the log says there.

use crate::cell;
use crate::time::{Clock, lasting_in, usual_unit};

/// Number of ticks aimed at.
const TICKS: u64 = 8;
/// Seconds of a clock that counts from some epoch, and not from the start of a device.
const EPOCH: f64 = 1e8;

/// Rows at which to put ticks: round numbers.
pub(crate) fn ticks(rows: u64) -> Vec<u64> {
    let about = (rows / TICKS).max(1);
    let mut digit = 1;
    while digit * 10 <= about {
        digit *= 10;
    }
    let step = [1, 2, 5, 10].map(|times| times * digit).into_iter().find(|step| *step >= about);
    let step = usize::try_from(step.unwrap_or(about)).unwrap_or(usize::MAX);
    (0..=rows).step_by(step).collect()
}

/// The times of ticks, short: the time of the day, with the date where the log has several; or the
/// seconds, since the first if they count from an epoch.
pub(crate) fn labels(clock: Clock, times: &[Option<&[u8]>]) -> Vec<String> {
    if clock.dates {
        let texts: Vec<String> =
            times.iter().map(|time| time.map_or(String::new(), cell::text)).collect();
        let parted = |text: &str| {
            let (day, time) = text.trim().split_once(['T', ' ']).unwrap_or((text.trim(), ""));
            let time = time.split(['.', 'Z', '+']).next().unwrap_or_default();
            (day.to_owned(), time.to_owned())
        };
        let parts: Vec<(String, String)> = texts.iter().map(|text| parted(text)).collect();
        let one_day = parts.iter().all(|(day, _)| *day == parts[0].0);
        let label = |(day, time): &(String, String)| match (one_day, time.as_str()) {
            (_, "") => day.clone(),
            (true, time) => time.to_owned(),
            (false, time) => format!("{day} {}", time.get(..5).unwrap_or(time)),
        };
        return parts.iter().map(label).collect();
    }
    let of = |time: &Option<&[u8]>| clock.seconds((*time)?);
    let numbers: Vec<Option<f64>> = times.iter().map(of).collect();
    let begin = numbers.iter().flatten().next().copied().unwrap_or(0.0);
    let since = if begin.abs() >= EPOCH { begin } else { 0.0 };
    let sign = if begin.abs() >= EPOCH { "+" } else { "" };
    let longest = numbers.iter().flatten().map(|number| (number - since).abs()).fold(0.0, f64::max);
    let unit = usual_unit(longest);
    let label = |number: &Option<f64>| match number {
        None => String::new(),
        Some(number) => format!("{sign}{}", lasting_in(unit, number - since)),
    };
    numbers.iter().map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks(6000), [0, 1000, 2000, 3000, 4000, 5000, 6000]);
        assert_eq!(ticks(3), [0, 1, 2, 3]);
        assert!((5..=10).contains(&ticks(123_456_789).len()));
    }

    #[test]
    fn labels_are_times_of_the_day_or_seconds() {
        let of = |clock, times: [&str; 2]| labels(clock, &times.map(|time| Some(time.as_bytes())));
        let dates = Clock::of_dates();
        assert_eq!(
            of(dates, ["2024-05-06 10:00:01.5", "2024-05-06 11:00:00"]),
            ["10:00:01", "11:00:00"]
        );
        assert_eq!(
            of(dates, ["2024-05-06T10:00:01Z", "2024-05-07T11:00:00Z"]),
            ["2024-05-06 10:00", "2024-05-07 11:00"]
        );
        let clock = Clock { dates: false, unit: 1e-3, ..Clock::of_dates() };
        assert_eq!(of(clock, ["0", "90000"]), ["0 s", "90 s"]);
        assert_eq!(of(clock, ["1715000000000", "1715000600000"]), ["+0 min", "+10 min"]);
        assert_eq!(labels(clock, &[None]), [""]);
    }
}
