//! What stands first in the dates of a log: the day, the month or the year.

use std::cmp::Reverse;

use clap::ValueEnum;

use crate::date;

/// The order of the numbers of a date, where its form leaves a choice, as 03/04/2024 does.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// The day, the month, the year.
    #[value(name = "dmy")]
    Day,
    /// The month, the day, the year.
    #[value(name = "mdy")]
    Month,
    /// The year, the month, the day.
    #[value(name = "ymd")]
    Year,
}

impl Order {
    pub(crate) const ALL: [Self; 3] = [Self::Day, Self::Month, Self::Year];

    /// In words.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Day => "day first",
            Self::Month => "month first",
            Self::Year => "year first",
        }
    }

    /// As it is given on the command line.
    pub(crate) fn argument(self) -> &'static str {
        match self {
            Self::Day => "dmy",
            Self::Month => "mdy",
            Self::Year => "ymd",
        }
    }
}

/// Why an order is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ground {
    /// Nothing depends on it.
    None,
    /// It was asked for.
    Given,
    /// There are dates that it alone can read.
    Dates,
    /// The day follows on the day before in it, and not in others.
    Steps,
    /// It is as good as others.
    Guess,
}

impl Ground {
    /// What is said of it beside the order.
    pub(crate) fn remark(self) -> &'static str {
        match self {
            Self::None | Self::Given | Self::Dates => "",
            Self::Steps => " (as the days follow)",
            Self::Guess => " (a guess: --dates)",
        }
    }
}

/// Dates after which the rest of a log is not asked: one that is damaged must not decide.
const ENOUGH: u64 = 16;

/// What the dates of a log say of their order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Evidence {
    /// Of each order: dates that it cannot read, and steps from day to day that it makes the shortest.
    unread: [u64; 3],
    shortest: [u64; 3],
    /// Whether two orders ever read a date differently.
    differ: [[bool; 3]; 3],
    last: [Option<i64>; 3],
    /// What people mean most often who write so.
    usual: Option<Order>,
}

impl Evidence {
    /// Takes a date, or a date and a time.
    pub(crate) fn note(&mut self, cell: &[u8]) {
        let Some(text) = std::str::from_utf8(cell).ok().map(str::trim) else { return };
        let read = date::readings(text);
        if read.iter().all(Option::is_none) {
            return;
        }
        for (own, others) in read.iter().zip(&mut self.differ) {
            for (other, differs) in read.iter().zip(others) {
                *differs |= own != other;
            }
        }
        if let Some(form) = Form::of(text) {
            self.usual.get_or_insert_with(|| form.usual());
            // Also where they happen to agree, as in 04/04/2024.
            for (one, other) in form.choices() {
                self.differ[one as usize][other as usize] = true;
                self.differ[other as usize][one as usize] = true;
            }
        }
        for (unread, day) in self.unread.iter_mut().zip(read) {
            *unread += u64::from(day.is_none());
        }
        let steps = [0, 1, 2].map(|at| Some(read[at]?.abs_diff(self.last[at]?)));
        let shortest = steps.iter().flatten().min();
        if steps.iter().flatten().max() != shortest {
            for (count, step) in self.shortest.iter_mut().zip(&steps) {
                *count += u64::from(step.as_ref() == shortest);
            }
        }
        self.last = read;
    }

    /// The order, and why; people who write decimal commas mostly have the day first.
    pub(crate) fn order(&self, decimal_comma: bool) -> (Order, Ground) {
        let usual = if decimal_comma { Some(Order::Day) } else { self.usual };
        let rank = |at: usize| {
            let is_usual = Some(Order::ALL[at]) == usual;
            (Reverse(self.unread[at]), self.shortest[at], is_usual)
        };
        // `max_by_key` returns the last of equal ones.
        let best = [2, 1, 0].into_iter().max_by_key(|at| rank(*at)).unwrap_or(0);
        let rivals = || (0..3).filter(|at| self.differ[best][*at]);
        let equal = |at: usize| self.unread[at] == self.unread[best];
        let ground = if rivals().count() == 0 {
            Ground::None
        } else if !rivals().any(equal) {
            Ground::Dates
        } else if !rivals().any(|at| equal(at) && self.shortest[at] == self.shortest[best]) {
            Ground::Steps
        } else {
            Ground::Guess
        };
        (Order::ALL[best], ground)
    }

    /// Whether more dates would hardly change the order.
    pub(crate) fn is_enough(&self) -> bool {
        let least = self.unread.iter().min().copied().unwrap_or(0);
        let (order, ground) = self.order(false);
        let rivals = (0..3).filter(|at| self.differ[order as usize][*at]);
        ground == Ground::None
            || rivals.map(|at| self.unread[at] - least).min().is_none_or(|more| more >= ENOUGH)
    }
}

