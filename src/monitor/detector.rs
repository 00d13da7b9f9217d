//! The detector: from a row to the evidence of all legs.

use core::cell::Cell;
use core::fmt;

use crate::condition::{Phase, Reading};
use crate::error::Error;
use crate::features::sincos::Points;
use crate::features::{FeatureMap, NumberOf, Sample, ScalarOf};
use crate::numeric::{Number, ln_f32, part_of, u32_of};
use crate::shape::{Length, Per};
use crate::state::{Initial, State, state};

use super::cause::Cause;
use super::channel::{ARMED, Channel, Progress};
use super::config::{Config, NotANumber};
use super::decision::Present;
use super::fixed_shape::FixedShape;
use super::legs::choice::{All, Carried, Legs, Profiles, Slot};
use super::legs::joint::Joint;
use super::legs::{Found, LARGEST, Plan, ln_shares};
use super::saved::LastAlarm;
use super::verdict::{Alarm, Leg, Stage, Verdict};

/// Thresholds are set over this many rows at the most.
const MOST_ARMING: usize = 64;
/// The legs of all channels together.
const JOINT_LEGS: usize = 2;
/// Rows that may be skipped without predictions being any worse.
const FEW: u32 = 8;

/// A drift detector over the map `M`, which has an input for each channel, with the legs `L`.
///
/// It learns from a number of healthy rows, without storing any: each channel's level and spread,
/// how its past predicts it, and how far every statistic strays while all is well. Then it compares
/// rows with that.
///
/// Thresholds adapt while nothing differs, and stand still while something does. From a drift that
/// closes by itself the threshold that it passed learns once, however large the drift was: as from
/// healthy rows that just reached the threshold. Drifts that come and go so raise it to at most twice
/// what it was after learning. Once it is there, each further one may raise that limit by 15 %, up to
/// 0.8 of the largest value that the statistic can have.
///
/// The map says what it computes with: over a map of [`fixed`](crate::fixed) rows are `i16`, and the path
/// of a row is in integers.
///
/// RAM is constant. With all legs, 32 frequencies and 3 channels it is about 5 KB; most of it grows
/// with the channels.
///
/// ```
/// use fastmmd::{Config, Detector, Fourier, Verdict};
///
/// static MAP: Fourier<1, 32> = Fourier::additive(1);
///
/// let mut detector = Detector::new(&MAP, Config::rows(10_000.0))?;
/// let mut noise = 1_u32;
/// let mut alarm = None;
/// for row in 0..6000 {
///     noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
///     let reading = (noise >> 16) as f32 / 65_536.0 + if row < 5000 { 0.0 } else { 0.5 };
///     if let Verdict::Alarm(raised) = detector.push(&[reading])? {
///         alarm = alarm.or(Some(raised));
///     }
/// }
/// let alarm = alarm.expect("half the range is a large shift");
/// assert!(alarm.row >= 5000 && alarm.row < 5020);
/// # Ok::<(), fastmmd::Error>(())
/// ```
pub struct Detector<'m, M: FeatureMap, L: Legs = All> {
    pub(super) map: &'m M,
    pub(super) config: Config<L>,
    pub(super) state: Memory<M::Inputs, M::Frequencies, L, NumberOf<M>>,
}

state! {
    /// All that a detector keeps beside its settings.
    #[derive(Debug, Clone, PartialEq)]
    pub(super) struct Memory<C: Length, F: Length, L: Legs, N: Number> {
        pub(super) last_alarm: LastAlarm => allowed Self::has_channel_of,
        /// Rows pushed in all.
        pub(super) rows: u64,
        pub(super) stage: Stage = Stage::Learning,
        /// Rows of learning done.
        pub(super) learned: u32,
        /// ln of the promise, and of the shares among which it is divided, once learning is over.
        pub(super) ln_time: f32,
        pub(super) ln_shares: f32,
        /// Rows since learning ended.
        pub(super) watched: u32,
        /// Rows for which something has differed, without a break.
        pub(super) drifting: u32,
        pub(super) phase: <L::Cycle as Profiles>::Phase,
        /// Whether learning was extended for a channel that began to move late.
        pub(super) extended: bool,
        /// Devices whose learning this stands on, if more than one.
        pub(super) merged: u32,
        pub(super) channels: Per<C, Channel<L, N>> => up to LARGEST,
        pub(super) values: Carried<L::Values, Joint<F, N>> => up to LARGEST,
        pub(super) innovations: Carried<L::Innovations, Joint<F, N>> => up to LARGEST,
        /// Of values and innovations.
        pub(super) joint: [Cause<N>; 2],
    }
}

