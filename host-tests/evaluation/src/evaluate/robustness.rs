//! Single outliers, which must not alarm, and stuck channels, which must.

use fastmmd::condition::ViewKind;
use fastmmd::dynamic::Config;
use fastmmd::monitor::LoneOutliers;
use fastmmd::{Alarm, Change, Verdict};

use super::devices::{fleet, granted, learned, map, settings, with_channels};
use super::families::{Family, Source, seed};
use super::table::Table;
use super::{Check, Draw, Report, Scope, note};
use fastmmd_reference::{real, single, tolerance};

/// Families and channels of this section.
const CELLS: [(&str, Family, usize); 11] = [
    ("Gaussian, 1", Family::Gaussian, 1),
    ("Gaussian, 3", Family::Gaussian, 3),
    ("Gaussian, 8", Family::Gaussian, 8),
    ("exponential, 3", Family::Exponential, 3),
    ("uniform, 1", Family::Uniform, 1),
    ("uniform, 8", Family::Uniform, 8),
    ("bimodal, 1", Family::Bimodal, 1),
    ("correlated, 8", Family::Correlated, 8),
    ("AR(1) 0.9, 1", Family::Autoregressive(0.9), 1),
    ("AR(1) 0.9, 8", Family::Autoregressive(0.9), 8),
    ("AR(1) 0.95, 3", Family::Autoregressive(0.95), 3),
];

/// Outliers: size in standard deviations, and whether in all channels or in one.
const OUTLIERS: [(f64, bool); KINDS] =
    [(10.0, false), (10.0, true), (100.0, false), (100.0, true), (1e6, false), (1e6, true)];
const KINDS: usize = 6;
/// Number of rows watched after an outlier.
const WATCHED: usize = 64;
/// Outliers given to each device, one after the other.
const OUTLIERS_EACH: usize = 10;
/// Devices with a stuck channel.
const STUCK_DEVICES: usize = 30;
/// Number of rows within which a stuck channel must be found.
const STUCK_ROWS: usize = 256;
const PROMISE: f32 = 1e4;

/// The effects of outliers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outliers {
    /// Number of outliers of each kind.
    pub trials: usize,
    /// Trials in which the same rows without the outlier's row raised an alarm.
    pub without: usize,
    /// For each kind of outlier, alarms that the rows without it did not raise.
    pub caused: [usize; KINDS],
    /// For each kind, trials in which any statistic differed afterwards, in any bit, from that of
    /// the rows without it.
    pub felt: [usize; KINDS],
}

impl Outliers {
    /// Alarms caused by any outlier.
    #[must_use]
    pub fn caused(&self) -> usize {
        self.caused.iter().sum()
    }

    /// Number of outliers that changed any statistic.
    #[must_use]
    pub fn felt(&self) -> usize {
        self.felt.iter().sum()
    }

    fn line(&self, name: &str) -> Vec<String> {
        let counts = [self.trials, self.without].into_iter();
        let counts = counts.chain(self.caused).chain([self.felt()]).map(|count| count.to_string());
        [name.to_owned()].into_iter().chain(counts).collect()
    }
}

/// The results for stuck channels.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stuck {
    /// Rows to the alarm, ascending, of those found.
    pub delays: Vec<usize>,
    /// Those whose alarm names the channel and says that it is stuck.
    pub named: usize,
    /// Devices whose healthy twin alarmed within as many rows.
    pub twin: usize,
}

fn alarm(verdict: Verdict) -> Option<Alarm> {
    if let Verdict::Alarm(alarm) = verdict { Some(alarm) } else { None }
}

/// A view of C channels, and the lags of its vectors.
#[derive(Clone, Copy)]
struct Look {
    view: ViewKind,
    lags: usize,
}

const RAW: Look = Look { view: ViewKind::Raw, lags: 1 };
const DELAY: Look = Look { view: ViewKind::Raw, lags: 4 };
const INNOVATION: Look = Look { view: ViewKind::Innovation, lags: 1 };

/// Outliers in eight Gaussian channels, held back as usual or counted like any row.
#[must_use]
pub fn measure(lone_outliers: LoneOutliers, devices: usize) -> Outliers {
    let config = Config { lone_outliers, ..settings(PROMISE, 4096) };
    outliers::<8>(RAW, &config, Family::Gaussian, devices, 98)
}

