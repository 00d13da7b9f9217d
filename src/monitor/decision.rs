//! From evidence to verdicts.

use crate::condition::{Overdue, Standardise};
use crate::features::sincos::Points;
use crate::features::{FeatureMap, NumberOf};
use crate::numeric::{Number, Real, larger};

use super::cause::{AMENDED, Cause, Event, TOGETHER};
use super::channel::{Channel, Kind, STATISTICS};
use super::detector::{Detector, Memory};
use super::legs::choice::{Legs, Slot};
use super::legs::joint::Joint;
use super::legs::{End, Found, Plan};
use super::saved::LastAlarm;
use super::verdict::{Alarm, Change, Leg, Open, Stage, Verdict};

/// Evidence, as a log-likelihood, from which a level or spread is taken to have changed.
pub(super) const TELLING: f32 = 4.0;
/// A mean over 32 rows that is off by this many deviations is a shift, and not single readings far out.
const SHIFTED: f32 = 1.5;
/// What is added to the evidence of the kind of change whose leg found it, likewise.
const FOUND: f32 = 3.0;
/// Size, in nats, that a joint change or a coupling must have before its growth is a second alarm.
pub(super) const LEAST_SIZE: f32 = 2.0;
/// Readings in a row that differ, from which a channel that stood still has another level.
const STAYS: u8 = 8;
/// The joint legs, in the order of their causes.
const JOINT: [Leg; 2] = [Leg::Values, Leg::Innovations];

/// What goes on, over all channels.
pub(super) struct Present<N> {
    /// The alarm to be raised, and how far it is beyond its promise.
    alarm: Option<(N, Alarm)>,
    level: bool,
    other: bool,
    open: bool,
}

impl<N: Number> Present<N> {
    /// Nothing.
    pub(super) fn none() -> Self {
        Self { alarm: None, level: false, other: false, open: false }
    }

    fn raise(&mut self, excess: N, alarm: Alarm) {
        if self.alarm.is_none_or(|(other, _)| excess > other) {
            self.alarm = Some((excess, alarm));
        }
    }
}

