//! Each channel in units of its own deviation.

use super::reading::Reading;
use super::standard::{FIRST_ROWS, FloatStandard as Standard, Standardise};
use crate::error::Error;
use crate::numeric::within;
use crate::shape::{Fixed, Length, Per};
use crate::state::{Initial, state};

/// Largest standardised value, in standard deviations: larger ones are cut to it, so that phases
/// stay small enough to compute.
pub const MAX_DEVIATIONS: f32 = 1e5;

/// Largest reading that is accepted, in the sensor's own units: its square still fits in an `f32`.
pub const MAX_READING: f32 = 1e15;

/// Running mean and standard deviation of C channels, for a C known at compile time: see
/// [`ScaleOf`].
pub type Scale<const C: usize> = ScaleOf<Fixed<C>>;

state! {
    /// One channel.
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Measured {
        standard: Standard,
        /// Its first rows, until there are enough to tell which of them are glitches.
        first: [f32; FIRST_ROWS],
    }
}

state! {
    /// Running mean and standard deviation of channels: 84·C + 4 bytes.
    ///
    /// The first 16 rows are kept and looked at together: a value far from their median counts as
    /// one at 6 times their usual distance from it. Later, a value beyond 8 deviations counts as one
    /// at 8. So a glitch, even in the first row, hardly enlarges the spread of its channel, while a
    /// real change of level gets through in a few rows. Before there are 16 rows, nothing is known:
    /// means and deviations are 0.
    ///
    /// A [`Detector`](crate::Detector) measures its channels in the same way by itself.
    ///
    /// ```
    /// use fastmmd::condition::Scale;
    ///
    /// let mut scale = Scale::<1>::new();
    /// for row in 0..100 {
    ///     scale.push(&[if row % 2 == 0 { 19.0 } else { 21.0 }])?;
    /// }
    /// let [value] = scale.standardised(&[22.0])?;
    /// assert!((value - 2.0).abs() < 1e-5);
    /// # Ok::<(), fastmmd::Error>(())
    /// ```
    #[derive(Debug, Clone, PartialEq)]
    pub struct ScaleOf<C: Length> {
        rows: u32,
        channels: Per<C, Measured>,
    }
}

impl<const C: usize> Scale<C> {
    /// A scale that has seen nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self::INITIAL
    }
}

impl<const C: usize> Default for Scale<C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<C: Length> ScaleOf<C> {
    /// Takes a row into account. O(C).
    ///
    /// # Errors
    /// [`Error::NonFinite`] or, beyond [`MAX_READING`], [`Error::OutOfRange`], naming the channel.
    pub fn push(&mut self, row: &C::Slice<f32>) -> Result<(), Error> {
        check_row(row.as_ref())?;
        self.learn(row.as_ref());
        Ok(())
    }

    /// Takes a row of finite readings into account.
    pub(crate) fn learn(&mut self, row: &[f32]) {
        self.rows = self.rows.saturating_add(1);
        for (channel, reading) in self.channels.iter_mut().zip(row) {
            channel.standard.learn(*reading, &mut channel.first);
        }
    }

    /// Number of rows taken into account.
    #[must_use]
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// The mean of each channel, in units of the input.
    #[must_use]
    pub fn means(&self) -> C::Of<f32> {
        self.each(|standard| standard.learned().0).0
    }

    /// The standard deviation of each channel, in units of the input: the root of the mean squared
    /// distance from the mean, and at least what `f32` can resolve there. 0 for a channel that has
    /// not moved.
    #[must_use]
    pub fn deviations(&self) -> C::Of<f32> {
        self.each(|standard| standard.present().in_use().1).0
    }

    /// (x − mean)/deviation for each channel, cut at ±[`MAX_DEVIATIONS`]; 0 for a channel that has
    /// not moved. O(C).
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn standardised(&self, row: &C::Slice<f32>) -> Result<C::Of<f32>, Error> {
        check_row(row.as_ref())?;
        Ok(self.values(row.as_ref(), Standard::present).0)
    }

    /// The same for a row of finite readings, by the means and deviations that were last
    /// [put to use](Self::correct).
    pub(crate) fn in_use(&self, row: &[f32]) -> Per<C, f32> {
        self.values(row, |standard| *standard)
    }

    /// Puts to use what was learned so far, for each channel where that is off from what is in use by
    /// a factor of two or more. Returns whether there is one.
    pub(crate) fn correct(&mut self) -> bool {
        let corrections = self.channels.iter_mut().map(|channel| channel.standard.correct());
        corrections.fold(false, |any, correction| any | correction.is_some())
    }

