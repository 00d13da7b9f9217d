//! Null distributions: compares each method with a second computation, and checks its type-I error.

use fastmmd_reference::features::Frequencies;
use fastmmd_reference::generate::Generator;
use fastmmd_reference::kernel::gaussian;
use fastmmd_reference::null::{self, Estimate, Features, Gram, Null, Pool};
use fastmmd_reference::population::Normal;
use fastmmd_reference::tolerance::{self, Tolerance};
use fastmmd_reference::{Points, Refused, Weighted, b_test, data, exact, linear, real};

const BOTH: [Estimate; 2] = [Estimate::Biased, Estimate::Unbiased];

fn normals(generator: &mut Generator, count: usize, deviation: f64) -> Result<Points, Refused> {
    let law = Normal { mean: vec![0.0; 2], deviation: vec![deviation; 2] };
    data::normal(generator, count, &law)
}

/// The same pool twice: as features, and as the Gram matrix of their kernel.
fn twice(generator: &mut Generator) -> Result<(Features, Gram), Refused> {
    let (p, q) = (normals(generator, 30, 1.0)?, normals(generator, 20, 1.5)?);
    let frequencies = Frequencies::gaussian(generator, 16, 2, 1.0)?;
    let own_kernel = |x: &[f64], y: &[f64]| {
        let difference: Vec<f64> = x.iter().zip(y).map(|(a, b)| a - b).collect();
        frequencies.mean_cosine(&difference)
    };
    let features = Features::new(&frequencies, &p, &q)?;
    let gram = Gram::of_points(&p, &q, own_kernel)?;
    Ok((features, gram))
}

#[test]
fn features_and_their_gram_matrix_are_one_pool() -> Result<(), Refused> {
    let (features, gram) = twice(&mut Generator::new(1))?;
    let identity = tolerance::REFERENCE_IDENTITY;
    for estimate in BOTH {
        identity.hold("MMD²", features.mmd2(estimate)?, gram.mmd2(estimate)?);
    }
    identity.hold("Σλ", features.moments().trace, gram.moments().trace);
    identity.hold("Σλ²", features.moments().square, gram.moments().square);
    identity.hold("Σλ³", features.cube(), gram.cube());
    for (a, b) in features.eigenvalues().iter().zip(gram.eigenvalues()) {
        identity.hold("eigenvalue", *a, b);
    }
    // The same shuffles, so the same values.
    let at = |pool: &dyn Fn(&mut Generator) -> Result<Null, Refused>| {
        pool(&mut Generator::new(2))?.threshold(0.05)
    };
    for estimate in BOTH {
        let a = at(&|generator| null::permutation(&features, estimate, 199, generator))?;
        let b = at(&|generator| null::permutation(&gram, estimate, 199, generator))?;
        identity.hold("permutation", a, b);
        let a = at(&|generator| null::bootstrap(&features, estimate, 199, generator))?;
        let b = at(&|generator| null::bootstrap(&gram, estimate, 199, generator))?;
        identity.hold("bootstrap", a, b);
    }
    Ok(())
}

#[test]
fn a_pool_has_the_statistic_of_its_sets() -> Result<(), Refused> {
    let mut generator = Generator::new(3);
    let (p, q) = (normals(&mut generator, 30, 1.0)?, normals(&mut generator, 20, 1.5)?);
    let gram = Gram::of_points(&p, &q, gaussian(0.8))?;
    let (p, q) = (Weighted::even(p), Weighted::even(q));
    let identity = tolerance::REFERENCE_IDENTITY;
    let biased = exact::biased(&p, &q, gaussian(0.8))?;
    identity.hold("biased", gram.mmd2(Estimate::Biased)?, biased);
    let unbiased = exact::unbiased(&p, &q, gaussian(0.8))?;
    identity.hold("unbiased", gram.mmd2(Estimate::Unbiased)?, unbiased);
    Ok(())
}

/// Computes sums over different samples by three loops, with an explicitly centred kernel.
#[test]
fn moments_are_sums_over_different_samples() -> Result<(), Refused> {
    let (_, gram) = twice(&mut Generator::new(4))?;
    let k = gram.matrix();
    let size = k.nrows();
    let row = |i: usize| (0..size).map(|j| k[(i, j)]).sum::<f64>() / real(size);
    let rows: Vec<f64> = (0..size).map(row).collect();
    let all = rows.iter().sum::<f64>() / real(size);
    let centred = |i: usize, j: usize| k[(i, j)] - rows[i] - rows[j] + all;
    let (mut square, mut cube) = (0.0, 0.0);
    for i in 0..size {
        for j in (0..size).filter(|&j| j != i) {
            square += centred(i, j).powi(2);
            for l in (0..size).filter(|&l| l != i && l != j) {
                cube += centred(i, j) * centred(j, l) * centred(l, i);
            }
        }
    }
    let n = real(size);
    let identity = tolerance::REFERENCE_IDENTITY;
    identity.hold("Σλ²", gram.moments().square, square / (n * (n - 1.0)));
    identity.hold("Σλ³", gram.cube(), cube / (n * (n - 1.0) * (n - 2.0)));
    Ok(())
}

