//! The structured map (Fastfood) in integers.

use core::num::Wrapping;

use crate::error::Error;
use crate::features::kernel::Kernel;
use crate::features::sampling::Sampling;
use crate::features::{FeatureMap, MapKind, Recipe, hadamard, one_at_a_time};
use crate::numeric::{f64_of, nearest, rounded, sqrt};
use crate::shape::Fixed;

use super::{PHASE_PER_TURN_AND_STEP, Table, check_bandwidth, reach};

/// Random Fourier features whose frequencies are products S·H·G·Π·H·B, as in
/// [`Fastfood`](crate::Fastfood), all in integers: 8·L + 2·(P + D) bytes.
///
/// The frequencies are those of the [`Fastfood`](crate::Fastfood) with the same kernel and seed,
/// rounded. G is rounded so that no sample overflows: at D = P = 16 to 2⁻⁹, which changes a
/// frequency by about 1/2000. Lengths have 16 bits, relative to the longest: with heavy-tailed
/// kernels the shortest change by up to 1/400. The computation itself is exact up to the result of
/// the last transform, which is rounded so that no phase moves by more than 2⁻¹⁷ turns.
///
/// ```
/// use fastmmd::{FeatureMap, Kernel, fixed};
///
/// let map = fixed::Fastfood::<12, 16, 128>::new(Kernel::GAUSSIAN, 1)?;
/// assert_eq!(map.recipe().block, 16);
/// # Ok::<(), fastmmd::Error>(())
/// ```
///
/// The shape is checked at compile time: P a power of two from 4 to 256 and at least D, L a
/// multiple of P and at most 65 536.
///
/// ```compile_fail
/// # use fastmmd::{fixed, Kernel};
/// let map = fixed::Fastfood::<5, 4, 64>::new(Kernel::GAUSSIAN, 1);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Fastfood<const D: usize, const P: usize, const L: usize> {
    recipe: Recipe,
    fingerprint: u32,
    /// Number of low bits removed from the results of the second transform.
    cut: u32,
    /// B: 1 or −1 for each channel.
    signs: [i16; D],
    /// Π: where each input of the second transform comes from.
    sources: [u16; P],
    diagonals: [Diagonal; L],
}

/// The entries of the two diagonals for one frequency.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
struct Diagonal {
    /// The entry of G.
    gain: Wrapping<i32>,
    /// The entry of S, with all constant factors: phase per unit of the shortened result.
    scale: u32,
}

/// Largest number of fractional bits of a gain: more would not change a phase by 2⁻¹⁷ turns.
const GAIN_BITS: u32 = 16;

/// Largest number of low bits removed; it grows with the bandwidth.
const MAX_CUT: u32 = 16;

impl<const D: usize, const P: usize, const L: usize> Fastfood<D, P, L> {
    /// What embeddings of this map keep of it: its fingerprint and K(0).
    pub(crate) const fn identity(&self) -> (u32, f32) {
        (self.fingerprint, self.recipe.kernel.amplitude())
    }

    const SHAPE: () = assert!(P <= 256, "in integers, the block is at most 256");

    /// Draws the blocks of `kernel`, as [`Fastfood::new`](crate::Fastfood::new) does.
    ///
    /// # Errors
    /// [`Error::NotSpherical`] for the product Laplacian, which has no Fastfood form, and
    /// [`Error::OutOfRange`] for a bandwidth outside [`BANDWIDTHS`](super::BANDWIDTHS).
    pub const fn new(kernel: Kernel, seed: u64) -> Result<Self, Error> {
        if let Err(error) = check_bandwidth(&kernel) {
            return Err(error);
        }
        match crate::Fastfood::<D, P, L>::new(kernel, seed) {
            Ok(drawn) => Ok(Self::rounded(&drawn)),
            Err(error) => Err(error),
        }
    }

    /// Blocks of the Gaussian kernel of bandwidth 1.
    #[must_use]
    pub const fn gaussian(seed: u64) -> Self {
        Self::rounded(&crate::Fastfood::gaussian(seed))
    }

