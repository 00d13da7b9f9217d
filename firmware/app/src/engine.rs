//! What the app needs of a drift detector.

use fastmmd::detector::{Change, Config, Detector, Stage, Verdict, View, Warning};
use fastmmd::{Error, FeatureMap, SinCos};

use crate::fault::FaultKind;

/// Where an engine stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Phase {
    /// Finding the scale of the channels.
    Scaling {
        /// Part done of scaling and learning together, in thousandths.
        permille: u16,
    },
    /// Learning what is normal.
    Learning {
        /// Part done of scaling and learning together, in thousandths.
        permille: u16,
    },
    /// Comparing with what was learned.
    Monitoring,
    /// Monitoring, and an alarm stands.
    Drift,
}

impl Phase {
    /// Whether what is normal has been learned.
    #[must_use]
    pub const fn is_learned(self) -> bool {
        matches!(self, Self::Monitoring | Self::Drift)
    }
}

/// What a sample led to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome {
    /// Nothing new.
    Quiet,
    /// With this sample learning was complete.
    Learned,
    /// With this sample drift was found.
    Drift(Alarm),
}

/// The kind of a change, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum ChangeKind {
    /// Not determined.
    Unknown = 0,
    /// The level has moved.
    Level = 1,
    /// The spread has grown or shrunk.
    Spread = 2,
    /// The shape of the distribution has changed, or how channels go together.
    Shape = 3,
    /// It has stopped moving.
    Stuck = 4,
}

impl From<Change> for ChangeKind {
    fn from(change: Change) -> Self {
        match change {
            Change::Level => Self::Level,
            Change::Spread => Self::Spread,
            Change::Shape => Self::Shape,
            Change::Stuck => Self::Stuck,
            _ => Self::Unknown,
        }
    }
}

impl ChangeKind {
    /// The kind with this number on the link.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::Unknown,
            1 => Self::Level,
            2 => Self::Spread,
            3 => Self::Shape,
            4 => Self::Stuck,
            _ => return None,
        })
    }
}

/// The channel number of an alarm that no single channel explains.
pub const NO_CHANNEL: u8 = u8::MAX;

/// Drift was found.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Alarm {
    /// Number of the sample that raised it, from 1.
    pub sample: u32,
    /// Number of the sample at which the change probably began.
    pub since: u32,
    /// Length, in samples, of the window that saw it.
    pub scale: u32,
    /// The statistic at that moment.
    pub score: f32,
    /// What it had to exceed.
    pub threshold: f32,
    /// The channel that changed most, or [`NO_CHANNEL`].
    pub channel: u8,
    /// How that channel changed.
    pub kind: ChangeKind,
}

impl Alarm {
    /// How far beyond the threshold, as a factor of at least 1.
    #[must_use]
    pub fn severity(&self) -> f32 {
        self.score / self.threshold
    }
}

impl From<fastmmd::detector::Alarm> for Alarm {
    fn from(alarm: fastmmd::detector::Alarm) -> Self {
        // Rows count from 0, samples from 1.
        let number = |row: u64| short(row.saturating_add(1));
        Self {
            sample: number(alarm.row),
            since: number(alarm.since),
            scale: alarm.scale,
            score: alarm.score,
            threshold: alarm.threshold,
            channel: u8::try_from(alarm.channel).unwrap_or(NO_CHANNEL),
            kind: alarm.change.into(),
        }
    }
}

/// A count for the link, which has four bytes for it.
fn short(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Why an engine refused a call; its state is as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum EngineError {
    /// The sample is not finite.
    NotFinite,
    /// The sample is too far away to be mapped.
    OutOfRange,
    /// The buffer is too short for the state.
    NoRoom,
    /// The bytes are no state of this engine.
    Unreadable,
    /// Another reason.
    Refused,
}

impl From<EngineError> for FaultKind {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::NotFinite => Self::NotFinite,
            EngineError::OutOfRange => Self::OutOfRange,
            EngineError::NoRoom => Self::TooLong,
            EngineError::Unreadable => Self::Unreadable,
            EngineError::Refused => Self::Refused,
        }
    }
}

/// A drift detector for samples of `C` channels.
pub trait Engine<const C: usize> {
    /// What it was told: part of its state, and so kept and restored with it.
    type Settings: Copy + PartialEq;

