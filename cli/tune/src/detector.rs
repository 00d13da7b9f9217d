//! The device's detector, with a profile by phase or without: the type says which.

use fastmmd::dynamic::{self, Map};
use fastmmd::monitor::{self, ChannelQuality, Difference, LegStatus, Mute, Open, SavedLegs};
use fastmmd::{Config, Error, FeatureMap, Recipe, Stage, Verdict};

/// Frequencies of a detector, unless others are asked for.
pub const FREQUENCIES: usize = 32;
/// Parts of a cycle in a profile.
pub const BINS: usize = monitor::CYCLE_BINS;

/// The legs of a detector with a profile by phase.
type Cyclic = monitor::Cyclic<BINS>;

/// A detector of any shape.
#[derive(Debug, Clone)]
pub enum Detector<'m> {
    /// Without a profile.
    Plain(dynamic::Detector<'m>),
    /// With the profile of a cycle.
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
    ///
    /// # Errors
    /// Those of [`dynamic::detector`].
    pub fn new(map: &'m Map, config: Config) -> Result<Self, Error> {
        match config.period {
            None => dynamic::detector(map, config).map(Self::Plain),
            Some(period) => dynamic::detector(map, config.with_period(period)).map(Self::Cyclic),
        }
    }

    /// A saved one.
    ///
    /// # Errors
    /// Those of [`dynamic::restored`]; [`Error::WrongShape`] for other legs.
    pub fn restored(map: &'m Map, bytes: &[u8]) -> Result<Self, Error> {
        let legs = SavedLegs::restore(bytes)?;
        if legs == SavedLegs::of::<Cyclic>() {
            dynamic::restored(map, bytes).map(Self::Cyclic)
        } else {
            dynamic::restored(map, bytes).map(Self::Plain)
        }
    }

    /// Adds a row.
    ///
    /// # Errors
    /// Those of [`fastmmd::Detector::push`].
    pub fn push(&mut self, row: &[f32]) -> Result<Verdict, Error> {
        either!(self, detector => detector.push(row))
    }

    /// The settings, whatever the legs.
    #[must_use]
    pub fn config(&self) -> Config {
        either!(self, detector => detector.config().with_legs())
    }

    /// The recipe of its map.
    #[must_use]
    pub fn recipe(&self) -> &Recipe {
        either!(self, detector => detector.map().recipe())
    }

    /// Number of channels.
    #[must_use]
    pub fn channels(&self) -> usize {
        self.recipe().inputs as usize
    }

    /// What it is doing.
    #[must_use]
    pub fn stage(&self) -> Stage {
        either!(self, detector => detector.stage())
    }

    /// Rows pushed in all.
    #[must_use]
    pub fn rows(&self) -> u64 {
        either!(self, detector => detector.rows())
    }

    /// Rows still to learn from.
    #[must_use]
    pub fn rows_to_learn(&self) -> u64 {
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
    #[must_use]
    pub fn open(&self) -> Vec<Open> {
        either!(self, detector => detector.open().collect())
    }

    /// What is known of each channel.
    #[must_use]
    pub fn quality(&self) -> Vec<ChannelQuality> {
        either!(self, detector => detector.quality().collect())
    }

    /// The statistics that cannot fire.
    #[must_use]
    pub fn mute(&self) -> Vec<Mute> {
        either!(self, detector => detector.mute().collect())
    }

    /// Every statistic.
    #[must_use]
    pub fn legs(&self) -> Vec<LegStatus> {
        either!(self, detector => detector.legs().collect())
    }

    /// The statistic nearest to its threshold.
    #[must_use]
    pub fn nearest(&self) -> Option<LegStatus> {
        either!(self, detector => detector.nearest())
    }

    /// Number of devices whose references were merged into this one.
    #[must_use]
    pub fn merged(&self) -> u32 {
        either!(self, detector => detector.merged())
    }

    /// Whether another one learned a different reference.
    ///
    /// # Errors
    /// Those of [`fastmmd::Detector::difference`]; [`Error::WrongShape`] if one has a cycle alone.
    pub fn difference(&self, other: &Self) -> Result<Difference, Error> {
        both!(self, other, own, other => own.difference(other))
    }

    /// Merges the reference of another one into this.
    ///
    /// # Errors
    /// Those of [`fastmmd::Detector::merge`]; [`Error::WrongShape`] if one has a cycle alone.
    pub fn merge(&mut self, other: &Self) -> Result<(), Error> {
        both!(self, other, own, other => own.merge(other))
    }

    /// Keeps the scale of each channel, and learns everything else again.
    pub fn relearn_reference(&mut self) {
        either!(self, detector => detector.relearn_reference());
    }

    /// As bytes, as the device saves it.
    ///
    /// # Errors
    /// Those of [`fastmmd::Detector::save`].
    pub fn bytes(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; self.saved_bytes()];
        either!(self, detector => detector.save(&mut bytes))?;
        Ok(bytes)
    }

    /// Number of these bytes.
    #[must_use]
    pub fn saved_bytes(&self) -> usize {
        either!(self, detector => detector.saved_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_python_package_has_the_same_default() {
        let wanted = format!("        frequencies: int = {FREQUENCIES},\n");
        assert!(include_str!("../../../python/fastmmd/detector.py").contains(&wanted));
    }
}
