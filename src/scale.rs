//! Input conditioning, first step: each channel in units of its own spread.

use crate::error::{Error, Parameter};
use crate::numeric::{sqrt_f32, within};
use crate::state::fields;

/// Largest standardised value, in standard deviations: keeps every phase in reach.
pub const MAX_DEVIATIONS: f32 = 1e5;

/// Running mean and standard deviation of C channels, by Welford's recursion: 8·C + 4 bytes.
///
/// ```
/// use fastmmd::scale::Scale;
///
/// let mut scale = Scale::<1>::new();
/// for reading in [19.0, 20.0, 21.0] {
///     scale.push(&[reading])?;
/// }
/// assert_eq!(scale.standardised(&[22.0])?, [2.0]);
/// # Ok::<(), fastmmd::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Scale<const C: usize> {
    pub(crate) rows: u32,
    pub(crate) means: [f32; C],
    /// Sums of squared deviations from the mean.
    pub(crate) squares: [f32; C],
}

impl<const C: usize> Scale<C> {
    /// A scale that has seen nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self { rows: 0, means: [0.0; C], squares: [0.0; C] }
    }

    /// Takes a row into account. O(C).
    ///
    /// # Errors
    /// [`Error::NonFinite`] naming the channel.
    pub fn push(&mut self, row: &[f32; C]) -> Result<(), Error> {
        check_finite(row)?;
        self.rows = self.rows.saturating_add(1);
        let rate = 1.0 / row_count(self.rows);
        for ((x, mean), square) in row.iter().zip(&mut self.means).zip(&mut self.squares) {
            let before = x - *mean;
            *mean += before * rate;
            *square += before * (x - *mean);
        }
        Ok(())
    }

    /// Number of rows taken into account.
    #[must_use]
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// The mean of each channel, in units of the input.
    #[must_use]
    pub fn means(&self) -> &[f32; C] {
        &self.means
    }

    /// The standard deviation of each channel, in units of the input. A channel that has not
    /// moved at all gets a ten-thousandth of its mean, so that a first movement is not infinite.
    #[must_use]
    pub fn deviations(&self) -> [f32; C] {
        let degrees = row_count(self.rows.saturating_sub(1).max(1));
        let mut deviations = [0.0; C];
        for ((deviation, square), mean) in deviations.iter_mut().zip(&self.squares).zip(&self.means)
        {
            let floor = (1e-4 * mean.abs()).max(1e-12);
            *deviation = sqrt_f32(square / degrees).max(floor);
        }
        deviations
    }

    /// (x − mean)/deviation for each channel, cut at ±[`MAX_DEVIATIONS`]. O(C).
    ///
    /// # Errors
    /// [`Error::NonFinite`] naming the channel.
    pub fn standardised(&self, row: &[f32; C]) -> Result<[f32; C], Error> {
        check_finite(row)?;
        let mut values = self.deviations();
        for ((value, x), mean) in values.iter_mut().zip(row).zip(&self.means) {
            *value = within((x - mean) / *value, MAX_DEVIATIONS);
        }
        Ok(values)
    }
}

impl<const C: usize> Default for Scale<C> {
    fn default() -> Self {
        Self::new()
    }
}

/// Refuses a row with a value that is NaN or infinite, naming its channel.
pub(crate) fn check_finite<const C: usize>(row: &[f32; C]) -> Result<(), Error> {
    match row.iter().position(|x| !x.is_finite()) {
        Some(channel) => Err(Error::NonFinite(Parameter::Channel(channel))),
        None => Ok(()),
    }
}

/// A number of rows as `f32`: exact up to 2²⁴, and near enough for a rate beyond.
#[expect(clippy::cast_precision_loss, reason = "a rate of learning need not be exact")]
pub(crate) const fn row_count(rows: u32) -> f32 {
    rows as f32
}

fields!(Scale<const C> { rows: u32, means: [f32; C], squares: [f32; C] });

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
        let before = scale;
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let refused = Err(Error::NonFinite(Parameter::Channel(1)));
            assert_eq!(scale.push(&[0.0, bad]), refused);
            assert_eq!(scale, before);
            assert!(scale.standardised(&[0.0, bad]).is_err());
        }
        assert_eq!(scale.standardised(&[1e30, 2.0]).unwrap()[0], MAX_DEVIATIONS);
    }
}
