//! HSIC, the Hilbert–Schmidt independence criterion: do two quantities measured together depend on
//! each other (Smola and others, 2007, theorem 7)?
//!
//! m⁻²·tr(HKHL) for the Gram matrices K and L of m pairs, H = I − 1/m: the squared distance between
//! the embedding of the pairs and that of independent quantities with the same distributions. With
//! features it is the squared Frobenius norm of their cross-covariance.

use nalgebra::DMatrix;

use crate::error::Refused;
use crate::features::Frequencies;
use crate::generate::Generator;
use crate::null::{Null, centre, centre_columns, symmetric};
use crate::points::{Points, same_dims, unless_permutation};
use crate::real;

/// m pairs, whose HSIC can be computed in the given order or in any other.
pub trait Pairs {
    /// m.
    fn count(&self) -> usize;

    /// HSIC with x of pair i combined with y of pair `order[i]`.
    ///
    /// # Errors
    /// [`Refused::NotAPermutation`] unless `order` holds every pair once, [`Refused::NotFinite`]
    /// where a sum of kernel values overflows.
    fn reordered(&self, order: &[usize]) -> Result<f64, Refused>;

    /// HSIC of the pairs.
    ///
    /// # Errors
    /// [`Refused::NotFinite`] where a sum of kernel values overflows.
    fn hsic(&self) -> Result<f64, Refused> {
        self.reordered(&(0..self.count()).collect::<Vec<_>>())
    }

    /// The distribution of HSIC if x and y are independent, from `shuffles` random pairings.
    /// Thresholds and p-values are exact for any number of pairs.
    ///
    /// # Errors
    /// [`Refused::BadParameter`] for no shuffles, [`Refused::NotFinite`] where a sum overflows.
    fn null(&self, shuffles: usize, generator: &mut Generator) -> Result<Null, Refused> {
        self.null_by_blocks(1, shuffles, generator)
    }

    /// The same where pairs depend on earlier ones: blocks of `block` successive y are shuffled, so that
    /// y depends on itself as before. Good for blocks much longer than the dependence, and many of them.
    ///
    /// # Errors
    /// [`Refused::BadParameter`] for no shuffles, [`Refused::NotFinite`] where a sum overflows.
    fn null_by_blocks(
        &self,
        block: usize,
        shuffles: usize,
        generator: &mut Generator,
    ) -> Result<Null, Refused> {
        let one = |_| self.reordered(&generator.order_of_blocks(self.count(), block));
        Null::drawn((0..shuffles).map(one).collect::<Result<_, _>>()?)
    }
}

/// Pairs by their Gram matrices: any kernels on any types.
#[derive(Debug, Clone, PartialEq)]
pub struct ExactPairs {
    /// HKH.
    first: DMatrix<f64>,
    second: DMatrix<f64>,
}

fn enough(first: usize, second: usize) -> Result<(), Refused> {
    same_dims(first, second)?;
    match first {
        0 => Err(Refused::Empty),
        1 => Err(Refused::TooFewSamples),
        _ => Ok(()),
    }
}

impl ExactPairs {
    /// Pairs of `x[i]` and `y[i]` with a kernel for each. O(m²) kernel values.
    ///
    /// # Errors
    /// [`Refused::Ragged`] for different numbers, [`Refused::Empty`] or
    /// [`Refused::TooFewSamples`] below two pairs, [`Refused::NotFinite`].
    pub fn new<X, Y>(
        x: &[X],
        y: &[Y],
        first: impl Fn(&X, &X) -> f64,
        second: impl Fn(&Y, &Y) -> f64,
    ) -> Result<Self, Refused> {
        enough(x.len(), y.len())?;
        let k = symmetric(&x.iter().collect::<Vec<_>>(), first)?;
        let l = symmetric(&y.iter().collect::<Vec<_>>(), second)?;
        Self::from_gram(k, l)
    }

    /// Pairs by K and L themselves.
    ///
    /// # Errors
    /// As [`ExactPairs::new`].
    pub fn from_gram(mut k: DMatrix<f64>, l: DMatrix<f64>) -> Result<Self, Refused> {
        enough(k.nrows(), l.nrows())?;
        same_dims(k.nrows(), k.ncols())?;
        same_dims(l.nrows(), l.ncols())?;
        Refused::unless_finite(k.iter().chain(&l))?;
        centre(&mut k);
        Ok(Self { first: k, second: l })
    }
}

