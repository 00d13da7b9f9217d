//! Drift: whether, since when, which channel and how, at a promised rate of false alarms.

use crate::condition::{Stillness, check_row};
use crate::error::{Error, Parameter};
use crate::features::FeatureMap;
use crate::features::sincos::{Point, SinCos};
use crate::numeric::{larger, sqrt_f32};
#[cfg(feature = "alloc")]
use crate::shape::Dims;
use crate::shape::{Length, Per};
use crate::state::{Initial, State, state};

use super::cause::{AMENDED, Cause, Event};
use super::channel::{Channel, Kind, Progress};
use super::legs::choice::{All, Carried, Legs, Slot};
use super::legs::joint::Joint;
use super::legs::tail::log;
use super::legs::{End, Found, Plan};
use super::verdict::{Alarm, Change, Leg, Stage, Verdict};

/// Settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DriftConfig<L = All> {
    /// The promise: mean time between false alarms (average run length), in rows.
    pub mean_time_between_false_alarms: f32,
    /// Rows to learn from.
    pub learning_rows: u32,
    /// Which legs.
    pub legs: core::marker::PhantomData<L>,
}

impl DriftConfig {
    /// Default.
    #[must_use]
    pub const fn rows(mean_time: f32) -> Self {
        Self {
            mean_time_between_false_alarms: mean_time,
            learning_rows: 4096,
            legs: core::marker::PhantomData,
        }
    }
}

impl<L> DriftConfig<L> {
    const fn check(&self) -> Result<(), Error> {
        if self.learning_rows < 256 {
            return Err(Error::OutOfRange(Parameter::LearningRows));
        }
        Ok(())
    }

    /// The first row that is standardised.
    fn scaled(&self) -> u32 {
        (self.learning_rows / 16).clamp(64, 256)
    }
}

/// A drift detector.
pub struct DriftDetector<'m, M: FeatureMap, L: Legs = All> {
    map: &'m M,
    config: DriftConfig<L>,
    state: Memory<M::Inputs, M::Frequencies, L>,
}

state! {
    /// All that a detector keeps beside its settings.
    #[derive(Debug, Clone, PartialEq)]
    struct Memory<C: Length, F: Length, L: Legs> {
        /// Rows pushed in all.
        rows: u64,
        stage: Stage = Stage::Learning,
        /// Rows of learning done.
        learned: u32,
        /// ln of the promise.
        ln_time: f32,
        last_alarm: Option<Alarm>,
        channels: Per<C, Channel<L>>,
        values: Carried<L::Values, Joint<F>>,
        innovations: Carried<L::Innovations, Joint<F>>,
        /// Of the two joint legs.
        joint: [Cause; 2],
    }
}

#[expect(private_bounds, reason = "which states can be constants is the crate's own business")]
impl<'m, M, L> DriftDetector<'m, M, L>
where
    M: FeatureMap<Backend: SinCos>,
    L: Legs,
    Per<M::Inputs, Channel<L>>: Initial,
    Carried<L::Values, Joint<M::Frequencies>>: Initial,
    Carried<L::Innovations, Joint<M::Frequencies>>: Initial,
{
    /// A detector that has seen nothing; also as a constant or `static`.
    ///
    /// # Errors
    /// What check refuses.
    #[inline(never)]
    pub const fn new(map: &'m M, config: DriftConfig<L>) -> Result<Self, Error> {
        match config.check() {
            Ok(()) => Ok(Self::fresh(map, config)),
            Err(error) => Err(error),
        }
    }

    #[inline(never)]
    const fn fresh(map: &'m M, config: DriftConfig<L>) -> Self {
        Self { map, config, state: Memory::initial() }
    }
}

