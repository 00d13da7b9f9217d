use super::*;
use crate::features::Frequencies;
use crate::kernel::gaussian;
use crate::{Points, real, tolerance};

/// Two rings: no line parts them.
fn rings(generator: &mut Generator, count: usize) -> (Vec<[f64; 2]>, Vec<bool>) {
    let one = |index: usize| {
        let radius = if index.is_multiple_of(2) { 1.0 } else { 2.2 } + 0.15 * generator.normal();
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

/// The linear machine is the minimum of its primal, for any scale of its bias: no other weights nearby
/// are better.
#[test]
fn the_linear_machine_is_the_minimum_of_its_primal() -> Result<(), Refused> {
    let mut generator = Generator::new(72);
    let (samples, labels) = rings(&mut generator, 60);
    let points = Points::new(2, samples.concat())?;
    let features = Frequencies::gaussian(&mut generator, 16, 2, 1.0)?.columns(&points)?;
    for bias_scale in [0.5, 1.0, 3.0] {
        let training = Training { bias_scale, ..Training::of_cost(1.0) };
        let machine = LinearMachine::with(&features, &labels, &training, &mut generator)?;
        let least = machine.primal(&features, &labels, &training)?;
        for _ in 0..200 {
            let mut other = machine.clone();
            other.weights.iter_mut().for_each(|w| *w += 1e-3 * generator.normal());
            other.bias += 1e-3 * generator.normal();
            assert!(other.primal(&features, &labels, &training)? > least);
        }
        // The kernel machine, whose bias costs nothing, is not above it.
        let free = KernelMachine::of_gram(&features.tr_mul(&features), &labels, 1.0)?;
        assert!(free.dual <= least + SOLVED.sqrt());
    }
    Ok(())
}

/// Coefficients yα of the machine with a kernel and no bias: 0 ≤ α ≤ C without Σyα = 0, by accelerated
/// gradient steps. It is the minimum, because the primal, ½c'Kc + C·Σ of hinge losses, is no larger than
/// the dual.
fn without_bias(gram: &DMatrix<f64>, labels: &[bool], cost: f64) -> DVector<f64> {
    let y =
        DVector::from_iterator(labels.len(), labels.iter().map(|&l| if l { 1.0 } else { -1.0 }));
    let largest = gram.symmetric_eigenvalues().max();
    let (mut alpha, mut ahead) = (DVector::zeros(y.len()), DVector::zeros(y.len()));
    for step in 0..20_000 {
        let slope = y.component_mul(&(gram * y.component_mul(&ahead))).map(|x| x - 1.0);
        let next: DVector<f64> = (&ahead - slope / largest).map(|a: f64| a.clamp(0.0, cost));
        ahead = &next + (&next - &alpha) * (real(step) / real(step + 3));
        alpha = next;
    }
    let coefficients = y.component_mul(&alpha);
    let scores = gram * &coefficients;
    let size = coefficients.dot(&scores);
    let losses: f64 = scores.iter().zip(&y).map(|(s, y)| (1.0 - y * s).max(0.0)).sum();
    let (primal, dual) = (0.5 * size + cost * losses, alpha.sum() - 0.5 * size);
    tolerance::SVM_CONDITIONS.hold("gap", (primal - dual) / primal, 0.0);
    coefficients
}

/// Root mean squares of differences, of each set of decisions from those of linear machines over
/// `count` frequencies, and the share of those of the first set that agree in sign.
fn apart<const N: usize>(
    generator: &mut Generator,
    count: usize,
    (samples, labels, cost): (&[[f64; 2]], &[bool], f64),
    fresh: &[[f64; 2]],
    judges: [&[f64]; N],
) -> Result<([f64; N], f64), Refused> {
    let (points, others) = (Points::new(2, samples.concat())?, Points::new(2, fresh.concat())?);
    let (mut off, mut agree, each) = ([0.0; N], 0.0, 1.0 / (6.0 * real(fresh.len())));
    for _ in 0..6 {
        let frequencies = Frequencies::gaussian(generator, count, 2, 1.0)?;
        let features = frequencies.columns(&points)?;
        let machine = LinearMachine::new(&features, labels, cost, generator)?;
        for (index, column) in frequencies.columns(&others)?.column_iter().enumerate() {
            let decision = machine.decision(column.as_slice())?;
            for (off, judge) in off.iter_mut().zip(judges) {
                *off += each * (decision - judge[index]).powi(2);
            }
            agree += each * f64::from(u8::from((decision > 0.0) == (judges[0][index] > 0.0)));
        }
    }
    println!("L = {count}: off by {:.4?}, agree in {agree:.3}", off.map(f64::sqrt));
    Ok((off.map(f64::sqrt), agree))
}

/// Mercer and the notes' aim: decisions approach those of the machine with the kernel k + 1 and no bias,
/// their difference as 1/√L, and agree in sign; also where one class is rare. Those of the machine with
/// the kernel k they do not approach then.
#[test]
fn decisions_approach_those_of_the_kernel_plus_one() -> Result<(), Refused> {
    let mut generator = Generator::new(73);
    // At so low a cost a class of ten moves the boundary little, and the bias decides.
    for (rare, cost) in [(false, 1.0), (true, 0.012)] {
        let (mut samples, mut labels) = rings(&mut generator, if rare { 200 } else { 100 });
        if rare {
            // One in ten of the inner ring.
            let mut keep = (0..200).map(|index| index % 2 == 1 || index % 20 == 0);
            samples.retain(|_| keep.next().unwrap_or(false));
            labels = (0..200).filter(|i| i % 2 == 1 || i % 20 == 0).map(|i| i % 2 == 0).collect();
        }
        let (fresh, truth) = rings(&mut generator, 200);
        let gram =
            DMatrix::from_fn(samples.len(), samples.len(), |i, j| kernel(&samples[i], &samples[j]));
        let judge = without_bias(&gram.add_scalar(1.0), &labels, cost);
        let plus_one: Vec<f64> = fresh
            .iter()
            .map(|x| samples.iter().zip(&judge).map(|(z, c)| c * (kernel(z, x) + 1.0)).sum())
            .collect();
        let free = KernelMachine::of_gram(&gram, &labels, cost)?;
        let with_bias: Vec<f64> = fresh
            .iter()
            .map(|x| free.decision(samples.iter().map(|z| kernel(z, x))))
            .collect::<Result<_, _>>()?;
        if !rare {
            let right = plus_one.iter().zip(&truth).filter(|(d, label)| (**d > 0.0) == **label);
            let wrong = 1.0 - real(right.count()) / real(truth.len());
            tolerance::SVM_WRONG.hold_below("by the kernel", wrong);
        }
        let judges = [plus_one.as_slice(), &with_bias];
        let set = (samples.as_slice(), labels.as_slice(), cost);
        let (few, _) = apart(&mut generator, 32, set, &fresh, judges)?;
        let (many, agree) = apart(&mut generator, 512, set, &fresh, judges)?;
        let fall = |judge: usize| (few[judge] / many[judge]).ln() / (real(512) / real(32)).ln();
        println!("rare: {rare}, falls as L^-{:.3} and L^-{:.3}", fall(0), fall(1));
        tolerance::SVM_FALL.hold("power of L", fall(0), 0.5);
        if rare {
            // The control: another machine's decisions are not approached.
            assert!(!tolerance::SVM_FALL.admits(fall(1), 0.5), "{}", fall(1));
        } else {
            tolerance::SVM_AGREE.hold_below("disagreement at L = 512", 1.0 - agree);
        }
    }
    Ok(())
}

/// With a large B the machine of features is that of their kernel, whose bias is free: the difference
/// falls as 1/B².
#[test]
fn a_large_bias_scale_frees_the_bias() -> Result<(), Refused> {
    let mut generator = Generator::new(76);
    let (mut samples, _) = rings(&mut generator, 80);
    let labels: Vec<bool> =
        (0..80).filter(|i| i % 2 == 1 || i % 20 == 0).map(|i| i % 2 == 0).collect();
    let mut keep = (0..80).map(|i| i % 2 == 1 || i % 20 == 0);
    samples.retain(|_| keep.next().unwrap_or(false));
    let points = Points::new(2, samples.concat())?;
    let features = Frequencies::gaussian(&mut generator, 16, 2, 1.0)?.columns(&points)?;
    let gram = features.tr_mul(&features);
    let free = KernelMachine::of_gram(&gram, &labels, 0.1)?;
    let mut errors = Vec::new();
    for bias_scale in [4.0, 8.0] {
        let training = Training { bias_scale, ..Training::of_cost(0.1) };
        let machine = LinearMachine::with(&features, &labels, &training, &mut generator)?;
        let mut off = 0.0_f64;
        for (own, column) in gram.column_iter().zip(features.column_iter()) {
            let expected = free.decision(own.iter().copied())?;
            off = off.max((machine.decision(column.as_slice())? - expected).abs());
        }
        println!("B = {bias_scale}: off by {off:.2e}");
        errors.push(off);
    }
    tolerance::SVM_BIAS_FALL.hold("power of B", (errors[0] / errors[1]).log2(), 2.0);
    Ok(())
}

/// Data in units a hundredth as large: with C/100² and 100·B, or for a kernel machine C/100², the
/// decisions are the same. With B as it was, b is hardly worth its cost, and it takes too many passes.
#[test]
fn units_change_nothing_if_cost_and_bias_scale_go_along() -> Result<(), Refused> {
    let mut generator = Generator::new(77);
    let labels: Vec<bool> = (0..60).map(|index| index % 3 == 0).collect();
    let columns = DMatrix::from_fn(2, 60, |_, index| {
        generator.normal() + if labels[index] { 1.2 } else { 0.0 }
    });
    let small = &columns * 100.0;
    let gram = |columns: &DMatrix<f64>| columns.tr_mul(columns);
    let own = KernelMachine::of_gram(&gram(&columns), &labels, 100.0)?;
    let scaled = KernelMachine::of_gram(&gram(&small), &labels, 0.01)?;
    // Solved less exactly, which is seen, and no more so than allowed.
    let coarse = KernelMachine::of_gram_within(&gram(&small), &labels, 0.01, 1e-3)?;
    tolerance::SVM_COARSE.hold("dual", coarse.dual / scaled.dual, 1.0);
    assert!(coarse != scaled);
    for (a, b) in gram(&columns).column_iter().zip(gram(&small).column_iter()) {
        let expected = own.decision(a.iter().copied())?;
        tolerance::SVM_UNITS.hold("by kernel", scaled.decision(b.iter().copied())?, expected);
    }
    let training = Training::of_cost(1.0);
    let own = LinearMachine::with(&columns, &labels, &training, &mut generator)?;
    let training = Training { cost: 1e-4, bias_scale: 100.0, ..training };
    let scaled = LinearMachine::with(&small, &labels, &training, &mut generator)?;
    for (a, b) in columns.column_iter().zip(small.column_iter()) {
        let expected = own.decision(a.as_slice())?;
        tolerance::SVM_UNITS.hold("linear", scaled.decision(b.as_slice())?, expected);
    }
    // The control.
    let training = Training { cost: 0.01, bias_scale: 1.0, ..training };
    let other = LinearMachine::with(&small, &labels, &training, &mut generator);
    assert_eq!(other, Err(Refused::NotConverged));
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
            let sum: f64 = line().map(|y| kernel(x, y) * mercer(y, FEW)[k].1 * density(y)).sum();
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
    for (name, training) in [
        ("bias scale", Training { bias_scale: 0.0, ..Training::of_cost(1.0) }),
        ("tolerance", Training { tolerance: f64::NAN, ..Training::of_cost(1.0) }),
    ] {
        let refused = LinearMachine::with(&features, &labels, &training, &mut Generator::new(1));
        assert_eq!(refused, Err(Refused::BadParameter { name }));
    }
    let refused = KernelMachine::of_gram_within(&DMatrix::identity(2, 2), &labels, 1.0, -1.0);
    assert_eq!(refused, Err(Refused::BadParameter { name: "tolerance" }));
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
