//! What the columns of a log are, as its first rows show: the time, readings, and what is neither.

use crate::cell::{self, Cell, Decimals};
use crate::fault::Fault;
use crate::options::Columns;
use crate::order::{Evidence, Ground, Order};
use crate::time;

/// Names of columns that hold the time, in lower case and without their unit.
const TIMES: [&str; 12] = [
    "time",
    "timestamp",
    "datetime",
    "date",
    "t",
    "ts",
    "utc",
    "epoch",
    "uptime",
    "elapsed",
    "millis",
    "micros",
];
/// Names of columns that number the rows.
const INDICES: [&str; 12] =
    ["", "index", "idx", "id", "row", "no", "no.", "nr", "n", "sample", "seq", "unnamed: 0"];
/// Parts of the names of columns that hold the time, if they also rise as a clock does.
const CLOCKS: [&str; 6] = ["time", "zeit", "stamp", "sec", "clock", "datum"];
/// Words in the names of columns that say what a row is, and were not measured.
const LABELS: [&str; 22] = [
    "label",
    "labels",
    "anomaly",
    "anomalies",
    "anomalous",
    "fault",
    "faults",
    "faulty",
    "failure",
    "failures",
    "event",
    "events",
    "alarm",
    "alarms",
    "error",
    "normal",
    "status",
    "class",
    "target",
    "attack",
    "outlier",
    "changepoint",
];
/// The name of a label of several words.
const TEST_LABEL: [&str; 2] = ["is", "test"];
/// Numbers from here on that rise by one are seconds since 1970, from 1973 on.
const LEAST_SINCE_1970: f64 = 1e8;
/// Units of times, and their length in seconds.
const UNITS: [(&str, f64); 14] = [
    ("s", 1.0),
    ("sec", 1.0),
    ("seconds", 1.0),
    ("ms", 1e-3),
    ("millis", 1e-3),
    ("us", 1e-6),
    ("µs", 1e-6),
    ("μs", 1e-6),
    ("micros", 1e-6),
    ("ns", 1e-9),
    ("min", 60.0),
    ("h", 3600.0),
    ("d", 86_400.0),
    ("days", 86_400.0),
];
/// Seconds since 1970 are below this; the units of larger numbers are ms, µs and ns.
const SECONDS_SINCE_1970: f64 = 1e11;
/// Fewest rows in which a column can be seen to rise in even steps.
const LEAST_STEPS: usize = 6;
/// Share of the steps that have to be even, for gaps and resets.
const EVEN_STEPS: f64 = 0.9;
/// Largest relative difference between even steps: clocks jitter.
const JITTER: f64 = 0.1;
/// The same between steps that are equal but for rounding.
const EXACT: f64 = 1e-6;

/// What a column is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Reading,
    Time,
    /// The rows are numbered.
    Index,
    Text,
    /// Nothing in it, and no name.
    Empty,
    /// Left out by `--exclude`, or not among `--columns`.
    NotWanted,
}

impl Role {
    /// Why such a column is left out.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::Reading => "watched",
            Self::Time => "the time",
            Self::Index => "numbers the rows",
            Self::Text => "text",
            Self::Empty => "empty",
            Self::NotWanted => "not asked for",
        }
    }
}

/// The time of rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Time {
    /// One column, or one of dates and one of times of the day.
    pub(crate) at: Vec<usize>,
    /// The unit of numbers, in seconds.
    pub(crate) unit: f64,
    pub(crate) dates: bool,
    /// Whether 03/04/2024 is the third of April, and why.
    pub(crate) order: Order,
    pub(crate) ground: Ground,
    /// Whether later dates would hardly change that.
    pub(crate) settled: bool,
    /// How it was found.
    pub(crate) found: &'static str,
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) unit: Option<String>,
    pub(crate) role: Role,
    /// Whether it looks as if somebody had annotated the rows.
    pub(crate) is_label: bool,
}

/// What is known of all columns.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Layout {
    pub(crate) columns: Vec<Column>,
    pub(crate) time: Option<Time>,
    /// Columns watched, in this order.
    pub(crate) chosen: Vec<usize>,
}

/// A table of which the first rows are known.
pub(crate) struct Seen<'a> {
    pub(crate) log: &'a str,
    pub(crate) names: Vec<String>,
    pub(crate) units: Option<Vec<String>>,
    pub(crate) rows: &'a [Vec<Vec<u8>>],
    pub(crate) decimals: Decimals,
}

