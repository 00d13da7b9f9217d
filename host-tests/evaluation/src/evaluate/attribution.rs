//! How often the named channel, kind of change and onset are right.

use super::devices::{
    Alarm, Change, Verdict, alarms, fleet, granted, learned, map, median, settings,
};
use super::signals::{Kind, row, seed, signals};
use super::table::Table;
use super::{Draw, Report, Scope, note};
use fastmmd_reference::{real, single, tolerance};

/// Channels of a device.
const CHANNELS: usize = 8;
const PROMISE: f32 = 1e4;
const LEARNING: u32 = 4096;
/// Rows of a ramp, and in which a change must be noticed.
const WATCHED: usize = 2000;
/// Rows after an alarm by which it is amended.
const AMENDED: usize = 32;

/// The healthy data, and their deviation.
const FAMILIES: [(&str, Kind, f64); 3] = [
    ("white", Kind::White, 1.0),
    ("AR .9", Kind::Autoregressive(0.9), 1.0),
    ("sine (500)", Kind::Sine(500.0, 0.3), 0.768),
];

/// A change of one channel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Event {
    /// This many deviations are added.
    Level(f64),
    /// The noise is multiplied by this.
    Spread(f64),
    /// So many deviations are added little by little.
    Ramp(f64),
}

/// The events, all equally often.
pub const EVENTS: [Event; 9] = [
    Event::Level(0.5),
    Event::Level(1.0),
    Event::Level(2.0),
    Event::Level(4.0),
    Event::Level(8.0),
    Event::Spread(0.5),
    Event::Spread(1.5),
    Event::Spread(2.5),
    Event::Ramp(3.0),
];

impl Event {
    fn kind(self) -> Change {
        match self {
            Self::Level(_) | Self::Ramp(_) => Change::Level,
            Self::Spread(_) => Change::Spread,
        }
    }

    fn apply(self, x: f32, deviation: f64, age: usize) -> f32 {
        let x = f64::from(x);
        single(match self {
            Self::Level(shift) => x + shift * deviation,
            Self::Spread(_) => x,
            Self::Ramp(height) => x + height * deviation * real(age) / real(WATCHED),
        })
    }
}

/// How one trial ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ending {
    /// An alarm before the change.
    Early,
    /// No alarm in time.
    Missed,
    /// An alarm after the change, for any reason.
    Noticed(Answer),
}

/// The detector's attribution of a change it noticed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    /// What happened.
    pub event: Event,
    channel: usize,
    /// Channel and kind right, in the alarm.
    alarm: (bool, bool),
    /// The same as amended.
    amended: (bool, bool),
    delay: f64,
    /// The onset as amended minus the true one, in rows.
    since: f64,
}

/// One trial of a family.
#[must_use]
pub fn attempt((kind, deviation): (Kind, f64), cell: usize, trial: usize) -> Ending {
    let map = map(CHANNELS);
    let mut signals = signals(kind, CHANNELS, seed(60, cell, trial));
    let mut detector = learned(&map, settings(PROMISE, LEARNING), || row(&mut signals));
    for _ in 0..200 + trial % 100 {
        if alarms(&mut detector, &row(&mut signals)) {
            return Ending::Early;
        }
    }
    let event = EVENTS[trial % EVENTS.len()];
    let channel = trial / EVENTS.len() % CHANNELS;
    let onset = detector.rows();
    if let Event::Spread(factor) = event {
        signals[channel].scale_noise(factor);
    }
    let mut next = |age: usize| {
        let mut row = row(&mut signals);
        row[channel] = event.apply(row[channel], deviation, age);
        row
    };
    let right = |alarm: &Alarm| (alarm.channel == channel, alarm.change == event.kind());
    for age in 1..=WATCHED {
        let Verdict::Alarm(first) = granted(detector.push(&next(age))) else {
            continue;
        };
        let mut amended = first;
        for later in 1..=AMENDED {
            if let Verdict::Amended(alarm) = granted(detector.push(&next(age + later)))
                && alarm.row == first.row
            {
                amended = alarm;
            }
        }
        let rows = |row: u64| u32::try_from(row).map_or(f64::INFINITY, f64::from);
        return Ending::Noticed(Answer {
            event,
            channel,
            alarm: right(&first),
            amended: right(&amended),
            delay: real(age),
            since: rows(amended.since) - rows(onset),
        });
    }
    Ending::Missed
}

/// Shares of right answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Score {
    answers: Vec<Answer>,
    early: usize,
    missed: usize,
}

impl Score {
    /// The score of these trials.
    #[must_use]
    pub fn of(endings: &[Ending]) -> Self {
        let mut score = Self::default();
        for ending in endings {
            match ending {
                Ending::Early => score.early += 1,
                Ending::Missed => score.missed += 1,
                Ending::Noticed(answer) => score.answers.push(*answer),
            }
        }
        score
    }

    /// The score of always saying the first channel, its level, and the row of the alarm.
    #[must_use]
    pub fn blind(&self) -> Self {
        let answer = |answer: &Answer| {
            let right = (answer.channel == 0, answer.event.kind() == Change::Level);
            Answer { alarm: right, amended: right, since: answer.delay, ..*answer }
        };
        Self { answers: self.answers.iter().map(answer).collect(), ..Self::default() }
    }

