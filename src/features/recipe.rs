//! The parameters that a map is drawn from.

use super::kernel::{Kernel, Profile};
use super::sampling::Sampling;
use crate::error::Error;
use crate::state::{Plain, Reader, Writer, checksum, codes, plain};

/// The kind of a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum MapKind {
    /// [`Fourier`](super::Fourier) with drawn frequencies.
    Fourier,
    /// [`Fastfood`](super::Fastfood).
    Fastfood,
    /// [`Fourier`](super::Fourier) with frequencies given by the caller; the seed is their
    /// checksum.
    Given,
    /// [`fixed::Fourier`](crate::fixed::Fourier).
    FixedFourier,
    /// [`fixed::Fastfood`](crate::fixed::Fastfood).
    FixedFastfood,
    /// [`Offset`](super::Offset).
    Offset,
}

codes!(MapKind {
    Fourier = 0 "fourier",
    Fastfood = 1 "fastfood",
    Given = 2 "given",
    FixedFourier = 3 "fixed-fourier",
    FixedFastfood = 4 "fixed-fastfood",
    Offset = 5 "offset",
});

impl MapKind {
    /// Whether a map of this kind can be drawn with any shape, as `dynamic::Map`.
    #[must_use]
    pub const fn is_dynamic(self) -> bool {
        match self {
            Self::Fourier | Self::Fastfood => true,
            Self::Given | Self::FixedFourier | Self::FixedFastfood | Self::Offset => false,
        }
    }
}

/// Everything that determines a map's frequencies. Maps with equal recipes are equal.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Recipe {
    /// The kind of map.
    pub kind: MapKind,
    /// The kernel it approximates.
    pub kernel: Kernel,
    /// How its frequencies were drawn; never [`Sampling::Auto`].
    pub sampling: Sampling,
    /// The seed of the draw.
    pub seed: u64,
    /// Number of inputs D.
    pub inputs: u32,
    /// The block length P of a Fastfood map; 0 for the other kinds.
    pub block: u32,
    /// Number of frequencies L.
    pub frequencies: u32,
}

impl Recipe {
    /// Whether it describes a map of this kind, with these numbers of inputs, of frequencies per
    /// block (0 for no blocks) and of frequencies.
    pub(crate) const fn has_shape(
        &self,
        kind: MapKind,
        inputs: usize,
        block: usize,
        frequencies: usize,
    ) -> bool {
        self.kind.code() == kind.code()
            && self.inputs as usize == inputs
            && self.block as usize == block
            && self.frequencies as usize == frequencies
    }

    /// As it is saved.
    const fn saved(self) -> Saved {
        Saved {
            kind: self.kind.code(),
            profile: self.kernel.profile().code(),
            sampling: self.sampling.code(),
            zero: 0,
            inputs: self.inputs,
            block: self.block,
            frequencies: self.frequencies,
            bandwidth: self.kernel.bandwidth(),
            amplitude: self.kernel.amplitude(),
            seed: self.seed,
        }
    }

    /// Length of [`to_bytes`](Self::to_bytes).
    pub const BYTES: usize = Saved::BYTES;

    /// As saved states and embeddings hold it, for links and databases: little-endian, the kind, profile
    /// and sampling as codes of a byte each, a zero byte, inputs, block and frequencies as `u32`,
    /// bandwidth and amplitude as `f32`, the seed as `u64`.
    #[must_use]
    pub const fn to_bytes(&self) -> [u8; Self::BYTES] {
        self.saved().to_bytes()
    }

    /// Reads [`to_bytes`](Self::to_bytes).
    ///
    /// # Errors
    /// [`Error::Inconsistent`] for codes and kernel parameters that no recipe has.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Result<Self, Error> {
        Self::take(&mut Reader::new(bytes))
    }

    /// The checksum by which embeddings and saved states identify their map.
    #[must_use]
    pub const fn fingerprint(&self) -> u32 {
        checksum(0, &self.to_bytes())
    }
}

/// Declares numbers with their order in records, also for constants: a fingerprint is one.
macro_rules! saved {
    ($(#[$meta:meta])* struct $name:ident { $($field:ident: $number:ty),* $(,)? }) => {
        plain! {
            $(#[$meta])*
            #[derive(Clone, Copy)]
            struct $name {
                $($field: $number),*
            }
        }

        impl $name {
            /// What [`Plain::write`] writes.
            const fn to_bytes(self) -> [u8; Self::BYTES] {
                let mut bytes = [0; Self::BYTES];
                let rest: &mut [u8] = &mut bytes;
                $(
                    let Some((field, rest)) = rest.split_first_chunk_mut() else {
                        return bytes;
                    };
                    *field = self.$field.to_le_bytes();
                )*
                let _ = rest;
                bytes
            }
        }
    };
}

saved! {
    /// A recipe in a record.
    struct Saved {
        kind: u8,
        profile: u8,
        sampling: u8,
        zero: u8,
        inputs: u32,
        block: u32,
        frequencies: u32,
        bandwidth: f32,
        amplitude: f32,
        seed: u64,
    }
}

impl Plain for Recipe {
    const BYTES: usize = Saved::BYTES;

    fn write(self, writer: &mut Writer<'_>) {
        self.saved().write(writer);
    }

    /// Refuses codes and kernel parameters that no recipe has.
    fn take(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let saved = Saved::take(reader)?;
        let kind = MapKind::from_code(saved.kind).ok_or(Error::Inconsistent)?;
        let profile = Profile::from_code(saved.profile).ok_or(Error::Inconsistent)?;
        let sampling = match Sampling::from_code(saved.sampling) {
            None | Some(Sampling::Auto) => return Err(Error::Inconsistent),
            Some(sampling) => sampling,
        };
        let kernel = Kernel::new(profile, saved.bandwidth)
            .and_then(|kernel| kernel.with_amplitude(saved.amplitude))
            .map_err(|_| Error::Inconsistent)?;
        if saved.zero != 0 {
            return Err(Error::Inconsistent);
        }
        let Saved { seed, inputs, block, frequencies, .. } = saved;
        Ok(Self { kind, kernel, sampling, seed, inputs, block, frequencies })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FeatureMap, Fourier};

    #[test]
    fn bytes_give_the_recipe_again_and_others_are_refused() {
        let map = Fourier::<3, 16>::additive(5);
        let bytes = map.recipe().to_bytes();
        assert_eq!(Recipe::from_bytes(&bytes), Ok(*map.recipe()));
        assert_eq!((bytes[4], bytes[12], bytes[24]), (3, 16, 5));
        // A kind, profile and sampling that there are not, and what must be zero.
        for place in 0..4 {
            let mut other = bytes;
            other[place] = 77;
            assert_eq!(Recipe::from_bytes(&other), Err(Error::Inconsistent), "{place}");
        }
    }
}
