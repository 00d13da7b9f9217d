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
use crate::real;

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
    /// [`Refused::NotConverged`], as for a matrix that is not positive semidefinite.
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
            let (Some(up), Some(down)) = (up, down) else { return Err(Refused::NotConverged) };
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
    /// [`Refused::BadParameter`] unless C is positive, [`Refused::NotFinite`],
    /// [`Refused::NotConverged`].
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
                let margin = y * machine.decision(samples.iter().map(|z| kernel(z, x)))?;
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
        let decision = |x| judge.decision(samples.iter().map(|z| kernel(z, x)));
        let exact: Vec<f64> = fresh.iter().map(decision).collect::<Result<_, _>>()?;
        let right = exact.iter().zip(&truth).filter(|(d, label)| (**d > 0.0) == **label).count();
        tolerance::SVM_WRONG.hold_below("by the kernel", 1.0 - real(right) / real(truth.len()));
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

    /// λ and e(x) of Mercer's theorem for the kernel exp(−½(x − y)²) under N(0, 1), the first `count`
    /// (Zhu and others, 1998): λ = √(2a/A)·Bᵏ, and e(x) = exp(−(c − a)x²)·H(√(2c)x) over its norm, with
    /// Hermite's polynomials.
    fn mercer(x: f64, count: usize) -> Vec<(f64, f64)> {
        let (a, b) = (0.25_f64, 0.5);
        let c = (a * a + 2.0 * a * b).sqrt();
        let (whole, at) = (a + b + c, (2.0 * c).sqrt() * x);
        let mut lambda = (2.0 * a / whole).sqrt();
        // Divided by √(2ᵏ·k!), so that no polynomial overflows.
        let (mut last, mut now) = (0.0, (c / a).powf(0.25) * (-(c - a) * x * x).exp());
        let mut found = Vec::new();
        for k in 0..count {
            found.push((lambda, now));
            let next = real(k + 1);
            (last, now) = (now, (2.0 / next).sqrt() * at * now - (real(k) / next).sqrt() * last);
            lambda *= b / whole;
        }
        found
    }

    /// Mercer, at points that the eigenfunctions were not made from: the integral of the kernel times
    /// e is λe; what r of them leave of k(x, x) has the mean of the λ left out; the machine over r
    /// features is off by no more than what is left out; and many of them have the machine of the kernel.
    #[test]
    fn mercers_features_have_the_kernels_machine() -> Result<(), Refused> {
        const FEW: usize = 5;
        let kernel = |x: f64, y: f64| gaussian(1.0)(&[x], &[y]);
        // Sums of smooth functions in steps of .05 are integrals, to rounding.
        let line = || (-240..=240).map(|i| 0.05 * f64::from(i));
        let density = |x: f64| 0.05 * (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
        let identity = tolerance::REFERENCE_IDENTITY;
        for x in [-1.3, 0.0, 0.4, 2.1] {
            for (k, (lambda, own)) in mercer(x, FEW).into_iter().enumerate() {
                let sum: f64 =
                    line().map(|y| kernel(x, y) * mercer(y, FEW)[k].1 * density(y)).sum();
                identity.hold("∫k·e", sum, lambda * own);
            }
        }
        let part = |x: f64, y: f64, count: usize| -> f64 {
            let both = mercer(x, count).into_iter().zip(mercer(y, count));
            both.map(|((lambda, a), (_, b))| lambda * a * b).sum()
        };
        let left = |x: f64| kernel(x, x) - part(x, x, FEW);
        let total: f64 = line().map(|x| left(x) * density(x)).sum();
        let dropped: f64 = mercer(0.0, 60)[FEW..].iter().map(|(lambda, _)| lambda).sum();
        identity.hold("what is left", total, dropped);
        // The control: one λ more or less is seen.
        assert!(!identity.admits(total, dropped - mercer(0.0, 60)[FEW].0));

        let mut generator = Generator::new(74);
        let samples: Vec<f64> = (0..60).map(|_| generator.normal()).collect();
        let labels: Vec<bool> = samples.iter().map(|x| x.abs() < 0.7).collect();
        let machine = |count: usize| {
            let entry = |i: usize, j: usize| part(samples[i], samples[j], count);
            KernelMachine::of_gram(&DMatrix::from_fn(60, 60, entry), &labels, 1.0)
        };
        let exact = KernelMachine::new(&samples, &labels, |x, y| kernel(*x, *y), 1.0)?;
        tolerance::SVM_CONDITIONS.hold("many", machine(60)?.dual, exact.dual);
        // k less its part is a kernel: it takes ½c'(K − K_r)c off the dual at c.
        let few = machine(FEW)?;
        let sizes = few.coefficients.iter().zip(&samples).map(|(c, x)| c.abs() * left(*x).sqrt());
        let most = 0.5 * sizes.sum::<f64>().powi(2);
        let off = few.dual - exact.dual;
        println!("the dual by {FEW} features is {off:.4} above, at most {most:.4}");
        tolerance::BOUND_KEPT.hold_below("dual", off / most);
        tolerance::SVM_CONDITIONS.hold_below("below the kernel's", -off);
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
        let machine = KernelMachine::new(&two, &labels, kernel, 1.0).expect("two classes");
        for (values, found) in [(&[][..], 0), (&[1.0], 1), (&[1.0, 1.0, 1.0], 3)] {
            let ragged = Err(Refused::Ragged { expected: 2, found });
            assert_eq!(machine.decision(values.iter().copied()), ragged);
        }
        // One sample in both classes at almost any cost: each pass goes only a little further.
        let same = DMatrix::from_row_slice(1, 2, &[1.0, 1.0]);
        let endless = LinearMachine::new(&same, &labels, 1e12, generator);
        assert_eq!(endless, Err(Refused::NotConverged));
    }
}
