//! Input conditioning, last step: the present and the recent past as one vector.

use crate::error::Error;
use crate::scale::check_row;
use crate::state::fields;

/// The last D/C rows of C channels, newest first, as one vector of D = lags × C values: 4·D
/// bytes.
///
/// A change in the dynamics (how a reading follows from the one before) need not change the
/// distribution of single readings; it does change that of such vectors. With D = C there is one
/// lag and the vector is the row itself.
///
/// ```
/// use fastmmd::delay::Delay;
///
/// let mut delay = Delay::<1, 3>::new();
/// assert_eq!(delay.push(&[1.0])?, None);
/// assert_eq!(delay.push(&[2.0])?, None);
/// assert_eq!(delay.push(&[3.0])?, Some([3.0, 2.0, 1.0]));
/// # Ok::<(), fastmmd::Error>(())
/// ```
///
/// D must be a multiple of C, which is checked when compiled:
///
/// ```compile_fail
/// let delay = fastmmd::delay::Delay::<2, 3>::new();
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Delay<const C: usize, const D: usize> {
    pub(crate) rows: u32,
    pub(crate) newest_first: [f32; D],
}

impl<const C: usize, const D: usize> Delay<C, D> {
    /// Number of rows in a vector.
    pub const LAGS: usize = D / C;

    /// An empty delay line.
    #[must_use]
    pub const fn new() -> Self {
        const { assert!(C >= 1 && D >= C && D.is_multiple_of(C), "D is a multiple of C") };
        Self { rows: 0, newest_first: [0.0; D] }
    }

    /// Adds a row; the vector of the last rows once there are enough. O(D).
    ///
    /// # Errors
    /// [`Error::NonFinite`] or [`Error::OutOfRange`], naming the channel, as for
    /// [`Scale::push`](crate::scale::Scale::push).
    pub fn push(&mut self, row: &[f32; C]) -> Result<Option<[f32; D]>, Error> {
        check_row(row)?;
        let mut newer = *row;
        for lag in self.newest_first.as_chunks_mut::<C>().0 {
            core::mem::swap(lag, &mut newer);
        }
        self.rows = self.rows.saturating_add(1);
        Ok((self.rows as usize >= Self::LAGS).then_some(self.newest_first))
    }
}

impl<const C: usize, const D: usize> Default for Delay<C, D> {
    fn default() -> Self {
        Self::new()
    }
}

fields!(Delay<const C, const D> { rows: u32, newest_first: [f32; D] });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_lag_is_the_row_itself() {
        let mut delay = Delay::<2, 2>::new();
        assert_eq!(delay.push(&[1.0, 2.0]), Ok(Some([1.0, 2.0])));
        assert_eq!(delay.push(&[3.0, 4.0]), Ok(Some([3.0, 4.0])));
    }

    #[test]
    fn channels_of_a_row_stay_together() {
        let mut delay = Delay::<2, 4>::new();
        assert_eq!(delay.push(&[1.0, 2.0]), Ok(None));
        assert_eq!(delay.push(&[3.0, 4.0]), Ok(Some([3.0, 4.0, 1.0, 2.0])));
    }
}
