//! Dependence between more than two blocks of channels, and where it is (Smola and others, 2007,
//! sections 1.3 and 2.3).
//!
//! For kernels k = Σ_c k_c over cliques c of a graph of dependence, each a product over the blocks in
//! it, the squared distance between the embedding of the joint distribution and that of independent
//! blocks is the sum over cliques of m⁻²ΣΠK − 2m⁻¹ΣΠK̄ + ΠK̿. For one clique of two blocks that is
//! [`hsic`](crate::hsic).

use nalgebra::{DMatrix, DVector};

use crate::error::Refused;
use crate::generate::Generator;
use crate::null::{Null, symmetric};
use crate::points::{same_dims, unless_permutation};
use crate::real;

/// m rows of several blocks by their Gram matrices, and the cliques whose dependence counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Blocks {
    grams: Vec<DMatrix<f64>>,
    cliques: Vec<Vec<usize>>,
}

impl Blocks {
    /// Gram matrices of the blocks, all m × m, and cliques as lists of blocks.
    ///
    /// # Errors
    /// [`Refused::Empty`] without blocks or cliques, [`Refused::TooFewSamples`] below two rows,
    /// [`Refused::Ragged`] for matrices of different sizes, [`Refused::BadParameter`] for a clique of
    /// less than two blocks, of one block twice, or of one that does not exist,
    /// [`Refused::NotFinite`].
    pub fn new(grams: Vec<DMatrix<f64>>, cliques: Vec<Vec<usize>>) -> Result<Self, Refused> {
        let Some(first) = grams.first() else { return Err(Refused::Empty) };
        let size = first.nrows();
        if size < 2 {
            return Err(Refused::TooFewSamples);
        }
        for gram in &grams {
            same_dims(size, gram.nrows())?;
            same_dims(size, gram.ncols())?;
            Refused::unless_finite(gram)?;
        }
        if cliques.is_empty() {
            return Err(Refused::Empty);
        }
        for clique in &cliques {
            let mut seen = vec![false; grams.len()];
            for &block in clique {
                match seen.get_mut(block) {
                    Some(seen) if !*seen => *seen = true,
                    _ => return Err(Refused::BadParameter { name: "cliques" }),
                }
            }
            if clique.len() < 2 {
                return Err(Refused::BadParameter { name: "cliques" });
            }
        }
        Ok(Self { grams, cliques })
    }

    /// All blocks as one clique: any dependence between them counts.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn joint(grams: Vec<DMatrix<f64>>) -> Result<Self, Refused> {
        let all = (0..grams.len()).collect();
        Self::new(grams, vec![all])
    }

    /// The dependence with the rows of each block in an order of its own. O(m²) for each block of
    /// each clique.
    ///
    /// # Errors
    /// [`Refused::Ragged`] unless there is an order for each block, [`Refused::NotAPermutation`],
    /// [`Refused::NotFinite`].
    pub fn reordered(&self, orders: &[Vec<usize>]) -> Result<f64, Refused> {
        same_dims(self.grams.len(), orders.len())?;
        let size = self.grams[0].nrows();
        for order in orders {
            unless_permutation(order, size)?;
        }
        let mut total = 0.0;
        for clique in &self.cliques {
            let mut product = DMatrix::repeat(size, size, 1.0);
            let mut means = DVector::repeat(size, 1.0);
            let mut apart = 1.0;
            for &block in clique {
                let (gram, order) = (&self.grams[block], &orders[block]);
                let own = DMatrix::from_fn(size, size, |i, j| gram[(order[i], order[j])]);
                means.component_mul_assign(&own.column_mean());
                apart *= own.mean();
                product.component_mul_assign(&own);
            }
            total += product.mean() - 2.0 * means.mean() + apart;
        }
        Refused::if_finite(total)
    }

    /// The dependence of the rows as they are.
    ///
    /// # Errors
    /// [`Refused::NotFinite`] where a product overflows.
    pub fn hsic(&self) -> Result<f64, Refused> {
        let order: Vec<usize> = (0..self.grams[0].nrows()).collect();
        self.reordered(&vec![order; self.grams.len()])
    }

    /// Its distribution for independent blocks, by `shuffles` of the rows of every block but the
    /// first.
    ///
    /// # Errors
    /// [`Refused::BadParameter`] for no shuffles, [`Refused::NotFinite`].
    pub fn null(&self, shuffles: usize, generator: &mut Generator) -> Result<Null, Refused> {
        let size = self.grams[0].nrows();
        let mut one = || {
            let mut orders: Vec<Vec<usize>> =
                self.grams.iter().map(|_| generator.order(size)).collect();
            orders[0] = (0..size).collect();
            self.reordered(&orders)
        };
        Null::drawn((0..shuffles).map(|_| one()).collect::<Result<_, _>>()?)
    }
}