impl Seen<'_> {
    /// What the columns are, and which of them to use.
    pub(crate) fn layout(self, choice: &Columns) -> Result<Layout, Fault> {
        let find = |wanted: &String| {
            find(&self.names, wanted).ok_or_else(|| {
                let known = self.names.join(", ");
                Fault::of(self.log, format!("no column {:?}; its columns: {known}", wanted.trim()))
            })
        };
        let all = |wanted: &Option<Vec<String>>| -> Result<Vec<usize>, Fault> {
            wanted.iter().flatten().map(find).collect()
        };
        let mut time = match &choice.time {
            Some(wanted) => Some(self.time_at(vec![find(wanted)?], "by --time")),
            None => self.time(),
        };
        if let Some((time, order)) = time.as_mut().zip(choice.dates) {
            (time.order, time.ground, time.settled) = (order, Ground::Given, true);
        }
        let (wanted, unwanted) = (all(&choice.columns)?, all(&choice.exclude)?);
        let mut columns: Vec<Column> = (0..self.names.len()).map(|at| self.column(at)).collect();
        for at in time.iter().flat_map(|time| &time.at) {
            columns[*at].role = Role::Time;
        }
        for (index, at) in wanted.iter().enumerate() {
            if wanted[..index].contains(at) {
                let why = format!("--columns names {:?} twice", self.names[*at]);
                return Err(Fault::of(self.log, why));
            }
            // Whoever names a column means it.
            columns[*at].role = Role::Reading;
        }
        for (at, column) in columns.iter_mut().enumerate() {
            let left = choice.columns.is_some() && !wanted.contains(&at);
            if column.role != Role::Time && (left || unwanted.contains(&at)) {
                column.role = Role::NotWanted;
            }
        }
        let is_reading = |at: &usize| columns[*at].role == Role::Reading;
        let chosen: Vec<usize> = match &choice.columns {
            Some(_) => wanted.into_iter().filter(is_reading).collect(),
            None => (0..columns.len()).filter(is_reading).collect(),
        };
        if chosen.is_empty() {
            let roles: Vec<String> = columns
                .iter()
                .map(|column| format!("{} ({})", column.name, column.role.reason()))
                .collect();
            let why = format!("no column of readings: {}", roles.join(", "));
            return Err(Fault::of(self.log, why));
        }
        Ok(Layout { columns, time, chosen })
    }

    fn cells(&self, at: usize) -> impl Iterator<Item = &[u8]> {
        self.rows.iter().filter_map(move |row| row.get(at)).map(Vec::as_slice)
    }

    fn column(&self, at: usize) -> Column {
        let name = self.names[at].clone();
        let unit = self.units.as_ref().and_then(|units| units.get(at));
        let unit = unit.filter(|unit| !unit.is_empty()).cloned();
        let kinds = || self.cells(at).map(|cell| cell::kind(cell, self.decimals));
        let numbers = kinds().filter(|kind| matches!(kind, Cell::Number(_) | Cell::TooLarge));
        let (numbers, texts) = (numbers.count(), kinds().filter(|it| *it == Cell::Text).count());
        let numbered = self.name_is(at, &INDICES) || self.unnamed();
        let role = match (numbers, texts) {
            (0, 0) if name.is_empty() => Role::Empty,
            (numbers, texts) if texts > numbers => Role::Text,
            _ if numbered && self.is_counted(at) => Role::Index,
            _ if self.marches(at) => Role::Index,
            _ => Role::Reading,
        };
        let binary = |kind: Cell| match kind {
            Cell::Number(value) => value.to_bits() == 0 || value.to_bits() == 1_f32.to_bits(),
            Cell::Missing => true,
            Cell::TooLarge | Cell::Text => false,
        };
        let words = words(&name);
        let said = words.iter().any(|word| LABELS.contains(&word.as_str())) || words == TEST_LABEL;
        let is_label = said && kinds().all(binary);
        Column { name, unit, role, is_label }
    }

    /// Whether the columns have no names.
    fn unnamed(&self) -> bool {
        self.names.iter().zip(1..).all(|(name, number): (_, usize)| *name == number.to_string())
    }

    fn name_is(&self, at: usize, words: &[&str]) -> bool {
        words.contains(&parted(&self.names[at].to_lowercase()).0)
    }

    /// The time: by a name, by dates, or by rising in even steps.
    fn time(&self) -> Option<Time> {
        let columns = || 0..self.names.len();
        let stamped = |at: &usize| self.share(*at, time::is_stamp) > 0.5;
        let timed = |at: &usize| {
            stamped(at) || self.share(*at, |cell| cell::double(cell, self.decimals).is_some()) > 0.5
        };
        // The day in one column, and the time of the day in the next.
        let day = |at: &usize| self.share(*at, time::is_day) > 0.5;
        let pair = columns().find(|at| {
            day(at) && at + 1 < self.names.len() && self.share(at + 1, time::is_of_day) > 0.5
        });
        if let Some(at) = pair {
            return Some(self.time_at(vec![at, at + 1], "dates and times"));
        }
        let named = columns().filter(|at| self.name_is(*at, &TIMES)).find(timed);
        if let Some(at) = named {
            return Some(self.time_at(vec![at], "by its name"));
        }
        if let Some(at) = columns().find(stamped) {
            return Some(self.time_at(vec![at], "dates"));
        }
        let clock = |at: &usize| {
            let name = self.names[*at].to_lowercase();
            CLOCKS.iter().any(|part| name.contains(part)) && self.rises(*at)
        };
        if let Some(at) = columns().find(clock) {
            return Some(self.time_at(vec![at], "by its name"));
        }
        // Small numbers that rise by one number the rows, unless they have a unit.
        let numbers_rows = |at: usize| {
            self.is_counted(at)
                && parted(&self.names[at].to_lowercase()).1.is_none()
                && self.numbers(at).first().is_some_and(|first| *first < LEAST_SINCE_1970)
        };
        let rises = |at: &usize| self.rises_evenly(*at) && !numbers_rows(*at);
        columns().find(rises).map(|at| self.time_at(vec![at], "rises in even steps"))
    }

    fn time_at(&self, at: Vec<usize>, found: &'static str) -> Time {
        let first = at.first().copied().unwrap_or(0);
        let dates = self.share(first, time::is_stamp) > 0.5;
        let mut evidence = Evidence::default();
        self.cells(first).for_each(|cell| evidence.note(cell));
        let (order, ground) = evidence.order(self.decimals.comma);
        let numbers = self.numbers(first);
        let largest = numbers.iter().fold(0.0, |most, number| f64::max(most, number.abs()));
        let unit = self.units.as_ref().and_then(|units| unit_of(&units.get(first)?.to_lowercase()));
        let by_size =
            [1.0, 1e-3, 1e-6, 1e-9].into_iter().find(|unit| largest * unit < SECONDS_SINCE_1970);
        let unit = parted(&self.names[first].to_lowercase()).1.or(unit).or(by_size).unwrap_or(1.0);
        let settled = !dates || evidence.is_enough();
        Time { at, unit, dates, order, ground, settled, found }
    }

    /// Share of the cells of a column that are so.
    fn share(&self, at: usize, is: impl Fn(&[u8]) -> bool) -> f64 {
        let (all, some) = self
            .cells(at)
            .fold((0, 0), |(all, some), cell| (all + 1, some + usize::from(is(cell))));
        fastmmd_reference::real(some) / fastmmd_reference::real(all.max(1))
    }

    fn numbers(&self, at: usize) -> Vec<f64> {
        self.cells(at).filter_map(|cell| cell::double(cell, self.decimals)).collect()
    }

    /// Whether a column rises by one from row to row.
    fn is_counted(&self, at: usize) -> bool {
        let numbers = self.numbers(at);
        let ones = numbers.windows(2).filter(|pair| (pair[1] - pair[0] - 1.0).abs() < 1e-9);
        let steps = numbers.len().saturating_sub(1);
        steps > 0
            && fastmmd_reference::real(ones.count()) >= EVEN_STEPS * fastmmd_reference::real(steps)
    }

    /// The steps from row to row, if there are enough to tell a clock by.
    fn steps(&self, at: usize) -> Option<Vec<f64>> {
        let numbers = self.numbers(at);
        let steps: Vec<f64> = numbers.windows(2).map(|pair| pair[1] - pair[0]).collect();
        Some(steps).filter(|steps| steps.len() >= LEAST_STEPS)
    }

    /// Whether a column rises from every row to the next.
    fn rises(&self, at: usize) -> bool {
        self.steps(at).is_some_and(|steps| steps.iter().all(|step| *step > 0.0))
    }

    /// Whether a column rises by the same from every row to the next: nothing that is measured does.
    fn marches(&self, at: usize) -> bool {
        let Some(steps) = self.steps(at) else { return false };
        let first = steps[0];
        first > 0.0 && steps.iter().all(|step| (step - first).abs() <= EXACT * first)
    }

    fn rises_evenly(&self, at: usize) -> bool {
        let Some((steps, rate)) = self.steps(at).zip(time::rate(&self.numbers(at))) else {
            return false;
        };
        let even = steps.iter().filter(|step| (*step * rate - 1.0).abs() <= JITTER).count();
        fastmmd_reference::real(even) >= EVEN_STEPS * fastmmd_reference::real(steps.len())
    }
}

