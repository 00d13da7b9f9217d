//! The toolbox returns a typed error for everything that it cannot compute: bad shapes, empty sets,
//! single rows, NaN, sums that overflow, singular matrices. Nothing panics.

use fastmmd_reference::bounds::{self, Form, Region};
use fastmmd_reference::circular::{Distance, Ensemble, Norm};
use fastmmd_reference::cliques::DependenceWitness;
use fastmmd_reference::features::Frequencies;
use fastmmd_reference::generate::Generator;
use fastmmd_reference::graph::{Graph, shortest_path_kernel};
use fastmmd_reference::hsic::{ExactPairs, FeaturePairs, Pairs};
use fastmmd_reference::kernel::gaussian;
use fastmmd_reference::matching::match_means;
use fastmmd_reference::mixture;
use fastmmd_reference::null::{self, Estimate, Features, Gram, Null, Pool};
use fastmmd_reference::nystrom::{self, Nystrom};
use fastmmd_reference::population::Normal;
use fastmmd_reference::scores;
use fastmmd_reference::selection;
use fastmmd_reference::simplex;
use fastmmd_reference::tolerance;
use fastmmd_reference::{Points, Refused, b_test, data, linear};
use nalgebra::{DMatrix, DVector};

use Refused::{BadLevel, BadWeight, Constant, Empty, NotAPermutation, NotFinite};
use Refused::{NotProven, Ragged, Singular, TooFewSamples};

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;
const BOTH: [Estimate; 2] = [Estimate::Biased, Estimate::Unbiased];

/// Larger than the square root of the largest number: its square is infinite.
const HUGE: f64 = 1e200;

fn bad(name: &'static str) -> Refused {
    Refused::BadParameter { name }
}

/// The kernel of the paper on numbers.
fn k(x: &f64, y: &f64) -> f64 {
    gaussian(1.0)(&[*x], &[*y])
}

/// x·y, which is as large as its arguments.
fn product(x: &f64, y: &f64) -> f64 {
    x * y
}