impl<M, L> Detector<'_, M, L>
where
    M: FeatureMap<Backend: Points>,
    L: Legs,
{
    /// The verdict on the last row, by what is present in the channels and what the joint legs find.
    pub(super) fn decide(
        &mut self,
        at: u64,
        joint: Option<&[Found<NumberOf<M>>; 2]>,
        plan: &Plan,
        mut present: Present<NumberOf<M>>,
    ) -> Verdict {
        self.decide_joint(at, joint, plan, &mut present);
        self.state.stage = if present.open { Stage::Drift } else { Stage::Monitoring };
        if let Some((_, alarm)) = present.alarm {
            let alarm = self.after_learning(alarm, at);
            self.mark_reported(&alarm);
            self.state.last_alarm = LastAlarm::some(alarm);
            return Verdict::Alarm(alarm);
        }
        if !present.open {
            return Verdict::Healthy;
        }
        self.amend(at, plan).map_or(Verdict::Drifting, Verdict::Amended)
    }

    /// An alarm that began after learning ended: what was learned from is healthy.
    fn after_learning(&self, alarm: Alarm, at: u64) -> Alarm {
        let first = at.saturating_sub(u64::from(self.state.watched.saturating_sub(1)));
        Alarm { since: alarm.since.max(first).min(alarm.row), ..alarm }
    }

    /// Notes that the cause of an alarm has been reported. Others that rose on the same row wait.
    fn mark_reported(&mut self, alarm: &Alarm) {
        let joint = JOINT.iter().position(|leg| *leg == alarm.leg);
        if let Some(cause) = joint.and_then(|place| self.state.joint.get_mut(place)) {
            cause.report();
        } else if let Some(channel) = self.state.channels.get_mut(alarm.channel) {
            channel.mark_reported(alarm.leg);
        }
    }

    /// The alarm of 32 rows before, if there was one, and it looks otherwise now.
    fn amend(&mut self, at: u64, plan: &Plan) -> Option<Alarm> {
        let last = self.last_alarm().filter(|last| at.checked_sub(last.row) == Some(AMENDED));
        if let Some(last) = last {
            let amended = self.amended(last, at)?;
            self.state.last_alarm = LastAlarm::some(amended);
            return Some(amended);
        }
        // One that was followed by another is not kept: it is reported as it looks now.
        let mut channels = self.state.channels.iter().enumerate();
        let due = channels.find_map(|(index, channel)| channel.due(index, at, plan))?;
        let due = self.after_learning(due, at);
        self.amended(due, at).or(Some(due))
    }

    /// Nothing is found in a row that lacks a reading: neither a change, nor that one is over.
    fn decide_joint(
        &mut self,
        at: u64,
        joint: Option<&[Found<NumberOf<M>>; 2]>,
        plan: &Plan,
        present: &mut Present<NumberOf<M>>,
    ) {
        let Some(joint) = joint else {
            self.state.joint.iter_mut().for_each(Cause::pass);
            present.open |= self.state.joint.iter().any(Cause::is_open);
            return;
        };
        let last = self.last_alarm().map_or(u64::MAX, |alarm| at.saturating_sub(alarm.row));
        let just_reported = present.alarm.is_some() || last < u64::from(TOGETHER);
        let explained = [present.level || just_reported, present.other || just_reported];
        for (place, ((found, leg), explained)) in joint.iter().zip(JOINT).zip(explained).enumerate()
        {
            let Some(cause) = self.state.joint.get_mut(place) else { continue };
            let event = cause.push(found.excess, found.excess, NumberOf::<M>::of(LEAST_SIZE));
            if cause.is_waiting() && explained {
                cause.explain();
            }
            present.open |= cause.is_open();
            if cause.is_waiting() {
                let (channel, change) = self.suspect(leg);
                let since = at.saturating_sub(u64::from(found.window));
                let alarm = alarm(at, since, channel, change, leg, found);
                present.raise(found.excess, alarm);
            } else if event == Event::Closed {
                self.end_joint(leg, plan, End::ByItself);
            }
        }
    }

    fn end_joint(&mut self, leg: Leg, plan: &Plan, end: End) {
        let Memory { values, innovations, .. } = &mut self.state;
        for (joint, of) in
            [(values.carried_mut(), Leg::Values), (innovations.carried_mut(), Leg::Innovations)]
        {
            if let Some(joint) = joint.filter(|_| of == leg) {
                joint.end(plan, end);
            }
        }
    }

    /// The channel that the joint distribution differs most along, and how it changed. O(C·L).
    #[inline(never)]
    fn suspect(&self, leg: Leg) -> (usize, Change) {
        let channels = &self.state.channels;
        let joint = self.state.joint_legs().into_iter().find(|(_, of)| *of == leg);
        // A channel whose own level or spread is off is why.
        let evidence = |channel: &Channel<L, NumberOf<M>>| {
            let (level, spread) = channel.evidence();
            larger(level, spread)
        };
        let mut best = (0, 0.0);
        for (index, channel) in channels.iter().enumerate() {
            let evidence = evidence(channel);
            if evidence > best.1 {
                best = (index, evidence);
            }
        }
        if best.1 > TELLING {
            let change = channels.get(best.0).map_or(Change::Shape, |channel| channel.change(leg));
            return (best.0, change);
        }
        let (mut frequency, mut shares) = (channels.like(0.0), channels.like([0.0_f32; 2]));
        for (place, distance) in
            joint.and_then(|(joint, _)| joint).into_iter().flat_map(Joint::by_frequency).enumerate()
        {
            if !self.map.frequency_into(place, &mut frequency) {
                continue;
            }
            let length = frequency.iter().map(|w| w * w).sum::<f32>();
            for ([found, usual], w) in shares.iter_mut().zip(frequency.iter()) {
                let share = w * w / larger(length, 1e-12);
                *found += share * distance;
                *usual += share;
            }
        }
        let mut best = (0, 0.0);
        for (index, [found, usual]) in shares.iter().enumerate() {
            let share = found / larger(*usual, 1e-6);
            if share > best.1 {
                best = (index, share);
            }
        }
        (best.0, Change::Shape)
    }

    /// An alarm as it looks now, if it looks otherwise than before.
    #[inline(never)]
    fn amended(&self, last: Alarm, at: u64) -> Option<Alarm> {
        let mut alarm = last;
        match last.leg {
            Leg::Stuck | Leg::Missing => return None,
            Leg::Values | Leg::Innovations => {
                let (channel, change) = self.suspect(last.leg);
                if change != Change::Shape {
                    (alarm.channel, alarm.change) = (channel, change);
                }
            }
            Leg::Level | Leg::Jump | Leg::Spread | Leg::Range => {
                alarm.change = self.state.channels.get(last.channel)?.change(last.leg);
            }
        }
        let channel = self.state.channels.get(alarm.channel)?;
        let rows = match alarm.change {
            // A jump knows its moment.
            Change::Level if alarm.leg == Leg::Jump => None,
            Change::Level => Some(channel.rows_since(Kind::Level, alarm.window)),
            Change::Spread => Some(channel.rows_since(Kind::Spread, alarm.window)),
            Change::Shape | Change::Outliers | Change::Stuck | Change::Missing => None,
        };
        if let Some(rows) = rows {
            alarm.since = at.saturating_sub(u64::from(rows)).min(alarm.row);
        }
        let alarm = self.after_learning(alarm, at);
        (alarm != last).then_some(alarm)
    }

    /// Everything that differs from what was learned, now. O(C).
    pub fn open(&self) -> impl Iterator<Item = Open> + '_ {
        let plan = self.plan();
        let unseen = plan.unseen();
        let channels = self.state.channels.iter().enumerate();
        let of_channels = channels.flat_map(move |(index, channel)| {
            let places = 0..Kind::ALL.len() + 2;
            places.filter_map(move |place| channel.open(index, place, unseen))
        });
        let joint = self.state.joint.iter().zip(self.state.joint_legs());
        let joint = joint.filter(|(cause, _)| cause.is_open()).map(move |(cause, (joint, leg))| {
            let status = joint.and_then(|joint| joint.status(&plan));
            let size = status.map_or(0.0, |(_, statistic, threshold)| ratio(statistic, threshold));
            Open { leg, channel: None, rows: cause.rows(), size }
        });
        of_channels.chain(joint)
    }

    /// Dismisses what differs now as harmless: all that is open closes, and the same does not alarm
    /// again, while other changes do.
    ///
    /// Where the level of a channel is off, values at that level are healthy from now on, as those
    /// at the learned one are; a channel has one such level, the last that was dismissed. Otherwise
    /// the threshold that was passed rises above what was seen, to at most 0.8 of what its statistic
    /// can reach. O(C + L).
    pub fn dismiss(&mut self) {
        let plan = self.plan();
        let mut accepted = false;
        for channel in self.state.channels.iter_mut() {
            accepted |= channel.dismiss(&plan);
        }
        for (place, leg) in JOINT.into_iter().enumerate() {
            let end = self.state.joint.get_mut(place).and_then(Cause::dismiss);
            let end = if accepted { Some(End::Accepted) } else { end };
            if let Some(end) = end {
                self.end_joint(leg, &plan, end);
            }
        }
        if self.state.stage == Stage::Drift {
            self.state.stage = Stage::Monitoring;
        }
    }
}