impl Pairs for ExactPairs {
    fn count(&self) -> usize {
        self.first.nrows()
    }

    /// O(m²).
    fn reordered(&self, order: &[usize]) -> Result<f64, Refused> {
        unless_permutation(order, self.count())?;
        let mut sum = 0.0;
        for (column, &to) in self.first.column_iter().zip(order) {
            let other = self.second.column(to);
            sum += column.iter().zip(order).map(|(k, &row)| k * other[row]).sum::<f64>();
        }
        Refused::if_finite(sum / real(order.len()).powi(2))
    }
}

/// Pairs by the random features of both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct FeaturePairs {
    /// Centred, a column for each pair.
    first: DMatrix<f64>,
    second: DMatrix<f64>,
}

impl FeaturePairs {
    /// Pairs of row i of `x` and row i of `y`. O(m·L·d).
    ///
    /// # Errors
    /// [`Refused::Ragged`] for different numbers or frequencies of another dimension,
    /// [`Refused::TooFewSamples`] below two pairs, [`Refused::NotFinite`].
    pub fn new(
        x: &Points,
        y: &Points,
        first: &Frequencies,
        second: &Frequencies,
    ) -> Result<Self, Refused> {
        enough(x.len(), y.len())?;
        let (mut first, mut second) = (first.columns(x)?, second.columns(y)?);
        centre_columns(&mut first);
        centre_columns(&mut second);
        Ok(Self { first, second })
    }
}

impl Pairs for FeaturePairs {
    fn count(&self) -> usize {
        self.first.ncols()
    }

