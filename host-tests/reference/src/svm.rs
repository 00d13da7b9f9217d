//! Support vector machines (the kernel notes, section 1): the machine with a kernel, exact, and the
//! linear machine over explicit features, which approaches it as features are added.
//!
//! Both have the hinge loss: ½‖w‖² + C·Σmax(0, 1 − yᵢ(w'φ(xᵢ) + b)), labels y = ±1. The kernel machine
//! has the free b of the notes. The linear one treats b as the weight of one more feature that is
//! always 1, as is usual for coordinate descent, so ‖w‖ includes b.

use nalgebra::{DMatrix, DVector};

use crate::error::Refused;
use crate::generate::Generator;
use crate::null::symmetric;
use crate::points::same_dims;

/// Largest number of passes over all samples, or of steps per sample.
const PASSES: usize = 20_000;

/// A machine is solved if no constraint of the dual is violated by more.
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
    /// steps along the pair that violates its conditions most (sequential minimal optimisation).
    /// O(m) for each step.
    ///
    /// # Errors
    /// [`Refused::Ragged`] unless the matrix is m × m for m labels, [`Refused::Empty`] for an empty
    /// class, [`Refused::BadParameter`] unless C is positive, [`Refused::NotFinite`], and
    /// [`Refused::Singular`] if it does not converge, as for a matrix that is not positive
    /// semidefinite.
    pub fn of_gram(gram: &DMatrix<f64>, labels: &[bool], cost: f64) -> Result<Self, Refused> {
        same_dims(gram.nrows(), gram.ncols())?;
        let y = check(gram.nrows(), labels, cost)?;
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
            let (Some(up), Some(down)) = (up, down) else { return Err(Refused::Singular) };
            let violation = slope[up] - slope[down];
            if violation <= SOLVED {
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
        Err(Refused::Singular)
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
    #[must_use]
    pub fn decision(&self, kernel_values: impl IntoIterator<Item = f64>) -> f64 {
        let products = self.coefficients.iter().zip(kernel_values).map(|(c, k)| c * k);
        products.sum::<f64>() + self.bias
    }

    /// Number of samples with α > 0.
    #[must_use]
    pub fn supports(&self) -> usize {
        self.coefficients.iter().filter(|&&c| c != 0.0).count()
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
    /// Dual coordinate descent (Hsieh and others, 2008) over features, a column for each sample:
    /// passes over all samples in random orders, O(mL) each, until no α can move.
    ///
    /// # Errors
    /// [`Refused::Ragged`] for another number of labels, [`Refused::Empty`] for an empty class,
    /// [`Refused::BadParameter`] unless C is positive, [`Refused::NotFinite`], [`Refused::Singular`]
    /// if it does not converge.
    pub fn new(
        features: &DMatrix<f64>,
        labels: &[bool],
        cost: f64,
        generator: &mut Generator,
    ) -> Result<Self, Refused> {
        /// Smallest violation that matters: decisions are good to its order.
        const ENOUGH: f64 = 1e-8;
        let y = check(features.ncols(), labels, cost)?;
        Refused::unless_finite(features)?;
        let (mut alpha, mut bias) = (vec![0.0_f64; y.len()], 0.0);
        let mut weights = DVector::zeros(features.nrows());
        for _ in 0..PASSES {
            let mut largest = 0.0_f64;
            for index in generator.order(y.len()) {
                let column = features.column(index);
                let curvature = column.norm_squared() + 1.0;
                let slope = y[index] * (weights.dot(&column) + bias) - 1.0;
                let next = (alpha[index] - slope / curvature).clamp(0.0, cost);
                let change = next - alpha[index];
                if change != 0.0 {
                    largest = largest.max(change.abs() * curvature);
                    alpha[index] = next;
                    weights.axpy(change * y[index], &column, 1.0);
                    bias += change * y[index];
                }
            }
            if largest <= ENOUGH {
                return Ok(Self { weights, bias });
            }
        }
        Err(Refused::Singular)
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

    /// ½(‖w‖² + b²) + C·Σ of hinge losses. O(mL).
    ///
    /// # Errors
    /// [`Refused::Ragged`] for other numbers of features or labels.
    pub fn primal(
        &self,
        features: &DMatrix<f64>,
        labels: &[bool],
        cost: f64,
    ) -> Result<f64, Refused> {
        same_dims(self.weights.len(), features.nrows())?;
        let y = check(features.ncols(), labels, cost)?;
        let scores = features.tr_mul(&self.weights);
        let losses = scores.iter().zip(&y).map(|(s, y)| (1.0 - y * (s + self.bias)).max(0.0));
        let size = self.weights.norm_squared() + self.bias * self.bias;
        Ok(0.5 * size + cost * losses.sum::<f64>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Frequencies;
    use crate::kernel::gaussian;
    use crate::{Points, real, tolerance};

    /// Two rings: no line parts them.
    fn rings(generator: &mut Generator, count: usize) -> (Vec<[f64; 2]>, Vec<bool>) {
        let one = |index: usize| {
            let radius =
                if index.is_multiple_of(2) { 1.0 } else { 2.2 } + 0.15 * generator.normal();
            let angle = std::f64::consts::TAU * generator.uniform();
            [radius * angle.cos(), radius * angle.sin()]
        };
        ((0..count).map(one).collect(), (0..count).map(|index| index.is_multiple_of(2)).collect())
    }

    fn kernel(x: &[f64; 2], y: &[f64; 2]) -> f64 {
        gaussian(1.0)(x, y)
    }

    /// Optimality without the solver's own quantities: margins of samples at 0, at C and between.
    #[test]
    fn the_kernel_machine_keeps_its_conditions() -> Result<(), Refused> {
        let (samples, labels) = rings(&mut Generator::new(71), 80);
        for cost in [0.1, 1.0, 50.0] {
            let machine = KernelMachine::new(&samples, &labels, kernel, cost)?;
            let sum: f64 = machine.coefficients.iter().sum();
            tolerance::SVM_CONDITIONS.hold("Σyα", sum, 0.0);
            let mut losses = 0.0;
            for (index, (x, &label)) in samples.iter().zip(&labels).enumerate() {
                let y = if label { 1.0 } else { -1.0 };
                let margin = y * machine.decision(samples.iter().map(|z| kernel(z, x)));
                let alpha = y * machine.coefficients[index];
                assert!((0.0..=cost).contains(&alpha));
                losses += (1.0 - margin).max(0.0);
                if alpha > 0.0 {
                    tolerance::SVM_CONDITIONS.hold_below("above the margin", margin - 1.0);
                }
                if alpha < cost {
                    tolerance::SVM_CONDITIONS.hold_below("below the margin", 1.0 - margin);
                }
            }
            // The dual is as large as the primal.
            let gram = DMatrix::from_fn(80, 80, |i, j| kernel(&samples[i], &samples[j]));
            let c = DVector::from_column_slice(&machine.coefficients);
            let primal = 0.5 * c.dot(&(&gram * &c)) + cost * losses;
            tolerance::SVM_CONDITIONS.hold("gap", (primal - machine.dual) / primal, 0.0);
            assert!(machine.supports() < 80 || cost < 1.0);
        }
        Ok(())
    }

    /// The linear machine over features whose products are a kernel is the kernel machine of that
    /// kernel plus 1, by the primal: no other weights nearby are better.
    #[test]
    fn the_linear_machine_is_the_minimum_of_its_primal() -> Result<(), Refused> {
        let mut generator = Generator::new(72);
        let (samples, labels) = rings(&mut generator, 60);
        let points = Points::new(2, samples.concat())?;
        let features = Frequencies::gaussian(&mut generator, 16, 2, 1.0)?.columns(&points)?;
        let machine = LinearMachine::new(&features, &labels, 1.0, &mut generator)?;
        let least = machine.primal(&features, &labels, 1.0)?;
        for _ in 0..200 {
            let mut other = machine.clone();
            other.weights.iter_mut().for_each(|w| *w += 1e-3 * generator.normal());
            other.bias += 1e-3 * generator.normal();
            assert!(other.primal(&features, &labels, 1.0)? > least);
        }
        // The dual with the kernel plus 1 has no constraint; its value is that of the primal. The
        // kernel machine, whose bias is free, is not above it.
        let gram = features.tr_mul(&features);
        let free = KernelMachine::of_gram(&gram, &labels, 1.0)?;
        assert!(free.dual <= least + SOLVED.sqrt());
        Ok(())
    }

    /// Mercer and the notes' aim: decisions approach those of the kernel machine, their difference as
    /// 1/√L, and agree in sign.
    #[test]
    fn decisions_approach_those_of_the_kernel() -> Result<(), Refused> {
        let mut generator = Generator::new(73);
        let (samples, labels) = rings(&mut generator, 100);
        let (fresh, truth) = rings(&mut generator, 200);
        let judge = KernelMachine::new(&samples, &labels, kernel, 1.0)?;
        let exact: Vec<f64> =
            fresh.iter().map(|x| judge.decision(samples.iter().map(|z| kernel(z, x)))).collect();
        let right = exact.iter().zip(&truth).filter(|(d, label)| (**d > 0.0) == **label).count();
        assert!(right >= 190, "{right} of 200 by the kernel");
        let (points, others) = (Points::new(2, samples.concat())?, Points::new(2, fresh.concat())?);
        let mut errors = Vec::new();
        for count in [32, 512] {
            let (mut off, mut agree) = (0.0, 0.0);
            for _ in 0..6 {
                let frequencies = Frequencies::gaussian(&mut generator, count, 2, 1.0)?;
                let features = frequencies.columns(&points)?;
                let machine = LinearMachine::new(&features, &labels, 1.0, &mut generator)?;
                for (column, exact) in frequencies.columns(&others)?.column_iter().zip(&exact) {
                    let decision = machine.decision(column.as_slice())?;
                    off += (decision - exact).powi(2) / (6.0 * 200.0);
                    agree +=
                        f64::from(u8::from((decision > 0.0) == (*exact > 0.0))) / (6.0 * 200.0);
                }
            }
            println!("L = {count}: off by {:.4}, agree in {agree:.3}", off.sqrt());
            errors.push((off.sqrt(), agree));
        }
        let fall = (errors[0].0 / errors[1].0).ln() / (real(512) / real(32)).ln();
        tolerance::SVM_FALL.hold("power of L", fall, 0.5);
        tolerance::SVM_AGREE.hold_below("disagreement at L = 512", 1.0 - errors[1].1);
        Ok(())
    }

    /// Mercer: a kernel is Σλe(x)e(y) over eigenfunctions; of a Gram matrix, over eigenvectors, of
    /// which few are enough. Its feature map √λe has the machine of the kernel.
    #[test]
    fn mercers_features_have_the_kernels_machine() -> Result<(), Refused> {
        let (samples, labels) = rings(&mut Generator::new(74), 60);
        let gram = DMatrix::from_fn(60, 60, |i, j| kernel(&samples[i], &samples[j]));
        let eigen = gram.clone().symmetric_eigen();
        assert!(eigen.eigenvalues.iter().all(|l| *l > -tolerance::REFERENCE_IDENTITY.limit));
        let roots = DMatrix::from_diagonal(&eigen.eigenvalues.map(|l| l.max(0.0).sqrt()));
        let features = roots * eigen.eigenvectors.transpose();
        let again = features.tr_mul(&features);
        let off = (&again - &gram).amax();
        tolerance::REFERENCE_IDENTITY.hold("k(x, y)", off, 0.0);
        let [a, b] = [&gram, &again].map(|gram| KernelMachine::of_gram(gram, &labels, 1.0));
        tolerance::SVM_CONDITIONS.hold("dual", a?.dual, b?.dual);
        Ok(())
    }

    /// The notes' example 1: MMD² with the kernel x'y is the squared distance of the means.
    #[test]
    fn a_linear_kernel_compares_means() -> Result<(), Refused> {
        let mut generator = Generator::new(75);
        let mut set = |mean: f64, count: usize| {
            let values = (0..2 * count).map(|_| mean + generator.normal()).collect();
            Points::new(2, values).map(crate::Weighted::even)
        };
        let (p, q) = (set(0.0, 30)?, set(1.5, 20)?);
        let linear = crate::selection::linear_kernel;
        let mean = |set: &crate::Weighted, c: usize| -> f64 {
            set.points().rows().map(|row| row[c]).sum::<f64>() / real(set.points().len())
        };
        let apart: f64 = (0..2).map(|c| (mean(&p, c) - mean(&q, c)).powi(2)).sum();
        let value = crate::exact::biased(&p, &q, linear)?;
        tolerance::REFERENCE_IDENTITY.hold("MMD²", value, apart);
        Ok(())
    }

    #[test]
    fn bad_input_is_refused_by_name() {
        let (two, labels) = ([[0.0, 0.0], [1.0, 0.0]], [true, false]);
        let bad = Err(Refused::BadParameter { name: "cost" });
        assert_eq!(KernelMachine::new(&two, &labels, kernel, 0.0), bad);
        assert_eq!(KernelMachine::new(&two, &[true, true], kernel, 1.0), Err(Refused::Empty));
        assert!(KernelMachine::new(&two, &[true], kernel, 1.0).is_err());
        let nan = [[f64::NAN, 0.0], [1.0, 0.0]];
        assert_eq!(KernelMachine::new(&nan, &labels, kernel, 1.0), Err(Refused::NotFinite));
        let features = DMatrix::from_row_slice(1, 2, &[0.0, 1.0]);
        let generator = &mut Generator::new(1);
        assert!(LinearMachine::new(&features, &[true], 1.0, generator).is_err());
        let machine = LinearMachine::new(&features, &labels, 1.0, generator);
        assert!(machine.is_ok_and(|machine| machine.decision(&[]).is_err()));
    }
}