    /// Converts the `f32` map to integers.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "turns are counted modulo 2³², and gains are below 2²⁰"
    )]
    const fn rounded(drawn: &crate::Fastfood<D, P, L>) -> Self {
        let () = Self::SHAPE;
        let gain_unit = (1_u32 << Self::gain_bits(drawn)) as f64;
        let mut diagonals = [Diagonal { gain: Wrapping(0), scale: 0 }; L];
        // Phase per unit of the second transform's result.
        let mut factors = [0.0; L];
        let mut largest = 0.0;
        let mut start = 0;
        while start < L {
            let mut drawn_squared = 0.0;
            let mut squared = 0.0;
            let mut index = start;
            while index < start + P && index < L {
                let gain = drawn.gains[index] as f64;
                let rounded = nearest(gain * gain_unit) as i32;
                drawn_squared += gain * gain;
                squared += rounded as f64 * rounded as f64;
                diagonals[index].gain = Wrapping(rounded);
                index += 1;
            }
            // The drawn length, divided by that of the rounded row.
            let factor = sqrt(drawn_squared / squared) * PHASE_PER_TURN_AND_STEP;
            let mut index = start;
            while index < start + P && index < L {
                factors[index] = factor * drawn.scales[index] as f64;
                if factors[index] > largest {
                    largest = factors[index];
                }
                index += 1;
            }
            start += P;
        }
        let mut cut = MAX_CUT;
        while cut > 0 && largest * (1_u32 << cut) as f64 > 65_535.0 {
            cut -= 1;
        }
        let mut index = 0;
        while index < L {
            diagonals[index].scale = nearest(factors[index] * (1_u32 << cut) as f64) as u32;
            index += 1;
        }
        let mut signs = [1; D];
        let mut channel = 0;
        while channel < D {
            if drawn.signs[channel] < 0.0 {
                signs[channel] = -1;
            }
            channel += 1;
        }
        let recipe = Recipe { kind: MapKind::FixedFastfood, ..drawn.recipe };
        let fingerprint = recipe.fingerprint();
        Self { recipe, fingerprint, cut, signs, sources: drawn.sources, diagonals }
    }

    /// The number of fractional bits of the gains for which no sample overflows the second
    /// transform. Its results are at most ‖row‖·‖x‖ ≤ √P·‖G‖·√D·2¹⁵.
    const fn gain_bits(drawn: &crate::Fastfood<D, P, L>) -> u32 {
        let mut longest_squared = 0.0;
        let mut start = 0;
        while start < L {
            let mut squared = 0.0;
            let mut index = start;
            while index < start + P && index < L {
                let gain = drawn.gains[index] as f64;
                squared += gain * gain;
                index += 1;
            }
            if squared > longest_squared {
                longest_squared = squared;
            }
            start += P;
        }
        let mut bits = GAIN_BITS;
        while bits > 0 {
            // Each gain may be rounded up by a half.
            let gains = sqrt(longest_squared) * (1_u32 << bits) as f64 + 0.5 * sqrt(f64_of(P));
            let bound = 32_768.0 * sqrt(f64_of(D * P)) * gains;
            if bound < 2_147_483_648.0 - 65_536.0 {
                break;
            }
            bits -= 1;
        }
        bits
    }

    /// Draws the map of a recipe again, as for a saved state.
    ///
    /// # Errors
    /// [`Error::WrongShape`] if the recipe is of another kind or shape, and those of
    /// [`new`](Self::new).
    pub const fn from_recipe(recipe: &Recipe) -> Result<Self, Error> {
        if recipe.has_shape(MapKind::FixedFastfood, D, P, L)
            && matches!(recipe.sampling, Sampling::Independent)
        {
            Self::new(recipe.kernel, recipe.seed)
        } else {
            Err(Error::WrongShape)
        }
    }

    /// The k-th frequency vector, without rounding to `f32`, in turns per unit of input; `None` for
    /// k ≥ L. Costs one transform per channel.
    #[must_use]
    pub fn exact_frequency(&self, index: usize) -> Option<[f64; D]> {
        let Diagonal { scale, .. } = self.diagonals.get(index)?;
        let diagonals = self.diagonals.as_chunks::<P>().0.get(index / P)?;
        let unit = f64::from(*scale) / f64::from(1_u32.wrapping_shl(self.cut));
        let mut frequency = [0.0; D];
        for (channel, coordinate) in frequency.iter_mut().enumerate() {
            let axis = core::array::from_fn(|other| i16::from(other == channel));
            let Wrapping(result) = block(diagonals, &self.mixed(&axis), 0)[index % P];
            *coordinate = f64::from(result) * unit / PHASE_PER_TURN_AND_STEP;
        }
        Some(frequency)
    }

    /// Π·H·B·x, which all blocks share.
    #[inline]
    fn mixed(&self, sample: &[i16; D]) -> [Wrapping<i32>; P] {
        let mut values = [Wrapping(0); P];
        for ((value, x), sign) in values.iter_mut().zip(sample).zip(&self.signs) {
            *value = Wrapping(i32::from(*x)) * Wrapping(i32::from(*sign));
        }
        hadamard::transform(&mut values);
        // The masked index is below P: the bounds check is optimised away.
        self.sources.map(|source| values[usize::from(source) & (P - 1)])
    }
}

/// H·G times `mixed`, with `offset` added to every result.
#[inline]
fn block<const P: usize>(
    diagonals: &[Diagonal; P],
    mixed: &[Wrapping<i32>; P],
    offset: i32,
) -> [Wrapping<i32>; P] {
    let mut results = [Wrapping(0); P];
    let fours = results.as_chunks_mut().0.iter_mut();
    // A number added to the first input of a transform is added to all of its results.
    let mut offset = Wrapping(offset);
    for ((results, diagonals), mixed) in fours.zip(diagonals.as_chunks().0).zip(mixed.as_chunks().0)
    {
        let [a, b, c, d]: [Wrapping<i32>; 4] = *mixed;
        let [e, f, g, h]: &[Diagonal; 4] = diagonals;
        *results = hadamard::four([a * e.gain + offset, b * f.gain, c * g.gain, d * h.gain]);
        offset = Wrapping(0);
    }
    hadamard::transform_from(&mut results, 4);
    results
}

