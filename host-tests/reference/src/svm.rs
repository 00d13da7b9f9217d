//! Support vector machines (the kernel notes, section 1): the machine with a kernel, exact, and the
//! linear machine over explicit features.
//!
//! Both have the hinge loss: ½‖w‖² + C·Σmax(0, 1 − yᵢ(w'φ(xᵢ) + b)), labels y = ±1. The kernel machine
//! has the free b of the notes. The linear one treats b as the weight of one more feature that is
//! always B, as is usual for coordinate descent, so its objective also has ½b²/B². As features whose
//! products approach k are added, its decisions approach those of the machine with the kernel k + B² and
//! no bias. Only for large B are these the decisions of the machine with the kernel k: the difference
//! falls as 1/B², and is largest where one class is much rarer than the other.

use nalgebra::{DMatrix, DVector};

use crate::error::Refused;
use crate::generate::Generator;
use crate::null::symmetric;
use crate::points::same_dims;
use crate::real;

/// Largest number of passes over all samples, or of steps per sample.
const PASSES: usize = 20_000;

/// A kernel machine is solved if no condition of the dual is violated by more.
const SOLVED: f64 = 1e-10;

fn check(samples: usize, labels: &[bool], cost: f64) -> Result<Vec<f64>, Refused> {
    same_dims(samples, labels.len())?;
    Refused::unless_positive("cost", cost)?;
    if labels.iter().all(|&label| label) || labels.iter().all(|&label| !label) {
        // Also for no samples: there are not two classes.
        return Err(Refused::Empty);
    }
    Ok(labels.iter().map(|&label| if label { 1.0 } else { -1.0 }).collect())
}

/// A machine with a kernel, solved exactly.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelMachine {
    /// yᵢαᵢ for each sample; 0 for those that do not support.
    pub coefficients: Vec<f64>,
    /// b.
    pub bias: f64,
    /// The dual's value, Σα − ½α'Qα.
    pub dual: f64,
}

impl KernelMachine {
    /// Solves the dual over a Gram matrix: max Σα − ½Σαᵢαⱼyᵢyⱼk(xᵢ, xⱼ) over 0 ≤ α ≤ C, Σyα = 0, by
    /// steps along the pair that violates its conditions most (sequential minimal optimisation), until
    /// decisions are good to 10⁻¹⁰. O(m) for each step.
    ///
    /// # Errors
    /// [`Refused::Ragged`] unless the matrix is m × m for m labels, [`Refused::Empty`] for an empty
    /// class, [`Refused::BadParameter`] unless C is positive, [`Refused::NotFinite`], and
    /// [`Refused::NotConverged`], as for a matrix that is not positive semidefinite, or a C that is far
    /// too high for its entries.
    pub fn of_gram(gram: &DMatrix<f64>, labels: &[bool], cost: f64) -> Result<Self, Refused> {
        Self::of_gram_within(gram, labels, cost, SOLVED)
    }

    /// [`of_gram`](Self::of_gram), until no condition of the dual is violated by more than `tolerance`,
    /// in units of the decision, whose margin is 1: in any unit of the data the same. A larger one takes
    /// fewer steps. Data in units a hundredth as large need a C of a ten thousandth for the same linear
    /// machine; with C as it was it is a hundred squared times as high, and may not converge at all.
    ///
    /// # Errors
    /// Those of [`of_gram`](Self::of_gram); also unless the tolerance is positive.
    pub fn of_gram_within(
        gram: &DMatrix<f64>,
        labels: &[bool],
        cost: f64,
        tolerance: f64,
    ) -> Result<Self, Refused> {
        same_dims(gram.nrows(), gram.ncols())?;
        let y = check(gram.nrows(), labels, cost)?;
        Refused::unless_positive("tolerance", tolerance)?;
        Refused::unless_finite(gram)?;
        let count = y.len();
        let mut alpha = vec![0.0; count];
        // yᵢ times the slope of the dual to maximise: y − Σⱼ yⱼαⱼk.
        let mut slope = y.clone();
        for _ in 0..PASSES * count {
            // yα can rise below its upper end, and fall above its lower one.
            let rises = |i: usize| if y[i] > 0.0 { alpha[i] < cost } else { alpha[i] > 0.0 };
            let falls = |i: usize| if y[i] > 0.0 { alpha[i] > 0.0 } else { alpha[i] < cost };
            let by_slope = |a: &usize, b: &usize| slope[*a].total_cmp(&slope[*b]);
            let up = (0..count).filter(|&i| rises(i)).max_by(by_slope);
            let down = (0..count).filter(|&i| falls(i)).min_by(by_slope);
            let (Some(up), Some(down)) = (up, down) else { return Err(Refused::NotConverged) };
            let violation = slope[up] - slope[down];
            if violation <= tolerance {
                let bias = 0.5 * (slope[up] + slope[down]);
                let coefficients: Vec<f64> = y.iter().zip(&alpha).map(|(y, a)| y * a).collect();
                // ½Σyα(y − slope) is ½α'Qα.
                let quadratic = (0..count).map(|i| coefficients[i] * (y[i] - slope[i]));
                let dual = alpha.iter().sum::<f64>() - 0.5 * quadratic.sum::<f64>();
                return Ok(Self { coefficients, bias, dual });
            }
            let curvature = gram[(up, up)] + gram[(down, down)] - 2.0 * gram[(up, down)];
            let room_up = if y[up] > 0.0 { cost - alpha[up] } else { alpha[up] };
            let room_down = if y[down] > 0.0 { alpha[down] } else { cost - alpha[down] };
            let wanted = violation / curvature.max(1e-12);
            let step = wanted.min(room_up).min(room_down);
            let ends = |i: usize, value: f64| {
                // Ends are reached exactly, so that rounding leaves no sliver.
                let value = if value < 1e-14 * cost { 0.0 } else { value };
                if value > cost * (1.0 - 1e-14) { (i, cost) } else { (i, value) }
            };
            for (i, value) in
                [ends(up, alpha[up] + y[up] * step), ends(down, alpha[down] - y[down] * step)]
            {
                alpha[i] = value;
            }
            for (i, slope) in slope.iter_mut().enumerate() {
                *slope -= step * (gram[(i, up)] - gram[(i, down)]);
            }
        }
        Err(Refused::NotConverged)
    }

