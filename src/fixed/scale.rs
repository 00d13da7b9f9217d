//! Conversion of ADC counts or `f32` values to integer samples.

use crate::error::{Error, Parameter};
use crate::numeric::nearest;

use super::ONE;

/// Largest distance of a reading from its channel's mean, in counts; larger ones saturate. 2¹⁶ − 1
/// is enough for every reading of a 16-bit ADC.
pub const MAX_COUNTS: i32 = 65_535;

/// Converts the raw counts of C channels to samples: (count − mean)/deviation, in steps of 2⁻¹¹.
///
/// One 32-bit multiplication and a shift per channel; 12·C bytes. Means are rounded to whole
/// counts; the relative error of a deviation is up to 2⁻¹⁵. To give a kernel of σ = 1 another
/// bandwidth, multiply all deviations by it.
///
/// ```
/// use fastmmd::fixed;
///
/// let scale = fixed::Scale::new([512.0], [10.0])?;
/// assert_eq!(scale.sample(&[512]), [0]);
/// assert_eq!(scale.sample(&[522]), [fixed::ONE]);
/// assert_eq!(scale.sample(&[1023]), [i16::MAX]); // beyond 16 deviations: saturated
/// # Ok::<(), fastmmd::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Scale<const C: usize> {
    channels: [Channel; C],
}

/// Steps per count are `factor`·2^(−`shift`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
struct Channel {
    mean: i32,
    factor: i32,
    shift: u32,
}

impl<const C: usize> Scale<C> {
    /// Range of a deviation, in counts: at the smallest, 16 deviations are two counts; at the
    /// largest, the full range of a 16-bit ADC.
    pub const DEVIATIONS: core::ops::RangeInclusive<f32> = 0.125..=4096.0;

    /// A scale with these means and deviations, in counts; for instance those that a
    /// [`Scale`](crate::condition::Scale) has learned.
    ///
    /// # Errors
    /// Naming the channel: [`Error::NonFinite`], or [`Error::OutOfRange`] for a mean beyond
    /// ±2³⁰ or a deviation outside [`DEVIATIONS`](Self::DEVIATIONS).
    pub const fn new(means: [f32; C], deviations: [f32; C]) -> Result<Self, Error> {
        let mut channels = [Channel { mean: 0, factor: 0, shift: 0 }; C];
        let mut index = 0;
        while index < C {
            let (mean, deviation) = (means[index], deviations[index]);
            if !(mean.is_finite() && deviation.is_finite()) {
                return Err(Error::NonFinite(Parameter::Channel(index)));
            }
            if mean.abs() > 1_073_741_824.0
                || deviation < *Self::DEVIATIONS.start()
                || deviation > *Self::DEVIATIONS.end()
            {
                return Err(Error::OutOfRange(Parameter::Channel(index)));
            }
            channels[index] = Channel::new(mean, deviation);
            index += 1;
        }
        Ok(Self { channels })
    }

    /// Converts a row of counts to a sample. Readings farther than [`MAX_COUNTS`] from the mean,
    /// and values beyond the range of a sample, saturate. O(C).
    #[must_use]
    pub fn sample(&self, counts: &[i32; C]) -> [i16; C] {
        let mut sample = [0; C];
        for ((value, count), channel) in sample.iter_mut().zip(counts).zip(&self.channels) {
            *value = channel.steps(*count);
        }
        sample
    }
}

impl Channel {
    /// The factor has 15 bits, so that its product with any distance fits in 32 bits.
    #[expect(clippy::cast_possible_truncation, reason = "both have been checked")]
    const fn new(mean: f32, deviation: f32) -> Self {
        let per_count = ONE as f64 / deviation as f64;
        let mut shift = 0;
        let mut factor = per_count;
        while factor < 16_384.0 {
            factor *= 2.0;
            shift += 1;
        }
        Self { mean: nearest(mean as f64) as i32, factor: nearest(factor) as i32, shift }
    }