    /// Longest state that [`save`](Self::save) writes.
    const STATE_BYTES: usize;

    /// Takes the next sample.
    ///
    /// # Errors
    /// [`EngineError`] for a sample it cannot use.
    fn push(&mut self, sample: &[f32; C]) -> Result<Outcome, EngineError>;

    /// Where it stands.
    fn phase(&self) -> Phase;

    /// Number of samples taken in all, also before learning anew.
    fn count(&self) -> u32;

    /// The current statistic; 0 while there is none.
    fn statistic(&self) -> f32;

    /// What the statistic must exceed for an alarm; 0 while there is none.
    fn threshold(&self) -> f32;

    /// The alarm that stands, in [`Phase::Drift`].
    fn alarm(&self) -> Option<Alarm>;

    /// A promise that its settings cannot be trusted to keep.
    fn warning(&self) -> Option<Warning>;

    /// The settings under which it learns or has learned.
    fn settings(&self) -> Self::Settings;

    /// Forgets everything but the count, and learns anew under these settings.
    ///
    /// # Errors
    /// [`EngineError::Refused`] for settings that mean nothing.
    fn relearn(&mut self, settings: Self::Settings) -> Result<(), EngineError>;

    /// Writes the whole state, with a checksum of its own, and returns its length.
    ///
    /// # Errors
    /// [`EngineError::NoRoom`].
    fn save(&self, out: &mut [u8]) -> Result<usize, EngineError>;

    /// Takes up a saved state. Bytes that are torn, foreign or altered are refused and change
    /// nothing: the app relies on this for RAM whose content after a reset is anyone's guess.
    ///
    /// # Errors
    /// [`EngineError::Unreadable`].
    fn restore(&mut self, bytes: &[u8]) -> Result<(), EngineError>;
}

fn refusal(error: Error) -> EngineError {
    match error {
        Error::NonFinite(_) => EngineError::NotFinite,
        Error::PhaseTooLarge | Error::OutOfRange(_) => EngineError::OutOfRange,
        Error::BufferTooSmall { .. } => EngineError::NoRoom,
        _ => EngineError::Refused,
    }
}

/// The core's detector, as it is.
impl<M, V, const C: usize, const D: usize, const L: usize, const S: usize, B> Engine<C>
    for Detector<'_, M, V, C, D, L, S, B>
where
    M: FeatureMap<D, L>,
    V: View<C>,
    B: SinCos,
{
    type Settings = Config<S>;

    const STATE_BYTES: usize = Self::SAVED_BYTES;

    fn push(&mut self, sample: &[f32; C]) -> Result<Outcome, EngineError> {
        let learned = self.phase().is_learned();
        let verdict = self.push(sample).map_err(refusal)?;
        Ok(match verdict {
            Verdict::Alarm(alarm) => Outcome::Drift(alarm.into()),
            _ if self.phase().is_learned() != learned => Outcome::Learned,
            _ => Outcome::Quiet,
        })
    }

    fn phase(&self) -> Phase {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 0 to 1000, and the cast saturates"
        )]
        let permille = (1000.0 * self.progress()) as u16;
        match self.stage() {
            Stage::Scaling => Phase::Scaling { permille },
            Stage::Learning => Phase::Learning { permille },
            Stage::Drift => Phase::Drift,
            _ => Phase::Monitoring,
        }
    }

    fn count(&self) -> u32 {
        short(self.rows())
    }

    fn statistic(&self) -> f32 {
        self.statistic()
    }

    fn threshold(&self) -> f32 {
        self.threshold()
    }

    fn alarm(&self) -> Option<Alarm> {
        let stands = self.stage() == Stage::Drift;
        self.last_alarm().filter(|_| stands).map(Alarm::from)
    }

    fn warning(&self) -> Option<Warning> {
        self.config().warning()
    }

    fn settings(&self) -> Config<S> {
        *self.config()
    }

    fn relearn(&mut self, settings: Config<S>) -> Result<(), EngineError> {
        self.relearn_with(settings).map_err(|_| EngineError::Refused)
    }

    fn save(&self, out: &mut [u8]) -> Result<usize, EngineError> {
        self.save(out).map_err(refusal)
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), EngineError> {
        self.restore(bytes).map_err(|_| EngineError::Unreadable)
    }
}
