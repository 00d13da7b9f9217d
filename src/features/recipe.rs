//! The parameters that a map is drawn from.

use crc::{CRC_32_ISO_HDLC, Crc, NoTable};

use super::kernel::{Kernel, Profile};
use super::sampling::Sampling;
use crate::error::Error;
use crate::state::codes;

/// The checksum of recipes and saved states: CRC-32, computed without a table to save flash.
pub(crate) const CHECKSUM: Crc<u32, NoTable> = Crc::<u32, NoTable>::new(&CRC_32_ISO_HDLC);

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
}

codes!(MapKind {
    Fourier = 0 "fourier",
    Fastfood = 1 "fastfood",
    Given = 2 "given",
    FixedFourier = 3 "fixed-fourier",
    FixedFastfood = 4 "fixed-fastfood",
});

impl MapKind {
    /// Whether a map of this kind can be drawn with any shape, as `dynamic::Map`.
    #[must_use]
    pub const fn is_dynamic(self) -> bool {
        match self {
            Self::Fourier | Self::Fastfood => true,
            Self::Given | Self::FixedFourier | Self::FixedFastfood => false,
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
    /// Length of [`to_bytes`](Self::to_bytes).
    pub(crate) const BYTES: usize = 32;

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

    /// The recipe as in a saved state, little-endian.
    pub(crate) const fn to_bytes(self) -> [u8; Self::BYTES] {
        let kind = self.kind.code();
        let profile = self.kernel.profile().code();
        let sampling = self.sampling.code();
        let [d0, d1, d2, d3] = self.inputs.to_le_bytes();
        let [p0, p1, p2, p3] = self.block.to_le_bytes();
        let [l0, l1, l2, l3] = self.frequencies.to_le_bytes();
        let [b0, b1, b2, b3] = self.kernel.bandwidth().to_le_bytes();
        let [k0, k1, k2, k3] = self.kernel.amplitude().to_le_bytes();
        let [s0, s1, s2, s3, s4, s5, s6, s7] = self.seed.to_le_bytes();
        [
            kind, profile, sampling, 0, d0, d1, d2, d3, p0, p1, p2, p3, l0, l1, l2, l3, b0, b1, b2,
            b3, k0, k1, k2, k3, s0, s1, s2, s3, s4, s5, s6, s7,
        ]
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    /// [`Error::Inconsistent`] for codes or kernel parameters that no recipe has.
    pub(crate) fn from_bytes(bytes: &[u8; Self::BYTES]) -> Result<Self, Error> {
        let [
            kind,
            profile,
            sampling,
            zero,
            d0,
            d1,
            d2,
            d3,
            p0,
            p1,
            p2,
            p3,
            l0,
            l1,
            l2,
            l3,
            b0,
            b1,
            b2,
            b3,
            k0,
            k1,
            k2,
            k3,
            s0,
            s1,
            s2,
            s3,
            s4,
            s5,
            s6,
            s7,
        ] = *bytes;
        let kind = MapKind::from_code(kind).ok_or(Error::Inconsistent)?;
        let profile = Profile::from_code(profile).ok_or(Error::Inconsistent)?;
        let sampling = match Sampling::from_code(sampling) {
            None | Some(Sampling::Auto) => return Err(Error::Inconsistent),
            Some(sampling) => sampling,
        };
        let kernel = Kernel::new(profile, f32::from_le_bytes([b0, b1, b2, b3]))
            .and_then(|kernel| kernel.with_amplitude(f32::from_le_bytes([k0, k1, k2, k3])))
            .map_err(|_| Error::Inconsistent)?;
        if zero != 0 {
            return Err(Error::Inconsistent);
        }
        Ok(Self {
            kind,
            kernel,
            sampling,
            seed: u64::from_le_bytes([s0, s1, s2, s3, s4, s5, s6, s7]),
            inputs: u32::from_le_bytes([d0, d1, d2, d3]),
            block: u32::from_le_bytes([p0, p1, p2, p3]),
            frequencies: u32::from_le_bytes([l0, l1, l2, l3]),
        })
    }

    /// The checksum by which embeddings and saved states identify their map.
    #[must_use]
    pub const fn fingerprint(&self) -> u32 {
        CHECKSUM.checksum(&self.to_bytes())
    }
}
