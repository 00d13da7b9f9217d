//! The device's detector, with a profile by phase or without: the type says which.

use fastmmd::dynamic::{self, Map};
use fastmmd::monitor::{self, ChannelQuality, Difference, LegStatus, Mute, Open, SavedLegs};
use fastmmd::{Config, Error, FeatureMap, Recipe, Stage, Verdict};

/// Parts of a cycle in a profile: as of [`Config::with_period`].
pub(crate) const BINS: usize = 32;

/// The legs of a detector with a profile by phase.
type Cyclic = monitor::Cyclic<BINS>;

/// A detector of any shape.
#[derive(Debug, Clone)]
pub(crate) enum Detector<'m> {
    Plain(dynamic::Detector<'m>),
    Cyclic(dynamic::Detector<'m, Cyclic>),
}

/// Runs the same code for either kind.
macro_rules! either {
    ($either:expr, $detector:ident => $result:expr) => {
        match $either {
            Self::Plain($detector) => $result,
            Self::Cyclic($detector) => $result,
        }
    };
}

/// The same for two detectors of one kind. Two of different kinds cannot be compared.
macro_rules! both {
    ($own:expr, $other:expr, $a:ident, $b:ident => $result:expr) => {
        match ($own, $other) {
            (Self::Plain($a), Self::Plain($b)) => $result,
            (Self::Cyclic($a), Self::Cyclic($b)) => $result,
            _ => Err(Error::WrongShape),
        }
    };
}

impl<'m> Detector<'m> {
    /// A new one, with a profile if the settings have a period.
    pub(crate) fn new(map: &'m Map, config: Config) -> Result<Self, Error> {
        match config.period {
            None => dynamic::detector(map, config).map(Self::Plain),
            Some(period) => dynamic::detector(map, config.with_period(period)).map(Self::Cyclic),
        }
    }

    /// A saved one.
    pub(crate) fn restored(map: &'m Map, bytes: &[u8]) -> Result<Self, Error> {
        let legs = SavedLegs::restore(bytes)?;
        if legs == SavedLegs::of::<Cyclic>() {
            dynamic::restored(map, bytes).map(Self::Cyclic)
        } else {
            dynamic::restored(map, bytes).map(Self::Plain)
        }
    }

    pub(crate) fn push(&mut self, row: &[f32]) -> Result<Verdict, Error> {
        either!(self, detector => detector.push(row))
    }

    /// The settings, whatever the legs.
    pub(crate) fn config(&self) -> Config {
        either!(self, detector => detector.config().with_legs())
    }

    pub(crate) fn recipe(&self) -> &Recipe {
        either!(self, detector => detector.map().recipe())
    }

    pub(crate) fn channels(&self) -> usize {
        self.recipe().inputs as usize
    }

    pub(crate) fn stage(&self) -> Stage {
        either!(self, detector => detector.stage())
    }

    /// Rows pushed in all.
    pub(crate) fn rows(&self) -> u64 {
        either!(self, detector => detector.rows())
    }

    /// Rows still to learn from.
    pub(crate) fn rows_to_learn(&self) -> u64 {
        let rows = f64::from(self.config().learning_rows);
        let left = rows - (rows * f64::from(either!(self, it => it.progress()))).round();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a part of a whole number of rows"
        )]
        let left = left as u64;
        if self.stage().is_learned() { 0 } else { left }
    }

    /// Everything that differs now.
    pub(crate) fn open(&self) -> Vec<Open> {
        either!(self, detector => detector.open().collect())
    }

    /// What is known of each channel.
    pub(crate) fn quality(&self) -> Vec<ChannelQuality> {
        either!(self, detector => detector.quality().collect())
    }

    /// The statistics that cannot fire.
    pub(crate) fn mute(&self) -> Vec<Mute> {
        either!(self, detector => detector.mute().collect())
    }

    /// Every statistic.
    pub(crate) fn legs(&self) -> Vec<LegStatus> {
        either!(self, detector => detector.legs().collect())
    }

    /// The statistic nearest to its threshold.
    pub(crate) fn nearest(&self) -> Option<LegStatus> {
        either!(self, detector => detector.nearest())
    }

    /// Number of devices whose references were merged into this one.
    pub(crate) fn merged(&self) -> u32 {
        either!(self, detector => detector.merged())
    }

    pub(crate) fn difference(&self, other: &Self) -> Result<Difference, Error> {
        both!(self, other, own, other => own.difference(other))
    }

    pub(crate) fn merge(&mut self, other: &Self) -> Result<(), Error> {
        both!(self, other, own, other => own.merge(other))
    }

    /// Keeps the scale of each channel, and learns everything else again.
    pub(crate) fn relearn_reference(&mut self) {
        either!(self, detector => detector.relearn_reference());
    }

    /// As bytes, as the device saves it.
    pub(crate) fn bytes(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; self.saved_bytes()];
        either!(self, detector => detector.save(&mut bytes))?;
        Ok(bytes)
    }

    pub(crate) fn saved_bytes(&self) -> usize {
        either!(self, detector => detector.saved_bytes())
    }
}
