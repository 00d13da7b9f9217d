//! Two sets of samples as one pool: their kernel values, or their features.

use nalgebra::{DMatrix, DVector};

use crate::error::Refused;
use crate::features::Frequencies;
use crate::points::{Points, same_dims};
use crate::real;

/// The estimate of MMD².
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Estimate {
    /// MMD_b², over all pairs.
    Biased,
    /// MMD_u², over pairs of different samples.
    Unbiased,
}

/// Sums over the eigenvalues of the centred kernel as an operator, without the pairs of a sample
/// with itself that would bias them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// Σλ = E k(x, x) − E k(x, x').
    pub trace: f64,
    /// Σλ².
    pub square: f64,
}

/// m samples of one set and then n of another, with m, n ≥ 2 and a finite positive semidefinite
/// kernel K between all of them.
pub trait Pool {
    /// m and n.
    fn sizes(&self) -> [usize; 2];

    /// k(x, x) of each sample.
    fn diagonal(&self) -> DVector<f64>;

    /// The product of K with a vector.
    fn times(&self, vector: &DVector<f64>) -> DVector<f64>;

    /// aᵀKb for each pair of equal columns of two matrices of N rows.
    fn products(&self, a: &DMatrix<f64>, b: &DMatrix<f64>) -> Vec<f64>;

    /// Estimates of Σλ and Σλ².
    fn moments(&self) -> Moments;

    /// Estimate of Σλ³, over triples of different samples.
    fn cube(&self) -> f64;

    /// The eigenvalues of the centred kernel over N, largest first, without those that rounding
    /// made negative.
    fn eigenvalues(&self) -> Vec<f64>;

    /// MMD² of the pool's two sets.
    ///
    /// # Errors
    /// [`Refused::NotFinite`] where a sum of kernel values overflows.
    fn mmd2(&self, estimate: Estimate) -> Result<f64, Refused> {
        let [m, n] = self.sizes();
        let own = DMatrix::from_fn(m + n, 1, |row, _| f64::from(u8::from(row < m)));
        let rest = own.map(|count| 1.0 - count);
        let value = Split::between(self, &own, &rest).mmd2(estimate).swap_remove(0);
        if value.is_finite() { Ok(value) } else { Err(Refused::NotFinite) }
    }
}

/// Sums over pairs for many ways to choose two sets from a pool: a column for each.
pub(super) struct Split {
    sizes: [f64; 2],
    within: [Vec<f64>; 2],
    between: Vec<f64>,
    /// Σk(x, x) of each set.
    own: [Vec<f64>; 2],
}

impl Split {
    /// The columns of `p` and `q` count how often each sample is in the set.
    pub(super) fn between<P: Pool + ?Sized>(pool: &P, p: &DMatrix<f64>, q: &DMatrix<f64>) -> Self {
        let diagonal = pool.diagonal();
        let own = |c: &DMatrix<f64>| c.tr_mul(&diagonal).iter().copied().collect();
        Self {
            sizes: pool.sizes().map(real),
            within: [pool.products(p, p), pool.products(q, q)],
            between: pool.products(p, q),
            own: [own(p), own(q)],
        }
    }

    /// For `p` that contains each sample at most once, with the rest in the other set. The sums of
    /// the other set follow from those of the pool, for half the cost.
    pub(super) fn parting<P: Pool + ?Sized>(pool: &P, p: &DMatrix<f64>) -> Self {
        let diagonal = pool.diagonal();
        let ones = DVector::repeat(diagonal.len(), 1.0);
        let rows = pool.times(&ones);
        let (all, trace) = (rows.sum(), diagonal.sum());
        let first = pool.products(p, p);
        let own: Vec<f64> = p.tr_mul(&diagonal).iter().copied().collect();
        let with_all = p.tr_mul(&rows);
        let between: Vec<f64> = with_all.iter().zip(&first).map(|(a, b)| a - b).collect();
        let second = between.iter().zip(&first).map(|(x, f)| all - f - 2.0 * x).collect();
        let rest = own.iter().map(|own| trace - own).collect();
        Self { sizes: pool.sizes().map(real), within: [first, second], between, own: [own, rest] }
    }

    pub(super) fn mmd2(&self, estimate: Estimate) -> Vec<f64> {
        let [m, n] = self.sizes;
        let mean = |set: usize, size: f64, index: usize| match estimate {
            Estimate::Biased => self.within[set][index] / (size * size),
            Estimate::Unbiased => {
                (self.within[set][index] - self.own[set][index]) / (size * (size - 1.0))
            }
        };
        let value = |index: usize| {
            mean(0, m, index) + mean(1, n, index) - 2.0 * self.between[index] / (m * n)
        };
        (0..self.between.len()).map(value).collect()
    }
}

