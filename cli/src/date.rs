//! Dates and times of the day as logs write them.

use crate::order::Order;

/// Seconds of a day.
const DAY: f64 = 86_400.0;

const WEEKDAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// How the day of a date is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// 2024-03-31.
    Iso,
    /// 31-Mar-2024, 31-Mar-24.
    Named,
    /// 31.03.2024, 03/31/2024, 31-03-2024, 2024/03/31; also with two digits of the year.
    Digits,
}

/// A date, in one of the forms 2024-03-31, 2024/03/31, 31.03.2024 and 31-Mar-2024, or as the order says in
/// 03/31/2024, 31-03-2024 and those with two digits of the year, from 1969 to 2068; with or without a time
/// of the day; the form Sun Mar 31 10:14:33 2024; or a time of the day alone. As seconds since 1970, or
/// since midnight. Without an offset, as in `+02:00` or `Z`, a date is taken as it stands. A date without
/// a time is one only if written 2024-03-31 or with the name of its month.
pub(crate) fn seconds(text: &str, order: Order) -> Option<f64> {
    if let Some(time) = time_of_day(text).or_else(|| in_words(text)) {
        return Some(time);
    }
    let (day, form, rest) = day(text, order)?;
    let (midnight, iso) = (midnight(day), form == Form::Iso);
    if rest.is_empty() {
        return (form != Form::Digits).then_some(midnight);
    }
    let rest = rest.strip_prefix(|c: char| c == ' ' || (iso && matches!(c, 'T' | 't')))?;
    let (time, rest) = clock(rest, iso)?;
    Some(midnight + time - if iso { offset(rest)? } else { rest.is_empty().then_some(0.0)? })
}

#[expect(clippy::cast_precision_loss, reason = "days of ten thousand years")]
fn midnight(day: i64) -> f64 {
    day as f64 * DAY
}

/// A date in the form of C, Sun Mar 31 10:14:33 2024, with or without the day of the week.
fn in_words(text: &str) -> Option<f64> {
    if !text.as_bytes().first().is_some_and(u8::is_ascii_alphabetic) {
        return None;
    }
    let mut words = text.split_ascii_whitespace().peekable();
    words.next_if(|word| named(word, &WEEKDAYS).is_some());
    let (month, day) = (named(words.next()?, &MONTHS)?, whole(words.next()?, 1..=2)?);
    let time = time_of_day(words.next()?)?;
    let year = whole(words.next()?, 4..=4)?;
    words.next().is_none().then_some(midnight(days(year, month, day)?) + time)
}

/// The number from 1 of a name, which may be cut to three letters.
fn named(word: &str, names: &[&str]) -> Option<i64> {
    let word = word.to_ascii_lowercase();
    let at = names.iter().position(|name| word.len() >= 3 && name.starts_with(&word))?;
    i64::try_from(at + 1).ok()
}

/// A number of so many digits, and nothing else.
fn whole(text: &str, most: std::ops::RangeInclusive<usize>) -> Option<i64> {
    let (number, digits, rest) = number(text)?;
    (rest.is_empty() && most.contains(&digits)).then_some(number)
}

/// A time of the day alone, as in 10:14:33.5, in seconds since midnight.
pub(crate) fn time_of_day(text: &str) -> Option<f64> {
    clock(text, true).filter(|(_, rest)| rest.is_empty()).map(|(time, _)| time)
}

/// Whether this is a date alone, in any form.
pub(crate) fn is_day(text: &str) -> bool {
    let alone = |order| day(text, order).is_some_and(|(_, _, rest)| rest.is_empty());
    Order::ALL.into_iter().any(alone)
}

/// Days since 1970 in each order, where there is such a date.
pub(crate) fn readings(text: &str) -> [Option<i64>; Order::ALL.len()] {
    Order::ALL.map(|order| day(text, order).map(|(day, ..)| day))
}