impl<C: Length, F: Length, L: Legs, N: Number> Memory<C, F, L, N> {
    /// The joint legs, as far as they are carried.
    pub(super) fn joint_legs(&self) -> [(Option<&Joint<F, N>>, Leg); 2] {
        [(self.values.carried(), Leg::Values), (self.innovations.carried(), Leg::Innovations)]
    }

    /// Whether a joint leg says nothing: rows that lack a reading are not compared jointly, and of a
    /// level that wanders nothing is known.
    pub(super) fn is_joint_off(&self) -> impl Fn(Leg) -> bool + use<C, F, L, N> {
        let missing = self.channels.iter().any(Channel::is_missing);
        let wanders = self.channels.iter().any(Channel::wanders);
        move |leg| missing || (wanders && leg == Leg::Values)
    }

    /// Whether an alarm is of a channel that there is: a caller may use it as an index.
    fn has_channel_of(&self, alarm: &LastAlarm) -> bool {
        alarm.get().is_none_or(|alarm| alarm.channel < self.channels.len())
    }
}

// Not derived: none of this asks anything of the map itself.
impl<M: FeatureMap, L: Legs> Clone for Detector<'_, M, L> {
    fn clone(&self) -> Self {
        Self { map: self.map, config: self.config, state: self.state.clone() }
    }
}

impl<M: FeatureMap, L: Legs> fmt::Debug for Detector<'_, M, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Detector")
            .field("config", &self.config)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

#[cfg(feature = "defmt")]
impl<M: FeatureMap, L: Legs> defmt::Format for Detector<'_, M, L> {
    fn format(&self, f: defmt::Formatter<'_>) {
        let Memory { stage, rows, last_alarm, .. } = &self.state;
        defmt::write!(f, "{} after {} rows, last alarm: {}", stage, rows, last_alarm.get());
    }
}

impl<'m, M: FixedShape<L>, L: Legs> Detector<'m, M, L> {
    /// Length of a saved detector, in bytes.
    pub const SAVED_BYTES: usize = super::saved::record_bytes(M::SAVED);

    /// A detector that has seen nothing; also as a constant or `static`, with
    /// [`checked!`](crate::checked). The compiler writes it where it is wanted, so that it need not
    /// fit on the stack.
    ///
    /// # Errors
    /// What [`Config::check`] refuses.
    #[inline(never)]
    pub const fn new(map: &'m M, config: Config<L>) -> Result<Self, Error> {
        match config.check() {
            Ok(()) => Ok(Self::fresh(map, config)),
            Err(error) => Err(error),
        }
    }

    /// Apart from the check, and of constants alone, so that the compiler writes each field
    /// straight to where the caller wants the detector: it is then never on the stack.
    #[inline(never)]
    const fn fresh(map: &'m M, config: Config<L>) -> Self {
        Self { map, config, state: M::MEMORY }
    }
}