/// A pool by its Gram matrix: any kernel on samples of any type.
#[derive(Debug, Clone, PartialEq)]
pub struct Gram {
    sizes: [usize; 2],
    matrix: DMatrix<f64>,
}

/// Refuses sets without two samples.
fn at_least_two(sizes: [usize; 2]) -> Result<(), Refused> {
    match sizes {
        [0, _] | [_, 0] => Err(Refused::Empty),
        [1, _] | [_, 1] => Err(Refused::TooFewSamples),
        _ => Ok(()),
    }
}

impl Gram {
    /// All values of a symmetric kernel between samples of two sets. O(N²/2) kernel values.
    ///
    /// # Errors
    /// [`Refused::Empty`] or [`Refused::TooFewSamples`] for a set below two samples,
    /// [`Refused::NotFinite`] if the kernel is not finite somewhere.
    pub fn new<T>(p: &[T], q: &[T], kernel: impl Fn(&T, &T) -> f64) -> Result<Self, Refused> {
        let sizes = [p.len(), q.len()];
        at_least_two(sizes)?;
        let all: Vec<&T> = p.iter().chain(q).collect();
        Ok(Self { sizes, matrix: symmetric(&all, kernel)? })
    }

    /// As [`Gram::new`] for points.
    ///
    /// # Errors
    /// Those, and [`Refused::Ragged`] for sets of different dimensions.
    pub fn of_points(
        p: &Points,
        q: &Points,
        kernel: impl Fn(&[f64], &[f64]) -> f64,
    ) -> Result<Self, Refused> {
        same_dims(p.dims(), q.dims())?;
        let (p, q): (Vec<_>, Vec<_>) = (p.rows().collect(), q.rows().collect());
        Self::new(&p, &q, |x, y| kernel(x, y))
    }

    /// k between all pairs of the pool.
    #[must_use]
    pub fn matrix(&self) -> &DMatrix<f64> {
        &self.matrix
    }

    fn centred(&self) -> DMatrix<f64> {
        let mut matrix = self.matrix.clone();
        centre(&mut matrix);
        matrix
    }
}

/// The kernel between all pairs of samples.
pub(crate) fn symmetric<T>(
    samples: &[&T],
    kernel: impl Fn(&T, &T) -> f64,
) -> Result<DMatrix<f64>, Refused> {
    let size = samples.len();
    let mut matrix = DMatrix::zeros(size, size);
    for (column, y) in samples.iter().enumerate() {
        for (row, x) in samples.iter().enumerate().take(column + 1) {
            let value = kernel(x, y);
            if !value.is_finite() {
                return Err(Refused::NotFinite);
            }
            matrix[(row, column)] = value;
            matrix[(column, row)] = value;
        }
    }
    Ok(matrix)
}

/// HKH with H = I − 1/N: the inner products of centred features.
pub(crate) fn centre(matrix: &mut DMatrix<f64>) {
    let size = real(matrix.nrows());
    let means: DVector<f64> = matrix.column_sum() / size;
    let all = means.mean();
    for (column, mut values) in matrix.column_iter_mut().enumerate() {
        let own = means[column];
        for (value, mean) in values.iter_mut().zip(&means) {
            *value += all - mean - own;
        }
    }
}

/// Sorted, largest first, without negative ones.
fn sorted(eigenvalues: &DVector<f64>) -> Vec<f64> {
    let mut values: Vec<f64> = eigenvalues.iter().map(|value| value.max(0.0)).collect();
    values.sort_unstable_by(|a, b| b.total_cmp(a));
    values
}

impl Pool for Gram {
    fn sizes(&self) -> [usize; 2] {
        self.sizes
    }

    fn diagonal(&self) -> DVector<f64> {
        self.matrix.diagonal()
    }

    fn times(&self, vector: &DVector<f64>) -> DVector<f64> {
        &self.matrix * vector
    }

    fn products(&self, a: &DMatrix<f64>, b: &DMatrix<f64>) -> Vec<f64> {
        let product = &self.matrix * b;
        a.column_iter().zip(product.column_iter()).map(|(a, b)| a.dot(&b)).collect()
    }

    fn moments(&self) -> Moments {
        let size = real(self.matrix.nrows());
        let mut centred = self.centred();
        let trace = centred.trace() / (size - 1.0);
        centred.fill_diagonal(0.0);
        Moments { trace, square: centred.norm_squared() / (size * (size - 1.0)) }
    }

    fn cube(&self) -> f64 {
        let size = real(self.matrix.nrows());
        let mut centred = self.centred();
        centred.fill_diagonal(0.0);
        let triples = (&centred * &centred).dot(&centred);
        triples / (size * (size - 1.0) * (size - 2.0))
    }