/// The four cumulants of (1/m + 1/n)·Σλz² by their definition: those of z² from its moments 1, 3, 15 and
/// 105, and Σλ to Σλ⁴ by loops over an explicitly centred kernel. The curve has those moments, by
/// integrating its tail.
#[test]
fn the_curve_by_four_has_the_moments_of_the_sum() -> Result<(), Refused> {
    let mut generator = Generator::new(14);
    let (p, q) = (normals(&mut generator, 14, 1.0)?, normals(&mut generator, 10, 1.5)?);
    let gram = Gram::of_points(&p, &q, gaussian(1.5))?;
    let (k, size) = (gram.matrix(), 24);
    let n = real(size);
    let row = |i: usize| (0..size).map(|j| k[(i, j)]).sum::<f64>() / n;
    let rows: Vec<f64> = (0..size).map(row).collect();
    let all = rows.iter().sum::<f64>() / n;
    let centred = |i: usize, j: usize| k[(i, j)] - rows[i] - rows[j] + all;
    let mut sums = [0.0; 4];
    for i in 0..size {
        sums[0] += centred(i, i) / (n - 1.0);
        for j in 0..size {
            for l in 0..size {
                let three = centred(i, j) * centred(j, l);
                if i != j && j != l && i != l {
                    sums[2] += three * centred(l, i) / (n * (n - 1.0) * (n - 2.0));
                }
                let four = (0..size).map(|h| three * centred(l, h) * centred(h, i));
                sums[3] += four.sum::<f64>() / n.powi(4);
            }
            sums[1] += if i == j { 0.0 } else { centred(i, j).powi(2) / (n * (n - 1.0)) };
        }
    }
    // Cumulants of z² from its moments about 0.
    let [m1, m2, m3, m4] = [1.0_f64, 3.0, 15.0, 105.0];
    let of_square = [
        m1,
        m2 - m1 * m1,
        m3 - 3.0 * m2 * m1 + 2.0 * m1.powi(3),
        m4 - 4.0 * m3 * m1 - 3.0 * m2 * m2 + 12.0 * m2 * m1 * m1 - 6.0 * m1.powi(4),
    ];
    let spread: f64 = 1.0 / 14.0 + 1.0 / 10.0;
    let power = |index: usize| spread.powi(i32::try_from(index).expect("small") + 1);
    let [mean, variance, third, fourth] =
        std::array::from_fn(|index| power(index) * of_square[index] * sums[index]);
    for (estimate, centre) in [(Estimate::Biased, mean), (Estimate::Unbiased, 0.0)] {
        let curve = null::pearson_by_four(&gram, estimate)?;
        let expected =
            Null::curve(centre, variance, third / variance.powf(1.5), fourth / variance.powi(2))?;
        for level in [0.5, 0.05, 0.001] {
            let ratio = curve.threshold(level)? / expected.threshold(level)?;
            tolerance::QUANTILE.hold("threshold", ratio, 1.0);
        }
        // In deviations, by parts.
        let deviation = variance.sqrt();
        let low = curve.threshold(1.0 - 1e-9)?;
        let (mut found, mut last) = ([0.0; 4], 1.0);
        for step in 0..10_000 {
            let x = low + 0.01 * deviation * (f64::from(step) + 0.5);
            let tail = curve.p_value(x + 0.005 * deviation);
            for (power, moment) in found.iter_mut().enumerate() {
                let power = i32::try_from(power).expect("small") + 1;
                *moment += ((x - centre) / deviation).powi(power) * (last - tail);
            }
            last = tail;
        }
        let limit = tolerance::CURVE_MOMENTS;
        limit.hold("mean", found[0], 0.0);
        limit.hold("variance", found[1], 1.0);
        limit.hold("skewness", found[2] / (third / variance.powf(1.5)), 1.0);
        limit.hold("kurtosis", found[3] / (3.0 + fourth / variance.powi(2)), 1.0);
    }
    Ok(())
}