fn outliers<const C: usize>(
    look: Look,
    config: &Config,
    family: Family,
    devices: usize,
    cell: usize,
) -> Outliers {
    let map = map(look.lags * C);
    let each = fleet(devices, |device| {
        let mut source = Source::<C>::new(family, seed(5, cell, device));
        let mut detector = learned(&map, look.view, config, &mut source);
        let mut found = Outliers::default();
        for trial in 0..OUTLIERS_EACH {
            // After the last outlier, until windows have settled and alarms are possible again.
            for _ in 0..2 * WATCHED {
                granted(detector.push(&source.row()));
            }
            detector.acknowledge();
            let stream: [_; WATCHED] = std::array::from_fn(|_| source.draw());
            let watch = |outlier: Option<[f64; C]>| {
                let mut twin = detector.clone();
                if let Some(row) = outlier {
                    let verdict = granted(twin.push(&row.map(single)));
                    if alarm(verdict).is_some() {
                        return (true, Vec::new());
                    }
                }
                let mut any = false;
                let windows = stream[1..].iter().map(|row| {
                    any |= alarm(granted(twin.push(&row.map(single)))).is_some();
                    twin.windows().collect::<Vec<_>>()
                });
                let windows: Vec<_> = windows.collect();
                (any, windows)
            };
            let (without, untouched) = watch(None);
            found.trials += 1;
            found.without += usize::from(without);
            for (index, (size, everywhere)) in OUTLIERS.into_iter().enumerate() {
                let mut row = stream[0];
                for (channel, x) in row.iter_mut().enumerate() {
                    if everywhere || channel == (device + trial) % C {
                        let up = (device / 7 + trial + channel).is_multiple_of(2);
                        let size = size * family.deviation();
                        *x += if up { size } else { -size };
                    }
                }
                let (any, windows) = watch(Some(row));
                found.caused[index] += usize::from(any && !without);
                found.felt[index] += usize::from(windows != untouched);
            }
            for row in &stream {
                granted(detector.push(&row.map(single)));
            }
        }
        found
    });
    let add = |a: [usize; KINDS], b: [usize; KINDS]| std::array::from_fn(|i| a[i] + b[i]);
    each.into_iter().fold(Outliers::default(), |all, one| Outliers {
        trials: all.trials + one.trials,
        without: all.without + one.without,
        caused: add(all.caused, one.caused),
        felt: add(all.felt, one.felt),
    })
}

fn stick<const C: usize>(look: Look, family: Family, rows: u32, cell: usize) -> Stuck {
    let map = map(C);
    let config = settings(PROMISE, rows);
    let each = fleet(STUCK_DEVICES, |device| {
        let mut source = Source::<C>::new(family, seed(6, cell, device));
        let mut detector = learned(&map, look.view, &config, &mut source);
        let mut last = source.row();
        for _ in 0..WATCHED {
            last = source.row();
            granted(detector.push(&last));
        }
        detector.acknowledge();
        let channel = device % C;
        let watch = |frozen: bool| {
            let (mut detector, mut source) = (detector.clone(), source.clone());
            (1..=STUCK_ROWS).find_map(|age| {
                let mut row = source.row();
                if frozen {
                    row[channel] = last[channel];
                }
                alarm(granted(detector.push(&row))).map(|alarm| (age, alarm))
            })
        };
        let found = watch(true);
        let twin = watch(false).is_some_and(|(age, _)| found.is_some_and(|(by, _)| age <= by));
        (found, twin, channel)
    });
    let named = each.iter().filter(|(found, _, channel)| {
        found.is_some_and(|(_, alarm)| alarm.change == Change::Stuck && alarm.channel == *channel)
    });
    let mut delays: Vec<usize> =
        each.iter().filter_map(|(found, ..)| found.map(|(age, _)| age)).collect();
    delays.sort_unstable();
    let twin = each.iter().filter(|(_, twin, _)| *twin).count();
    Stuck { delays, named: named.count(), twin }
}

/// Views in which one row affects several, and whether a row that is held back leaves no trace at
/// all. For innovations it does: the predictor uses its prediction in place of the row, so that
/// rows stay evenly spaced; leaving the row out is then not exactly the same.
const OTHER_VIEWS: [(&str, Family, Look, bool); 4] = [
    ("Gaussian, 3, delay 4", Family::Gaussian, DELAY, true),
    ("AR(1) 0.9, 3, delay 4", Family::Autoregressive(0.9), DELAY, true),
    ("Gaussian, 3, innovation", Family::Gaussian, INNOVATION, false),
    ("AR(1) 0.9, 3, innovation", Family::Autoregressive(0.9), INNOVATION, false),
];