    fn eigenvalues(&self) -> Vec<f64> {
        let size = real(self.matrix.nrows());
        sorted(&(self.centred().symmetric_eigenvalues() / size))
    }
}

/// A pool by its random features: N rows of cosines and sines over √L, whose inner products are
/// the kernel's approximation.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    sizes: [usize; 2],
    /// A row for each feature, so that a sample is one column.
    columns: DMatrix<f64>,
}

impl Features {
    /// The features of two sets of points. O(NLd).
    ///
    /// # Errors
    /// [`Refused::TooFewSamples`] for a set below two samples, [`Refused::Ragged`] for points of
    /// another dimension than the frequencies, [`Refused::NotFinite`] for points that are not.
    pub fn new(frequencies: &Frequencies, p: &Points, q: &Points) -> Result<Self, Refused> {
        let (first, second) = (frequencies.columns(p)?, frequencies.columns(q)?);
        let values = first.iter().chain(&second).copied().collect();
        Self::from_values([p.len(), q.len()], values)
    }

    /// Features of m and then n samples, sample by sample.
    ///
    /// # Errors
    /// [`Refused::Empty`] or [`Refused::TooFewSamples`] for a set below two samples,
    /// [`Refused::Ragged`] if the last sample is incomplete, [`Refused::NotFinite`].
    pub fn from_values(sizes: [usize; 2], values: Vec<f64>) -> Result<Self, Refused> {
        at_least_two(sizes)?;
        let samples = sizes[0].saturating_add(sizes[1]);
        let width = values.len() / samples;
        match values.len() % samples {
            _ if width == 0 => return Err(Refused::Empty),
            0 => {}
            found => return Err(Refused::Ragged { expected: samples, found }),
        }
        if values.iter().any(|value| !value.is_finite()) {
            return Err(Refused::NotFinite);
        }
        Ok(Self { sizes, columns: DMatrix::from_vec(width, samples, values) })
    }

    fn centred(&self) -> DMatrix<f64> {
        let mut centred = self.columns.clone();
        centre_columns(&mut centred);
        centred
    }
}

/// Subtracts the mean of all columns from each.
pub(crate) fn centre_columns(columns: &mut DMatrix<f64>) {
    let mean = columns.column_mean();
    for mut column in columns.column_iter_mut() {
        column -= &mean;
    }
}

impl Pool for Features {
    fn sizes(&self) -> [usize; 2] {
        self.sizes
    }

    fn diagonal(&self) -> DVector<f64> {
        DVector::from_iterator(
            self.columns.ncols(),
            self.columns.column_iter().map(|c| c.norm_squared()),
        )
    }

    fn times(&self, vector: &DVector<f64>) -> DVector<f64> {
        self.columns.tr_mul(&(&self.columns * vector))
    }

    fn products(&self, a: &DMatrix<f64>, b: &DMatrix<f64>) -> Vec<f64> {
        let left = &self.columns * a;
        let norms = |right: &DMatrix<f64>| {
            left.column_iter().zip(right.column_iter()).map(|(a, b)| a.dot(&b)).collect()
        };
        if std::ptr::eq(a, b) { norms(&left) } else { norms(&(&self.columns * b)) }
    }

    /// As over a Gram matrix G with diagonal D, from the scatter matrix: tr(G − D)² = tr G² − Σd².
    fn moments(&self) -> Moments {
        let size = real(self.columns.ncols());
        let centred = self.centred();
        let own = || centred.column_iter().map(|column| column.norm_squared());
        let trace = own().sum::<f64>() / (size - 1.0);
        let scatter = &centred * centred.transpose();
        let square = scatter.norm_squared() - own().map(|d| d * d).sum::<f64>();
        Moments { trace, square: square / (size * (size - 1.0)) }
    }

    /// tr(G − D)³ = tr G³ − 3·Σd·(G²)ᵢᵢ + 2·Σd³.
    fn cube(&self) -> f64 {
        let size = real(self.columns.ncols());
        let centred = self.centred();
        let scatter = &centred * centred.transpose();
        let moved = &scatter * &centred;
        let mut sum = (&scatter * &scatter).dot(&scatter);
        for (column, moved) in centred.column_iter().zip(moved.column_iter()) {
            let own = column.norm_squared();
            sum -= 3.0 * own * column.dot(&moved) - 2.0 * own * own * own;
        }
        sum / (size * (size - 1.0) * (size - 2.0))
    }

    fn eigenvalues(&self) -> Vec<f64> {
        let centred = self.centred();
        let covariance = &centred * centred.transpose() / real(self.columns.ncols());
        sorted(&covariance.symmetric_eigenvalues())
    }
}
