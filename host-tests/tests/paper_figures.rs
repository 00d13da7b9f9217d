//! Figures 5 and 6 of the FastMMD paper, from the core.

use std::sync::LazyLock;

use fastmmd::{Fastfood, FeatureMap, Fourier, Kernel, KernelFamily, Profile, Sampling, TwoSample};
use fastmmd_reference::generate::Generator;
use fastmmd_reference::kernel::gaussian;
use fastmmd_reference::{Points, Weighted, b_test, data, exact, linear, real, single, tolerance};

/// One pair of sets and its exact MMD².
struct Trial<const D: usize> {
    p: Vec<[f32; D]>,
    q: Vec<[f32; D]>,
    biased: f64,
    unbiased: f64,
}

/// Figure 5's data: forty pairs of blobs, each used by five seeds.
static BLOBS: LazyLock<Vec<Trial<2>>> = LazyLock::new(|| {
    let mut generator = Generator::new(2015);
    let mut trial = || {
        let p = data::blobs(&mut generator, 1000, 10.0, 1.0).expect("some");
        let q = data::blobs(&mut generator, 1000, 10.0, 4.0).expect("some");
        let arrays = |points: &Points| points.arrays().expect("two channels");
        let (p32, q32) = (arrays(&p), arrays(&q));
        let (p, q) = (Weighted::even(p), Weighted::even(q));
        Trial {
            p: p32,
            q: q32,
            biased: exact::biased(&p, &q, gaussian(1.0)).expect("two channels"),
            unbiased: exact::unbiased(&p, &q, gaussian(1.0)).expect("two channels"),
        }
    };
    (0..40).map(|_| trial()).collect()
});

/// Seeds that the errors are averaged over: the mean is itself good to 5 %.
const TRIALS: u32 = 200;

/// Fastfood's block. One of 4 or 8 makes half of all rows in a plane mirror images of others,
/// which blobs, symmetric themselves, see as the same row twice.
const BLOCK: usize = 16;

/// Mean relative error over the seeds, biased and unbiased.
fn relative_error<M: FeatureMap<2, L>, const L: usize>(
    trials: &[Trial<2>],
    draw: impl Fn(u64) -> M,
) -> [f64; 2] {
    let mut sums = [0.0; 2];
    for (seed, trial) in (0..TRIALS).zip(trials.iter().cycle()) {
        let map = draw(seed.into());
        let mut test: TwoSample<_, 2, L> = TwoSample::new(&map);
        for (p, q) in trial.p.iter().zip(&trial.q) {
            test.push_p(p).expect("a good sample");
            test.push_q(q).expect("a good sample");
        }
        let biased = f64::from(test.mmd2_biased().expect("not empty"));
        let unbiased = f64::from(test.mmd2_unbiased().expect("not empty"));
        sums[0] += (biased / trial.biased - 1.0).abs() / f64::from(TRIALS);
        sums[1] += (unbiased / trial.unbiased - 1.0).abs() / f64::from(TRIALS);
    }
    sums
}

/// Holds a column of figure 5, L = 16, 32 … 1024, to its bounds and the law 1/√L.
fn hold_figure_5(name: &str, errors: &[[f64; 2]; 7]) {
    println!("figure 5, {name}: L, mean relative error of MMD_b² and MMD_u²");
    for (step, [biased, unbiased]) in errors.iter().enumerate() {
        println!("{:5} {biased:.3} {unbiased:.3}", 16 << step);
    }
    let [biased, unbiased] = errors[6];
    tolerance::FIGURE5_BIASED.hold_below(name, biased);
    tolerance::FIGURE5_UNBIASED.hold_below(name, unbiased);
    for kind in 0..2 {
        // Least squares of log₂ error over log₂ L − 7 ∈ {−3 … 3}.
        let slope: f64 = errors
            .iter()
            .zip([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0])
            .map(|(error, x): (_, f64)| x * error[kind].log2() / 28.0)
            .sum();
        println!("{name}: slope {slope:.3}");
        tolerance::FIGURE5_SLOPE.hold(name, slope, -0.5);
    }
}

#[test]
fn figure_5_with_independent_frequencies() {
    fn at<const L: usize>(trials: &[Trial<2>]) -> [f64; 2] {
        relative_error::<_, L>(trials, |seed| {
            Fourier::new(Kernel::GAUSSIAN, Sampling::Independent, seed).expect("spherical")
        })
    }
    let t = &*BLOBS;
    let errors = [
        at::<16>(t),
        at::<32>(t),
        at::<64>(t),
        at::<128>(t),
        at::<256>(t),
        at::<512>(t),
        at::<1024>(t),
    ];
    hold_figure_5("Fourier", &errors);
}

