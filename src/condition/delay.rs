//! The present row and the ones before it as one vector.

use core::marker::PhantomData;

use super::scale::check_row;
use crate::error::Error;
use crate::shape::{Fixed, Length, Per};
use crate::state::{Initial, state};

/// The last D/C rows of C channels, for C and D known at compile time: see [`DelayOf`].
pub type Delay<const C: usize, const D: usize> = DelayOf<Fixed<C>, Fixed<D>>;

state! {
    /// A delay line: the last D/C rows of C channels, newest first, as one vector of D values.
    /// 4·D + 4 bytes.
    ///
    /// A change in the dynamics (how a reading follows from the one before) need not change the
    /// distribution of single readings. It does change that of such vectors. With D = C the vector
    /// is the row itself.
    ///
    /// ```
    /// use fastmmd::condition::Delay;
    ///
    /// let mut delay = Delay::<1, 3>::new();
    /// assert_eq!(delay.push(&[1.0])?, None);
    /// assert_eq!(delay.push(&[2.0])?, None);
    /// assert_eq!(delay.push(&[3.0])?, Some(&[3.0, 2.0, 1.0]));
    /// # Ok::<(), fastmmd::Error>(())
    /// ```
    ///
    /// D must be a multiple of C. Anything else does not compile. In a `const` or `static`,
    /// `cargo check` says so; elsewhere only `cargo build` does, because `cargo check` does not
    /// evaluate the constants of generic functions.
    ///
    /// ```compile_fail
    /// let delay = fastmmd::condition::Delay::<2, 3>::new();
    /// ```
    #[derive(Debug, Clone, PartialEq)]
    pub struct DelayOf<C: Length, D: Length> {
        rows: u32,
        newest_first: Per<D, f32>,
        channels: PhantomData<C>,
    }
}

impl<const C: usize, const D: usize> Delay<C, D> {
    pub(crate) const SHAPE: () = assert!(
        C >= 1 && D >= C && D.is_multiple_of(C),
        "the values D of a delay must be whole rows: 1, 2 or more times its channels C"
    );

    /// An empty delay line.
    #[must_use]
    pub const fn new() -> Self {
        let () = Self::SHAPE;
        Self::INITIAL
    }
}

impl<const C: usize, const D: usize> Default for Delay<C, D> {
    fn default() -> Self {
        Self::new()
    }
}

impl<C: Length, D: Length> DelayOf<C, D> {
    /// Adds a row, and returns the vector of the last rows once there are enough. O(D).
    ///
    /// # Errors
    /// [`Error::NonFinite`] or [`Error::OutOfRange`], naming the channel, as for
    /// [`Scale::push`](super::ScaleOf::push).
    pub fn push(&mut self, row: &C::Slice<f32>) -> Result<Option<&D::Slice<f32>>, Error> {
        check_row(row.as_ref())?;
        let whole = self.take_in(row.as_ref());
        Ok(whole.then_some(self.newest_first.borrow()))
    }

    /// Adds a row of finite values, and says whether there are enough.
    #[inline]
    pub(crate) fn take_in(&mut self, row: &[f32]) -> bool {
        let (channels, inputs) = (row.len(), self.newest_first.len());
        let mut place = inputs;
        while place > channels {
            place -= 1;
            if let Some(&older) = self.newest_first.get(place.wrapping_sub(channels))
                && let Some(value) = self.newest_first.get_mut(place)
            {
                *value = older;
            }
        }
        for (value, x) in self.newest_first.iter_mut().zip(row) {
            *value = *x;
        }
        self.rows = self.rows.saturating_add(1);
        (self.rows as usize).saturating_mul(channels) >= inputs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_lag_is_the_row_itself() {
        let mut delay = Delay::<2, 2>::new();
        assert_eq!(delay.push(&[1.0, 2.0]), Ok(Some(&[1.0, 2.0])));
        assert_eq!(delay.push(&[3.0, 4.0]), Ok(Some(&[3.0, 4.0])));
    }

    #[test]
    fn channels_of_a_row_stay_together() {
        let mut delay = Delay::<2, 4>::new();
        assert_eq!(delay.push(&[1.0, 2.0]), Ok(None));
        assert_eq!(delay.push(&[3.0, 4.0]), Ok(Some(&[3.0, 4.0, 1.0, 2.0])));
    }
}