/// A form of dates that leaves a choice.
#[derive(Debug, Clone, Copy)]
struct Form {
    mark: u8,
    /// Whether the year has two digits.
    short: bool,
}

impl Form {
    fn of(text: &str) -> Option<Self> {
        let mark = text.bytes().find(|byte| !byte.is_ascii_digit())?;
        let parts: Vec<&str> = text.splitn(3, char::from(mark)).collect();
        let [first, second, third] = parts.as_slice() else { return None };
        let digits = |part: &str| part.bytes().take_while(u8::is_ascii_digit).count();
        let is_short = |part: &str| (1..=2).contains(&part.len()) && digits(part) == part.len();
        let short = digits(third) == 2;
        let form = is_short(first) && is_short(second) && matches!(mark, b'-' | b'/' | b'.');
        (form && (short || (digits(third) == 4 && mark != b'.'))).then_some(Self { mark, short })
    }

    /// Orders that may read it differently.
    fn choices(self) -> impl Iterator<Item = (Order, Order)> {
        let month = (Order::Day, Order::Month);
        let years = [(Order::Day, Order::Year), (Order::Month, Order::Year)];
        let years = years.into_iter().filter(move |_| self.short);
        Some(month).filter(|_| self.mark != b'.').into_iter().chain(years)
    }

    /// The order of most who write so.
    fn usual(self) -> Order {
        match self.mark {
            b'/' => Order::Month,
            b'-' if self.short => Order::Year,
            _ => Order::Day,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<'t>(dates: impl IntoIterator<Item = &'t str>) -> (Order, Ground) {
        let mut evidence = Evidence::default();
        dates.into_iter().for_each(|date| evidence.note(date.as_bytes()));
        evidence.order(false)
    }

    #[test]
    fn the_order_is_as_the_dates_say() {
        use Ground::{Dates, Guess, None, Steps};
        use Order::{Day, Month, Year};
        for (dates, wanted) in [
            (["2024-05-06", "2024-05-07", "2024-05-07"], (Day, None)),
            (["06.05.2024 10:00", "07.05.2024 10:00", "pump"], (Day, None)),
            (["03/04/2024", "13/04/2024", "14/04/2024"], (Day, Dates)),
            (["04/03/2024", "04/13/2024", "04/14/2024"], (Month, Dates)),
            (["03/04/2024 23:59", "04/04/2024 00:00", ""], (Day, Steps)),
            (["04/03/2024 23:59", "04/04/2024 00:00", ""], (Month, Steps)),
            (["04/04/2024 23:59", "04/05/2024 00:00", ""], (Month, Steps)),
            (["03/04/2024", "03/04/2024", "03/04/2024"], (Month, Guess)),
            (["03-04-2024", "03-04-2024", "03-04-2024"], (Day, Guess)),
            (["04/04/2024", "04/04/2024", "04/04/2024"], (Month, Guess)),
            (["04/04/2024", "05/04/2024", "06/04/2024"], (Day, Steps)),
            (["24-03-30 10:00", "24-03-31 10:00", "24-04-01 10:00"], (Year, Steps)),
            (["30-03-24 10:00", "31-03-24 10:00", "01-04-24 10:00"], (Day, Steps)),
            (["03-04-05 10:00", "03-04-05 10:01", "03-04-05 10:02"], (Year, Guess)),
            (["31.03.24 10:00", "01.04.24 10:00", "02.04.24 10:00"], (Day, Steps)),
            (["24/03/97", "25/03/97", "26/03/97"], (Day, Dates)),
            // One damaged date does not decide.
            (["04/13/2024", "04/14/2024", "14/04/2024"], (Month, Dates)),
        ] {
            assert_eq!(of(dates), wanted, "{dates:?}");
        }
        let mut comma = Evidence::default();
        comma.note(b"03/04/2024");
        assert_eq!(comma.order(true), (Day, Guess));
    }

    #[test]
    fn a_log_is_read_on_until_enough_dates_say_it() {
        let mut evidence = Evidence::default();
        assert!(evidence.is_enough());
        evidence.note(b"2024-05-06");
        assert!(evidence.is_enough());
        (0..2 * ENOUGH).for_each(|_| evidence.note(b"04/04/2024"));
        for _ in 0..ENOUGH {
            assert!(!evidence.is_enough());
            evidence.note(b"13/04/2024");
        }
        assert!(evidence.is_enough());
    }
}