/// The column of a name, of a name without its unit, or of a number from 1.
pub(crate) fn find(names: &[String], wanted: &str) -> Option<usize> {
    let wanted = wanted.trim();
    let bare = |name: &String| {
        let end = name.find(['(', '[']).unwrap_or(name.len());
        name[..end].trim_end() == wanted
    };
    let by_name = names.iter().position(|name| name == wanted);
    let by_bare = || names.iter().position(bare).filter(|_| !wanted.is_empty());
    let by_number = || wanted.parse::<usize>().ok()?.checked_sub(1).filter(|at| *at < names.len());
    by_name.or_else(by_bare).or_else(by_number)
}

/// The name of a column without its unit, and the unit in seconds, if it has one. The unit may
/// follow in brackets or after an underscore.
fn parted(name: &str) -> (&str, Option<f64>) {
    for (unit, seconds) in UNITS {
        let [round, square] = [format!("({unit})"), format!("[{unit}]")];
        for ending in [round, square, format!("_{unit}")] {
            if let Some(name) = name.strip_suffix(&ending) {
                return (name.trim_end(), Some(seconds));
            }
        }
    }
    (name, unit_of(name).filter(|_| name.len() > 2))
}

/// The words of a name, in lower case: it is split at what is no letter, and where capitals begin.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut small = false;
    for letter in name.chars() {
        let begins = !letter.is_alphabetic() || (small && letter.is_uppercase());
        if begins {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphabetic()) {
            word.extend(letter.to_lowercase());
        }
        small = letter.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A unit of time in seconds.
fn unit_of(unit: &str) -> Option<f64> {
    let unit = unit.trim().trim_matches(['(', ')', '[', ']']);
    UNITS.iter().find(|(name, _)| *name == unit).map(|(_, seconds)| *seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(names: &str, rows: impl Fn(u32) -> String) -> Layout {
        let rows: Vec<Vec<Vec<u8>>> = (0..40)
            .map(|row| rows(row).split(',').map(|cell| cell.as_bytes().to_vec()).collect())
            .collect();
        let names = names.split(',').map(str::to_owned).collect();
        let seen = Seen { log: "log", names, units: None, rows: &rows, decimals: Decimals::POINT };
        seen.layout(&Columns::default()).expect("readings")
    }

    fn roles(layout: &Layout) -> Vec<Role> {
        layout.columns.iter().map(|column| column.role).collect()
    }

    #[test]
    fn times_are_found_by_name_dates_or_even_steps() {
        let found = |layout: Layout| {
            let time = layout.time.expect("a time");
            (time.at, time.found, time.unit)
        };
        let noise = |row: u32| row * 7919 % 101;
        let named = layout("a,Time (ms)", |row| format!("{},{}", noise(row), row * row));
        assert_eq!(found(named), (vec![1], "by its name", 1e-3));
        let even = layout("x,y", |row| format!("{}.5,{}", row * 2, noise(row)));
        assert_eq!(found(even), (vec![0], "rises in even steps", 1.0));
        let dates = layout("x,y", |row| format!("2024-05-06 10:00:{row:02},{}", noise(row)));
        assert_eq!(found(dates), (vec![0], "dates", 1.0));
        let pair = layout("date,time,y", |row| format!("2024-05-06,10:00:{row:02},{}", noise(row)));
        assert_eq!(found(pair), (vec![0, 1], "dates and times", 1.0));
        let epoch =
            layout("ts,y", |row| format!("{},{}", 1_700_000_000_000_u64 + u64::from(row), 1));
        assert_eq!(found(epoch), (vec![0], "by its name", 1e-3));
        // The whole column says whether the day or the month is first.
        for (order, first) in [(Order::Month, "%m/%d"), (Order::Day, "%d/%m")] {
            let dates = layout("x,y", |row| {
                let (day, month) = (row / 2 + 1, 3);
                let text = first.replace("%m", &format!("{month:02}"));
                format!("{}/2024 10:00:00,{}", text.replace("%d", &format!("{day:02}")), noise(row))
            });
            assert_eq!(
                dates.time.map(|time| (time.order, time.ground)),
                Some((order, Ground::Dates))
            );
        }
        // Readings that rise, but not evenly, are no time.
        let uneven = layout("x,y", |row| format!("{},{}", row * row, noise(row)));
        assert_eq!(uneven.time, None);
    }

    #[test]
    fn columns_that_are_no_readings_are_left_out() {
        let layout = layout("id,time,a,state,anomaly,", |row| {
            format!("{},{}.5,{},on,{},", row + 7, row, row * 7919 % 101, u32::from(row > 30))
        });
        use Role::{Empty, Index, Reading, Text, Time};
        assert_eq!(roles(&layout), [Index, Time, Reading, Text, Reading, Empty]);
        assert_eq!(layout.chosen, [2, 4]);
        let labels: Vec<bool> = layout.columns.iter().map(|column| column.is_label).collect();
        assert_eq!(labels, [false, false, false, false, true, false]);
    }

    /// What counts the rows is never watched: it is the time, or a number of the row.
    #[test]
    fn what_counts_rows_is_no_reading() {
        let noise = |row: u32| row * 7919 % 101;
        for name in ["Zeit", "Time Stamp", "elapsed_time", "secs", "clock", "Datum/Zeit"] {
            let found = layout(&format!("{name},y"), |row| format!("{row},{}", noise(row)));
            let time = found.time.clone().expect(name);
            assert_eq!((time.at, time.unit), (vec![0], 1.0), "{name}");
            assert_eq!(roles(&found), [Role::Time, Role::Reading], "{name}");
        }
        let since = |row: u32| format!("{},{}", 1_700_000_000 + row, noise(row));
        let found = layout("x,y", since).time.expect("a time");
        assert_eq!((found.found, found.unit), ("rises in even steps", 1.0));
        for name in ["counter", "frame", "x"] {
            let found = layout(&format!("{name},y"), |row| format!("{row},{}", noise(row)));
            assert_eq!((found.time.as_ref(), roles(&found)[0]), (None, Role::Index), "{name}");
        }
        // A clock beside the time.
        let two = layout("time,uptime,y", |row| format!("{row},{}.25,{}", row * 3, noise(row)));
        assert_eq!(roles(&two), [Role::Time, Role::Index, Role::Reading]);
        // The controls: what turns back, or rises otherwise, is measured.
        let angle = layout("y,angle", |row| format!("{},{}", noise(row), row % 30));
        assert_eq!(roles(&angle), [Role::Reading; 2]);
        let flight = layout("y,time_of_flight", |row| format!("{},{}", row % 7, noise(row)));
        assert_eq!((flight.time.as_ref(), roles(&flight)), (None, vec![Role::Reading; 2]));
        let asked = Columns { columns: Some(vec!["frame".to_owned()]), ..Columns::default() };
        let rows: Vec<Vec<Vec<u8>>> =
            (0..40).map(|row| vec![row.to_string().into_bytes()]).collect();
        let names = vec!["frame".to_owned()];
        let seen = Seen { log: "log", names, units: None, rows: &rows, decimals: Decimals::POINT };
        assert_eq!(seen.layout(&asked).expect("a reading").chosen, [0]);
    }

    #[test]
    fn labels_are_whole_words() {
        let is_label = |name: &str| {
            let found = layout(&format!("{name},y"), |row| format!("{},7", u32::from(row > 30)));
            found.columns[0].is_label
        };
        for name in
            ["failure", "Event", "machineStatus", "is_test", "fault 2", "ALARM", "is_normal"]
        {
            assert!(is_label(name), "{name}");
        }
        for name in ["default", "valve", "test", "classical", "untargeted"] {
            assert!(!is_label(name), "{name}");
        }
        assert_eq!(words("HPump_isFaulty2b"), ["hpump", "is", "faulty", "b"]);
    }

    #[test]
    fn units_follow_names() {
        for (name, parts) in [
            ("time", ("time", None)),
            ("time (s)", ("time", Some(1.0))),
            ("time [ms]", ("time", Some(1e-3))),
            ("timestamp_us", ("timestamp", Some(1e-6))),
            ("millis", ("millis", Some(1e-3))),
            ("time_of_flight", ("time_of_flight", None)),
            ("d", ("d", None)),
        ] {
            assert_eq!(parted(name), parts);
        }
        let names = ["vibration (g)", "b", "3"].map(str::to_owned);
        let places =
            ["vibration (g)", "vibration", "b", "1", "3", "9", ""].map(|name| find(&names, name));
        assert_eq!(places, [Some(0), Some(0), Some(1), Some(0), Some(2), None, None]);
    }
}