impl<L: Legs, N: Number> Channel<L, N> {
    /// Takes what the legs of a channel find, in the order of [`Kind::ALL`], into what goes on;
    /// `None` where the reading is missing, which says neither that something differs nor that it
    /// is over.
    ///
    /// `reported`: the leg of the last alarm, and rows since.
    #[inline]
    pub(super) fn decide(
        &mut self,
        index: usize,
        reported: (u64, Option<(Leg, u64)>),
        found: Option<&[Found<N>; 4]>,
        plan: &Plan,
        present: &mut Present<N>,
    ) {
        let quiet = found.is_none_or(|found| found.iter().all(|found| found.excess <= N::ZERO));
        // Nearly always.
        if quiet && !self.is_open() {
            self.runs_reported = [false; 2];
            return;
        }
        self.decide_change(index, reported, found, plan, present);
    }

    #[inline(never)]
    fn decide_change(
        &mut self,
        index: usize,
        (at, reported): (u64, Option<(Leg, u64)>),
        found: Option<&[Found<N>; 4]>,
        plan: &Plan,
        present: &mut Present<N>,
    ) {
        self.decide_runs(index, at, present);
        // What a stuck channel does to its windows only follows from that.
        let is_recent = |kind: &Kind| self.cause(*kind).is_recent();
        let explained = self.is_stuck() || Kind::ALL.iter().any(is_recent);
        let one = N::of(1.0);
        let rougher = if self.is_of(Kind::Spread) { self.rougher() } else { one };
        for (place, kind) in Kind::ALL.into_iter().enumerate() {
            let found = found.and_then(|found| found.get(place));
            if let Some(found) = found {
                let (size, least) = self.size(kind, found);
                let cause = self.cause_mut(kind);
                let excess = match kind {
                    // What is rougher strays farther.
                    Kind::Level | Kind::Jump if !cause.is_open() => found.excess_of_part(rougher),
                    Kind::Level | Kind::Jump | Kind::Spread | Kind::Range => found.excess,
                };
                if cause.push(excess, size, least) == Event::Closed {
                    self.end(kind, plan, End::ByItself);
                }
            } else {
                self.cause_mut(kind).pass();
            }
            let waits = self.cause(kind).is_waiting();
            let follows = |found: &Found<N>| waits && self.follows(kind, found);
            let explained = explained || found.is_some_and(follows);
            self.report(index, (at, reported), kind, (found, explained), plan, present);
        }
        self.note_onset();
    }