impl<'m, M, L> Detector<'m, M, L>
where
    M: FeatureMap<Backend: Points>,
    L: Legs,
{
    /// A detector with as many channels as the map has inputs, where that is known at run time.
    #[cfg(feature = "alloc")]
    pub(crate) fn sized(map: &'m M, config: Config<L>) -> Result<Self, Error> {
        config.check()?;
        Ok(Self { map, state: Memory::make(&map.dims()), config })
    }

    pub(super) fn plan(&self) -> Plan {
        let learning_rows = self.config.learning_rows - self.config.profile_rows();
        Plan {
            learning_rows,
            collected: learning_rows - learning_rows / 4,
            channels: self.state.channels.len(),
            ln_time: self.state.ln_time,
            ln_shares: self.state.ln_shares,
            period: self.config.period,
            phase: self.state.phase.carried().map_or(0, Phase::turns),
            turns: Cell::new(None),
        }
    }

    /// Takes one row, in the sensor's own units. O(C·L) for C channels and L frequencies.
    ///
    /// # Errors
    /// [`Error::NonFinite`] or, beyond [`MAX_READING`](crate::condition::MAX_READING),
    /// [`Error::OutOfRange`], naming the channel; the row is then not counted, and a known cycle does
    /// not go on: see [`skip`](Self::skip). A reading that is
    /// not a number is no error where the settings say that it is missing. Where the number of
    /// channels is known at run time, [`Error::WrongShape`] for a row of another length.
    pub fn push(&mut self, row: &Sample<M>) -> Result<Verdict, Error> {
        self.push_by(row, &mut None)
    }

    /// The same by a plan that was made for the row before.
    #[inline]
    fn push_by(&mut self, row: &Sample<M>, plan: &mut Option<Plan>) -> Result<Verdict, Error> {
        let row = row.as_ref();
        let missing = self.config.not_a_number == NotANumber::Missing;
        for (channel, reading) in row.iter().enumerate() {
            if !(missing && reading.is_not_a_number()) {
                reading.checked(channel)?;
            }
        }
        self.take(row.iter().map(|reading| reading.present()), plan)
    }

    /// Takes rows one after the other, as from a buffer that a sensor or DMA has filled: the same as
    /// [`push`](Self::push) of each. `tell` gets every alarm, and every amendment; the verdict on the last
    /// row is returned, `None` for no rows.
    ///
    /// It is for convenience: what follows from the settings is worked out once for all rows, which saves
    /// less than one instruction in a hundred (`cargo xtask bench many`). The rest depends on the row.
    ///
    /// ```
    /// use fastmmd::{Config, Detector, Fourier, Verdict};
    ///
    /// static MAP: Fourier<2, 32> = Fourier::additive(1);
    /// let mut detector = Detector::new(&MAP, Config::rows(1e4))?;
    /// let fifo = [[0.1, 0.2], [0.0, 0.3], [0.2, 0.2]];
    /// let last = detector.push_many(&fifo, |verdict| println!("{verdict:?}"))?;
    /// assert!(matches!(last, Some(Verdict::Learning { .. })));
    /// # Ok::<(), fastmmd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`push`](Self::push), of the first row that is refused. The rows before it have been taken;
    /// [`rows`](Self::rows) says how many.
    pub fn push_many<'r>(
        &mut self,
        rows: impl IntoIterator<Item = &'r Sample<M>>,
        mut tell: impl FnMut(&Verdict),
    ) -> Result<Option<Verdict>, Error>
    where
        Sample<M>: 'r,
    {
        let (mut last, mut plan) = (None, None);
        for row in rows {
            let verdict = self.push_by(row, &mut plan)?;
            if matches!(verdict, Verdict::Alarm(_) | Verdict::Amended(_)) {
                tell(&verdict);
            }
            last = Some(verdict);
        }
        Ok(last)
    }

    /// Takes one row in which readings may be missing.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn push_partial(
        &mut self,
        row: &<M::Inputs as Length>::Slice<Option<ScalarOf<M>>>,
    ) -> Result<Verdict, Error> {
        let row = row.as_ref();
        for (channel, reading) in row.iter().enumerate() {
            reading.map_or(Ok(()), |reading| reading.checked(channel))?;
        }
        self.take(row.iter().map(|reading| reading.and_then(Reading::present)), &mut None)
    }

    /// Says that `rows` rows passed that were never pushed: those that were refused, or while the
    /// device was off. A known cycle goes on by as many; after more than 8 rows predictions begin
    /// anew, for which they need 64. Nothing else changes, and the rows are not counted. O(C).
    pub fn skip(&mut self, rows: u32) {
        if let (Some(phase), Some(period)) = (self.state.phase.carried_mut(), self.config.period) {
            phase.advance(rows, period);
        }
        if rows > FEW {
            self.state.channels.iter_mut().for_each(Channel::restart);
        }
    }

    fn take(
        &mut self,
        row: impl ExactSizeIterator<Item = Option<ScalarOf<M>>> + Clone,
        plan: &mut Option<Plan>,
    ) -> Result<Verdict, Error> {
        if row.len() != self.state.channels.len() {
            return Err(Error::WrongShape);
        }
        self.state.rows = self.state.rows.saturating_add(1);
        if let (Some(phase), Some(period)) = (self.state.phase.carried_mut(), self.config.period) {
            phase.advance(1, period);
        }
        for (channel, reading) in self.state.channels.iter_mut().zip(row.clone()) {
            channel.gaps.push(reading.is_none());
            if let Some(reading) = reading {
                channel.stillness.push(reading);
            }
        }
        if self.state.stage == Stage::Learning {
            self.learn(row, plan.insert(self.plan()))?;
            *plan = None;
            return Ok(Verdict::Learning { progress: self.progress() });
        }
        let phase = self.state.phase.carried().map_or(0, Phase::turns);
        let plan = plan.get_or_insert_with(|| self.plan());
        (plan.phase, plan.turns) = (phase, Cell::new(None));
        let verdict = self.watch(row, plan)?;
        self.relearn_if_due();
        Ok(verdict)
    }

    /// Learns a drift that lasts as healthy, if the settings say so.
    fn relearn_if_due(&mut self) {
        let drifting = self.state.stage == Stage::Drift;
        self.state.drifting = if drifting { self.state.drifting.saturating_add(1) } else { 0 };
        if self.config.relearn_after.is_some_and(|rows| self.state.drifting >= rows) {
            self.relearn();
        }
    }

    #[inline(never)]
    fn learn(
        &mut self,
        readings: impl Iterator<Item = Option<ScalarOf<M>>>,
        plan: &mut Plan,
    ) -> Result<(), Error> {
        let (row, profile) = (self.state.learned, self.config.profile_rows());
        let scaled = self.config.scaling_rows();
        self.state.learned = self.state.learned.saturating_add(1);
        if row < scaled.max(profile) {
            for (channel, reading) in self.state.channels.iter_mut().zip(readings) {
                match reading {
                    Some(reading) if row < scaled => channel.begin(reading),
                    Some(reading) => channel.learn_profile(reading, plan),
                    None => {}
                }
                if row + 1 == scaled {
                    channel.end_scaling();
                }
            }
            if row + 1 == profile {
                self.end_profile(scaled);
            }
            return Ok(());
        }
        // After a profile, the rows that are left are all there is.
        let scaled = if profile > 0 { 0 } else { scaled };
        let progress = Progress { row: row - profile, scaled, rows: plan.learning_rows };
        self.checkpoint(&progress);
        let mut complete = true;
        for (channel, reading) in self.state.channels.iter_mut().zip(readings) {
            complete &= reading.is_some();
            match reading {
                Some(reading) => channel.learn(reading, plan, &progress),
                None => channel.miss(),
            }
        }
        if complete {
            self.learn_jointly(plan, &progress)?;
        }
        self.arm(profile, plan);
        Ok(())
    }

    /// Puts the profile to use, unless a channel began to move so late that it has none: the rows of
    /// a profile are then learned from once more.
    fn end_profile(&mut self, scaled: u32) {
        let late = self.state.channels.iter().any(Channel::moved_late);
        if late && !self.state.extended {
            self.state.channels.iter_mut().for_each(Channel::measure_profile);
            (self.state.learned, self.state.extended) = (scaled, true);
            return;
        }
        self.state.channels.iter_mut().for_each(Channel::end_profile);
    }

    /// Whether half of the rows are learned from once more, for the sake of a channel that began to
    /// move after the others were measured for the last time.
    fn learns_on(&mut self, profile: u32) -> bool {
        let late = self.state.channels.iter().any(Channel::moved_late);
        if !late || self.state.extended {
            return false;
        }
        let rows = self.config.learning_rows - profile;
        (self.state.learned, self.state.extended) = (self.state.learned - rows / 2, true);
        true
    }

    fn learn_jointly(&mut self, plan: &Plan, progress: &Progress) -> Result<(), Error> {
        let Memory { channels, values, innovations, .. } = &mut self.state;
        if let Some(joint) = values.carried_mut() {
            let vector = vector(self.map, channels, |channel| channel.joint().0);
            joint.learn(self.map, &vector, plan, progress.collects())?;
        }
        if let Some(joint) = innovations.carried_mut() {
            let vector = vector(self.map, channels, |channel| channel.joint().1);
            joint.learn(self.map, &vector, plan, progress.collects())?;
        }
        Ok(())
    }

    /// Puts to use what was learned so far of the channels whose turn it is.
    // Not inlined, nor `arm`: their frames would lie below those of a row.
    #[inline(never)]
    fn checkpoint(&mut self, progress: &Progress) {
        let (mut corrected, mut collects) = (false, false);
        for (index, channel) in self.state.channels.iter_mut().enumerate() {
            if !progress.is_checkpoint(index) {
                continue;
            }
            corrected |= channel.checkpoint();
            if progress.begins_to_collect(index) {
                channel.restart_residual();
                collects = true;
            }
        }
        if corrected {
            self.state.values.reset();
        }
        if corrected || collects {
            self.state.innovations.reset();
        }
    }

    /// Ends learning over its last rows: a few thresholds are set on each.
    #[inline(never)]
    fn arm(&mut self, profile: u32, plan: &mut Plan) {
        let all = self.state.channels.len().saturating_mul(ARMED + 1).saturating_add(JOINT_LEGS);
        let for_row = all / MOST_ARMING + 1;
        // Rounded up; never by 0.
        let rows = u32_of(all.saturating_add(all / MOST_ARMING) / for_row.max(1));
        let first = (self.config.learning_rows + 1).saturating_sub(rows);
        let Some(row) = self.state.learned.checked_sub(first) else { return };
        if row == 0 {
            if self.learns_on(profile) {
                return;
            }
            self.share_out();
            *plan = self.plan();
        }
        for place in (row as usize).saturating_mul(for_row)..(row as usize + 1) * for_row {
            self.arm_one(place, plan);
        }
        if self.state.learned >= self.config.learning_rows {
            self.state.stage = Stage::Monitoring;
        }
    }

    /// Shares out the promise.
    fn share_out(&mut self) {
        let channels = &self.state.channels;
        let wanderers = channels.iter().filter(|channel| channel.will_wander()).count();
        self.state.ln_shares = ln_shares::<L>(wanderers, channels.len());
        self.state.ln_time = ln_f32(self.config.mean_time_between_false_alarms);
    }

    /// Sets one of all thresholds: those of the channels' statistics, of the joint legs, and of runs.
    fn arm_one(&mut self, place: usize, plan: &Plan) {
        let time = self.config.mean_time_between_false_alarms;
        let Memory { channels, values, innovations, .. } = &mut self.state;
        let (channel, of_channel) = (place / ARMED, place % ARMED);
        let joint = place.checked_sub(channels.len().saturating_mul(ARMED));
        match joint {
            None => {
                if let Some(channel) = channels.get_mut(channel) {
                    channel.arm(of_channel, plan);
                }
            }
            Some(0) => {
                if let Some(joint) = values.carried_mut() {
                    joint.arm(plan);
                }
            }
            Some(1) => {
                if let Some(joint) = innovations.carried_mut() {
                    joint.arm(plan);
                }
            }
            Some(place) => {
                if let Some(channel) = channels.get_mut(place - JOINT_LEGS) {
                    channel.arm_runs(plan, plan.learning_rows, time);
                }
            }
        }
    }

    /// The verdict on a row, by what each leg of each channel finds, and the joint ones.
    fn watch(
        &mut self,
        row: impl Iterator<Item = Option<ScalarOf<M>>>,
        plan: &Plan,
    ) -> Result<Verdict, Error> {
        let at = self.state.rows.saturating_sub(1);
        self.state.watched = self.state.watched.saturating_add(1);
        let mut present = Present::none();
        let reported = self.last_alarm().map(|last| (last.leg, at.saturating_sub(last.row)));
        let Memory { channels, values, innovations, joint: causes, .. } = &mut self.state;
        let (mut open, mut wanders) = (causes.iter().any(Cause::is_open), false);
        let mut complete = true;
        for (index, (channel, reading)) in channels.iter_mut().zip(row).enumerate() {
            open |= channel.is_open();
            wanders |= channel.wanders();
            let mut found = [Found::calm(); 4];
            complete &= reading.is_some();
            match reading {
                Some(reading) => channel.watch(reading, plan, &mut found),
                None => channel.miss(),
            }
            let found = reading.is_some().then_some(&found);
            channel.decide(index, (at, reported), found, plan, &mut present);
        }
        // Means in the place of what is missing would be another distribution, and a false alarm.
        if !complete {
            return Ok(self.decide(at, None, plan, present));
        }
        let mut joint = [Found::calm(); 2];
        let [of_values, of_innovations] = &mut joint;
        if let Some(leg) = values.carried_mut() {
            let vector = vector(self.map, channels, |channel| channel.joint().0);
            let found = leg.watch(self.map, &vector, plan, !open)?;
            // Of a level that wanders nothing is known.
            if !wanders {
                *of_values = found;
            }
        }
        if let Some(leg) = innovations.carried_mut() {
            let vector = vector(self.map, channels, |channel| channel.joint().1);
            *of_innovations = leg.watch(self.map, &vector, plan, !open)?;
        }
        Ok(self.decide(at, Some(&joint), plan, present))
    }

    /// Forgets everything learned, and learns anew. Rows go on being counted. O(C + L).
    pub fn relearn(&mut self) {
        let rows = self.state.rows;
        self.state.reset();
        self.state.rows = rows;
    }

    /// Learns anew under other settings.
    ///
    /// # Errors
    /// As [`Detector::new`]; nothing is then forgotten.
    pub fn relearn_with(&mut self, config: Config<L>) -> Result<(), Error> {
        config.check()?;
        self.config = config;
        self.relearn();
        Ok(())
    }

    /// Part done of learning, from 0 to 1.
    #[must_use]
    pub fn progress(&self) -> f32 {
        part_of(self.state.learned, self.config.learning_rows)
    }

    /// What the detector is doing.
    #[must_use]
    pub fn stage(&self) -> Stage {
        self.state.stage
    }

    /// Rows pushed in all.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.state.rows
    }

    /// The last alarm raised, as it was amended, if any.
    #[must_use]
    pub fn last_alarm(&self) -> Option<Alarm> {
        self.state.last_alarm.get()
    }

    /// The settings.
    #[must_use]
    pub fn config(&self) -> &Config<L> {
        &self.config
    }

    /// The map.
    #[must_use]
    pub fn map(&self) -> &'m M {
        self.map
    }
}

/// A vector with a coordinate of each channel, within the map's reach.
fn vector<M: FeatureMap, L: Legs>(
    map: &M,
    channels: &Per<M::Inputs, Channel<L, NumberOf<M>>>,
    of: impl Fn(&Channel<L, NumberOf<M>>) -> ScalarOf<M>,
) -> Per<M::Inputs, ScalarOf<M>> {
    let mut vector = channels.like(<ScalarOf<M> as Initial>::INITIAL);
    for (x, channel) in vector.iter_mut().zip(channels.iter()) {
        *x = of(channel);
    }
    NumberOf::<M>::draw_in(&mut vector, || map.reach());
    vector
}