/// One line of a table: the case, the error, and the expected error.
type Line = (&'static str, Option<Refused>, Refused);

fn line<T>(what: &'static str, answer: Result<T, Refused>, refusal: Refused) -> Line {
    (what, answer.err(), refusal)
}

fn hold(table: &[Line]) {
    for (what, answer, refusal) in table {
        assert_eq!(*answer, Some(*refusal), "{what}");
    }
}

fn points(dims: usize, values: &[f64]) -> Points {
    Points::new(dims, values.to_vec()).expect("whole rows")
}

/// Values that a set refuses need not be checked by any function.
#[test]
fn sets() {
    hold(&[
        line("NaN", Points::new(1, vec![0.0, NAN]), NotFinite),
        line("infinity", Points::new(1, vec![-INF]), NotFinite),
        line("half a row", Points::new(2, vec![0.0; 3]), Ragged { expected: 2, found: 1 }),
        line("no values", Points::new(2, vec![]), Empty),
        line("no channels", Points::new(0, vec![1.0]), Empty),
        line("single precision", Points::from_arrays(&[[f32::NAN]]), NotFinite),
        line(
            "two means and one deviation",
            data::normal(
                &mut Generator::new(1),
                4,
                &Normal { mean: vec![0.0; 2], deviation: vec![1.0] },
            ),
            Ragged { expected: 2, found: 1 },
        ),
    ]);
}

#[test]
fn pools_and_null_distributions() -> Result<(), Refused> {
    let two = [0.0, 1.0];
    let frequencies = Frequencies::gaussian(&mut Generator::new(1), 4, 1, 1.0)?;
    let (one, set) = (points(1, &[0.0]), points(1, &two));
    let plane = points(2, &[0.0; 4]);
    hold(&[
        line("points of none", Points::new(1, vec![]), Empty),
        line("points without channels", Points::new(0, vec![1.0]), Empty),
        line("half a row", Points::new(2, vec![1.0; 3]), Ragged { expected: 2, found: 1 }),
        line("an empty set", Gram::new(&[], &two, k), Empty),
        line("another", Gram::new(&two, &[], k), Empty),
        line("one row", Gram::new(&[0.0], &two, k), TooFewSamples),
        line("NaN", Gram::new(&two, &[0.0, NAN], k), NotFinite),
        line("∞", Gram::new(&two, &[0.0, INF], product), NotFinite),
        line(
            "plane and line",
            Gram::of_points(&plane, &set, gaussian(1.0)),
            Ragged { expected: 2, found: 1 },
        ),
        line("one row of points", Gram::of_points(&one, &set, gaussian(1.0)), TooFewSamples),
        line(
            "features of a plane",
            Features::new(&frequencies, &plane, &plane),
            Ragged { expected: 1, found: 2 },
        ),
        line("features of one row", Features::new(&frequencies, &set, &one), TooFewSamples),
        line("no features", Features::from_values([2, 2], vec![]), Empty),
        line(
            "features of half a sample",
            Features::from_values([2, 2], vec![0.0; 7]),
            Ragged { expected: 4, found: 3 },
        ),
        line("more samples than numbers", Features::from_values([usize::MAX, 2], vec![0.0]), Empty),
        line(
            "no bandwidth",
            Frequencies::gaussian(&mut Generator::new(1), 4, 1, 0.0),
            bad("bandwidth"),
        ),
        line("no frequencies", Frequencies::gaussian(&mut Generator::new(1), 0, 1, 1.0), Empty),
        line("no channels", Frequencies::gaussian(&mut Generator::new(1), 1, 0, 1.0), Empty),
        line("one sample, for all distributions", null::distribution_free(1), TooFewSamples),
        line("one value", null::mean_of_independent(&[1.0]), TooFewSamples),
        line("equal values", null::mean_of_independent(&[1.0; 5]), Constant),
        line("a value that is none", null::mean_of_independent(&[1.0, NAN]), NotFinite),
        line("values that overflow", null::mean_of_independent(&[HUGE, -HUGE]), NotFinite),
        line("one row, MMD-linear", linear::terms(&one, &set, gaussian(1.0)), TooFewSamples),
        line("no block", b_test::blocks(&set, &set, 0, gaussian(1.0)), TooFewSamples),
        line("a block too long", b_test::blocks(&set, &set, 3, gaussian(1.0)), TooFewSamples),
    ]);
    Ok(())
}

/// Every method over degenerate pools.
#[test]
fn thresholds_of_degenerate_pools() -> Result<(), Refused> {
    type Method<P> = fn(&P, Estimate, usize, &mut Generator) -> Result<Null, Refused>;
    fn all<P: Pool>() -> [(&'static str, bool, Method<P>); 6] {
        [
            ("permutation", true, |p, e, n, g| null::permutation(p, e, n, g)),
            ("bootstrap", true, |p, e, n, g| null::bootstrap(p, e, n, g)),
            ("spectrum", true, |p, e, n, g| null::spectrum(p, e, n, g)),
            ("pearson", false, |p, e, _, _| null::pearson(p, e)),
            ("pearson by four", false, |p, e, _, _| null::pearson_by_four(p, e)),
            ("gamma", false, |p, e, _, _| null::gamma(p, e)),
        ]
    }
    fn try_all<P: Pool>(good: &P, constant: &P, generator: &mut Generator) {
        for (name, draws, method) in all::<P>() {
            for estimate in BOTH {
                let null = method(good, estimate, 9, generator).expect("a good pool");
                for level in [0.0, 1.0, -0.1, 1.1, NAN, INF] {
                    assert_eq!(null.threshold(level), Err(BadLevel), "{name} at {level}");
                }
                for factor in [0.0, -1.0, NAN, INF] {
                    assert_eq!(null.clone().scaled(factor), Err(bad("factor")), "{name}");
                }
                assert!(null.p_value(NAN).is_nan(), "{name}");
                if draws {
                    assert_eq!(method(good, estimate, 0, generator), Err(bad("draws")), "{name}");
                }
                let constant = method(constant, estimate, 9, generator);
                let theory = !matches!(name, "permutation" | "bootstrap");
                // Shuffling equal rows has a distribution: always 0.
                assert!(!theory || constant == Err(Constant), "{name}: {constant:?}");
            }
        }
    }
    let generator = &mut Generator::new(2);
    let sets = ([0.0, 1.0, 2.5], [0.5, 3.0]);
    let same = ([1.0, 1.0, 1.0], [1.0, 1.0]);
    try_all(&Gram::new(&sets.0, &sets.1, k)?, &Gram::new(&same.0, &same.1, k)?, generator);
    let frequencies = Frequencies::gaussian(generator, 4, 1, 1.0)?;
    let pool =
        |(p, q): &([f64; 3], [f64; 2])| Features::new(&frequencies, &points(1, p), &points(1, q));
    try_all(&pool(&sets)?, &pool(&same)?, generator);
    Ok(())
}

/// Kernel values that are finite, but whose sums or squares are not.
#[test]
fn overflowing_pools() -> Result<(), Refused> {
    let generator = &mut Generator::new(3);
    for size in [HUGE, 1e308] {
        let kernel = |x: &f64, y: &f64| size * k(x, y);
        let pool = Gram::new(&[0.0, 1.0, 2.5], &[0.5, 3.0, 7.0], kernel)?;
        for estimate in BOTH {
            let finite = |null: Result<Null, Refused>| match null {
                Err(refused) => assert!(matches!(refused, NotFinite | Constant), "{refused}"),
                Ok(null) => assert!(!null.threshold(0.2).is_ok_and(f64::is_nan)),
            };
            finite(null::permutation(&pool, estimate, 19, generator));
            finite(null::bootstrap(&pool, estimate, 19, generator));
            finite(null::spectrum(&pool, estimate, 19, generator));
            finite(null::pearson(&pool, estimate));
            finite(null::pearson_by_four(&pool, estimate));
            finite(null::gamma(&pool, estimate));
            assert!(pool.mmd2(estimate).is_ok_and(f64::is_finite) || size > HUGE);
        }
    }
    Ok(())
}

#[test]
fn bounds() -> Result<(), Refused> {
    let region = Region::new(2, 10.0, 1.0)?;
    hold(&[
        line("no channels", Region::new(0, 1.0, 1.0), Empty),
        line("no diameter", Region::new(1, 0.0, 1.0), bad("diameter")),
        line("an endless diameter", Region::new(1, INF, 1.0), bad("diameter")),
        line("a bandwidth below 0", Region::new(1, 1.0, -1.0), bad("bandwidth")),
        line("a bandwidth of NaN", Region::new(1, 1.0, NAN), bad("bandwidth")),
        line("no frequencies", region.failure(0, 0.1), Empty),
        line("no block", region.fastfood_failure(0, 0.1), bad("block")),
        line("a block of one", region.fastfood_guarantee(1, 0.05), bad("block")),
        line("a block of one, as printed", region.printed_guarantee(1, 0.05), bad("block")),
        line(
            "a short block",
            region.fastfood_failure(7, 0.1),
            NotProven { assumption: "log d ≥ 2" },
        ),
        line(
            "a large error",
            region.fastfood_failure(16, 40.0),
            NotProven { assumption: "16·log d·diameter² ≥ dσ²ε²" },
        ),
        line("no frequencies, a kernel", bounds::kernel_failure(Form::Pairs, 0, 0.1), Empty),
        line("no frequencies, promised", region.guarantee(0, 0.05), Empty),
    ]);
    for error in [0.0, -1.0, NAN, INF] {
        hold(&[
            line("failure", region.failure(9, error), bad("error")),
            line("needed", region.frequencies_needed(error, 0.05), bad("error")),
            line("Fastfood, failure", region.fastfood_failure(9, error), bad("error")),
            line("Fastfood, needed", region.printed_block_needed(error, 0.05), bad("error")),
            line("Fastfood, as printed", region.printed_failure(9, error), bad("error")),
            line("a kernel", bounds::kernel_failure(Form::Offsets, 9, error), bad("error")),
        ]);
    }
    for level in [0.0, 1.0, -0.1, NAN] {
        hold(&[
            line("needed", region.frequencies_needed(0.1, level), BadLevel),
            line("promised", region.guarantee(9, level), BadLevel),
            line("Fastfood, needed", region.printed_block_needed(0.1, level), BadLevel),
            line("Fastfood, promised", region.fastfood_guarantee(9, level), BadLevel),
        ]);
    }
    // Extreme arguments give a number, perhaps infinite, and never NaN.
    for (dims, error) in [(usize::MAX, 1e-300), (1, 1e300), (usize::MAX, 1e300), (1, 1e-300)] {
        let region = Region::new(dims, 1e300, 1e-300)?;
        assert!(!region.failure(usize::MAX, error)?.is_nan());
        assert!(!region.frequencies_needed(error, 0.05)?.is_nan());
        assert!(!region.guarantee(usize::MAX, 0.05)?.is_nan());
        region.printed_failure(usize::MAX, error)?;
    }
    Ok(())
}

#[test]
fn landmarks_and_graphs() -> Result<(), Refused> {
    let generator = &mut Generator::new(4);
    let two = [0.0, 1.0];
    // A landmark twice has a singular Gram matrix, whose pseudo-inverse is used.
    let twice = Nystrom::new(vec![1.0, 1.0], k)?;
    let key = |x: &f64| x.to_bits();
    let half = [0.5, 0.5];
    let masses = |points: &[f64], p: &[f64], q: &[f64]| twice.mmd2_of_masses(points, p, q);
    let large = Nystrom::new(vec![1.0], product)?;
    hold(&[
        line("no landmarks", Nystrom::new(vec![], k), Empty),
        line("a landmark of NaN", Nystrom::new(vec![NAN], k), NotFinite),
        line("a landmark of ∞", Nystrom::new(vec![INF], product), NotFinite),
        line("a kernel of 0", Nystrom::new(vec![0.0, 0.0], product), Singular),
        line("a negative kernel", Nystrom::new(vec![1.0], |_: &f64, _: &f64| -1.0), Singular),
        line("an empty set", twice.mmd2(&[], &two), Empty),
        line("another", twice.mmd2(&two, &[]), Empty),
        line("a set with NaN", twice.mmd2(&two, &[NAN]), NotFinite),
        line("a set that overflows", large.mmd2(&[HUGE], &[-HUGE]), NotFinite),
        line("a kernel of NaN", twice.kernel(&NAN, &0.0), NotFinite),
        line("a kernel that overflows", large.kernel(&HUGE, &HUGE), NotFinite),
        line("an empty set and a ridge", twice.regularised(&[], &two, 0.1, key), Empty),
        line("masses of no distribution", masses(&two, &[0.5, 0.6], &half), BadWeight),
        line("masses of one", masses(&two, &half, &[1.0]), Ragged { expected: 2, found: 1 }),
        line("masses at NaN", masses(&[0.0, NAN], &[1.0, 0.0], &half), NotFinite),
        line("masses of nothing", masses(&[], &[], &[]), BadWeight),
        line("scores of none", twice.leverage(&[], 0.1), Empty),
        line("scores of NaN", twice.leverage(&[NAN, 1.0], 0.1), NotFinite),
        line("scores that overflow", large.leverage(&[HUGE, 1.0], 0.1), NotFinite),
        line("none of three", nystrom::uniform(3, 0, generator), Empty),
        line("four of three", nystrom::uniform(3, 4, generator), TooFewSamples),
        line("one of too many", nystrom::uniform(usize::MAX, 1, generator), bad("samples")),
        line("one of none", nystrom::uniform(0, 1, generator), TooFewSamples),
        line(
            "two of one that counts",
            nystrom::by_scores(&[1.0, 0.0], 2, generator),
            TooFewSamples,
        ),
        line("a score below 0", nystrom::by_scores(&[1.0, -1.0], 1, generator), BadWeight),
        line("a score of NaN", nystrom::by_scores(&[NAN], 1, generator), BadWeight),
        line("an endless score", nystrom::by_scores(&[INF], 1, generator), BadWeight),
        line("a graph of none", Graph::new(b"", &[]), Empty),
        line("an edge to nowhere", Graph::new(b"ab", &[(0, 2)]), Ragged { expected: 2, found: 2 }),
    ]);
    for lambda in [0.0, -1.0, NAN, INF] {
        hold(&[
            line("ridge", twice.regularised(&two, &two, lambda, key), bad("lambda")),
            line("scores", twice.leverage(&two, lambda), bad("lambda")),
        ]);
    }
    assert!(twice.mmd2(&two, &[2.0])?.is_finite());
    let single = Graph::new(b"a", &[(0, 0)])?;
    tolerance::REFERENCE_IDENTITY.hold("a loop", shortest_path_kernel(&single, &single), 1.0);
    Ok(())
}

#[test]
fn dependence_and_selection() -> Result<(), Refused> {
    let two = [0.0, 1.0];
    let pairs = ExactPairs::new(&two, &two, k, k)?;
    let frequencies = Frequencies::gaussian(&mut Generator::new(5), 4, 1, 1.0)?;
    let (one, set, plane) = (points(1, &[0.0]), points(1, &two), points(2, &[0.0, 1.0, 2.0, 4.0]));
    let features = |x: &Points, y: &Points| FeaturePairs::new(x, y, &frequencies, &frequencies);
    let by_features = features(&set, &set)?;
    let square = |size: usize, value: f64| DMatrix::repeat(size, size, value);
    let large = ExactPairs::from_gram(
        DMatrix::from_diagonal_element(2, 2, HUGE),
        DMatrix::from_diagonal_element(2, 2, HUGE),
    )?;
    let labels = DMatrix::identity(2, 2);
    let none: [f64; 0] = [];
    hold(&[
        line("no pairs", ExactPairs::new(&none, &none, k, k), Empty),
        line("one pair", ExactPairs::new(&[1.0], &[1.0], k, k), TooFewSamples),
        line("two and one", ExactPairs::new(&two, &[1.0], k, k), Ragged { expected: 2, found: 1 }),
        line("NaN", ExactPairs::new(&two, &[1.0, NAN], k, k), NotFinite),
        line(
            "a Gram matrix that is not square",
            ExactPairs::from_gram(DMatrix::zeros(2, 3), square(2, 0.0)),
            Ragged { expected: 2, found: 3 },
        ),
        line(
            "Gram matrices of two sizes",
            ExactPairs::from_gram(square(2, 1.0), square(3, 1.0)),
            Ragged { expected: 2, found: 3 },
        ),
        line("empty Gram matrices", ExactPairs::from_gram(square(0, 1.0), square(0, 1.0)), Empty),
        line(
            "a Gram matrix of NaN",
            ExactPairs::from_gram(square(2, NAN), square(2, 1.0)),
            NotFinite,
        ),
        line(
            "a Gram matrix of ∞",
            ExactPairs::from_gram(square(2, 1.0), square(2, INF)),
            NotFinite,
        ),
        line("a product that overflows", large.hsic(), NotFinite),
        line("its null", large.null(3, &mut Generator::new(1)), NotFinite),
        line("no shuffles", pairs.null(0, &mut Generator::new(1)), bad("draws")),
        line("a short order", pairs.reordered(&[0]), NotAPermutation),
        line("a pair twice", pairs.reordered(&[0, 0]), NotAPermutation),
        line("a pair that is not", pairs.reordered(&[0, 2]), NotAPermutation),
        line("no order", pairs.reordered(&[]), NotAPermutation),
        line("by features, a short order", by_features.reordered(&[0]), NotAPermutation),
        line("by features, a pair that is not", by_features.reordered(&[0, 9]), NotAPermutation),
        line("by features, one pair", features(&one, &one), TooFewSamples),
        line("by features, two and one", features(&set, &one), Ragged { expected: 2, found: 1 }),
        line("by features, a plane", features(&plane, &set), Ragged { expected: 1, found: 2 }),
        line("channels of none", selection::dependence(&plane, &[], &labels, gaussian(1.0)), Empty),
        line(
            "a channel that is not",
            selection::dependence(&plane, &[2], &labels, gaussian(1.0)),
            bad("channels"),
        ),
        line(
            "labels of NaN",
            selection::dependence(&plane, &[0], &square(2, NAN), gaussian(1.0)),
            NotFinite,
        ),
        line(
            "three labels",
            selection::backward_elimination(&plane, &square(3, 0.0), gaussian(1.0)),
            Ragged { expected: 2, found: 3 },
        ),
        line(
            "three labels of one channel",
            selection::backward_elimination(&set, &square(3, 0.0), gaussian(1.0)),
            Ragged { expected: 2, found: 3 },
        ),
        line(
            "one row",
            selection::backward_elimination(&one, &square(1, 0.0), gaussian(1.0)),
            TooFewSamples,
        ),
        line(
            "rows that overflow",
            selection::backward_elimination(
                &points(1, &[HUGE, 0.0]),
                &labels,
                selection::linear_kernel,
            ),
            NotFinite,
        ),
        line("a constant channel", selection::standardised(&points(1, &[3.0, 3.0])), Constant),
        line("one row to standardise", selection::standardised(&one), Constant),
        line("squares that overflow", selection::standardised(&points(1, &[HUGE, 0.0])), NotFinite),
        line(
            "one label of two",
            selection::pearson(&set, &[1.0]),
            Ragged { expected: 2, found: 1 },
        ),
        line("equal labels", selection::pearson(&set, &[1.0, 1.0]), Constant),
        line("a label of NaN", selection::pearson(&set, &[1.0, NAN]), NotFinite),
        line("one class", selection::centroids(&set, &[true, true]), Empty),
        line(
            "one class of two",
            selection::centroids(&set, &[true]),
            Ragged { expected: 2, found: 1 },
        ),
        line("odds without a share", scores::b_statistic(&[1.0], 0.0, 4.0), BadLevel),
        line("odds without a ratio", scores::b_statistic(&[1.0], 0.1, 0.0), bad("ratio")),
        line("odds of NaN", scores::b_statistic(&[1.0, NAN], 0.1, 4.0), NotFinite),
        line("odds that overflow", scores::b_statistic(&[HUGE], 0.1, 4.0), NotFinite),
        line("a witness of none", DependenceWitness::new(&none, &none, k, k), Empty),
        line(
            "a witness of two and one",
            DependenceWitness::new(&two, &[1.0], k, k),
            Ragged { expected: 2, found: 1 },
        ),
        line(
            "a witness at NaN",
            DependenceWitness::new(&two, &two, k, k)?.at(&NAN, &0.0),
            NotFinite,
        ),
        line("no classes", selection::centroid_kernel(&[]), Empty),
        line("one class, as a kernel", selection::centroid_kernel(&[false, false]), Empty),
    ]);
    Ok(())
}

#[test]
fn quadratic_programs() -> Result<(), Refused> {
    let two = [0.0, 1.0];
    let none: [f64; 0] = [];
    let square = |size: usize, value: f64| DMatrix::repeat(size, size, value);
    let program =
        |q: DMatrix<f64>, l: &[f64]| simplex::minimise(&q, &DVector::from_column_slice(l));
    hold(&[
        line("no unknowns", program(square(0, 0.0), &[]), Empty),
        line("three for two", program(square(3, 0.0), &two), Ragged { expected: 2, found: 3 }),
        line("not square", program(DMatrix::zeros(2, 3), &two), Ragged { expected: 2, found: 3 }),
        line("NaN in Q", program(square(2, NAN), &two), NotFinite),
        line("∞ in l", program(square(2, 0.0), &[0.0, INF]), NotFinite),
        line(
            "Q that curves down",
            program(DMatrix::from_diagonal_element(2, 2, -1.0), &two),
            Singular,
        ),
        line("no samples", match_means(&none, &two, k, 0.1), Empty),
        line("no target", match_means(&two, &none, k, 0.1), Empty),
        line("a sample of NaN", match_means(&[NAN, 0.0], &two, k, 0.1), NotFinite),
        line("a target of NaN", match_means(&two, &[NAN], k, 0.1), NotFinite),
        line(
            "a target that overflows",
            match_means(&two, &[1e308, 1e308], product, 0.1),
            NotFinite,
        ),
        line("a sample twice without a ridge", match_means(&[1.0, 1.0], &two, k, 0.0), Singular),
        line(
            "a sample thrice among others",
            match_means(&[0.3, 1.7, 0.3, 2.9, 0.3], &two, k, 0.0),
            Singular,
        ),
        line("a kernel that curves down", match_means(&two, &two, |x, y| -k(x, y), 0.1), Singular),
    ]);
    for lambda in [-1.0, NAN, INF] {
        hold(&[line("ridge", match_means(&two, &two, k, lambda), bad("lambda"))]);
    }
    // A single sample has weight 1, and equal samples have equal weights for any Q.
    assert_eq!(match_means(&[1.0], &two, k, 0.0)?.weights, [1.0]);
    for size in [0.0, 1e8, 1e300] {
        let even = program(DMatrix::from_diagonal_element(3, 3, size), &[0.0; 3])?;
        for weight in even {
            tolerance::REFERENCE_IDENTITY.hold("a weight of three", weight, 1.0 / 3.0);
        }
    }
    // Entries whose differences overflow: a result or an error, without a long loop.
    for q in [[1e308, -1e308, -1e308, 1e308], [1e308, 0.0, 0.0, 1.0]] {
        let answer = program(DMatrix::from_row_slice(2, 2, &q), &[1e308, -1e308]);
        assert!(answer.is_err() || answer.is_ok_and(|weights| weights.iter().all(|w| *w >= 0.0)));
    }
    Ok(())
}

#[test]
fn mixtures() {
    let set = points(1, &[0.0, 1.0]);
    let normal =
        |mean: f64, deviation: f64| Normal { mean: vec![mean], deviation: vec![deviation] };
    let good = [normal(0.0, 1.0), normal(2.0, 1.0)];
    let shares =
        |candidates: &[Normal], sigma, lambda| mixture::shares(&set, candidates, sigma, lambda);
    let ragged = Ragged { expected: 1, found: 2 };
    hold(&[
        line("no candidates", shares(&[], 1.0, 0.1), Empty),
        line("a candidate of a plane", shares(&[Normal::standard(2)], 1.0, 0.1), ragged),
        line(
            "no deviation for a mean",
            shares(&[Normal { mean: vec![0.0], deviation: vec![] }], 1.0, 0.1),
            Ragged { expected: 1, found: 0 },
        ),
        line("a mean of NaN", shares(&[normal(NAN, 1.0)], 1.0, 0.1), NotFinite),
        line("a deviation of 0", shares(&[normal(0.0, 0.0)], 1.0, 0.1), bad("deviation")),
        line("a deviation below 0", shares(&[normal(0.0, -1.0)], 1.0, 0.1), bad("deviation")),
        line(
            "a density without shares",
            mixture::density(&[], &good, &[0.0]),
            Ragged { expected: 2, found: 0 },
        ),
        line(
            "a density in a plane",
            mixture::density(&[0.5, 0.5], &good, &[0.0, 0.0]),
            Ragged { expected: 2, found: 1 },
        ),
        line("a density at NaN", mixture::density(&[0.5, 0.5], &good, &[NAN]), NotFinite),
        line("a share of NaN", mixture::density(&[0.5, NAN], &good, &[0.0]), NotFinite),
        line(
            "a density of a point",
            mixture::density(&[1.0], &[normal(0.0, 0.0)], &[0.0]),
            bad("deviation"),
        ),
    ]);
    for value in [0.0, -1.0, NAN, INF] {
        hold(&[
            line("bandwidth", shares(&good, value, 0.1), bad("bandwidth")),
            line("ridge", shares(&good, 1.0, value), bad("lambda")),
        ]);
    }
    // A repeated candidate gives a singular Q; with the ridge both have the same share.
    let twice = shares(&[normal(0.0, 1.0), normal(0.0, 1.0)], 1.0, 0.1).expect("with a ridge");
    assert_eq!(twice, [0.5, 0.5]);
}

#[test]
fn circles() -> Result<(), Refused> {
    let frequencies = Frequencies::new(vec![vec![1.0]])?;
    let (set, plane) = (points(1, &[0.0, 0.3]), points(2, &[0.0; 4]));
    let ragged = Ragged { expected: 1, found: 2 };
    let ensemble = Ensemble::new(&frequencies, &set, &set)?;
    let generator = &mut Generator::new(6);
    hold(&[
        line("a plane first", Ensemble::new(&frequencies, &plane, &set), ragged),
        line("a plane second", Ensemble::new(&frequencies, &set, &plane), ragged),
        line(
            "a frequency of NaN",
            Ensemble::new(&Frequencies::new(vec![vec![NAN]])?, &set, &set),
            NotFinite,
        ),
        line("no shuffles", ensemble.null(Distance::Sine, Norm::L2, 0, generator), bad("draws")),
        line(
            "no shuffles of none",
            ensemble.nulls(Distance::Mallows, [], 0, generator),
            bad("draws"),
        ),
        line("no frequencies", Frequencies::new(vec![]), Empty),
        line(
            "frequencies of two lengths",
            Frequencies::new(vec![vec![1.0], vec![1.0, 2.0]]),
            ragged,
        ),
    ]);
    // One row in each set, equal rows, and rows with phases beyond all limits.
    for (p, q) in
        [(vec![0.1], vec![0.6]), (vec![0.2; 3], vec![0.2; 2]), (vec![1e300], vec![-1e300])]
    {
        let ensemble = Ensemble::new(&frequencies, &points(1, &p), &points(1, &q))?;
        for distance in [Distance::Sine, Distance::Mallows] {
            for norm in [Norm::L1, Norm::L2, Norm::Largest] {
                assert!(ensemble.discrepancy(distance, norm).is_finite());
                assert!(ensemble.null(distance, norm, 3, generator)?.p_value(0.0) > 0.5);
            }
        }
    }
    Ok(())
}