    #[expect(clippy::cast_possible_truncation, reason = "held to the range of i16")]
    fn steps(self, count: i32) -> i16 {
        let distance = count.saturating_sub(self.mean).clamp(-MAX_COUNTS, MAX_COUNTS);
        let shift = self.shift & 31;
        // |distance·factor| < 2¹⁶·2¹⁵. Adding half a unit to round does not overflow either: for a
        // product that large the shift is at least 1.
        let half = (1_i32 << shift) >> 1;
        let steps = distance.wrapping_mul(self.factor).saturating_add(half) >> shift;
        steps.clamp(i16::MIN.into(), i16::MAX.into()) as i16
    }
}

/// Converts `f32` values to a sample: each times 2¹¹, rounded; saturates at ±16. O(C).
///
/// ```
/// use fastmmd::fixed;
///
/// assert_eq!(fixed::sample(&[1.0, -0.5, 100.0])?, [2048, -1024, i16::MAX]);
/// # Ok::<(), fastmmd::Error>(())
/// ```
///
/// # Errors
/// [`Error::NonFinite`], naming the channel.
#[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
pub fn sample<const C: usize>(values: &[f32; C]) -> Result<[i16; C], Error> {
    if let Some(channel) = values.iter().position(|value| !value.is_finite()) {
        return Err(Error::NonFinite(Parameter::Channel(channel)));
    }
    let steps = |value: f32| value * f32::from(ONE);
    Ok(values.map(|value| (steps(value) + if value < 0.0 { -0.5 } else { 0.5 }) as i16))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_become_deviations_and_saturate() {
        let mut generator = crate::features::sampling::Stream::new(3);
        for deviation in [0.125, 0.3, 1.0, 77.7, 1000.0, 4095.9, 4096.0] {
            for mean in [0.0, -32_768.0, 40_000.25, 1.0e9] {
                let scale = Scale::new([mean], [deviation]).unwrap();
                let extremes = [i32::MIN, i32::MAX, -65_535, 65_535];
                let random =
                    (0..1000).map(|_| i32::try_from(generator.below(200_001)).unwrap() - 100_000);
                for distance in extremes.into_iter().chain(random) {
                    let count = (mean.round() as i32).saturating_add(distance);
                    let [found] = scale.sample(&[count]);
                    let distance =
                        (f64::from(count) - f64::from(mean).round()).clamp(-65_535.0, 65_535.0);
                    let steps =
                        (distance * 2048.0 / f64::from(deviation)).clamp(-32_768.0, 32_767.0);
                    // The factor has an error of up to 2⁻¹⁵, the result of up to half a step.
                    let error = (f64::from(found) - steps).abs();
                    assert!(
                        error <= 0.5 + steps.abs() / 32_768.0,
                        "{deviation} {mean} {count}: {found}"
                    );
                }
            }
        }
    }

    #[test]
    fn refuses_by_channel() {
        let out = Err(Error::OutOfRange(Parameter::Channel(1)));
        assert_eq!(Scale::new([0.0, 0.0], [1.0, 0.1]), out);
        assert_eq!(Scale::new([0.0, 0.0], [1.0, 5000.0]), out);
        assert_eq!(Scale::new([0.0, 0.0], [1.0, -1.0]), out);
        assert_eq!(Scale::new([0.0, 2e9], [1.0, 1.0]), out);
        let not_finite = Err(Error::NonFinite(Parameter::Channel(0)));
        assert_eq!(Scale::new([f32::NAN], [1.0]), not_finite);
        assert_eq!(Scale::new([0.0], [f32::INFINITY]), not_finite);
        assert_eq!(sample(&[1.0, f32::NAN]), Err(Error::NonFinite(Parameter::Channel(1))));
    }

    #[test]
    fn values_are_rounded_and_saturate() {
        let values = [0.0, 0.000_3, -0.000_3, 15.999_6, 16.0, -16.0, -17.0, f32::MAX];
        let steps = [0, 1, -1, 32_767, i16::MAX, i16::MIN, i16::MIN, i16::MAX];
        assert_eq!(sample(&values), Ok(steps));
    }
}