/// Days since 1970, the form, and what follows.
fn day(text: &str, order: Order) -> Option<(i64, Form, &str)> {
    let (first, digits, rest) = number(text)?;
    let after = rest.strip_prefix(['-', '/', ' ']).unwrap_or_default();
    let letters = after.bytes().take_while(u8::is_ascii_alphabetic).count();
    if letters > 0 && digits <= 2 {
        let (month, rest) = after.split_at(letters);
        let (year, digits, rest) = number(rest.strip_prefix(['-', '/', ' '])?)?;
        let days = days(year_of(year, digits)?, named(month, &MONTHS)?, first)?;
        return Some((days, Form::Named, rest));
    }
    let mark = rest.chars().next().filter(|mark| matches!(mark, '-' | '/' | '.'))?;
    let (second, middle, rest) = number(rest.strip_prefix(mark)?)?;
    let (third, last, rest) = number(rest.strip_prefix(mark)?)?;
    let iso = mark == '-' && digits == 4;
    let days = match (mark, digits, middle, last) {
        ('-', 4, 2, 2) | ('/', 4, _, 1 | 2) => days(first, second, third),
        (_, 1 | 2, 1 | 2, 2 | 4) => match order {
            Order::Year if last == 2 && digits == 2 => days(year_of(first, 2)?, second, third),
            Order::Month if mark != '.' => days(year_of(third, last)?, first, second),
            // Nobody writes the month, or a year of four digits, otherwise between points.
            Order::Year if mark != '.' => None,
            _ => days(year_of(third, last)?, second, first),
        },
        _ => None,
    };
    let form = if iso { Form::Iso } else { Form::Digits };
    days.map(|days| (days, form, rest))
}