    /// Raises the alarm of a cause that is still to be reported, if it follows from nothing else.
    fn report(
        &mut self,
        index: usize,
        (at, reported): (u64, Option<(Leg, u64)>),
        kind: Kind,
        (found, explained): (Option<&Found<N>>, bool),
        plan: &Plan,
        present: &mut Present<N>,
    ) {
        let waits = self.cause(kind).is_waiting();
        if let (true, Some(found)) = (waits, found) {
            // One that waited its turn may stand lower by now.
            let found =
                if found.threshold > N::ZERO { *found } else { self.standing(kind, plan.unseen()) };
            let rows = self.rows_since(kind, found.window);
            let last = reported.filter(|(leg, _)| *leg == kind.leg());
            if explained || last.is_some_and(|(_, reported)| belongs(rows, reported)) {
                self.cause_mut(kind).explain();
            } else {
                let since = at.saturating_sub(u64::from(rows));
                let alarm = alarm(at, since, index, kind.change(), kind.leg(), &found);
                present.raise(found.excess, alarm);
            }
        }
        if self.is_of(kind) {
            present.open = true;
            match kind {
                Kind::Level => present.level = true,
                Kind::Jump | Kind::Spread | Kind::Range => present.other = true,
            }
        }
    }

    /// Stuck and missing readings.
    fn decide_runs(&mut self, index: usize, at: u64, present: &mut Present<N>) {
        let runs = [
            (self.stillness.overdue(), Leg::Stuck, Change::Stuck),
            (self.gaps.overdue(), Leg::Missing, Change::Missing),
        ];
        for ((overdue, leg, change), reported) in runs.into_iter().zip(&mut self.runs_reported) {
            let Some(overdue) = overdue else {
                *reported = false;
                continue;
            };
            present.open = true;
            if !*reported {
                let since = at.saturating_sub(u64::from(overdue.rows));
                let found = found_run(&overdue);
                present.raise(N::of(f32::MAX), alarm(at, since, index, change, leg, &found));
            }
        }
        if self.is_stuck() {
            for kind in Kind::ALL {
                if self.is_of(kind) {
                    self.cause_mut(kind).explain();
                }
            }
        }
    }

    /// Notes that an alarm was raised for what a leg found.
    fn mark_reported(&mut self, leg: Leg) {
        let [stuck, missing] = &mut self.runs_reported;
        match leg {
            Leg::Stuck => *stuck = true,
            Leg::Missing => *missing = true,
            // Of all channels together.
            Leg::Values | Leg::Innovations => {}
            other @ (Leg::Level | Leg::Jump | Leg::Spread | Leg::Range) => {
                let kinds = Kind::ALL.into_iter().filter(|kind| kind.leg() == other);
                kinds.for_each(|kind| self.cause_mut(kind).report());
            }
        }
    }

    /// An alarm of this channel that is due to be looked at again, as far as it is still known.
    #[inline(never)]
    fn due(&self, index: usize, at: u64, plan: &Plan) -> Option<Alarm> {
        let kind = Kind::ALL.into_iter().find(|kind| self.cause(*kind).is_to_be_amended())?;
        let found = self.standing(kind, plan.unseen());
        let (row, rows) = (at.saturating_sub(AMENDED), self.rows_since(kind, found.window));
        let since = at.saturating_sub(u64::from(rows)).min(row);
        Some(alarm(row, since, index, kind.change(), kind.leg(), &found))
    }