    fn only(&self, kept: impl Fn(&Answer) -> bool) -> Self {
        let answers = self.answers.iter().copied().filter(kept).collect();
        Self { answers, ..Self::default() }
    }

    fn share(&self, look: impl Fn(&Answer) -> bool) -> f64 {
        real(self.answers.iter().filter(|answer| look(answer)).count()) / real(self.answers.len())
    }

    /// Share of the trials noticed in which the channel is right: in the alarm, and as amended.
    #[must_use]
    pub fn channel(&self) -> (f64, f64) {
        (self.share(|answer| answer.alarm.0), self.share(|answer| answer.amended.0))
    }

    /// Share in which the kind is right: in the alarm, and as amended.
    #[must_use]
    pub fn kind(&self) -> (f64, f64) {
        (self.share(|answer| answer.alarm.1), self.share(|answer| answer.amended.1))
    }

    /// Median delay, median error of the onset, and median of its size.
    #[must_use]
    pub fn since(&self) -> (f64, f64, f64) {
        (
            median(self.answers.iter().map(|answer| answer.delay)),
            median(self.answers.iter().map(|answer| answer.since)),
            median(self.answers.iter().map(|answer| answer.since.abs())),
        )
    }

    fn line(&self) -> Vec<String> {
        let ((channel, channel_later), (kind, kind_later)) = (self.channel(), self.kind());
        let (delay, bias, error) = self.since();
        let shares = [channel, channel_later, kind, kind_later];
        let shares = shares.map(|share| format!("{share:.3}"));
        let rest = [format!("{delay:.0}"), format!("{error:.0}"), format!("{bias:+.0}")];
        [self.answers.len().to_string()].into_iter().chain(shares).chain(rest).collect()
    }

    /// Wants what an alarm should know.
    pub fn want(&self, report: &mut Report) {
        let (channel, kind) = (self.channel().1, self.kind().1);
        report.want_at_least("channel", channel, tolerance::ATTRIBUTED_CHANNEL.limit);
        report.want_at_least("kind", kind, tolerance::ATTRIBUTED_KIND.limit);
    }
}

/// The trials of one family.
#[must_use]
pub fn trials(family: (Kind, f64), cell: usize, count: usize) -> Vec<Ending> {
    fleet(count, |trial| attempt(family, cell, trial))
}

/// The section: by family, by event, and in all.
#[must_use]
pub fn run(scope: Scope, draw: Draw) -> Report {
    let mut report = Report::new(
        "Attribution and onset",
        &format!(
            "{CHANNELS} channels, one of which changes; promise {PROMISE}, {LEARNING} learning \
             rows; changes noticed within {WATCHED} rows; a ramp rises over as many. Shares in \
             which the channel and the kind are right: in the alarm, and as amended {AMENDED} rows \
             later. Onset: median |since − onset| and median since − onset, in rows, as amended. \
             Blind: always the first channel, always level, the onset the row of the alarm."
        ),
    );
    let count = if scope == Scope::Full { 450 } else { 72 };
    let headings = |first| {
        Table::new([
            first,
            "noticed",
            "channel, alarm",
            "amended",
            "kind, alarm",
            "amended",
            "median delay",
            "onset error",
            "bias",
        ])
    };
    let mut table = headings("family");
    let mut by_event = headings("family, event");
    let mut all = Score::default();
    for (cell, (name, kind, deviation)) in FAMILIES.into_iter().enumerate() {
        note("attribution", name);
        let score = Score::of(&trials((kind, deviation), draw.cell(cell), count));
        table.line([name.to_owned()].into_iter().chain(score.line()));
        for event in EVENTS {
            let these = score.only(|answer| answer.event == event);
            by_event.line([format!("{name}, {event:?}")].into_iter().chain(these.line()));
            if these.answers.len() < 5 {
                continue;
            }
            let (delay, _, error) = these.since();
            let limit = match event {
                Event::Ramp(_) => tolerance::ATTRIBUTED_RAMP.limit * delay,
                Event::Level(_) | Event::Spread(_) => tolerance::ATTRIBUTED_ONSET.limit,
            };
            report.want_at_most(&format!("{name}, {event:?}: onset error"), error, limit);
        }
        all.answers.extend(&score.answers);
        all.early += score.early;
        all.missed += score.missed;
    }
    table.line(["all".to_owned()].into_iter().chain(all.line()));
    table.line(["blind".to_owned()].into_iter().chain(all.blind().line()));
    report.table(&format!("{count} trials of each family"), &table);
    report.table("By event", &by_event);
    report.say(&format!(
        "Alarms before the change: {}. Not noticed in time: {}. Every alarm after the change \
         counts as noticing it, even one that would have come without it.",
        all.early, all.missed,
    ));
    all.want(&mut report);
    report.settle(match scope {
        Scope::Full => tolerance::ATTRIBUTED_UNMET,
        Scope::Quick => tolerance::ATTRIBUTED_UNMET_QUICK,
    });
    report
}