/// A year of four digits, or of two: POSIX takes those from 69 on as of the last century.
fn year_of(year: i64, digits: usize) -> Option<i64> {
    match digits {
        4 => Some(year),
        2 => Some(year + if year < 69 { 2000 } else { 1900 }),
        _ => None,
    }
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

/// Whether a time ends with PM, if it does with AM or PM, and what is before.
fn half(text: &str) -> (Option<bool>, &str) {
    let end = text.len().saturating_sub(2);
    let (Some(before), Some(last)) = (text.get(..end), text.get(end..)) else {
        return (None, text);
    };
    let is = |word: &str| last.eq_ignore_ascii_case(word);
    match is("am") || is("pm") {
        true => (Some(is("pm")), before.trim_end()),
        false => (None, text),
    }
}

/// A time of the day in seconds, and what follows; with two digits an hour, or with one, too, as
/// before AM and PM.
fn clock(text: &str, two: bool) -> Option<(f64, &str)> {
    let (afternoon, text) = half(text);
    let two = two && afternoon.is_none();
    let part = |text, most: i64, two: bool| {
        let (number, digits, rest) = number(text)?;
        (number <= most && (digits == 2 || (digits == 1 && !two))).then_some((number, rest))
    };
    let (hours, rest) = part(text, 23, two)?;
    let hours = match afternoon {
        None => hours,
        Some(afternoon) if (1..=12).contains(&hours) => hours % 12 + 12 * i64::from(afternoon),
        Some(_) => return None,
    };
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
            ("%d/%m/%Y %H:%M:%S%.f", true),
            ("%-d.%-m.%Y %-H:%M:%S", false),
            ("%d-%m-%Y %H:%M:%S%.f", true),
            ("%m-%d-%Y %H:%M:%S", false),
            ("%m/%d/%y %H:%M:%S", false),
            ("%d.%m.%y %H:%M:%S", false),
            ("%y-%m-%d %H:%M:%S", false),
            ("%d-%b-%y %H:%M:%S%.f", true),
            ("%-m/%-d/%Y %-I:%M:%S %p", false),
            ("%d/%m/%Y %I:%M:%S%p", false),
            ("%d-%b-%Y %H:%M:%S%.f", true),
            ("%-d %B %Y %H:%M:%S", false),
            ("%a %b %e %H:%M:%S %Y", false),
            ("%b %d %H:%M:%S%.f %Y", true),
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
                let order = match form.trim_start_matches(['%', '-']).chars().next() {
                    Some('m') => Order::Month,
                    Some('y') => Order::Year,
                    _ => Order::Day,
                };
                // A year of two digits is one of these.
                if form.contains("%y") && !(1969..2069).contains(&moment.year()) {
                    continue;
                }
                let read = seconds(&text, order).expect("a date");
                let wanted = since_1970(wanted);
                assert!((read - wanted).abs() < 1e-6, "{text}: {read} instead of {wanted}");
            }
        }
    }

    #[test]
    fn offsets_are_taken_off() {
        let at = |text: &str| {
            let order = if text.starts_with("31") { Order::Day } else { Order::Month };
            seconds(text, order)
        };
        let apart = |a: &str, b: &str| at(b).zip(at(a)).map(|(b, a)| b - a);
        let noon = "2024-03-31T12:00:00Z";
        for (text, later) in [
            ("2024-03-31T12:00:00+02:00", -7200.0),
            ("2024-03-31 12:00:00-0130", 5400.0),
            ("2024-03-31T12:00+02[Europe/Berlin]", -7200.0),
            ("2024-03-31t12:00:00z", 0.0),
            ("2024-03-31", -43_200.0),
            ("31/03/2024 12:00:01", 1.0),
            ("31-03-2024 12:00:01", 1.0),
            ("31.03.24 12:00:01", 1.0),
            ("31-Mar-24 12:00:01", 1.0),
            ("03/04/2024 12:00", -27.0 * 86_400.0),
            ("2016-12-31 23:59:60", -228_657_601.0),
        ] {
            assert_eq!(apart(noon, text), Some(later), "{text}");
        }
        assert_eq!(seconds("10:14:33.25", Order::Day), Some(36_873.25));
        let halves = ["12:00 AM", "9:30 am", "12:00 PM", "1:00:00.5PM"];
        let wanted = [0.0, 34_200.0, 43_200.0, 46_800.5].map(Some);
        assert_eq!(halves.map(|text| seconds(text, Order::Day)), wanted);
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
            "31.03.4 10:00",
            "31.003.24 10:00",
            "31-03-2024",
            "99-99-99 10:00",
            "13/13/2024 10:00:00",
            "1.2.3",
            "192.168.0.1",
            "2024.03.31 10:00:00",
            "10:00 pump",
            "13:00 PM",
            "0:30 AM",
            "31-Feb-2024 10:00:00",
            "31-Ma-2024 10:00:00",
            "31-Mar-124 10:00:00",
            "Mon Smarch 6 10:00:00 2024",
            "Mon May 6 10:00:00",
            "Mon May 6 10:00:00 2024 x",
            "May be 10:00:00 2024",
            "99999999999999999999-01-01",
        ] {
            assert_eq!(Order::ALL.map(|order| seconds(text, order)), [None; 3], "{text}");
        }
        assert_eq!(
            (seconds("31/03/2024 10:00", Order::Month), seconds("03/31/2024 10:00", Order::Day)),
            (None, None)
        );
        // How many orders can read it, and how many dates it is then.
        for (text, read, dates) in [
            ("31/03/2024", 1, 1),
            ("03/31/2024 10:00", 1, 1),
            ("03/04/2024", 2, 2),
            ("03-04-2024", 2, 2),
            ("03/04/05", 3, 3),
            ("24-03-31", 2, 2),
            ("31.03.2024", 3, 1),
            ("31.03.24", 3, 2),
            ("2024-03-31", 3, 1),
            ("31-Mar-24", 3, 1),
        ] {
            let found: Vec<i64> = readings(text).into_iter().flatten().collect();
            let different: std::collections::BTreeSet<&i64> = found.iter().collect();
            assert_eq!((found.len(), different.len()), (read, dates), "{text}");
        }
        for (text, is) in [
            ("2024-03-31", true),
            ("31.03.2024", true),
            ("3/31/2024", true),
            ("2024/03/31", true),
            ("31.13.2024", false),
            ("06-May-2024", true),
            ("06-Mai-2024", false),
            ("2024-03-31 10:00", false),
            ("31-03-2024", true),
            ("31-03-24", true),
            ("v1.2.3", false),
        ] {
            assert_eq!(is_day(text), is, "{text}");
        }
    }
}