/// The Gram matrix of a block. O(m²) kernel values.
///
/// # Errors
/// [`Refused::NotFinite`].
pub fn gram<T>(rows: &[T], kernel: impl Fn(&T, &T) -> f64) -> Result<DMatrix<f64>, Refused> {
    symmetric(&rows.iter().collect::<Vec<_>>(), kernel)
}

/// The witness of dependence (figure 3): where pairs are more (above 0) or less frequent than they
/// would be if x and y were independent, f(x, y) = E k(x, xᵢ)l(y, yᵢ) − E k(x, xᵢ)·E l(y, yⱼ).
#[derive(Debug, Clone)]
pub struct DependenceWitness<'a, X, Y, K, L> {
    x: &'a [X],
    y: &'a [Y],
    first: K,
    second: L,
}

impl<'a, X, Y, K: Fn(&X, &X) -> f64, L: Fn(&Y, &Y) -> f64> DependenceWitness<'a, X, Y, K, L> {
    /// The witness of pairs `x[i]` and `y[i]`, with a kernel for each.
    ///
    /// # Errors
    /// [`Refused::Ragged`] for different numbers, [`Refused::Empty`] for none.
    pub fn new(x: &'a [X], y: &'a [Y], first: K, second: L) -> Result<Self, Refused> {
        same_dims(x.len(), y.len())?;
        if x.is_empty() {
            return Err(Refused::Empty);
        }
        Ok(Self { x, y, first, second })
    }