    /// The statistic of a leg that is nearest to its threshold, or farthest beyond it. `unseen`: as
    /// [`Plan::unseen`].
    fn standing(&self, kind: Kind, unseen: f32) -> Found<N> {
        let mut standing = (1, 0.0, 0.0);
        // Once, and not for other legs.
        let doubt = if kind == Kind::Spread { self.spread_doubt(unseen) } else { 0.0 };
        for (leg, (window, statistic, threshold)) in
            (0..STATISTICS).filter_map(|place| self.statistic(place, doubt))
        {
            let farther = statistic * standing.2 >= standing.1 * threshold;
            if leg == kind.leg() && farther {
                standing = (window.max(1), statistic, threshold);
            }
        }
        let (window, statistic, threshold) = standing;
        Found { window, statistic: N::of(statistic), threshold: N::of(threshold), ..Found::calm() }
    }

    /// What is off: the level or the spread, where what a leg found counts for something; or, by
    /// rows outside the range, neither.
    fn change(&self, leg: Leg) -> Change {
        if !self.standard.moves() {
            return if self.glitches >= STAYS { Change::Level } else { Change::Outliers };
        }
        // Beyond noise or a jump that was there before.
        let is_older = |kind| self.cause(kind).is_settled();
        if leg == Leg::Range && [Kind::Spread, Kind::Jump].into_iter().any(is_older) {
            return Change::Outliers;
        }
        let (level, spread) = self.evidence();
        let found = match leg {
            Leg::Level | Leg::Jump => FOUND,
            Leg::Spread => -FOUND,
            Leg::Range | Leg::Values | Leg::Innovations | Leg::Stuck | Leg::Missing => 0.0,
        };
        let shift = self.size_now(Kind::Level).unwrap_or(0.0);
        if leg == Leg::Range && larger(level, spread) < TELLING && shift < SHIFTED {
            Change::Outliers
        } else if level + found > spread {
            Change::Level
        } else {
            Change::Spread
        }
    }

    /// What differs, by its place: one of [`Kind::ALL`], stuck or missing. `unseen`: as
    /// [`Plan::unseen`].
    fn open(&self, index: usize, place: usize, unseen: f32) -> Option<Open> {
        let channel = Some(index);
        if let Some(kind) = Kind::ALL.get(place) {
            let cause = self.cause(*kind);
            // What a stuck channel does to its windows only follows from that.
            if !cause.is_open() || self.is_stuck() {
                return None;
            }
            let size = self.size_now(*kind).unwrap_or_else(|| {
                let standing = self.standing(*kind, unseen);
                ratio(standing.statistic.value(), standing.threshold.value())
            });
            return Some(Open { leg: kind.leg(), channel, rows: cause.rows(), size });
        }
        let runs = [(self.stillness.overdue(), Leg::Stuck), (self.gaps.overdue(), Leg::Missing)];
        let (overdue, leg) = *runs.get(place.checked_sub(Kind::ALL.len())?)?;
        overdue.map(|overdue| Open {
            leg,
            channel,
            rows: overdue.rows.saturating_sub(overdue.allowed),
            size: overdue.statistic / larger(overdue.threshold, 1.0),
        })
    }
}

/// A statistic over its threshold; 0 where there is none.
fn ratio(statistic: f32, threshold: f32) -> f32 {
    statistic / larger(threshold, 1e-6)
}

/// Whether a change that seems to have begun `rows` rows ago belongs to the alarm of the same leg that
/// was raised `reported` rows ago: it began before that, and is not seen much later. What happens to
/// several channels is then one alarm. One of another leg hides nothing: it may be a false one.
fn belongs(rows: u32, reported: u64) -> bool {
    let rows = u64::from(rows);
    rows >= reported && reported <= (rows / 4).max(u64::from(TOGETHER))
}

fn alarm<N: Number>(
    row: u64,
    since: u64,
    channel: usize,
    change: Change,
    leg: Leg,
    found: &Found<N>,
) -> Alarm {
    Alarm {
        row,
        since,
        channel,
        change,
        leg,
        window: found.window,
        score: found.statistic.value(),
        threshold: found.threshold.value(),
    }
}

/// A run that is too long, as what a leg finds.
fn found_run(overdue: &Overdue) -> Found<f32> {
    let Overdue { rows, statistic, threshold, .. } = *overdue;
    Found { excess: f32::MAX, statistic, threshold, window: rows.max(1) }
}
