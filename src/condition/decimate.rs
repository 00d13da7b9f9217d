//! Several rows as one: for sensors that are faster than what is looked for.

use core::fmt::Debug;

use crate::error::{Error, Parameter};
use crate::numeric::{row_count, sqrt_f32};
use crate::shape::{Fixed, Length, Per};
use crate::state::{Initial, State, state};

use super::reading::Reading;

/// The number type of rows that can be [decimated](Decimate): `f32` or `i16`.
pub trait Summand: Reading + Initial {
    /// Sums of readings, and of their squares about the first one.
    #[doc(hidden)]
    type Sums: Sums<Self> + Initial + Copy + PartialEq + Debug;
}

/// Sums of the readings of one channel.
pub trait Sums<S>: State {
    /// Takes in a reading, which may be the first.
    fn take_in(&mut self, reading: S, is_first: bool);

    /// Returns mean and deviation of the rows taken, `rows` in number, and starts again.
    fn end(&mut self, rows: u32) -> (S, S);
}

state! {
    /// In `f32`, about the first reading, so that a large level loses no digits.
    #[derive(Debug, Clone, Copy, PartialEq)]
    #[doc(hidden)]
    pub struct FloatSums {
        first: f32,
        sum: f32,
        squares: f32,
    }
}

impl Sums<f32> for FloatSums {
    #[inline]
    fn take_in(&mut self, reading: f32, is_first: bool) {
        if is_first {
            self.first = reading;
        }
        let step = reading - self.first;
        self.sum += step;
        self.squares += step * step;
    }

    fn end(&mut self, rows: u32) -> (f32, f32) {
        let count = row_count(rows.max(1));
        let mean = self.sum / count;
        let deviation = sqrt_f32(self.squares / count - mean * mean);
        let mean = self.first + mean;
        self.reset();
        (mean, deviation)
    }
}

state! {
    /// In integers: exact.
    #[derive(Debug, Clone, Copy, PartialEq)]
    #[doc(hidden)]
    pub struct IntegerSums {
        sum: i64,
        squares: u64,
    }
}

impl Sums<i16> for IntegerSums {
    #[inline]
    fn take_in(&mut self, reading: i16, _: bool) {
        let wide = i32::from(reading);
        self.sum = self.sum.wrapping_add(wide.into());
        self.squares = self.squares.wrapping_add(wide.wrapping_mul(wide).cast_unsigned().into());
    }

    #[expect(clippy::cast_possible_truncation, reason = "within the range of readings")]
    fn end(&mut self, rows: u32) -> (i16, i16) {
        let count = i64::from(rows.max(1));
        let mean = (self.sum + count / 2).checked_div_euclid(count).unwrap_or(0);
        // The variance times the square of the count, exactly.
        let squares = i128::from(self.squares) * i128::from(count);
        let variance = (squares - i128::from(self.sum) * i128::from(self.sum)).max(0);
        // Of twice the deviation, so that it can be rounded.
        let variance = (4 * variance).checked_div(i128::from(count * count)).unwrap_or(0);
        let twice = crate::fixed::root_of_units(u32::try_from(variance).unwrap_or(u32::MAX));
        let deviation = (twice.saturating_add(1) / 2).min(i16::MAX.unsigned_abs().into());
        self.reset();
        (mean as i16, deviation as i16)
    }
}

impl Summand for f32 {
    type Sums = FloatSums;
}

impl Summand for i16 {
    type Sums = IntegerSums;
}

/// The mean of every n rows of C channels, for C known at compile time: see [`DecimateOf`].
pub type Decimate<const C: usize, S = f32> = DecimateOf<Fixed<C>, S>;

state! {
    /// The mean of every n rows as one row, and how far the n rows scattered: for a
    /// [`Detector`](crate::Detector) behind a sensor of kilohertz.
    ///
    /// A detector counts its promise in the rows that it is given: with n = 1000 at 1 kHz a row is a
    /// second, and a promise of 2.6 million rows a month. A change of the spread within the n rows is seen
    /// in their deviations, as channels beside the means ([`push_with_spread`](Self::push_with_spread)).
    ///
    /// ```
    /// use fastmmd::condition::Decimate;
    ///
    /// let mut decimate = Decimate::<1>::new(2)?;
    /// assert_eq!(decimate.push(&[1.0])?, None);
    /// assert_eq!(decimate.push(&[4.0])?, Some([2.5]));
    /// # Ok::<(), fastmmd::Error>(())
    /// ```
    #[derive(Debug, Clone, PartialEq)]
    pub struct DecimateOf<C: Length, S: Summand> {
        rows: u32,
        taken: u32,
        sums: Per<C, S::Sums>,
    }
}