    /// ‖m⁻¹·Σφ̃(xᵢ)ψ̃(y_order(i))ᵀ‖². O(mL²).
    fn reordered(&self, order: &[usize]) -> Result<f64, Refused> {
        unless_permutation(order, self.count())?;
        let second = self.second.select_columns(order);
        let squared = (&self.first * second.transpose()).norm_squared();
        Refused::if_finite(squared / real(order.len()).powi(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::gaussian;
    use crate::tolerance;

    fn noise(generator: &mut Generator, count: usize) -> Vec<f64> {
        (0..count).map(|_| generator.normal()).collect()
    }

    fn kernel(x: &f64, y: &f64) -> f64 {
        gaussian(1.0)(&[*x], &[*y])
    }

    /// The definition, as matrices and as the three sums over pairs, triples and quadruples.
    #[test]
    fn three_forms_agree() -> Result<(), Refused> {
        let mut generator = Generator::new(1);
        let (x, y) = (noise(&mut generator, 7), noise(&mut generator, 7));
        let value = ExactPairs::new(&x, &y, kernel, kernel)?.hsic()?;
        let gram = |z: &[f64]| symmetric(&z.iter().collect::<Vec<_>>(), kernel);
        let (k, l) = (gram(&x)?, gram(&y)?);
        let h = DMatrix::identity(7, 7) - DMatrix::repeat(7, 7, 1.0 / 7.0);
        let by_trace = (&h * &k * &h * &l).trace() / 49.0;
        tolerance::REFERENCE_IDENTITY.hold("trace", value, by_trace);
        let joint = k.dot(&l) / 49.0;
        let mixed = k.column_sum().dot(&l.column_sum()) / 343.0;
        let apart = k.sum() * l.sum() / 2401.0;
        tolerance::REFERENCE_IDENTITY.hold("sums", value, joint - 2.0 * mixed + apart);
        Ok(())
    }

    #[test]
    fn features_are_exact_for_their_own_kernel() -> Result<(), Refused> {
        let mut generator = Generator::new(2);
        let x = Points::new(2, noise(&mut generator, 40))?;
        let y = Points::new(1, noise(&mut generator, 20))?;
        let first = Frequencies::gaussian(&mut generator, 8, 2, 1.0)?;
        let second = Frequencies::gaussian(&mut generator, 8, 1, 1.0)?;
        let by_features = FeaturePairs::new(&x, &y, &first, &second)?;
        let own = |frequencies: &Frequencies, a: &[f64], b: &[f64]| {
            let difference: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
            frequencies.mean_cosine(&difference)
        };
        let (rows_x, rows_y): (Vec<_>, Vec<_>) = (x.rows().collect(), y.rows().collect());
        let exact =
            ExactPairs::new(&rows_x, &rows_y, |a, b| own(&first, a, b), |a, b| own(&second, a, b))?;
        tolerance::REFERENCE_IDENTITY.hold("HSIC", by_features.hsic()?, exact.hsic()?);
        let order = generator.order(20);
        let values = [by_features.reordered(&order)?, exact.reordered(&order)?];
        tolerance::REFERENCE_IDENTITY.hold("reordered", values[0], values[1]);
        Ok(())
    }

    /// y = x² + noise is not correlated with x. HSIC finds the dependence, and none where there is
    /// none.
    #[test]
    fn p_values_tell_dependence_from_none() -> Result<(), Refused> {
        let mut generator = Generator::new(3);
        let (mut dependent, mut independent) = (0, 0);
        for _ in 0..200 {
            let x = noise(&mut generator, 40);
            let y: Vec<f64> = x.iter().map(|x| x * x + 0.5 * generator.normal()).collect();
            let z = noise(&mut generator, 40);
            for (second, count) in [(y, &mut dependent), (z, &mut independent)] {
                let pairs = ExactPairs::new(&x, &second, kernel, kernel)?;
                let p = pairs.null(99, &mut generator)?.p_value(pairs.hsic()?);
                *count += usize::from(p <= 0.05);
            }
        }
        tolerance::HSIC_TYPE_I.hold("independent", real(independent) / 200.0, 0.05);
        tolerance::NULL_CONTROL.hold_below("dependent", 1.0 - real(dependent) / 200.0);
        Ok(())
    }

    /// Two autoregressions with a memory of some twenty rows that have nothing to do with each other:
    /// single rows, shuffled, take it for dependence that both go slowly; blocks mostly do not.
    #[test]
    fn blocks_allow_for_memory() -> Result<(), Refused> {
        const TRIALS: usize = 60;
        let mut generator = Generator::new(4);
        let mut slow = || -> Vec<f64> {
            let mut last = generator.normal();
            let next = |_| {
                last = 0.9 * last + 0.19_f64.sqrt() * generator.normal();
                last
            };
            (0..400).map(next).collect()
        };
        let series: Vec<_> = (0..TRIALS).map(|_| (slow(), slow())).collect();
        let share = |block: usize| -> Result<f64, Refused> {
            let mut generator = Generator::new(5);
            let mut found = 0;
            for (x, y) in &series {
                let pairs = ExactPairs::new(x, y, kernel, kernel)?;
                let null = pairs.null_by_blocks(block, 39, &mut generator)?;
                found += usize::from(null.p_value(pairs.hsic()?) <= 0.05);
            }
            Ok(real(found) / real(TRIALS))
        };
        let (rows, blocks) = (share(1)?, share(20)?);
        println!("single rows {rows:.3}, blocks {blocks:.3}");
        tolerance::HSIC_MEMORY.hold_below("blocks of 20", blocks);
        assert!(rows > 2.0 * tolerance::HSIC_MEMORY.limit, "the control: {rows}");
        Ok(())
    }

    #[test]
    fn bad_pairs_are_refused() -> Result<(), Refused> {
        let two = [1.0, 2.0];
        assert_eq!(ExactPairs::new(&[], &[], kernel, kernel), Err(Refused::Empty));
        let one = ExactPairs::new(&[1.0], &[1.0], kernel, kernel);
        assert_eq!(one, Err(Refused::TooFewSamples));
        let ragged = ExactPairs::new(&two, &[1.0], kernel, kernel);
        assert_eq!(ragged, Err(Refused::Ragged { expected: 2, found: 1 }));
        let nan = ExactPairs::new(&two, &[1.0, f64::NAN], kernel, kernel);
        assert_eq!(nan, Err(Refused::NotFinite));
        let pairs = ExactPairs::new(&two, &two, kernel, kernel)?;
        assert!(pairs.null(0, &mut Generator::new(1)).is_err());
        Ok(())
    }
}
