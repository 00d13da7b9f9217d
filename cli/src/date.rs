//! Dates and times of the day as logs write them.

/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// A date, in one of the forms 2024-03-31, 2024/03/31, 31.03.2024, 03/31/2024 and 31/03/2024, with or
/// without a time of the day; or a time of the day alone. As seconds since 1970, or since midnight.
/// Without an offset, as in `+02:00` or `Z`, a date is taken as it stands. A date without a time is
/// one only if written 2024-03-31.
pub(crate) fn seconds(text: &str) -> Option<f64> {
    if let Some(time) = time_of_day(text) {
        return Some(time);
    }
    let (day, iso, rest) = day(text)?;
    #[expect(clippy::cast_precision_loss, reason = "days of ten thousand years")]
    let midnight = day as f64 * DAY;
    if rest.is_empty() {
        return iso.then_some(midnight);
    }
    let rest = rest.strip_prefix(|c: char| c == ' ' || (iso && matches!(c, 'T' | 't')))?;
    let (time, rest) = clock(rest, iso)?;
    Some(midnight + time - if iso { offset(rest)? } else { rest.is_empty().then_some(0.0)? })
}

/// A time of the day alone, as in 10:14:33.5, in seconds since midnight.
pub(crate) fn time_of_day(text: &str) -> Option<f64> {
    clock(text, true).filter(|(_, rest)| rest.is_empty()).map(|(time, _)| time)
}

/// Whether this is a date alone, in any form.
pub(crate) fn is_day(text: &str) -> bool {
    day(text).is_some_and(|(_, _, rest)| rest.is_empty())
}

/// Days since 1970, whether the form is that of ISO 8601, and what follows.
fn day(text: &str) -> Option<(i64, bool, &str)> {
    let (first, digits, rest) = number(text)?;
    let mark = rest.chars().next().filter(|mark| matches!(mark, '-' | '/' | '.'))?;
    let (second, middle, rest) = number(rest.strip_prefix(mark)?)?;
    let (third, last, rest) = number(rest.strip_prefix(mark)?)?;
    let days = match (mark, digits, last) {
        ('-', 4, 2) if middle == 2 => days(first, second, third),
        ('/', 4, 1 | 2) => days(first, second, third),
        ('.', 1 | 2, 4) => days(third, second, first),
        ('/', 1 | 2, 4) => days(third, first, second).or_else(|| days(third, second, first)),
        _ => None,
    };
    days.map(|days| (days, mark == '-', rest))
}

/// A number, the number of its digits, and what follows.
fn number(text: &str) -> Option<(i64, usize, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(digits);
    // More than nine are no part of a date.
    (digits <= 9).then(|| number.parse().ok()).flatten().map(|number| (number, digits, rest))
}

/// Days from 1970 to a date of the Gregorian calendar, if there is such a date.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let longest = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(leap),
        _ => return None,
    };
    if !(1..=longest).contains(&day) {
        return None;
    }
    // Years that begin in March end with the leap day.
    let years = if month > 2 { year } else { year - 1 };
    let months = (month + 9) % 12;
    let leaps = years.div_euclid(4) - years.div_euclid(100) + years.div_euclid(400);
    Some(365 * years + leaps + (153 * months + 2) / 5 + day - 1 - 719_468)
}

/// A time of the day in seconds, and what follows; with two digits an hour, or with one, too.
fn clock(text: &str, two: bool) -> Option<(f64, &str)> {
    let part = |text, most: i64, two: bool| {
        let (number, digits, rest) = number(text)?;
        (number <= most && (digits == 2 || (digits == 1 && !two))).then_some((number, rest))
    };
    let (hours, rest) = part(text, 23, two)?;
    let (minutes, rest) = part(rest.strip_prefix(':')?, 59, true)?;
    let (mut seconds, mut fraction, mut after) = (0, 0.0, rest);
    if let Some(rest) = rest.strip_prefix(':') {
        // A leap second is the last one of its minute.
        (seconds, after) = part(rest, 60, true)?;
        seconds = seconds.min(59);
        if let Some(rest) = after.strip_prefix('.').or_else(|| after.strip_prefix(',')) {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let (decimals, rest) = rest.split_at(digits);
            fraction = format!("0.{decimals}").parse().ok().filter(|_| digits > 0)?;
            after = rest;
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "less than a day")]
    let whole = (3600 * hours + 60 * minutes + seconds) as f64;
    Some((whole + fraction, after))
}

