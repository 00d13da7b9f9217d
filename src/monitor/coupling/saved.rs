//! A coupling monitor as bytes.

use crate::error::Error;
use crate::features::FeatureMap;
use crate::features::sincos::{Backend, SinCos};
use crate::state::{FRAME_BYTES, Kind, Plain, State, VERSION, expect, plain, replace, write};

use super::{Config, Monitor};

plain! {
    /// What a record says of the second group: its backend, its shape and its map. Those of the first
    /// group stand before every record.
    #[derive(Clone, Copy)]
    pub(super) struct Second {
        backend: u8,
        inputs: u32,
        frequencies: u32,
        fingerprint: u32,
    }
}

impl<A, B> Monitor<'_, A, B>
where
    A: FeatureMap<Backend: SinCos>,
    B: FeatureMap<Backend: SinCos>,
{
    /// Length of the saved monitor, in bytes.
    #[must_use]
    pub fn saved_bytes(&self) -> usize {
        FRAME_BYTES + self.payload_bytes()
    }

    /// What is kept of the second map.
    fn second(&self) -> Second {
        let recipe = self.maps.1.recipe();
        Second {
            backend: <B::Backend as Backend>::CODE,
            inputs: recipe.inputs,
            frequencies: recipe.frequencies,
            fingerprint: self.maps.1.fingerprint(),
        }
    }

    fn payload_bytes(&self) -> usize {
        Second::BYTES + Config::BYTES + self.state.bytes(VERSION)
    }

    /// Writes everything: settings, what was learned and the window as it is, with the recipe of
    /// the first map; returns the number of bytes. A restored monitor goes on bit for bit.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`].
    pub fn save(&self, out: &mut [u8]) -> Result<usize, Error> {
        let (length, recipe) = (self.payload_bytes(), self.maps.0.recipe());
        write(out, length, Kind::Coupling, <A::Backend as Backend>::CODE, recipe, |writer| {
            self.second().write(writer);
            self.config.write(writer);
            self.state.put(writer);
        })
    }

    /// Replaces the monitor, settings included, by a saved one of the same shape, backends and
    /// maps.
    ///
    /// # Errors
    /// As [`Embedding::restore`](crate::Embedding::restore); the monitor is then as it was.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut reader = expect(bytes, Kind::Coupling, self.maps.0, self.payload_bytes())?;
        let (saved, own) = (Second::take(&mut reader)?, self.second());
        let shape = |second: &Second| (second.backend, second.inputs, second.frequencies);
        if shape(&saved) != shape(&own) {
            return Err(Error::WrongShape);
        }
        if saved.fingerprint != own.fingerprint {
            return Err(Error::MapMismatch);
        }
        let config = Config::take(&mut reader)?;
        config.check().map_err(|_| Error::Inconsistent)?;
        replace(&mut self.state, &mut reader)?;
        self.config = config;
        Ok(())
    }
}