/// The section: outliers, then stuck channels.
#[must_use]
pub fn run(scope: Scope, draw: Draw) -> Report {
    let mut report = Report::new(
        "Single outliers and stuck channels",
        "Default settings. An outlier is one row, in one channel or in all, of 10, 100 or a \
         million standard deviations, watched for 64 rows. Without: alarms of the same rows \
         without that row. Caused: alarms that the rows without it did not raise. Felt: outliers \
         of all kinds after which any statistic differed in any bit.",
    );
    let (devices, rows) = if scope == Scope::Full { (100, 16_384) } else { (20, 4096) };
    let cells = CELLS.into_iter().enumerate();
    let cells: Vec<_> = cells.filter(|(_, (_, f, c))| scope.covers(*f, *c)).collect();

    let mut table = Table::new([
        "family",
        "trials",
        "without",
        "caused: 10 sd",
        "10 sd, all",
        "100 sd",
        "100 sd, all",
        "10⁶ sd",
        "10⁶ sd, all",
        "felt",
    ]);
    let mut all = (0, 0, 0);
    let mut add = |found: &Outliers| {
        all.0 += found.trials * KINDS;
        all.1 += found.caused();
        all.2 += found.felt();
    };
    for (cell, (name, family, channels)) in &cells {
        note("outliers", name);
        let cell = draw.cell(*cell);
        let found = with_channels!(
            *channels,
            outliers(RAW, &settings(PROMISE, rows), *family, devices, cell)
        );
        add(&found);
        table.line(found.line(name));
    }
    for (name, family, look, exact) in OTHER_VIEWS {
        note("outliers", name);
        let config = settings(PROMISE, rows);
        let found = outliers::<3>(look, &config, family, devices, draw.cell(99));
        if exact {
            add(&found);
        }
        table.line(found.line(name));
    }
    report.table(&format!("Outliers, {rows} learning rows, promise {PROMISE}"), &table);
    let (trials, caused, felt) = all;
    report.hold(Check {
        what: format!("alarms caused by {trials} outliers, raw and delay views"),
        value: real(caused),
        kept: caused == 0,
    });
    let share = real(felt) / real(trials);
    report.hold(Check {
        what: format!("outliers felt, of {trials}, raw and delay views: share"),
        value: share,
        kept: share <= tolerance::OUTLIERS_FELT.limit,
    });

    let mut table =
        Table::new(["family", "view", "found of 30", "named", "median delay", "longest", "twin"]);
    let (mut named, mut stuck) = (0, 0);
    for (cell, (name, family, channels)) in &cells {
        note("stuck", name);
        let cell = draw.cell(*cell);
        let raw = with_channels!(*channels, stick(RAW, *family, rows, cell));
        let innovation = with_channels!(*channels, stick(INNOVATION, *family, rows, cell));
        for (view, found) in [("raw", raw), ("innovation", innovation)] {
            let count = found.delays.len();
            let median = found.delays.get(count / 2).copied().unwrap_or(0);
            let longest = found.delays.last().copied().unwrap_or(0);
            let counts = [count, found.named, median, longest, found.twin];
            let cells = counts.map(|count| count.to_string());
            table.line([(*name).to_owned(), view.to_owned()].into_iter().chain(cells));
            named += found.named;
            stuck += count;
            report.hold(Check {
                what: format!("{name}, {view}: stuck channels found of {STUCK_DEVICES}"),
                value: real(count),
                kept: count == STUCK_DEVICES,
            });
        }
    }
    report.table(
        &format!(
            "One channel stuck, found within {STUCK_ROWS} rows; named: by its channel and as \
             stuck; twin: alarms of the healthy twin in the same rows"
        ),
        &table,
    );
    let share = real(named) / real(stuck);
    report.say(&format!("Named by channel and as stuck: {named} of {stuck}, {share:.3}."));
    report.hold(Check {
        what: "stuck channels named as such: share".to_owned(),
        value: share,
        kept: share >= tolerance::STUCK_NAMED.limit,
    });
    report
}