impl<'m, M, L> DriftDetector<'m, M, L>
where
    M: FeatureMap<Backend: SinCos>,
    L: Legs,
{
    /// A detector of lengths that are known at run time.
    ///
    /// # Errors
    /// As `new`.
    #[cfg(feature = "alloc")]
    pub fn sized(map: &'m M, config: DriftConfig<L>) -> Result<Self, Error> {
        config.check()?;
        let mut dims: Dims = map.dims();
        dims.channels = dims.inputs;
        Ok(Self { map, state: Memory::make(&dims), config })
    }

    fn plan(&self) -> Plan {
        let learning_rows = self.config.learning_rows;
        Plan {
            learning_rows,
            collected: learning_rows - learning_rows / 4,
            channels: self.state.channels.len(),
            ln_time: self.state.ln_time,
        }
    }

    /// Takes one row, in the sensor's own units.
    ///
    /// # Errors
    /// [`Error::NonFinite`] or [`Error::OutOfRange`], naming the channel.
    pub fn push(&mut self, row: &<M::Inputs as Length>::Slice<f32>) -> Result<Verdict, Error> {
        let row = row.as_ref();
        if row.len() != self.state.channels.len() {
            return Err(Error::WrongShape);
        }
        check_row(row)?;
        self.state.rows = self.state.rows.saturating_add(1);
        for (channel, reading) in self.state.channels.iter_mut().zip(row) {
            channel.stillness.push(*reading);
        }
        if self.state.stage == Stage::Learning || self.state.stage == Stage::Scaling {
            self.learn(row)?;
            return Ok(Verdict::Learning { progress: self.progress() });
        }
        self.watch(row)
    }

    /// Part done of learning, from 0 to 1.
    #[must_use]
    pub fn progress(&self) -> f32 {
        crate::numeric::row_count(self.state.learned)
            / crate::numeric::row_count(self.config.learning_rows)
    }

    #[inline(never)]
    fn learn(&mut self, row: &[f32]) -> Result<(), Error> {
        let plan = self.plan();
        let progress = Progress {
            row: self.state.learned,
            scaled: self.config.scaled(),
            rows: self.config.learning_rows,
        };
        self.state.learned = self.state.learned.saturating_add(1);
        let channels = self.state.channels.iter_mut().zip(row);
        if progress.row < progress.scaled {
            for (channel, reading) in channels {
                channel.begin(*reading);
                if progress.row + 1 == progress.scaled {
                    channel.standard.correct();
                }
            }
            return Ok(());
        }
        if progress.is_checkpoint() {
            let mut corrected = false;
            for channel in self.state.channels.iter_mut() {
                corrected |= channel.checkpoint();
                if progress.begins_to_collect() {
                    channel.restart_residual();
                }
            }
            if corrected {
                self.state.values.reset();
            }
            if corrected || progress.begins_to_collect() {
                self.state.innovations.reset();
            }
        }
        for (channel, reading) in self.state.channels.iter_mut().zip(row) {
            channel.learn(*reading, &plan, &progress);
        }
        let collects = progress.collects();
        if let Some(joint) = self.state.values.carried_mut() {
            let points = points(self.map, joint, &self.state.channels, |c| c.joint().0)?;
            joint.learn(&points, &plan, collects);
        }
        if let Some(joint) = self.state.innovations.carried_mut() {
            let points = points(self.map, joint, &self.state.channels, |c| c.joint().1)?;
            joint.learn(&points, &plan, collects);
        }
        if self.state.learned >= self.config.learning_rows {
            self.arm();
        }
        Ok(())
    }

    /// Ends learning: sets the thresholds.
    fn arm(&mut self) {
        let time = self.config.mean_time_between_false_alarms;
        self.state.ln_time = log(time);
        let plan = self.plan();
        let rows = self.config.learning_rows;
        for channel in self.state.channels.iter_mut() {
            channel.arm(&plan, rows, time);
        }
        if let Some(joint) = self.state.values.carried_mut() {
            joint.arm(&plan);
        }
        if let Some(joint) = self.state.innovations.carried_mut() {
            joint.arm(&plan);
        }
        self.state.stage = Stage::Monitoring;
    }

    fn watch(&mut self, row: &[f32]) -> Result<Verdict, Error> {
        let plan = self.plan();
        let mut found = self.state.channels.like([Found::CALM; 4]);
        let mut open = false;
        let mut wanders = false;
        let channels = self.state.channels.iter_mut().zip(row);
        for (found, (channel, reading)) in found.iter_mut().zip(channels) {
            open |= channel.is_open();
            wanders |= channel.wanders();
            *found = channel.watch(*reading, &plan);
        }
        let adapts = !open && !self.state.joint.iter().any(Cause::is_open);
        let mut joint = [Found::CALM; 2];
        if let Some(leg) = self.state.values.carried_mut() {
            let points = points(self.map, leg, &self.state.channels, |c| c.joint().0)?;
            joint[0] = leg.watch(&points, &plan, adapts);
            if wanders {
                joint[0] = Found::CALM;
            }
        }
        if let Some(leg) = self.state.innovations.carried_mut() {
            let points = points(self.map, leg, &self.state.channels, |c| c.joint().1)?;
            joint[1] = leg.watch(&points, &plan, adapts);
        }
        Ok(self.decide(&found, &joint))
    }

    fn decide(&mut self, found: &Per<M::Inputs, [Found; 4]>, joint: &[Found; 2]) -> Verdict {
        let plan = self.plan();
        let at = self.state.rows - 1;
        let mut best: Option<(f32, Alarm)> = None;
        let mut amended = None;
        let mut level_open = false;
        let mut other_open = false;
        let mut any_open = false;
        for (index, (channel, found)) in
            self.state.channels.iter_mut().zip(found.iter()).enumerate()
        {
            // Stuck.
            if channel.stillness.has_just_stuck() {
                let run = channel.stillness.run;
                let alarm = Alarm {
                    row: at,
                    since: at.saturating_sub(u64::from(run)),
                    window: run,
                    score: crate::numeric::row_count(run),
                    threshold: crate::numeric::row_count(channel.stillness.limit),
                    channel: index,
                    change: Change::Stuck,
                    leg: Leg::Stuck,
                };
                best = Some((f32::MAX, alarm));
            }
            any_open |= channel.stillness.is_stuck();
            let recent = channel.causes.iter().any(Cause::is_recent);
            for (place, (kind, found)) in Kind::ALL.into_iter().zip(found).enumerate() {
                let (size, least) = channel.size(kind, found);
                let mut cause = channel.causes[place];
                match cause.push(found.excess, size, least) {
                    Event::Same => {}
                    Event::Closed => channel.end(kind, &plan, End::ByItself),
                    Event::Raised => {
                        cause.before = channel.rows_since(kind, found.window);
                        if !recent && !channel.stillness.is_stuck() {
                            cause.told = true;
                            let alarm = Alarm {
                                row: at,
                                since: at.saturating_sub(u64::from(cause.before)),
                                window: found.window,
                                score: found.statistic,
                                threshold: found.threshold,
                                channel: index,
                                change: change_of(channel, kind),
                                leg: kind.leg(),
                            };
                            if best.is_none_or(|(other, _)| found.excess > other) {
                                best = Some((found.excess, alarm));
                            }
                        }
                    }
                }
                if cause.is_open() && cause.told && cause.age == AMENDED {
                    amended = Some((index, kind, cause.before));
                }
                channel.causes[place] = cause;
                if cause.is_open() {
                    any_open = true;
                    match kind {
                        Kind::Level => level_open = true,
                        Kind::Jump | Kind::Spread | Kind::Range => other_open = true,
                    }
                }
            }
        }
        let just_told = best.is_some()
            || self.state.last_alarm.is_some_and(|alarm| at.saturating_sub(alarm.row) < 64);
        for (place, found) in joint.iter().enumerate() {
            let mut cause = self.state.joint[place];
            match cause.push(found.excess, found.excess, 2.0) {
                Event::Same => {}
                Event::Closed => {
                    let leg = if place == 0 { self.state.values.carried_mut() } else { self.state.innovations.carried_mut() };
                    if let Some(leg) = leg {
                        leg.each(&plan, |tail, design| tail.closed(design));
                    }
                }
                Event::Raised => {
                    let explained = if place == 0 { level_open || just_told } else { other_open || just_told };
                    if !explained {
                        cause.told = true;
                        let alarm = Alarm {
                            row: at,
                            since: at.saturating_sub(u64::from(found.window)),
                            window: found.window,
                            score: found.statistic,
                            threshold: found.threshold,
                            channel: 0,
                            change: Change::Shape,
                            leg: if place == 0 { Leg::Values } else { Leg::Innovations },
                        };
                        if best.is_none_or(|(other, _)| found.excess > other) {
                            best = Some((found.excess, alarm));
                        }
                    }
                }
            }
            any_open |= cause.is_open();
            self.state.joint[place] = cause;
        }
        self.state.stage = if any_open { Stage::Drift } else { Stage::Monitoring };
        if let Some((_, alarm)) = best {
            self.state.last_alarm = Some(alarm);
            return Verdict::Alarm(alarm);
        }
        if let Some((index, kind, before)) = amended
            && let Some(channel) = self.state.channels.get(index)
            && let Some(alarm) = &mut self.state.last_alarm
            && alarm.channel == index
        {
            let evidence = channel.evidence();
            let change = if evidence.0 > evidence.1 { Change::Level } else { Change::Spread };
            alarm.change = if kind == Kind::Range && evidence.0.max(evidence.1) < 4.0 { Change::Shape } else { change };
            let _ = before;
            let rows = match alarm.change { Change::Level => channel.rows_since(Kind::Level, 0), Change::Spread => channel.rows_since(Kind::Spread, 0), _ => AMENDED };
            alarm.since = at.saturating_sub(u64::from(rows)).min(alarm.row);
        }
        if any_open { Verdict::Drifting } else { Verdict::Healthy }
    }

    /// The last alarm.
    #[must_use]
    pub fn last_alarm(&self) -> Option<Alarm> {
        self.state.last_alarm
    }

    /// Bytes.
    #[must_use]
    pub fn saved_bytes(&self) -> usize {
        self.state.bytes()
    }
}