/// The offset from universal time in seconds: none, `Z`, `+02`, `+0200` or `+02:00`, and the name of
/// a zone in brackets after it.
fn offset(text: &str) -> Option<f64> {
    let text = match text.split_once('[') {
        Some((offset, zone)) if zone.ends_with(']') && !offset.is_empty() => offset,
        Some(_) => return None,
        None => text,
    };
    let sign = match text.chars().next() {
        None => return Some(0.0),
        Some('Z' | 'z') => return (text.len() == 1).then_some(0.0),
        Some('+') => 1.0,
        Some('-') => -1.0,
        Some(_) => return None,
    };
    let (hours, minutes) = match text.get(1..)?.as_bytes() {
        [a, b] => ([a, b], [&b'0', &b'0']),
        [a, b, c, d] | [a, b, b':', c, d] => ([a, b], [c, d]),
        _ => return None,
    };
    let two = |pair: [&u8; 2]| {
        let digit = |byte: &u8| byte.is_ascii_digit().then(|| f64::from(byte - b'0'));
        Some(10.0 * digit(pair[0])? + digit(pair[1])?)
    };
    let (hours, minutes) = (two(hours)?, two(minutes)?);
    (hours <= 25.0 && minutes < 60.0).then_some(sign * (3600.0 * hours + 60.0 * minutes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastmmd_reference::generate::Generator;

    #[expect(clippy::cast_precision_loss, reason = "this century")]
    fn since_1970(moment: jiff::civil::DateTime) -> f64 {
        let since = moment.duration_since(jiff::civil::date(1970, 1, 1).at(0, 0, 0, 0));
        since.as_secs() as f64 + f64::from(since.subsec_nanos()) / 1e9
    }

    #[test]
    fn dates_are_those_of_a_library_of_dates() {
        let forms = [
            ("%Y-%m-%d %H:%M:%S%.f", true),
            ("%Y-%m-%dT%H:%M:%S%.fZ", true),
            ("%Y-%m-%dT%H:%M:%S+00:00", false),
            ("%d.%m.%Y %H:%M:%S%.f", true),
            ("%Y/%m/%d %H:%M:%S%.f", true),
            ("%m/%d/%Y %H:%M:%S%.f", true),
            ("%-d.%-m.%Y %-H:%M:%S", false),
        ];
        let begin = jiff::civil::date(1900, 1, 1).at(0, 0, 0, 0);
        let mut random = Generator::new(17);
        for _ in 0..2000 {
            let part = (0.5 + 0.1 * random.normal()).clamp(0.0, 1.0);
            let milliseconds = (part * 6.3e12).round();
            #[expect(clippy::cast_possible_truncation, reason = "whole, and below 2^53")]
            let since = jiff::SignedDuration::from_millis(milliseconds as i64);
            let moment = begin.checked_add(since).expect("before 2100");
            for (form, fraction) in forms {
                let text = moment.strftime(form).to_string();
                let wanted = if fraction {
                    moment
                } else {
                    moment.with().subsec_nanosecond(0).build().expect("a moment")
                };
                let (read, wanted) = (seconds(&text).expect("a date"), since_1970(wanted));
                assert!((read - wanted).abs() < 1e-6, "{text}: {read} instead of {wanted}");
            }
        }
    }

    #[test]
    fn offsets_are_taken_off() {
        let apart = |a: &str, b: &str| seconds(b).zip(seconds(a)).map(|(b, a)| b - a);
        let noon = "2024-03-31T12:00:00Z";
        for (text, later) in [
            ("2024-03-31T12:00:00+02:00", -7200.0),
            ("2024-03-31 12:00:00-0130", 5400.0),
            ("2024-03-31T12:00+02[Europe/Berlin]", -7200.0),
            ("2024-03-31t12:00:00z", 0.0),
            ("2024-03-31", -43_200.0),
            ("31/03/2024 12:00:01", 1.0),
            ("03/04/2024 12:00", -27.0 * 86_400.0),
            ("2016-12-31 23:59:60", -228_657_601.0),
        ] {
            assert_eq!(apart(noon, text), Some(later), "{text}");
        }
        assert_eq!(seconds("10:14:33.25"), Some(36_873.25));
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in [
            "",
            "10",
            "1:00",
            "24:00:00",
            "10:60",
            "10:00:61",
            "10:00:00.",
            "2024-02-30",
            "2023-02-29",
            "2024-13-01",
            "2024-00-10",
            "2024-3-1",
            "24-03-01",
            "2024-03-01x",
            "2024-03-01 1",
            "2024-03-01T10:00:00+",
            "2024-03-01T10:00:00+2:00",
            "2024-03-01T10:00:00[UTC]",
            "2024-03-01T10:00:00+99:00",
            "31.03.2024",
            "31.03.24 10:00",
            "13/13/2024 10:00:00",
            "1.2.3",
            "192.168.0.1",
            "2024.03.31 10:00:00",
            "10:00 pump",
            "99999999999999999999-01-01",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
        for (text, is) in [
            ("2024-03-31", true),
            ("31.03.2024", true),
            ("3/31/2024", true),
            ("2024/03/31", true),
            ("31.13.2024", false),
            ("2024-03-31 10:00", false),
            ("31-03-2024", false),
            ("v1.2.3", false),
        ] {
            assert_eq!(is_day(text), is, "{text}");
        }
    }
}
