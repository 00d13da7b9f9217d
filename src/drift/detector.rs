//! From a row to the evidence of all legs.

use core::fmt;

use crate::condition::check_row;
use crate::error::Error;
use crate::features::FeatureMap;
use crate::features::sincos::SinCos;
use crate::numeric::{f32_of, larger, ln_f32, row_count, sqrt_f32};
#[cfg(feature = "alloc")]
use crate::shape::Dims;
use crate::shape::{Length, Per};
use crate::state::{Initial, State, state};

use super::cause::Cause;
use super::channel::{Channel, Progress};
use super::config::{Config, NotANumber};
use super::legs::choice::{All, Carried, Legs, Slot};
use super::legs::joint::Joint;
use super::legs::{Found, LEGS, Plan};
use super::verdict::{Alarm, Stage, Verdict};

/// A drift detector over the map `M`, which has an input for each channel, with the legs `L`.
///
/// It learns from a number of healthy rows, without ever storing one: each channel's level and
/// spread, what its past predicts, and how far every statistic strays while all is well. Then it
/// compares rows with that. Thresholds go on learning while nothing differs, and stand still while
/// something does.
///
/// ```
/// use fastmmd::Fourier;
/// use fastmmd::drift::{Config, Detector, Verdict};
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
    pub(super) state: Memory<M::Inputs, M::Frequencies, L>,
}

state! {
    /// All that a detector keeps beside its settings.
    #[derive(Debug, Clone, PartialEq)]
    pub(super) struct Memory<C: Length, F: Length, L: Legs> {
        pub(super) last_alarm: Option<Alarm> = None => allowed Self::has_channel_of,
        /// Rows pushed in all.
        pub(super) rows: u64,
        pub(super) stage: Stage = Stage::Learning,
        /// Rows of learning done.
        pub(super) learned: u32,
        /// ln of the promise, once learning is over.
        ln_time: f32,
        pub(super) channels: Per<C, Channel<L>>,
        pub(super) values: Carried<L::Values, Joint<F>>,
        pub(super) innovations: Carried<L::Innovations, Joint<F>>,
        /// Of values and innovations.
        pub(super) joint: [Cause; 2],
    }
}

impl<C: Length, F: Length, L: Legs> Memory<C, F, L> {
    /// Whether an alarm is of a channel that there is: a caller may use it as an index.
    fn has_channel_of(&self, alarm: &Option<Alarm>) -> bool {
        alarm.is_none_or(|alarm| alarm.channel < self.channels.len())
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
        defmt::write!(f, "{} after {} rows, last alarm: {}", stage, rows, last_alarm);
    }
}

#[expect(private_bounds, reason = "which states can be constants is the crate's own business")]
impl<'m, M, L> Detector<'m, M, L>
where
    M: FeatureMap<Backend: SinCos>,
    L: Legs,
    Per<M::Inputs, Channel<L>>: Initial,
    Carried<L::Values, Joint<M::Frequencies>>: Initial,
    Carried<L::Innovations, Joint<M::Frequencies>>: Initial,
{
    /// Length of a saved detector, in bytes.
    pub const SAVED_BYTES: usize =
        super::saved::record_bytes(<Memory<M::Inputs, M::Frequencies, L>>::SAVED);

    /// A detector that has seen nothing; also as a constant or `static`.
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
        Self { map, config, state: Memory::initial() }
    }
}