type Method<P> = fn(&P, &mut Generator) -> Result<Null, Refused>;

/// All methods over one kind of pool, with the limit on their type-I error.
fn methods<P: Pool>() -> [(&'static str, Tolerance, Method<P>); 6] {
    use Estimate::Unbiased;
    let (resampled, asymptotic) = (tolerance::NULL_RESAMPLED, tolerance::NULL_ASYMPTOTIC);
    [
        ("permutation", resampled, |pool, g| null::permutation(pool, Unbiased, 199, g)),
        ("bootstrap", resampled, |pool, g| null::bootstrap(pool, Unbiased, 199, g)),
        ("spectrum", asymptotic, |pool, g| null::spectrum(pool, Unbiased, 199, g)),
        ("Pearson", asymptotic, |pool, _| null::pearson(pool, Unbiased)),
        ("Pearson by four", asymptotic, |pool, _| null::pearson_by_four(pool, Unbiased)),
        ("Gamma", asymptotic, |pool, _| null::gamma(pool, Unbiased)),
    ]
}

/// Share of trials in which each method rejects equality at a level of 0.05.
fn rejected<P: Pool>(
    seed: u64,
    trials: usize,
    deviation: f64,
    pool: impl Fn(&Points, &Points, &mut Generator) -> Result<P, Refused>,
) -> Result<Vec<(&'static str, Tolerance, f64)>, Refused> {
    let mut counts = methods::<P>().map(|(name, limit, _)| (name, limit, 0.0));
    let mut generator = Generator::new(seed);
    for _ in 0..trials {
        let p = normals(&mut generator, 60, 1.0)?;
        let q = normals(&mut generator, 40, deviation)?;
        let pool = pool(&p, &q, &mut generator)?;
        let statistic = pool.mmd2(Estimate::Unbiased)?;
        for ((_, _, count), (_, _, method)) in counts.iter_mut().zip(methods::<P>()) {
            let above = statistic > method(&pool, &mut generator)?.threshold(0.05)?;
            *count += f64::from(u8::from(above)) / real(trials);
        }
    }
    Ok(counts.to_vec())
}

fn features(p: &Points, q: &Points, generator: &mut Generator) -> Result<Features, Refused> {
    Features::new(&Frequencies::gaussian(generator, 32, 2, 1.0)?, p, q)
}

#[test]
fn type_i_error_is_that_promised() -> Result<(), Refused> {
    let exact = rejected(5, 500, 1.0, |p, q, _| Gram::of_points(p, q, gaussian(1.0)))?;
    let approximate = rejected(6, 500, 1.0, features)?;
    for (pool, shares) in [("exact", exact), ("features", approximate)] {
        for (name, limit, share) in shares {
            println!("{pool} {name}: {share:.3}");
            limit.hold(&format!("{pool} {name}"), share, 0.05);
        }
    }
    Ok(())
}

/// 900 samples: 450 terms of MMD-linear, 30 blocks of the B-test.
#[test]
fn type_i_error_of_linear_and_b_test() -> Result<(), Refused> {
    let mut generator = Generator::new(10);
    let (mut by_terms, mut by_blocks) = (0.0, 0.0);
    for _ in 0..300 {
        let (p, q) = (normals(&mut generator, 900, 1.0)?, normals(&mut generator, 900, 1.0)?);
        let terms = linear::terms(&p, &q, gaussian(1.0))?;
        let blocks = b_test::blocks(&p, &q, b_test::usual_block(900), gaussian(1.0))?;
        for (values, count) in [(terms, &mut by_terms), (blocks, &mut by_blocks)] {
            let (mean, null) = null::mean_of_independent(&values)?;
            *count += f64::from(u8::from(mean > null.threshold(0.05)?)) / 300.0;
        }
    }
    tolerance::NULL_NORMAL.hold("MMD-linear", by_terms, 0.05);
    tolerance::NULL_NORMAL.hold("B-test", by_blocks, 0.05);
    // The control: a change that the B-test must find.
    let (p, q) = (normals(&mut generator, 900, 1.0)?, normals(&mut generator, 900, 2.0)?);
    let blocks = b_test::blocks(&p, &q, b_test::usual_block(900), gaussian(1.0))?;
    let (mean, null) = null::mean_of_independent(&blocks)?;
    assert!(mean > null.threshold(0.05)?);
    assert_eq!(null::mean_of_independent(&[1.0]).err(), Some(Refused::TooFewSamples));
    assert_eq!(null::mean_of_independent(&[1.0; 3]).err(), Some(Refused::Constant));
    assert_eq!(null::mean_of_independent(&[f64::NAN; 3]).err(), Some(Refused::NotFinite));
    Ok(())
}

/// The control: a change that all methods must find, so that none passes by never rejecting.
#[test]
fn a_change_is_seen() -> Result<(), Refused> {
    let exact = rejected(7, 100, 2.5, |p, q, _| Gram::of_points(p, q, gaussian(1.0)))?;
    let approximate = rejected(8, 100, 2.5, features)?;
    for (name, _, share) in exact.into_iter().chain(approximate) {
        tolerance::NULL_CONTROL.hold_below(name, 1.0 - share);
    }
    Ok(())
}

#[test]
fn the_distribution_free_bound_is_above_all() -> Result<(), Refused> {
    let (_, gram) = twice(&mut Generator::new(9))?;
    let free = null::distribution_free(20)?;
    for (name, _, method) in methods::<Gram>() {
        let own = method(&gram, &mut Generator::new(1))?.threshold(0.05)?;
        assert!(free.threshold(0.05)? > own, "{name}");
    }
    Ok(())
}

#[test]
fn bad_input_is_refused_by_name() -> Result<(), Refused> {
    let kernel = |x: &f64, y: &f64| (-(x - y).abs()).exp();
    assert_eq!(Gram::new(&[], &[1.0, 2.0], kernel), Err(Refused::Empty));
    assert_eq!(Gram::new(&[1.0], &[1.0, 2.0], kernel), Err(Refused::TooFewSamples));
    let nan = Gram::new(&[1.0, 2.0], &[f64::NAN, 2.0], kernel);
    assert_eq!(nan, Err(Refused::NotFinite));
    let constant = Gram::new(&[1.0, 1.0], &[1.0, 1.0], kernel)?;
    let generator = &mut Generator::new(1);
    for estimate in BOTH {
        assert_eq!(null::pearson(&constant, estimate), Err(Refused::Constant));
        assert_eq!(null::pearson_by_four(&constant, estimate), Err(Refused::Constant));
        assert_eq!(null::gamma(&constant, estimate), Err(Refused::Constant));
        let spectrum = null::spectrum(&constant, estimate, 9, generator);
        assert_eq!(spectrum, Err(Refused::Constant));
        let none = Err(Refused::BadParameter { name: "draws" });
        assert_eq!(null::permutation(&constant, estimate, 0, generator), none);
        assert_eq!(null::bootstrap(&constant, estimate, 0, generator), none);
    }
    assert_eq!(null::distribution_free(1), Err(Refused::TooFewSamples));
    assert!(matches!(Features::from_values([2, 2], vec![1.0; 7]), Err(Refused::Ragged { .. })));
    assert_eq!(Features::from_values([2, 2], vec![]), Err(Refused::Empty));
    assert_eq!(Features::from_values([2, 2], vec![f64::INFINITY; 4]), Err(Refused::NotFinite));
    let frequencies = Frequencies::gaussian(generator, 4, 2, 1.0)?;
    let line = Points::new(1, vec![0.0; 4])?;
    assert!(matches!(Features::new(&frequencies, &line, &line), Err(Refused::Ragged { .. })));
    let bad = Frequencies::gaussian(generator, 4, 2, 0.0);
    assert_eq!(bad, Err(Refused::BadParameter { name: "bandwidth" }));
    Ok(())
}

/// With few different values many draws are equal; rounding must not make a threshold separate
/// them.
#[test]
fn ties_keep_the_level() -> Result<(), Refused> {
    const TRIALS: usize = 400;
    let mut generator = Generator::new(20);
    for estimate in [Estimate::Biased, Estimate::Unbiased] {
        let mut rejected = [0; 2];
        for _ in 0..TRIALS {
            let mut set = || [0; 5].map(|_| 0.7 * f64::from(u8::from(generator.normal() > 0.0)));
            let (p, q) = (set(), set());
            let pool = Gram::new(&p, &q, |x: &f64, y: &f64| (-0.5 * (x - y) * (x - y)).exp())?;
            let null = null::permutation(&pool, estimate, 199, &mut generator)?;
            let statistic = pool.mmd2(estimate)?;
            rejected[0] += usize::from(statistic > null.threshold(0.05)?);
            rejected[1] += usize::from(null.p_value(statistic) <= 0.05);
        }
        // The same by either rule, and within three deviations of a share of 0.05.
        assert_eq!(rejected[0], rejected[1], "{estimate:?}");
        assert!(rejected[0] <= 33, "{estimate:?} {rejected:?}");
    }
    Ok(())
}