    /// f(x, y). O(m) kernel values.
    ///
    /// # Errors
    /// [`Refused::NotFinite`].
    pub fn at(&self, x: &X, y: &Y) -> Result<f64, Refused> {
        let count = real(self.x.len());
        let (mut both, mut first, mut second) = (0.0, 0.0, 0.0);
        for (xi, yi) in self.x.iter().zip(self.y) {
            let (k, l) = ((self.first)(x, xi), (self.second)(y, yi));
            both += k * l / count;
            first += k / count;
            second += l / count;
        }
        Refused::if_finite(both - first * second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hsic::{ExactPairs, Pairs};
    use crate::kernel::gaussian;
    use crate::tolerance;

    fn kernel(x: &f64, y: &f64) -> f64 {
        gaussian(1.0)(&[*x], &[*y])
    }

    fn noise(generator: &mut Generator, count: usize) -> Vec<f64> {
        (0..count).map(|_| generator.normal()).collect()
    }

    #[test]
    fn two_blocks_are_hsic_and_cliques_add_up() -> Result<(), Refused> {
        let mut generator = Generator::new(81);
        let blocks = [(); 3].map(|()| noise(&mut generator, 12));
        let grams: Vec<_> =
            blocks.iter().map(|block| gram(block, kernel)).collect::<Result<_, _>>()?;
        let pair = |a: usize, b: usize| ExactPairs::new(&blocks[a], &blocks[b], kernel, kernel);
        let two = Blocks::joint(grams[..2].to_vec())?.hsic()?;
        tolerance::REFERENCE_IDENTITY.hold("two blocks", two, pair(0, 1)?.hsic()?);
        let chain = Blocks::new(grams.clone(), vec![vec![0, 1], vec![1, 2]])?.hsic()?;
        let sum = pair(0, 1)?.hsic()? + pair(1, 2)?.hsic()?;
        tolerance::REFERENCE_IDENTITY.hold("a chain", chain, sum);
        // Three blocks by the definition: sums over all pairs of rows.
        let joint = Blocks::joint(grams.clone())?.hsic()?;
        let m = 12_usize;
        let (mut both, mut mixed, mut apart) = (0.0, 0.0, 1.0);
        for i in 0..m {
            let row = |g: &DMatrix<f64>| (0..m).map(|j| g[(i, j)]).sum::<f64>() / 12.0;
            mixed += grams.iter().map(row).product::<f64>() / 12.0;
            for j in 0..m {
                both += grams.iter().map(|g| g[(i, j)]).product::<f64>() / 144.0;
            }
        }
        for g in &grams {
            apart *= g.sum() / 144.0;
        }
        tolerance::REFERENCE_IDENTITY.hold("three blocks", joint, both - 2.0 * mixed + apart);
        Ok(())
    }

    /// z = sign(xy)|w|: every two are independent, the three are not.
    #[test]
    fn three_blocks_show_what_no_two_do() -> Result<(), Refused> {
        let mut generator = Generator::new(82);
        let (x, y) = (noise(&mut generator, 160), noise(&mut generator, 160));
        let z: Vec<f64> =
            x.iter().zip(&y).map(|(x, y)| (x * y).signum() * generator.normal().abs()).collect();
        let grams = vec![gram(&x, kernel)?, gram(&y, kernel)?, gram(&z, kernel)?];
        let joint = Blocks::joint(grams.clone())?;
        let chance = joint.null(199, &mut generator)?;
        assert!(joint.hsic()? > chance.threshold(0.005)?);
        let pairs = Blocks::new(grams, vec![vec![0, 1], vec![1, 2], vec![0, 2]])?;
        assert!(pairs.hsic()? < pairs.null(199, &mut generator)?.threshold(0.05)?);
        Ok(())
    }

    /// The mean of the witness over pairs minus that over all combinations is HSIC.
    #[test]
    fn the_witness_has_the_mean_of_hsic() -> Result<(), Refused> {
        let mut generator = Generator::new(83);
        let x = noise(&mut generator, 20);
        let y: Vec<f64> = x.iter().map(|x| x * x + 0.3 * generator.normal()).collect();
        let witness = DependenceWitness::new(&x, &y, kernel, kernel)?;
        let (mut paired, mut all) = (0.0, 0.0);
        for (i, a) in x.iter().enumerate() {
            for (j, b) in y.iter().enumerate() {
                let value = witness.at(a, b)?;
                all += value / 400.0;
                paired += if i == j { value / 20.0 } else { 0.0 };
            }
        }
        let expected = ExactPairs::new(&x, &y, kernel, kernel)?.hsic()?;
        tolerance::REFERENCE_IDENTITY.hold("difference of means", paired - all, expected);
        Ok(())
    }

    #[test]
    fn bad_blocks_are_refused() -> Result<(), Refused> {
        let one = gram(&[0.0, 1.0], kernel)?;
        let bad = Err(Refused::BadParameter { name: "cliques" });
        assert_eq!(Blocks::joint(vec![]), Err(Refused::Empty));
        assert_eq!(Blocks::joint(vec![one.clone()]), bad);
        for clique in [vec![0, 0], vec![0, 2], vec![1]] {
            assert_eq!(Blocks::new(vec![one.clone(); 2], vec![clique]), bad);
        }
        let three = gram(&[0.0, 1.0, 2.0], kernel)?;
        assert!(Blocks::joint(vec![one.clone(), three]).is_err());
        let blocks = Blocks::joint(vec![one; 2])?;
        assert!(blocks.reordered(&[vec![0, 1], vec![0, 0]]).is_err());
        assert!(blocks.null(0, &mut Generator::new(1)).is_err());
        Ok(())
    }
}