    fn each(&self, value: impl Fn(&Standard) -> f32) -> Per<C, f32> {
        let mut values = self.channels.like(0.0);
        for (place, channel) in values.iter_mut().zip(self.channels.iter()) {
            *place = value(&channel.standard);
        }
        values
    }

    fn values(&self, row: &[f32], by: impl Fn(&Standard) -> Standard) -> Per<C, f32> {
        let mut values = self.channels.like(0.0);
        for ((value, channel), x) in values.iter_mut().zip(self.channels.iter()).zip(row) {
            *value = within(by(&channel.standard).in_deviations(*x), MAX_DEVIATIONS);
        }
        values
    }
}

/// Refuses a row with a value that is NaN, infinite or beyond [`MAX_READING`], naming its channel.
#[inline]
pub(crate) fn check_row(row: &[f32]) -> Result<(), Error> {
    row.iter().enumerate().try_for_each(|(channel, reading)| reading.checked(channel))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Parameter;

    #[test]
    fn matches_the_definition() {
        let rows: [[f32; 2]; 20] = core::array::from_fn(|row| [(row * row % 11) as f32, 100.0]);
        let mut scale = Scale::<2>::new();
        for row in &rows {
            scale.push(row).unwrap();
        }
        let mean = rows.iter().map(|r| r[0]).sum::<f32>() / 20.0;
        let variance = rows.iter().map(|r| (r[0] - mean).powi(2)).sum::<f32>() / 20.0;
        assert!((scale.means()[0] - mean).abs() < 1e-6 * mean);
        assert!((scale.deviations()[0] - variance.sqrt()).abs() < 1e-6 * variance.sqrt());
        assert_eq!((scale.rows(), scale.means()[1], scale.deviations()[1]), (20, 100.0, 0.0));
        let [x, still] = scale.standardised(&[mean + 2.0 * variance.sqrt(), 105.0]).unwrap();
        assert!((x - 2.0).abs() < 1e-5);
        assert_eq!(still, 0.0);
    }

    #[test]
    fn refuses_what_is_not_finite_and_stays_as_it_was() {
        let mut scale = Scale::<2>::new();
        for row in 0..20_u8 {
            scale.push(&[f32::from(row % 2), 2.0]).unwrap();
        }
        let before = scale.clone();
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let refused = Err(Error::NonFinite(Parameter::Channel(1)));
            assert_eq!(scale.push(&[0.0, bad]), refused);
            assert_eq!(scale, before);
            assert!(scale.standardised(&[0.0, bad]).is_err());
        }
        assert_eq!(scale.standardised(&[1e14, 2.0]).unwrap()[0], MAX_DEVIATIONS);
        let too_large = Err(Error::OutOfRange(Parameter::Channel(0)));
        assert_eq!(scale.push(&[1e20, 0.0]), too_large);
        assert_eq!(scale, before);
    }

    /// The deviation of 256 rows of ±1 around `level`, with one glitch.
    fn deviation_with(level: f32, at: u16, glitch: f32) -> f32 {
        let mut scale = Scale::<1>::new();
        for row in 0..256_u16 {
            let value = if row % 2 == 0 { level + 1.0 } else { level - 1.0 };
            scale.push(&[if row == at { glitch } else { value }]).unwrap();
        }
        scale.deviations()[0]
    }

    #[test]
    fn a_glitch_hardly_moves_the_spread() {
        for glitch in [1e3, -1e6, 1e15] {
            let deviation = deviation_with(0.0, 100, glitch);
            assert!((deviation - 1.0).abs() < 0.2, "{glitch} {deviation}");
            // Cut at 6 times the distance between the two values that all others have.
            let deviation = deviation_with(0.0, 3, glitch);
            assert!((deviation - 1.0).abs() < 0.5, "{glitch} in the first rows: {deviation}");
        }
    }

    #[test]
    fn a_small_spread_on_a_large_level_is_kept() {
        let deviation = deviation_with(100_000.0, 100, 100_000.0);
        assert!((deviation - 1.0).abs() < 0.05, "{deviation}");
    }

    #[test]
    fn a_change_of_level_gets_through() {
        let mut scale = Scale::<1>::new();
        for row in 0..200_u16 {
            let noise = f32::from(row % 5);
            scale.push(&[if row < 100 { noise } else { 1000.0 + noise }]).unwrap();
        }
        assert!(scale.deviations()[0] > 300.0);
    }
}