fn change_of<L: Legs>(channel: &Channel<L>, kind: Kind) -> Change {
    let (level, spread) = channel.evidence();
    match kind {
        Kind::Level => Change::Level,
        Kind::Spread => Change::Spread,
        Kind::Jump | Kind::Range => if spread > level { Change::Spread } else { Change::Level },
    }
}

fn points<M: FeatureMap<Backend: SinCos>, L: Legs>(
    map: &M,
    joint: &Joint<M::Frequencies>,
    channels: &Per<M::Inputs, Channel<L>>,
    of: impl Fn(&Channel<L>) -> f32,
) -> Result<Per<M::Frequencies, Point>, Error> {
    let mut sample = channels.like(0.0);
    let mut squared = 0.0;
    for (x, channel) in sample.iter_mut().zip(channels.iter()) {
        *x = of(channel);
        squared += *x * *x;
    }
    let reach = 0.5 * map.reach();
    if squared > reach * reach {
        let factor = reach / larger(sqrt_f32(squared), 1e-6);
        for x in sample.iter_mut() {
            *x *= factor;
        }
    }
    let mut points = joint.points();
    map.project(sample.borrow(), points.borrow_mut(), |point, turns| {
        *point = M::Backend::point(turns);
    })?;
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fourier;
    use rand_core::{Rng, SeedableRng};
    use rand_xorshift::XorShiftRng;

    #[test]
    fn debug() {
        let map = Fourier::<1, 32>::additive(1);
        let mut d = DriftDetector::new(&map, DriftConfig::rows(1e4)).unwrap();
        let mut rng = XorShiftRng::seed_from_u64(5);
        for row in 0..6000 {
            let g: f32 = (0..12).map(|_| rng.next_u32() as f32 / u32::MAX as f32).sum::<f32>() - 6.0;
            let g = if row > 5000 { 2.0 * g } else { g };
            d.push(&[g]).unwrap();
            if row == 4200 || row == 5300 {
                std::println!("{:#?}", d.state.channels[0]);
            }
        }
    }
}