    /// The machine of samples of any type. O(m²) kernel values, and as
    /// [`of_gram`](Self::of_gram).
    ///
    /// # Errors
    /// Those of [`of_gram`](Self::of_gram).
    pub fn new<T>(
        samples: &[T],
        labels: &[bool],
        kernel: impl Fn(&T, &T) -> f64,
        cost: f64,
    ) -> Result<Self, Refused> {
        check(samples.len(), labels, cost)?;
        Self::of_gram(&symmetric(&samples.iter().collect::<Vec<_>>(), kernel)?, labels, cost)
    }

    /// Σyᵢαᵢk(xᵢ, x) + b, given k(xᵢ, x) for each sample in order: above 0 for the first class.
    ///
    /// # Errors
    /// [`Refused::Ragged`] for another number of kernel values than of samples.
    pub fn decision(&self, kernel_values: impl IntoIterator<Item = f64>) -> Result<f64, Refused> {
        let (mut sum, mut found) = (self.bias, 0);
        for value in kernel_values {
            sum += self.coefficients.get(found).unwrap_or(&0.0) * value;
            found += 1;
        }
        same_dims(self.coefficients.len(), found)?;
        Ok(sum)
    }

    /// Number of samples with α > 0.
    #[must_use]
    pub fn supports(&self) -> usize {
        self.coefficients.iter().filter(|&&c| c != 0.0).count()
    }
}

/// What a linear machine minimises, and how exactly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Training {
    /// C: what a unit of hinge loss costs.
    pub cost: f64,
    /// B: the objective has ½b²/B². Large ones leave b free, but take more passes; of the size of the
    /// features, the fewest.
    pub bias_scale: f64,
    /// Solved if no sample's condition is violated by more, in units of the decision, whose margin
    /// is 1.
    pub tolerance: f64,
}

impl Training {
    /// With this C, B = 1, and decisions good to some 10⁻⁸.
    #[must_use]
    pub fn of_cost(cost: f64) -> Self {
        Self { cost, bias_scale: 1.0, tolerance: 1e-8 }
    }

    fn check(&self, samples: usize, labels: &[bool]) -> Result<Vec<f64>, Refused> {
        Refused::unless_positive("bias scale", self.bias_scale)?;
        Refused::unless_positive("tolerance", self.tolerance)?;
        check(samples, labels, self.cost)
    }
}

/// A linear machine over explicit features.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearMachine {
    /// w.
    pub weights: DVector<f64>,
    /// b.
    pub bias: f64,
}

impl LinearMachine {
    /// [`with`](Self::with) [`Training::of_cost`].
    ///
    /// # Errors
    /// Those of [`with`](Self::with).
    pub fn new(
        features: &DMatrix<f64>,
        labels: &[bool],
        cost: f64,
        generator: &mut Generator,
    ) -> Result<Self, Refused> {
        Self::with(features, labels, &Training::of_cost(cost), generator)
    }

