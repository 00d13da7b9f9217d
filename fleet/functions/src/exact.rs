//! Mean and deviation of any number of values, exact until the last rounding: the same bits in any
//! order and partition.
//!
//! A finite `f64` is ±m·2ᵉ with integers m < 2⁵³ and e. For each e that occurs, the sums of ±m and of
//! m² are kept as integers: a few dozen bytes for the few exponents that a sensor's readings have, and
//! at most 100 KB.

use num_bigint::BigInt;

/// An exponent of 0 in the bits of an `f64` stands for 2⁻¹⁰⁷⁵, had it a hidden bit.
const BIAS: i64 = 1075;

/// Sums of what has one exponent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Cell {
    exponent: u16,
    /// Σ ±m.
    sum: i128,
    /// Σ m², in two parts: of the lower 64 bits, and of those above.
    low: u128,
    high: u128,
}

/// Exact moments of a channel.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Moments {
    count: u64,
    cells: Vec<Cell>,
}

impl Moments {
    /// Takes in a finite value.
    pub(crate) fn add(&mut self, value: f64) {
        debug_assert!(value.is_finite());
        let bits = value.to_bits();
        let exponent = u16::try_from((bits >> 52) & 0x7ff).unwrap_or_default();
        let fraction = bits & ((1 << 52) - 1);
        // Without hidden bit, and in the unit of exponent 1, below the smallest normal number.
        let (exponent, mantissa) =
            if exponent == 0 { (1, fraction) } else { (exponent, fraction | (1 << 52)) };
        let square = u128::from(mantissa) * u128::from(mantissa);
        let cell = self.cell(exponent);
        let signed = i128::from(mantissa);
        cell.sum += if value.is_sign_negative() { -signed } else { signed };
        cell.low += square & u128::from(u64::MAX);
        cell.high += square >> 64;
        self.count += 1;
    }

    fn cell(&mut self, exponent: u16) -> &mut Cell {
        let found = self.cells.iter().position(|cell| cell.exponent == exponent);
        let index = found.unwrap_or_else(|| {
            self.cells.push(Cell { exponent, ..Cell::default() });
            self.cells.len() - 1
        });
        &mut self.cells[index]
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for theirs in &other.cells {
            let cell = self.cell(theirs.exponent);
            cell.sum += theirs.sum;
            cell.low += theirs.low;
            cell.high += theirs.high;
        }
        self.count += other.count;
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Bytes in memory, about.
    pub(crate) fn size(&self) -> usize {
        size_of::<Self>() + self.cells.capacity() * size_of::<Cell>()
    }

    /// The mean, and the deviation √(Σ(x − mean)²/n), rounded once each (the root twice).
    pub(crate) fn level_and_deviation(&self) -> (f64, f64) {
        if self.count == 0 {
            return (0.0, 0.0);
        }
        let (mut sum, mut squares) = (BigInt::ZERO, BigInt::ZERO);
        for cell in &self.cells {
            sum += BigInt::from(cell.sum) << cell.exponent;
            let square = (BigInt::from(cell.high) << 64_u32) + BigInt::from(cell.low);
            squares += square << (2 * cell.exponent);
        }
        let count = BigInt::from(self.count);
        let level = quotient(&sum, &count, -BIAS);
        // n·Σx² − (Σx)², exact: nothing cancels.
        let scatter = &count * squares - &sum * &sum;
        let variance = quotient(&scatter, &(&count * &count), -2 * BIAS);
        (level, variance.sqrt())
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.count.to_le_bytes().to_vec();
        for Cell { exponent, sum, low, high } in &self.cells {
            bytes.extend(exponent.to_le_bytes());
            bytes.extend(sum.to_le_bytes());
            bytes.extend(low.to_le_bytes());
            bytes.extend(high.to_le_bytes());
        }
        bytes
    }

    pub(crate) fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let (count, cells) = bytes.split_first_chunk()?;
        let (cells, []) = cells.as_chunks::<50>() else { return None };
        let cells = cells.iter().map(|cell| {
            let (exponent, rest) = cell.split_first_chunk()?;
            let ([sum, low, high], []) = rest.as_chunks::<16>() else { return None };
            Some(Cell {
                exponent: u16::from_le_bytes(*exponent),
                sum: i128::from_le_bytes(*sum),
                low: u128::from_le_bytes(*low),
                high: u128::from_le_bytes(*high),
            })
        });
        Some(Self { count: u64::from_le_bytes(*count), cells: cells.collect::<Option<_>>()? })
    }
}

/// a/b·2^exponent as the nearest `f64`, to within a unit in the last place.
#[expect(clippy::cast_precision_loss, reason = "this is the rounding")]
fn quotient(a: &BigInt, b: &BigInt, exponent: i64) -> f64 {
    // A quotient of about 80 bits: more than an f64 takes.
    let shift = 80 + i64::try_from(b.bits()).unwrap_or(0) - i64::try_from(a.bits()).unwrap_or(0);
    let size = usize::try_from(shift.unsigned_abs()).unwrap_or(0);
    let scaled = if shift >= 0 { (a << size) / b } else { a / (b << size) };
    let quotient = i128::try_from(scaled).unwrap_or_default();
    let power = exponent - shift;
    // In two steps: one alone may leave the range of exponents.
    let half = i32::try_from(power / 2).unwrap_or(0);
    let rest = i32::try_from(power - power / 2).unwrap_or(0);
    quotient as f64 * 2_f64.powi(half) * 2_f64.powi(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(values: &[f64]) -> Moments {
        let mut moments = Moments::default();
        values.iter().for_each(|value| moments.add(*value));
        moments
    }

    #[test]
    fn a_far_level_does_not_cost_digits_of_the_deviation() {
        let values: Vec<f64> = (0..1000).map(|i| 1e9 + f64::from(i % 2)).collect();
        assert_eq!(moments(&values).level_and_deviation(), (1e9 + 0.5, 0.5));
        assert_eq!(moments(&[-3.0, 3.0]).level_and_deviation(), (0.0, 3.0));
        assert_eq!(moments(&[0.1; 7]).level_and_deviation(), (0.1, 0.0));
        assert_eq!(moments(&[]).level_and_deviation(), (0.0, 0.0));
        // The control: the textbook formula in f64 is far off.
        let (n, s, q) =
            values.iter().fold((0.0, 0.0, 0.0), |(n, s, q), x| (n + 1.0, s + x, q + x * x));
        let textbook: f64 = q / n - (s / n) * (s / n);
        assert!((textbook - 0.25).abs() > 0.1, "{textbook}");
    }

    #[test]
    fn any_order_and_partition_gives_the_same_bytes() {
        let values: Vec<f64> =
            (0..500).map(|i| (f64::from(i) * 0.7).sin() * 10_f64.powi(i % 30 - 15)).collect();
        let whole = moments(&values);
        let mut parts = moments(&values[300..]);
        parts.merge(&moments(&values[..300]));
        assert_eq!(whole.level_and_deviation(), parts.level_and_deviation());
        assert_eq!(Moments::of_bytes(&parts.to_bytes()), Some(parts));
        assert_eq!(Moments::of_bytes(&[0; 9]), None);
    }

    #[test]
    fn extreme_values_are_exact_too() {
        let (level, deviation) = moments(&[f64::MAX, f64::MAX]).level_and_deviation();
        assert_eq!((level, deviation), (f64::MAX, 0.0));
        let tiny = f64::from_bits(3);
        assert_eq!(moments(&[tiny, tiny]).level_and_deviation(), (tiny, 0.0));
    }
}