impl<const C: usize, S: Summand> Decimate<C, S> {
    /// Most rows that are taken as one.
    pub const MOST_ROWS: u32 = 65_536;

    /// A row from every `rows` rows.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for none, or more than [`MOST_ROWS`](Self::MOST_ROWS).
    pub const fn new(rows: u32) -> Result<Self, Error> {
        if rows == 0 || rows > Self::MOST_ROWS {
            return Err(Error::OutOfRange(Parameter::DecimatedRows));
        }
        Ok(Self { rows, taken: 0, sums: Per::INITIAL })
    }

    /// Takes a row, and gives the mean of the last n on every n-th. Means of `i16` readings are rounded to the
    /// nearest count: where the sensor's noise is less than a few counts, multiply its readings first. O(C).
    ///
    /// # Errors
    /// [`Error::NonFinite`] or [`Error::OutOfRange`], naming the channel, as for
    /// [`Scale::push`](super::ScaleOf::push).
    pub fn push(&mut self, row: &[S; C]) -> Result<Option<[S; C]>, Error> {
        Ok(self.end(row)?.map(|ends| ends.map(|(mean, _)| mean)))
    }

    /// The same with the deviation of each channel's n readings: means and deviations, both rounded to the
    /// nearest count for `i16`.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    #[expect(clippy::type_complexity, reason = "two rows")]
    pub fn push_with_spread(&mut self, row: &[S; C]) -> Result<Option<([S; C], [S; C])>, Error> {
        Ok(self.end(row)?.map(|ends| (ends.map(|(mean, _)| mean), ends.map(|(_, spread)| spread))))
    }

    fn end(&mut self, row: &[S; C]) -> Result<Option<[(S, S); C]>, Error> {
        for (channel, reading) in row.iter().enumerate() {
            reading.checked(channel)?;
        }
        for (sums, reading) in self.sums.iter_mut().zip(row) {
            sums.take_in(*reading, self.taken == 0);
        }
        self.taken += 1;
        if self.taken < self.rows {
            return Ok(None);
        }
        self.taken = 0;
        let mut ends = [(S::INITIAL, S::INITIAL); C];
        for (end, sums) in ends.iter_mut().zip(self.sums.iter_mut()) {
            *end = sums.end(self.rows);
        }
        Ok(Some(ends))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_nth_row_is_the_mean_and_spread_of_the_last() {
        let mut decimate = Decimate::<2>::new(4).unwrap();
        let mut out = std::vec::Vec::new();
        for row in 0..8_u16 {
            let x = f32::from(row);
            out.extend(decimate.push_with_spread(&[1e6 + x, -x * x]).unwrap());
        }
        let deviation = 1.25_f32.sqrt();
        let [(first, spread), (second, _)] = out[..] else { panic!("{out:?}") };
        assert_eq!((first, second), ([1e6 + 1.5, -3.5], [1e6 + 5.5, -31.5]));
        assert!((spread[0] - deviation).abs() < 1e-6 && (spread[1] - 3.5).abs() < 1e-5);
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn integers_are_exact_at_their_limits() {
        let mut decimate = Decimate::<1, i16>::new(65_536).unwrap();
        let mut last = None;
        for row in 0..65_536_u32 {
            let reading = if row % 2 == 0 { i16::MAX } else { i16::MIN };
            last = decimate.push_with_spread(&[reading]).unwrap();
        }
        assert_eq!(last, Some(([0], [32_767])));
        let mut decimate = Decimate::<1, i16>::new(3).unwrap();
        for reading in [-1, -1] {
            assert_eq!(decimate.push(&[reading]), Ok(None));
        }
        assert_eq!(decimate.push(&[-3]), Ok(Some([-2])));
        // The deviation is 1.9: nearer to 2.
        let mut decimate = Decimate::<1, i16>::new(3).unwrap();
        let ends = [0, 0, -4].map(|reading| decimate.push_with_spread(&[reading]).unwrap());
        assert_eq!(ends, [None, None, Some(([-1], [2]))]);
    }

    #[test]
    fn refusals_are_typed_and_change_nothing() {
        let rows = Error::OutOfRange(Parameter::DecimatedRows);
        assert_eq!(Decimate::<1>::new(0), Err(rows));
        assert_eq!(Decimate::<1>::new(65_537), Err(rows));
        let mut decimate = Decimate::<2>::new(2).unwrap();
        decimate.push(&[1.0, 2.0]).unwrap();
        let before = decimate.clone();
        let refused = Err(Error::NonFinite(Parameter::Channel(1)));
        assert_eq!(decimate.push(&[1.0, f32::NAN]), refused);
        assert_eq!(decimate, before);
    }
}