#[test]
fn figure_5_with_fastfood() {
    fn at<const L: usize>(trials: &[Trial<2>]) -> [f64; 2] {
        relative_error::<_, L>(trials, |seed| {
            Fastfood::<2, BLOCK, L>::new(Kernel::GAUSSIAN, seed).expect("spherical")
        })
    }
    let t = &*BLOBS;
    let errors = [
        at::<16>(t),
        at::<32>(t),
        at::<64>(t),
        at::<128>(t),
        at::<256>(t),
        at::<512>(t),
        at::<1024>(t),
    ];
    hold_figure_5("Fastfood", &errors);
}

/// σ from 0.1 to 100 in steps of 10^(1/5).
fn bandwidths() -> [f64; 16] {
    let mut exponent = -1.2;
    [(); 16].map(|()| {
        exponent += 0.2;
        f64::from(single(10_f64.powf(exponent)))
    })
}

/// Standard deviation of each of 16 columns.
fn deviations(rows: &[[f64; 16]]) -> [f64; 16] {
    let n = real(rows.len());
    std::array::from_fn(|column| {
        let mean = rows.iter().map(|row| row[column]).sum::<f64>() / n;
        let squares = rows.iter().map(|row| (row[column] - mean).powi(2));
        (squares.sum::<f64>() / (n - 1.0)).sqrt()
    })
}

/// MMD_u² of every bandwidth, over seeds, by the core's kernel family.
fn family<M: FeatureMap<2, 1024>>(
    p: &Points,
    q: &Points,
    draw: impl Fn(u64) -> M,
) -> Vec<[f64; 16]> {
    let arrays = |points: &Points| points.arrays::<2>().expect("two channels");
    let (p, q) = (arrays(p), arrays(q));
    (0..100)
        .map(|seed| {
            let map = draw(seed);
            let mut family: Box<KernelFamily<_, 16, 2, 1024>> =
                Box::new(KernelFamily::new(&map, bandwidths().map(single)).expect("in range"));
            for (p, q) in p.iter().zip(&q) {
                family.push_p(p).expect("a good sample");
                family.push_q(q).expect("a good sample");
            }
            family.unbiased().expect("not empty").map(|member| f64::from(member.squared))
        })
        .collect()
}

#[test]
fn figure_6_on_rings() {
    let mut generator = Generator::new(42);
    let p = data::ring(&mut generator, 200, true).expect("some");
    let q = data::ring(&mut generator, 200, false).expect("some");
    let (whole_p, whole_q) = (Weighted::even(p.clone()), Weighted::even(q.clone()));
    let truth = bandwidths()
        .map(|s| exact::unbiased(&whole_p, &whole_q, gaussian(s)).expect("two channels"));

    // The two peers depend on the order of the samples: 500 orders.
    let (mut blocks, mut pairs) = (Vec::new(), Vec::new());
    for _ in 0..500 {
        let p = p.reordered(&generator.order(200)).expect("a permutation");
        let q = q.reordered(&generator.order(200)).expect("a permutation");
        let block = b_test::usual_block(200);
        blocks.push(bandwidths().map(|s| b_test::mmd2(&p, &q, block, gaussian(s)).expect("ok")));
        pairs.push(bandwidths().map(|s| linear::mmd2(&p, &q, gaussian(s)).expect("ok")));
    }
    let (b_test, linear) = (deviations(&blocks), deviations(&pairs));
    let kernel = Kernel::new(Profile::Gaussian, 1.0).expect("in range");
    let dense = family(&p, &q, |seed| {
        Fourier::new(kernel, Sampling::Independent, seed).expect("spherical")
    });
    let fast =
        family(&p, &q, |seed| Fastfood::<2, BLOCK, 1024>::new(kernel, seed).expect("spherical"));
    let (dense, fast) = (deviations(&dense), deviations(&fast));

    println!("figure 6: σ, exact MMD_u², deviation of Fourier, Fastfood, B-test, MMD-linear");
    for (index, s) in bandwidths().iter().enumerate() {
        println!(
            "{s:8.3} {:9.5} {:.2e} {:.2e} {:.2e} {:.2e}",
            truth[index], dense[index], fast[index], b_test[index], linear[index]
        );
    }
    let best = (0..16).max_by(|&a, &b| truth[a].total_cmp(&truth[b])).expect("sixteen");
    for (name, ours) in [("Fourier", dense), ("Fastfood", fast)] {
        tolerance::FIGURE6_B_TEST.hold_below(name, ours[best] / b_test[best]);
        tolerance::FIGURE6_LINEAR.hold_below(name, ours[best] / linear[best]);
    }
}