    /// Dual coordinate descent (Hsieh and others, 2008) over features, a column for each sample:
    /// passes over all samples in random orders, O(mL) each, until no α can move.
    ///
    /// # Errors
    /// [`Refused::Ragged`] for another number of labels, [`Refused::Empty`] for an empty class,
    /// [`Refused::BadParameter`] unless C, B and the tolerance are positive, [`Refused::NotFinite`],
    /// [`Refused::NotConverged`].
    pub fn with(
        features: &DMatrix<f64>,
        labels: &[bool],
        training: &Training,
        generator: &mut Generator,
    ) -> Result<Self, Refused> {
        let y = training.check(features.ncols(), labels)?;
        Refused::unless_finite(features)?;
        // The square of the feature that b/B is the weight of.
        let constant = training.bias_scale * training.bias_scale;
        let (mut alpha, mut bias) = (vec![0.0_f64; y.len()], 0.0);
        let mut weights = DVector::zeros(features.nrows());
        for _ in 0..PASSES {
            let mut largest = 0.0_f64;
            for index in generator.order(y.len()) {
                let column = features.column(index);
                let curvature = column.norm_squared() + constant;
                let slope = y[index] * (weights.dot(&column) + bias) - 1.0;
                let next = (alpha[index] - slope / curvature).clamp(0.0, training.cost);
                let change = next - alpha[index];
                if change != 0.0 {
                    largest = largest.max(change.abs() * curvature);
                    alpha[index] = next;
                    weights.axpy(change * y[index], &column, 1.0);
                    bias += change * y[index] * constant;
                }
            }
            if largest <= training.tolerance {
                return Ok(Self { weights, bias });
            }
        }
        Err(Refused::NotConverged)
    }

    /// w'φ + b for the features of a sample: above 0 for the first class.
    ///
    /// # Errors
    /// [`Refused::Ragged`] for another number of features.
    pub fn decision(&self, features: &[f64]) -> Result<f64, Refused> {
        same_dims(self.weights.len(), features.len())?;
        let products = self.weights.iter().zip(features).map(|(w, f)| w * f);
        Ok(products.sum::<f64>() + self.bias)
    }

    /// The weights as a classifier on the device takes them (`fastmmd::embedding::Classifier`), where the
    /// features were [`Frequencies::columns`](crate::features::Frequencies::columns) of the device's own
    /// frequencies: for each frequency [w_cos, w_sin]/√L, because the device's points are (cos, sin) and
    /// these features are divided by √L. The bias stays as it is.
    ///
    /// ```
    /// use fastmmd_reference::features::Frequencies;
    /// use fastmmd_reference::{Points, generate::Generator, svm::LinearMachine};
    /// # fn main() -> Result<(), fastmmd_reference::Refused> {
    /// // In turns, as `FeatureMap` of the device has them.
    /// let frequencies = Frequencies::new(vec![vec![0.1], vec![0.25]])?;
    /// let points = Points::new(1, vec![-1.0, -0.8, 0.9, 1.1])?;
    /// let features = frequencies.columns(&points)?;
    /// let labels = [true, true, false, false];
    /// let machine = LinearMachine::new(&features, &labels, 10.0, &mut Generator::new(1))?;
    /// // On the device: Σ w·(cos, sin) + b over the points of a sample.
    /// let sample = [-0.9];
    /// let score: f64 = machine.bias
    ///     + (frequencies.rows().iter().zip(machine.pairs()?))
    ///         .map(|(turns, [cos, sin])| {
    ///             let angle = std::f64::consts::TAU * turns[0] * sample[0];
    ///             cos * angle.cos() + sin * angle.sin()
    ///         })
    ///         .sum::<f64>();
    /// let column = frequencies.columns(&Points::new(1, sample.to_vec())?)?;
    /// assert!((score - machine.decision(column.as_slice())?).abs() < 1e-12 && score > 0.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Refused::Ragged`] for an odd number of weights.
    pub fn pairs(&self) -> Result<Vec<[f64; 2]>, Refused> {
        let (pairs, rest) = self.weights.as_slice().as_chunks::<2>();
        same_dims(0, rest.len())?;
        let scale = real(pairs.len()).sqrt();
        Ok(pairs.iter().map(|pair| pair.map(|weight| weight / scale)).collect())
    }

    /// ½(‖w‖² + b²/B²) + C·Σ of hinge losses. O(mL).
    ///
    /// # Errors
    /// [`Refused::Ragged`] for other numbers of features or labels, and those of
    /// [`with`](Self::with) for the training.
    pub fn primal(
        &self,
        features: &DMatrix<f64>,
        labels: &[bool],
        training: &Training,
    ) -> Result<f64, Refused> {
        same_dims(self.weights.len(), features.nrows())?;
        let y = training.check(features.ncols(), labels)?;
        let scores = features.tr_mul(&self.weights);
        let losses = scores.iter().zip(&y).map(|(s, y)| (1.0 - y * (s + self.bias)).max(0.0));
        let size = self.weights.norm_squared() + (self.bias / training.bias_scale).powi(2);
        Ok(0.5 * size + training.cost * losses.sum::<f64>())
    }
}

#[cfg(test)]
mod tests;
