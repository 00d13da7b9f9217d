//! The whole detector as bytes.

use crate::error::Error;
use crate::features::FeatureMap;
use crate::features::sincos::{Backend, SinCos};
use crate::state::{
    FRAME_BYTES, Kind, Plain, State, VERSION, expect, plain, plain_states, replace, write,
};

use super::config::{Config, Saved};
use super::detector::Detector;
use super::legs::choice::{Legs, Switch};
use super::verdict::{Alarm, Change, Leg, Stage};

plain!(
    struct Alarm {
        row: u64,
        since: u64,
        channel: usize,
        change: Change,
        leg: Leg,
        window: u32,
        score: f32,
        threshold: f32,
    }
);
plain_states!(Stage = Stage::Learning, Option<Alarm> = None);

/// Which legs are carried, as bits.
fn legs_of<L: Legs>() -> u8 {
    let legs = [L::Level::ON, L::Jump::ON, L::Spread::ON, L::Values::ON, L::Innovations::ON];
    legs.into_iter().rev().fold(0, |bits, on| bits << 1 | u8::from(on))
}

/// Length of a record with so many bytes of state.
pub(super) const fn record_bytes(state: usize) -> usize {
    FRAME_BYTES + payload_bytes(state)
}

const fn payload_bytes(state: usize) -> usize {
    u8::BYTES + Saved::BYTES + state
}

impl<M, L> Detector<'_, M, L>
where
    M: FeatureMap<Backend: SinCos>,
    L: Legs,
{
    /// Length of the saved detector, in bytes.
    #[must_use]
    pub fn saved_bytes(&self) -> usize {
        record_bytes(self.state.bytes(VERSION))
    }

    /// Writes everything: settings, what was learned, and the windows as they are, with the
    /// recipe of the map; returns the number of bytes. A restored detector goes on bit for bit
    /// as this one would.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`].
    pub fn save(&self, out: &mut [u8]) -> Result<usize, Error> {
        let length = payload_bytes(self.state.bytes(VERSION));
        let recipe = self.map.recipe();
        write(out, length, Kind::Drift, <M::Backend as Backend>::CODE, recipe, |writer| {
            legs_of::<L>().write(writer);
            Saved::from(&self.config).write(writer);
            self.state.put(writer);
        })
    }

    /// Replaces the detector, settings included, by a saved one of the same legs, backend and map.
    ///
    /// # Errors
    /// As [`Embedding::restore`](crate::Embedding::restore), and [`Error::WrongShape`] for other
    /// legs; the detector is then as it was.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let length = payload_bytes(self.state.bytes(VERSION));
        let mut reader = expect(bytes, Kind::Drift, self.map, length)?;
        if u8::take(&mut reader)? != legs_of::<L>() {
            return Err(Error::WrongShape);
        }
        let config = Config::from(Saved::take(&mut reader)?);
        config.check().map_err(|_| Error::Inconsistent)?;
        replace(&mut self.state, &mut reader)?;
        self.config = config;
        Ok(())
    }
}
