//! Each channel in units of its own deviation.

use crate::error::{Error, Parameter};
use crate::numeric::{row_count, sqrt_f32, within};
use crate::shape::{Fixed, Length, Per};
use crate::state::{Initial, state};

/// Largest standardised value, in standard deviations: keeps every phase in reach.
pub const MAX_DEVIATIONS: f32 = 1e5;

/// Largest reading, in the sensor's own units, that is taken: its square still fits.
pub const MAX_READING: f32 = 1e15;

/// Rows after which an outlier is told by the spread so far.
const SETTLED_ROWS: u32 = 8;
/// A value farther than this many deviations from the mean so far counts as one at this distance.
const OUTLIER: f32 = 8.0;

/// Running mean and standard deviation of C channels, for a C known when compiled: see
/// [`ScaleOf`].
pub type Scale<const C: usize> = ScaleOf<Fixed<C>>;

state! {
    /// Running mean and standard deviation of channels, by Welford's recursion: 8·C + 4 bytes.
    ///
    /// From the ninth row on, a value beyond 8 deviations counts as one at 8 deviations, so that a
    /// glitch does not enlarge the spread of its channel; a real change of level gets through in
    /// a few rows.
    ///
    /// ```
    /// use fastmmd::condition::Scale;
    ///
    /// let mut scale = Scale::<1>::new();
    /// for reading in [19.0, 20.0, 21.0] {
    ///     scale.push(&[reading])?;
    /// }
    /// assert_eq!(scale.standardised(&[22.0])?, [2.0]);
    /// # Ok::<(), fastmmd::Error>(())
    /// ```
    #[derive(Debug, Clone, PartialEq)]
    pub struct ScaleOf<C: Length> {
        rows: u32,
        means: Per<C, f32>,
        /// Sums of squared deviations from the mean.
        squares: Per<C, f32>,
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
        self.take_in(row.as_ref());
        Ok(())
    }

    /// Takes a row of finite readings into account.
    pub(crate) fn take_in(&mut self, row: &[f32]) {
        let settled = self.rows >= SETTLED_ROWS;
        let before = row_count(self.rows.max(1));
        self.rows = self.rows.saturating_add(1);
        let rate = 1.0 / row_count(self.rows);
        let spreads = self.means.iter_mut().zip(self.squares.iter_mut());
        for (x, (mean, square)) in row.iter().zip(spreads) {
            let deviation = sqrt_f32(*square / before);
            // A channel that has not moved yet has no spread to tell an outlier by.
            let limit = if settled && *square > 0.0 { OUTLIER * deviation } else { f32::MAX };
            let x = *mean + within(x - *mean, limit);
            let before = x - *mean;
            *mean += before * rate;
            *square += before * (x - *mean);
        }
    }

    /// Number of rows taken into account.
    #[must_use]
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// The mean of each channel, in units of the input.
    #[must_use]
    pub fn means(&self) -> &C::Slice<f32> {
        self.means.borrow()
    }

    /// The standard deviation of each channel, in units of the input; at least what `f32` can
    /// resolve at its mean. A channel that has not moved at all gets a ten-thousandth of its
    /// mean.
    #[must_use]
    pub fn deviations(&self) -> C::Of<f32> {
        self.spreads().0
    }

    pub(crate) fn spreads(&self) -> Per<C, f32> {
        let degrees = row_count(self.rows.saturating_sub(1).max(1));
        let mut deviations = self.means.like(0.0);
        let seen = self.squares.iter().zip(self.means.iter());
        for (deviation, (square, mean)) in deviations.iter_mut().zip(seen) {
            let part = if *square > 0.0 { 2.4e-7 } else { 1e-4 };
            let floor = (part * mean.abs()).max(1e-30);
            *deviation = sqrt_f32(square / degrees).max(floor);
        }
        deviations
    }

    /// (x − mean)/deviation for each channel, cut at ±[`MAX_DEVIATIONS`]. O(C).
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn standardised(&self, row: &C::Slice<f32>) -> Result<C::Of<f32>, Error> {
        check_row(row.as_ref())?;
        Ok(self.in_deviations(row.as_ref()).0)
    }

    /// The same for a row of finite readings.
    pub(crate) fn in_deviations(&self, row: &[f32]) -> Per<C, f32> {
        let mut values = self.spreads();
        for ((value, x), mean) in values.iter_mut().zip(row).zip(self.means.iter()) {
            *value = within((x - mean) / *value, MAX_DEVIATIONS);
        }
        values
    }
}

/// Refuses a row with a value that is NaN, infinite or beyond [`MAX_READING`], naming its channel.
#[inline]
pub(crate) fn check_row(row: &[f32]) -> Result<(), Error> {
    for (channel, x) in row.iter().enumerate() {
        if !x.is_finite() {
            return Err(Error::NonFinite(Parameter::Channel(channel)));
        }
        if x.abs() > MAX_READING {
            return Err(Error::OutOfRange(Parameter::Channel(channel)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_the_definition() {
        let rows: [[f32; 2]; 5] =
            [[1.0, 100.0], [2.0, 100.0], [4.0, 100.0], [7.0, 100.0], [11.0, 100.0]];
        let mut scale = Scale::<2>::new();
        for row in &rows {
            scale.push(row).unwrap();
        }
        let mean = rows.iter().map(|r| r[0]).sum::<f32>() / 5.0;
        let variance = rows.iter().map(|r| (r[0] - mean).powi(2)).sum::<f32>() / 4.0;
        assert!((scale.means()[0] - mean).abs() < 1e-6);
        assert!((scale.deviations()[0] - variance.sqrt()).abs() < 1e-6);
        assert_eq!(scale.deviations()[1], 0.01);
    }

    #[test]
    fn refuses_what_is_not_finite_and_stays_as_it_was() {
        let mut scale = Scale::<2>::new();
        scale.push(&[1.0, 2.0]).unwrap();
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
    fn deviation_with(level: f32, glitch: f32) -> f32 {
        let mut scale = Scale::<1>::new();
        for row in 0..256_u16 {
            let value = if row % 2 == 0 { level + 1.0 } else { level - 1.0 };
            scale.push(&[if row == 100 { glitch } else { value }]).unwrap();
        }
        scale.deviations()[0]
    }

    #[test]
    fn a_glitch_hardly_moves_the_spread() {
        for glitch in [1e3, -1e6, 1e15] {
            let deviation = deviation_with(0.0, glitch);
            assert!((deviation - 1.0).abs() < 0.2, "{glitch} {deviation}");
        }
    }

    #[test]
    fn a_small_spread_on_a_large_level_is_kept() {
        let deviation = deviation_with(100_000.0, 100_000.0);
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