impl<const D: usize, const P: usize, const L: usize> FeatureMap for Fastfood<D, P, L> {
    type Inputs = Fixed<D>;
    type Frequencies = Fixed<L>;
    type Backend = Table;

    fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    fn fingerprint(&self) -> u32 {
        self.fingerprint
    }

    fn reach(&self) -> f32 {
        reach(D)
    }

    #[inline]
    fn project<T>(
        &self,
        sample: &[i16; D],
        items: &mut [T; L],
        mut visit: impl FnMut(&mut T, u32),
    ) -> Result<(), Error> {
        let mixed = self.mixed(sample);
        let cut = self.cut & 31;
        // Adding half a unit of the shortened result makes the shift round to nearest.
        let half = (1_i32 << cut) >> 1;
        let blocks = self.diagonals.as_chunks::<P>().0.iter().zip(items.as_chunks_mut::<P>().0);
        for (diagonals, items) in blocks {
            let results = block(diagonals, &mixed, half);
            for ((Wrapping(result), diagonal), item) in results.iter().zip(diagonals).zip(items) {
                visit(item, (result >> cut).cast_unsigned().wrapping_mul(diagonal.scale));
                one_at_a_time();
            }
        }
        Ok(())
    }

    /// Costs one transform per channel: for inspection, not for every sample.
    fn frequency_into(&self, index: usize, frequency: &mut [f32]) -> bool {
        let Some(exact) = self.exact_frequency(index) else { return false };
        for (coordinate, exact) in frequency.iter_mut().zip(exact) {
            *coordinate = rounded(exact);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::kernel::Profile;

    fn kernel(bandwidth: f32) -> Kernel {
        Kernel::new(Profile::Gaussian, bandwidth).unwrap()
    }

    /// The frequencies are those of the `f32` map up to the rounding of the gains.
    fn is_the_map_of_floats<const D: usize, const P: usize, const L: usize>(limit: f32) {
        let map = Fastfood::<D, P, L>::new(kernel(1.5), 9).unwrap();
        let floats = crate::Fastfood::<D, P, L>::new(kernel(1.5), 9).unwrap();
        for index in 0..L {
            let (ours, theirs) = (map.frequency(index).unwrap(), floats.frequency(index).unwrap());
            let length = theirs.iter().map(|w| w * w).sum::<f32>().sqrt();
            for (a, b) in ours.iter().zip(theirs) {
                assert!((a - b).abs() <= limit * length.max(0.1), "{index}: {ours:?} {theirs:?}");
            }
        }
        assert_eq!(map.frequency(L), None);
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn frequencies_are_those_of_the_map_of_floats() {
        is_the_map_of_floats::<1, 4, 16>(5e-4);
        is_the_map_of_floats::<4, 4, 64>(5e-4);
        is_the_map_of_floats::<5, 8, 32>(1e-3);
        is_the_map_of_floats::<16, 16, 128>(2e-3);
        is_the_map_of_floats::<32, 32, 64>(4e-3);
    }

    /// Samples at the limits of the range, with the signs of each row, come nearest to overflow.
    /// Their phases are those of the frequency, to 2⁻¹⁷ turns.
    fn holds_every_corner<const D: usize, const P: usize, const L: usize>(bandwidth: f32) {
        let map = Fastfood::<D, P, L>::new(kernel(bandwidth), 5).unwrap();
        for index in 0..L {
            let frequency = map.exact_frequency(index).unwrap();
            for sign in [1.0, -1.0] {
                let corner = frequency.map(|w| if sign * w > 0.0 { i16::MAX } else { i16::MIN });
                let mut phases = [0; L];
                map.project(&corner, &mut phases, |item, phase| *item = phase).unwrap();
                let turns: f64 =
                    frequency.iter().zip(corner).map(|(w, x)| w * f64::from(x) / 2048.0).sum();
                let error = turns - f64::from(phases[index]) / 4_294_967_296.0;
                let error = (error - error.round()).abs();
                assert!(error <= 1.01 / 131_072.0, "{bandwidth} {index}: {error}");
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn no_sample_overflows() {
        for bandwidth in [0.015_625, 0.1, 1.0, 7.0, 256.0] {
            holds_every_corner::<1, 4, 16>(bandwidth);
            holds_every_corner::<4, 4, 64>(bandwidth);
            holds_every_corner::<8, 8, 64>(bandwidth);
            holds_every_corner::<16, 16, 128>(bandwidth);
            holds_every_corner::<64, 64, 64>(bandwidth);
            holds_every_corner::<256, 256, 256>(bandwidth);
        }
    }

    #[test]
    fn refuses_what_it_cannot_hold() {
        let new = |kernel| Fastfood::<2, 4, 8>::new(kernel, 1);
        let out = Err(Error::OutOfRange(crate::Parameter::Bandwidth));
        assert_eq!(new(kernel(0.01)), out);
        assert_eq!(new(kernel(300.0)), out);
        let laplacian = Kernel::new(Profile::Laplacian, 1.0).unwrap();
        assert_eq!(new(laplacian), Err(Error::NotSpherical));
    }
}