impl<'m, M, L> Detector<'m, M, L>
where
    M: FeatureMap<Backend: SinCos>,
    L: Legs,
{
    /// A detector with as many channels as the map has inputs, where that is known at run time.
    #[cfg(feature = "alloc")]
    pub(crate) fn sized(map: &'m M, config: Config<L>) -> Result<Self, Error> {
        config.check()?;
        let dims = map.dims();
        let dims = Dims { channels: dims.inputs, ..dims };
        Ok(Self { map, state: Memory::make(&dims), config })
    }

    pub(super) fn plan(&self) -> Plan {
        let learning_rows = self.config.learning_rows;
        Plan {
            learning_rows,
            collected: learning_rows - learning_rows / 4,
            channels: self.state.channels.len(),
            ln_time: self.state.ln_time,
        }
    }

    /// Takes one row, in the sensor's own units. O(C·L) for C channels and L frequencies.
    ///
    /// # Errors
    /// [`Error::NonFinite`] or, beyond [`MAX_READING`](crate::condition::MAX_READING),
    /// [`Error::OutOfRange`], naming the channel; the row is then not counted. A reading that is
    /// not a number is no error where the settings say that it is missing. Where the number of
    /// channels is known at run time, [`Error::WrongShape`] for a row of another length.
    pub fn push(&mut self, row: &<M::Inputs as Length>::Slice<f32>) -> Result<Verdict, Error> {
        let row = row.as_ref();
        let missing = self.config.not_a_number == NotANumber::Missing;
        let expected = |reading: &f32| if missing && reading.is_nan() { 0.0 } else { *reading };
        for (channel, reading) in row.iter().enumerate() {
            check_row(&[expected(reading)]).map_err(|error| of_channel(error, channel))?;
        }
        self.take(row.iter().map(|reading| (!reading.is_nan()).then_some(*reading)))
    }

    /// Takes one row in which readings may be missing.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn push_partial(
        &mut self,
        row: &<M::Inputs as Length>::Slice<Option<f32>>,
    ) -> Result<Verdict, Error> {
        let row = row.as_ref();
        for (channel, reading) in row.iter().enumerate() {
            check_row(&[reading.unwrap_or(0.0)]).map_err(|error| of_channel(error, channel))?;
        }
        self.take(row.iter().copied())
    }

    fn take(
        &mut self,
        row: impl ExactSizeIterator<Item = Option<f32>> + Clone,
    ) -> Result<Verdict, Error> {
        if row.len() != self.state.channels.len() {
            return Err(Error::WrongShape);
        }
        self.state.rows = self.state.rows.saturating_add(1);
        for (channel, reading) in self.state.channels.iter_mut().zip(row.clone()) {
            channel.gaps.push(reading.is_none());
            if let Some(reading) = reading {
                channel.stillness.push(reading);
            }
        }
        if self.state.stage == Stage::Learning {
            self.learn(row)?;
            return Ok(Verdict::Learning { progress: self.progress() });
        }
        let (found, joint) = self.watch(row)?;
        Ok(self.decide(&found, &joint))
    }

    #[inline(never)]
    fn learn(&mut self, row: impl Iterator<Item = Option<f32>>) -> Result<(), Error> {
        let plan = self.plan();
        let (row_of_learning, scaled) = (self.state.learned, self.config.scaling_rows());
        let progress = Progress { row: row_of_learning, scaled, rows: plan.learning_rows };
        self.state.learned = self.state.learned.saturating_add(1);
        if progress.row < progress.scaled {
            for (channel, reading) in self.state.channels.iter_mut().zip(row) {
                if let Some(reading) = reading {
                    channel.begin(reading);
                }
                if progress.row + 1 == progress.scaled {
                    channel.standard.correct();
                }
            }
            return Ok(());
        }
        if progress.is_checkpoint() {
            self.checkpoint(progress.begins_to_collect());
        }
        for (channel, reading) in self.state.channels.iter_mut().zip(row) {
            match reading {
                Some(reading) => channel.learn(reading, &plan, &progress),
                None => channel.miss(),
            }
        }
        let Memory { channels, values, innovations, .. } = &mut self.state;
        if let Some(joint) = values.carried_mut() {
            let vector = vector(self.map, channels, |channel| channel.joint().0);
            joint.learn(self.map, &vector, &plan, progress.collects())?;
        }
        if let Some(joint) = innovations.carried_mut() {
            let vector = vector(self.map, channels, |channel| channel.joint().1);
            joint.learn(self.map, &vector, &plan, progress.collects())?;
        }
        if self.state.learned >= self.config.learning_rows {
            self.arm();
        }
        Ok(())
    }

    /// Puts to use what was learned so far.
    fn checkpoint(&mut self, begins_to_collect: bool) {
        let mut corrected = false;
        for channel in self.state.channels.iter_mut() {
            corrected |= channel.checkpoint();
            if begins_to_collect {
                channel.restart_residual();
            }
        }
        if corrected {
            self.state.values.reset();
        }
        if corrected || begins_to_collect {
            self.state.innovations.reset();
        }
    }

    /// Ends learning: sets the thresholds.
    fn arm(&mut self) {
        let time = self.config.mean_time_between_false_alarms;
        // Legs that are off leave their part of the promise to the others.
        let channels = self.state.channels.len();
        let wanderers = self.state.channels.iter().filter(|channel| channel.will_wander()).count();
        let off = f32_of(wanderers) / f32_of(channels.max(1)) + f32_of(wanderers.min(1));
        self.state.ln_time = ln_f32(time * (1.0 - off / LEGS));
        let plan = self.plan();
        for channel in self.state.channels.iter_mut() {
            channel.arm(&plan, plan.learning_rows, time);
        }
        if let Some(joint) = self.state.values.carried_mut() {
            joint.arm(&plan);
        }
        if let Some(joint) = self.state.innovations.carried_mut() {
            joint.arm(&plan);
        }
        self.state.stage = Stage::Monitoring;
    }

    /// What each leg of each channel finds, and the joint ones.
    fn watch(&mut self, row: impl Iterator<Item = Option<f32>>) -> Result<Evidence<M>, Error> {
        let plan = self.plan();
        let Memory { channels, values, innovations, joint: causes, .. } = &mut self.state;
        let mut found = channels.like([Found::CALM; 4]);
        let (mut open, mut wanders) = (causes.iter().any(Cause::is_open), false);
        for (found, (channel, reading)) in found.iter_mut().zip(channels.iter_mut().zip(row)) {
            open |= channel.is_open();
            wanders |= channel.wanders();
            match reading {
                Some(reading) => channel.watch(reading, &plan, found),
                None => channel.miss(),
            }
        }
        let mut joint = [Found::CALM; 2];
        let [of_values, of_innovations] = &mut joint;
        if let Some(leg) = values.carried_mut() {
            let vector = vector(self.map, channels, |channel| channel.joint().0);
            let found = leg.watch(self.map, &vector, &plan, !open)?;
            // Of a level that wanders nothing is known.
            if !wanders {
                *of_values = found;
            }
        }
        if let Some(leg) = innovations.carried_mut() {
            let vector = vector(self.map, channels, |channel| channel.joint().1);
            *of_innovations = leg.watch(self.map, &vector, &plan, !open)?;
        }
        Ok((found, joint))
    }

    /// Forgets everything learned and learns anew; rows go on being counted. O(C + L).
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
        (row_count(self.state.learned) / row_count(self.config.learning_rows)).min(1.0)
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
        self.state.last_alarm
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

/// What the legs of each channel find, and the two joint ones.
pub(super) type Evidence<M> = (Per<<M as FeatureMap>::Inputs, [Found; 4]>, [Found; 2]);

/// An error of one reading as that of a channel.
fn of_channel(error: Error, channel: usize) -> Error {
    use crate::error::Parameter::Channel;
    match error {
        Error::NonFinite(_) => Error::NonFinite(Channel(channel)),
        Error::OutOfRange(_) => Error::OutOfRange(Channel(channel)),
        other => other,
    }
}

/// A vector with a coordinate of each channel, within the map's reach.
fn vector<M: FeatureMap, L: Legs>(
    map: &M,
    channels: &Per<M::Inputs, Channel<L>>,
    of: impl Fn(&Channel<L>) -> f32,
) -> Per<M::Inputs, f32> {
    let mut vector = channels.like(0.0);
    let mut squared = 0.0;
    for (x, channel) in vector.iter_mut().zip(channels.iter()) {
        *x = of(channel);
        squared += *x * *x;
    }
    let reach = 0.5 * map.reach();
    if squared > reach * reach {
        let factor = reach / larger(sqrt_f32(squared), 1e-6);
        vector.iter_mut().for_each(|x| *x *= factor);
    }
    vector
}
