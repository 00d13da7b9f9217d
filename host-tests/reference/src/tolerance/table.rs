//! The table.

use super::Tolerance;

macro_rules! table {
    ($($(#[$doc:meta])* $name:ident: $operation:literal, $limit:expr, $reason:literal;)*) => {
        $(
            $(#[$doc])*
            pub const $name: Tolerance = Tolerance {
                operation: $operation,
                limit: $limit,
                reason: $reason,
            };
        )*
        /// The whole table: name and entry.
        pub const ALL: &[(&str, Tolerance)] = &[$((stringify!($name), $name)),*];
    };
}

table! {
    /// The oracle against itself.
    REFERENCE_IDENTITY: "the oracle, computed in two ways", 1e-12,
        "f64 sums of at most some thousand terms of size 1";
    /// The decision diameter against a grid.
    DIAMETER: "decision diameter and its margin against a grid of 200 000 angles", 5e-5,
        "half a step of the grid is 1.6e-5 radians";
    /// Second moments of frequencies.
    CURVATURE: "E ω'ω over the second difference of the kernel at 0, from 1", 0.003,
        "the Matérn 3/2 kernel has a third power of the distance: a step of 1e-3 over σ/√3 is off by 2/3 of a thousandth, and rounding by 1e-9";
    /// MMD of √n samples.
    ROOT_MEAN: "mean of MMD_b² of √n samples over 4000 draws", 0.03,
        "single values deviate by less than .5: four standard errors";
    /// Closed forms against samples.
    POPULATION_BY_SAMPLES: "closed-form MMD² against 3000 samples", 0.012,
        "three standard deviations of MMD_u² at 3000 samples";
    /// The oracle's normal numbers.
    NORMAL_MOMENTS: "moments of 10⁶ normal numbers", 0.05,
        "five standard deviations of the fourth moment, √(96/10⁶)";
    /// The blobs of section 4.1.
    BLOB_RATIO: "ratio of the blobs' eigenvalues", 0.25,
        "six standard deviations of a ratio of two variances at 20 000 samples";

    /// Quantiles of null distributions.
    QUANTILE: "thresholds and p-values, one from the other", 1e-6,
        "bisection to the last bits of f64; the incomplete gamma function is good to 1e-9";
    /// Thresholds by resampling.
    NULL_RESAMPLED: "type-I error at .05 of permutation and bootstrap, from .05", 0.03,
        "three standard deviations of a share of .05 in 500 trials";
    /// Thresholds by theory.
    NULL_ASYMPTOTIC: "type-I error at .05 of spectrum, Pearson curve and Gamma, from .05", 0.04,
        "as resampled, and .01 for what two or three moments miss of a sum of many χ²";
    /// The control of thresholds.
    NULL_CONTROL: "type-II error at two and a half times the deviation", 0.05,
        "MMD² is then four times its threshold at 60 and 40 samples";
    /// Thresholds by blocks.
    BLOCK_THRESHOLD: "threshold at .05 by blocks of 1 of 4000 samples over that of the spectrum, from 1", 0.1,
        "Σλ² by 3998 products of deviation 2: three deviations are a tenth of it, a twentieth of the deviation; 4000 draws scatter by .03; two moments miss .02";
    /// Significance on the device against the oracle.
    SIGNIFICANCE_P: "p-value of a test on the device over that by the incomplete beta function, from 1", 0.06,
        "documented for .05: the cube root of F is nearly normal";
    /// Significance on the device, far from .05.
    SIGNIFICANCE_FAR: "logarithm of such a ratio, from p-values of .0005 to .5", 0.3,
        "the same, in the tails";
    /// Type-I error of the test on the device.
    SIGNIFICANCE_TYPE_I: "share of tests at .05 that are above it without a change, from .05", 0.01,
        "required: within a fifth";
    /// The same of a narrow kernel.
    SIGNIFICANCE_NARROW: "the same for a kernel a quarter as wide, from .05", 0.016,
        "as documented: up to .064, as many small eigenvalues are no Gamma distribution";
    /// The distribution-free and the conservative thresholds.
    CONSERVATIVE_TYPE_I: "share of tests at .05 above a bound without a change", 0.05,
        "a bound";
    /// Coverage of intervals of MMD².
    INTERVAL_COVERAGE: "share of 95 % intervals with the MMD² of the distributions, from .95", 0.03,
        "three standard deviations of a share of .95 in 600 trials are .027; the limit is normal";
    /// Features with offsets against the oracle.
    OFFSET_VARIANCE: "variance of a product of offset features over that by theory, from 1", 0.1,
        "a variance from 4000 draws of bounded products: four deviations";
    /// Scores of a classifier.
    CLASSIFIER_SCORE: "score of a class, core against oracle, for weights of size 1", 1e-4,
        "sums of 128 products, each of a point good to 1e-6";
    /// Nyström features where landmarks are all samples.
    NYSTROM_FULL: "Nyström with all samples as landmarks, against exact", 1e-5,
        "eigenvalues below 1e-12 of the largest are left out, and roots of those near it lose half the digits";
    /// Quadratic programs by two solvers.
    SIMPLEX: "weights of a quadratic program, two ways", 1e-6,
        "solved to a gap of 1e-10; weights are as good as its root over the least curvature, 0.1";
    /// Permutation p-values of HSIC.
    HSIC_TYPE_I: "type-I error of HSIC at .05, from .05", 0.046,
        "three standard deviations of a share of .05 in 200 trials";
    /// Kernel mean matching on a known shift.
    MATCHED_MOMENT: "moments of a reweighted sample of 400", 0.12,
        "three standard deviations of a mean of some 100 effective samples of deviation .6, and .02 for the kernel's blindness";
    /// Kernel mean matching beside the ratio of densities.
    MATCHED_EFFECTIVE: "effective samples over those of the density ratio, in powers of two", 1.0,
        "matching need not be the density ratio, but weights that waste half the samples would be no use";
    /// Mixtures by matched embeddings.
    MIXTURE_SHARE: "shares of a mixture from 3000 samples", 0.04,
        "four standard deviations of a share of .3 among 3000, and as much again for overlap of candidates";
    /// Conditions of a support vector machine.
    SVM_CONDITIONS: "conditions of the kernel machine: Σyα, margins, and the gap over the primal", 1e-6,
        "solved until no pair violates by more than 1e-10; sums of 80 terms of size up to 50";
    /// Support vector machines over features.
    SVM_FALL: "power of 1/L by which decisions differ from those of the kernel, from 1/2", 0.2,
        "a root mean square of six draws scatters by a fifth; .3/log 16";
    /// Support vector machines over features.
    SVM_AGREE: "share of decisions by 512 frequencies against the kernel's", 0.02,
        "rings 1.2 apart with noise of .15: few samples are near the boundary";
    /// Pearson curves.
    CURVE_MOMENTS: "moments of a Pearson curve by integrating its tail, over those it was fitted to", 0.01,
        "rectangles of a two-hundredth of a deviation up to 200 deviations; the fourth moment of a curve of excess 8 has some thousandths beyond";
    /// Mixtures by maximum entropy.
    MAXIMUM_ENTROPY: "shares of a mixture by maximum entropy against scipy's SLSQP", 1e-4,
        "solved there to an objective of 1e-12, whose root over a curvature of 1 is 1e-6, with a constraint met to 1e-9 of some 1e-3";
    /// Special cases of feature selection.
    SELECTION: "HSIC with linear kernels against Pearson and centroid scores", 1e-9,
        "sums of 6400 terms of size up to 30";
    /// The oracle against other packages.
    PEER: "the oracle against scikit-learn, scipy and hyppo", 1e-9,
        "both in f64; their eigenvalues and quantiles are good to some 1e-10";
    /// Pearson curves against scipy.
    PEER_CURVE: "quantiles and p-values of Pearson curves against scipy", 1e-6,
        "moments matched to 1e-6 of themselves here, and quadrature to 1e-9 there";
    /// Support vector machines against libsvm and liblinear.
    PEER_MACHINE: "decisions and weights against libsvm and liblinear", 1e-6,
        "solved there to violations of 1e-12 and here of 1e-8";
    /// Quadratic programs against scipy.
    PEER_PROGRAM: "weights of a quadratic program against scipy's SLSQP", 1e-5,
        "solved there to an objective of 1e-15, over the least curvature of .01 and as a root";
    /// Theorem 3 where it promises something.
    BOUND_KEPT: "largest error of MMD² over all pairs of points, over theorem 3's promise", 1.0,
        "a promise that holds with a probability of .95, and as it is conservative, always";
    /// The control of theorem 3.
    BOUND_CONSERVATIVE: "theorem 3's promise over the largest error over all pairs of points", 50.0,
        "√(64·3·log(4096·(10/ε)²/.05)/L) is 58/√L; twice the largest of some 20 deviations of 1/√(2L) is about 4/√L: a ratio of 14, and three times that for a lucky draw";
    /// MMD-linear and the B-test.
    NULL_NORMAL: "type-I error at .05 of MMD-linear and B-test, from .05", 0.04,
        "three standard deviations of a share of .05 in 300 trials; thirty blocks are not quite normal";

    /// Core against oracle: polynomial and libm backends.
    MMD2: "MMD², norm, inner product", 1e-5,
        "promised for phases up to 16 turns; a phase in f32 is good to 16·2⁻²⁴ turns";
    /// Core against oracle: micromath.
    MMD2_MICROMATH: "MMD², norm, inner product by micromath", 2e-3,
        "promised; micromath's sine is good to 1.1e-3";
    /// Integer path against oracle.
    MMD2_FIXED: "MMD², norm, inner product in integers", 2e-4,
        "promised for every sample of 16 bits; a point is off by 8e-5 + 2π·2⁻¹⁷, in no preferred direction";
    /// A single point of the integer path.
    POINT_FIXED: "cos or sin of one phase in integers", 2e-4,
        "promised for the whole path; the table promises 8e-5, and a phase is cut to 2⁻¹⁷ turns";
    /// Integer path against the `f32` map of the same seed.
    MMD2_FIXED_AND_FLOAT: "MMD² in integers against f32, same seed", 2e-3,
        "frequencies rounded to a two-thousandth of themselves, over phases of a turn or so, with as many signs as frequencies";
    /// Amplitudes of single circles.
    CIRCLE_AMPLITUDE: "A₁, A₂ and A of one circle", 1e-5,
        "the mean point is good to 1e-5 at 16 turns, and so is its distance from the centre";
    /// Phases of single circles with an amplitude of at least 0.1.
    CIRCLE_PHASE: "θ₁, θ₂ and θ of one circle, in turns", 2e-5,
        "a mean point off by 1e-5 turns by 1e-5/(2π·0.1) turns, and angles are good to 1e-7";
    /// Smallest amplitude whose phase is compared.
    CIRCLE_VISIBLE: "amplitude that has a phase", 0.1,
        "below, the limit on the phase would have to grow as one over the amplitude";
    /// Fastfood's rows against those of a single frequency.
    FREQUENCY: "frequency(k) against all of them at once", 1e-12,
        "the same computation, so the same bits";

    /// Figure 5 at L = 1024, biased.
    FIGURE5_BIASED: "mean relative error of MMD_b² on blobs", 0.085,
        "required; independent prototypes gave 0.071 and 0.068";
    /// Figure 5 at L = 1024, unbiased.
    FIGURE5_UNBIASED: "mean relative error of MMD_u² on blobs", 0.16,
        "required; independent prototypes gave 0.138 and 0.130";
    /// Figure 5, the law of the error.
    FIGURE5_SLOPE: "slope of log error over log L, from −1/2", 0.07,
"0.03 of noise at 200 seeds; at L = 16 single errors are skewed, which flattens the mean";
    /// Figure 5 with few trials.
    FIGURE5_FALL: "error of MMD_b² on blobs at L = 1024 over that at L = 64", 0.4,
        "the law 1/√L gives .25; a mean of 100 skewed errors is good to a fifth";
    /// Figure 6 against the B-test.
    FIGURE6_B_TEST: "deviation of MMD_u² over that of the B-test", 0.4,
        "required";
    /// Figure 6 against MMD-linear.
    FIGURE6_LINEAR: "deviation of MMD_u² over that of MMD-linear", 0.12,
        "required";
    /// Figure 6, the right bandwidth.
    FIGURE6_FOUND: "share of estimates that are largest at the right bandwidth", 0.9,
        "the paper: lower variance finds the right σ; steps of 10^(1/5) are far apart for L = 1024";
    /// Figure 6, the right bandwidth.
    FIGURE6_FOUND_LINEAR: "share of MMD-linear largest at the right bandwidth over that of FastMMD", 1.0,
        "the paper: FastMMD finds it with the higher probability";
    /// Figure 6(a).
    FIGURE6_BIASED: "mean of MMD_b² over seeds at the right bandwidth, from the exact one", 0.05,
        "a mean of 30 estimates, each off by less than a tenth";
    /// Figure 7, by the clock.
    FIGURE7_SAMPLES: "power of the samples by which the speed-up grows", 0.7,
        "2n² − n kernel values to 2n projections: 1; four times that scatter by a tenth each, over eight times the samples, take off up to 3·.1·√4/log 8 = .29";
    /// Figure 7, by count instead of the clock.
    FIGURE7_COUNTED: "powers of the samples in the number of kernel values, from 2, 3/2 and 1", 0.05,
        "2n² − n, b of them for blocks of b = ⌊√n⌋, and 2n: rounding of 500 to 22·22 is .04 of it, over log 8";
    /// Figure 7: exact MMD computes what it should.
    FIGURE7_EXACT: "exact MMD_u² of 4000 samples or more from that of the distributions", 0.001,
        "four deviations: 2·√(2Σλ²)/n is at most 2·10⁻⁴ and 2·√(Var h₁/n) as much";
    /// Figure 7: the estimators that use few pairs.
    FIGURE7_SCATTERED: "MMD_u² of 4000 samples or more by few pairs from that of the distributions", 0.02,
        "MMD-linear averages 2000 terms of deviation .25: three times .0056; the B-test scatters less";
    /// Figure 7: FastMMD computes what exact MMD does.
    FIGURE7_VALUE: "MMD_u² by FastMMD against exact in figure 7", 0.002,
        "three deviations of a mean over 128 frequencies of |φ_P − φ_Q|², which deviates by .0052 for the shift and by .0057 for 500 samples; over 8192 for 50 samples by .057";
    /// Figure 7, by channels.
    FIGURE7_CHANNELS: "time of Fourier over Fastfood at d = 512", 3.0,
        "512 products to 40 sums for each frequency, and a sine and a cosine for both";
    /// Table 1, in full.
    TABLE1_ERROR: "mean of MMD by ten maps of 1024 frequencies over exact MMD, both biased, from 1", 0.02,
        "for one map 1/(2√L) = .016, since squared differences at single frequencies scatter as much as their mean; four deviations of the mean of ten";
    /// Table 1 in small.
    TABLE1_ERROR_QUICK: "mean of MMD by three maps of 1024 frequencies over exact MMD, both biased, from 1", 0.04,
        "as of ten: four deviations of the mean of three";
    /// Table 1, deviations.
    TABLE1_SCATTER: "deviation of FastMMD at the shape of table 1 over that of another estimator", 1.0,
        "the paper has .25 of the B-test and .025 of MMD-linear";
    /// Table 1, times.
    TABLE1_TIME: "time of Fourier over Fastfood at the shape of table 1", 2.0,
        "the paper has 2.03; 21 504 products for each frequency to 2·15 sums for each of 32 768 rows";
    /// Figure 8 and circular ensembles, without a change.
    FIGURE8_TYPE_I: "type-I error at .05", 0.12,
        "three standard deviations of a share of .05 in 100 trials above it; some parts have more";
    /// Figure 8(b).
    FIGURE8_LOST: "type-II error of FastMMD with L = 256 above that of exact MMD, mean over ε", 0.1,
        "the paper calls them comparable; three deviations of the mean of 240 paired trials";
    /// Figure 8(a).
    FIGURE8_TYPE_II: "type-II error on blobs with ε = 4, 1000 samples", 0.05,
        "the paper's curve falls to nothing as frequencies are added";
    /// Figure 8(a), quick.
    FIGURE8_TYPE_II_QUICK: "type-II error on blobs with ε = 4, 500 samples, 24 trials", 0.14,
        "0.028 in 400 trials of other seeds (tests/calibration.rs) and three deviations of 24 and 400 trials";
    /// Figure 8(a), the other end.
    FIGURE8_FEW: "type-II error on blobs with ε = 4 by two frequencies", 0.6,
        "0.858 in 400 trials of other seeds with 500 samples (tests/calibration.rs), less three deviations of 24 and 400 trials; 0.81 in 200 trials with 1000 samples is further off, for the report has 100";
    /// Figure 8(b), quick.
    FIGURE8_POWER_QUICK: "power on blobs with ε from 2.6 to 3, 300 samples", 0.12,
        "0.307, the spectrum's, is the least of five methods in 300 trials of other seeds (tests/calibration.rs); less three deviations of 72 and 300 trials";
    /// Figure 8(b).
    FIGURE8_POWER: "power on blobs with ε from 2.6 to 3, 1000 samples", 0.74,
        "0.889, FastMMD's, is the least of five methods in 90 trials of other seeds (tests/calibration.rs); less three deviations of 90 and 90 trials";
    /// Figure 8(b), the bound.
    FIGURE8_FREE: "power of the distribution-free threshold on blobs with ε up to 3", 0.01,
        "4·√(log(2/.05)/1000) = .24, and MMD² is below .01";
    /// Section 4.5's times.
    FIGURE8_TIME: "time of FastMMD + bootstrap over that of the exact bootstrap", 0.5,
        "2L numbers for each sample instead of N are a quarter of the products; the paper has .05";
    /// Circular ensembles, quick.
    ENSEMBLE_BLOBS_QUICK: "power of each ensemble on blobs with ε = 6, 200 samples, L = 32", 0.15,
        "0.295, of sine and L1, is the least of six in 1000 trials of other seeds (tests/calibration.rs); less three deviations of 100 and 1000 trials";
    /// Circular ensembles, quick.
    ENSEMBLE_SHAPE_QUICK: "power of each ensemble on the change of shape, 200 samples, L = 32", 0.42,
        "0.581, of sine and L1, is the least of six in 1000 trials of other seeds (tests/calibration.rs); less three deviations of 100 and 1000 trials";
    /// Circular ensembles.
    ENSEMBLE_BLOBS: "power of each ensemble on blobs with ε = 6, 600 samples, L = 64", 0.73,
        "0.83, of sine and L1, is the least of six in 400 trials of other seeds (tests/calibration.rs); less three deviations of 200 and 400 trials";
    /// Circular ensembles.
    ENSEMBLE_SHAPE: "power of each ensemble on the change of shape, 600 samples, L = 64", 0.95,
        "0.985, of sine and L1, is the least of six in 400 trials of other seeds (tests/calibration.rs); less three deviations of 200 and 400 trials";
    /// Circular ensembles beside MMD.
    ENSEMBLE_OVER_MMD: "power of another ensemble over that of MMD on the same trials", 0.3,
        "all see the same circles; 0.295/0.394 is the least ratio in 1000 trials of other seeds, less three deviations as if both were of different trials";
    /// Circular ensembles: which norm suits blobs.
    ENSEMBLE_FEW_CIRCLES: "power of L1 over that of L∞ on blobs", 1.0,
        "blobs on a lattice 10 apart are told only by frequencies near its reciprocal, so by few circles: the largest shows them, the mean drowns them in the others' noise";
    /// Limits that were measured.
    CALIBRATED: "what a calibrated limit leaves beyond its three deviations", 0.05,
        "limits are rounded to the safe side";
    /// Nyström MMD, section 5.2.
    THREE_SAMPLE_ERRORS: "share of three-sample problems solved wrongly at the largest n", 0.05,
        "the paper has none, and one in ten runs would be above";
    /// Nyström MMD, figure 2(a).
    THREE_SAMPLE_NYSTROM: "error of Nyström MMD over that of block MMD at the largest n", 1.0,
        "the paper finds it the more accurate";
    /// Nyström MMD, figure 2(a).
    THREE_SAMPLE_FEATURES: "error of random features over that of linear MMD, in either meaning, at the largest n", 1.0,
        "the paper finds them the more accurate";
    /// Nyström MMD, figures 3 and 4.
    OTHER_KINDS_EXACT: "share of three-sample problems on places and graphs solved wrongly by exact MMD at the largest n", 0.1,
        "shares of .75 and .25 are four deviations of a share of 60 samples apart: an error of a few in a hundred";
    /// Nyström MMD, figures 3 and 4.
    OTHER_KINDS_NYSTROM: "such a share of Nyström MMD over that of linear MMD", 1.0,
        "the paper finds linear MMD to err much more";
    /// Nyström MMD, lemma 6.
    NYSTROM_COST: "coordinates read by Nyström MMD over 2nsd, from 1", 0.01,
        "2nsd for two sets of n, and s(s + 1)d/2 among landmarks: .008 of it for 32 landmarks of 1000";
    /// Nyström MMD, lemma 6, by the clock.
    NYSTROM_TIME: "powers of n, s and d in the time of Nyström MMD, from 1", 0.25,
        "Θ(nsd); the exponential is an eighth of a kernel value of 64 channels, which takes .05 off the power of d; times scatter by a tenth, four to four of them: 3·.1·√(1/4 + 1/4)/log 8 = .1; and .1 for caches";
    /// Hilbert space embedding, figure 1.
    WITNESS: "witness of 20 000 samples against that of the densities", 0.015,
        "four deviations of the difference of two means of kernel values, which deviate by .35";
    /// Hilbert space embedding, figure 3.
    DEPENDENCE_ON_CIRCLE: "share of the circle of the pairs where the witness is above 0", 0.9,
        "200 pairs are 3 to an arc of σ/2; gaps are rare";
    /// Hilbert space embedding, figure 3.
    DEPENDENCE_OFF_CIRCLE: "witness below 0 at the corner, where x and y are frequent but no pair is, at least", 0.01,
        "−f is then E k·E l, and more than a tenth of x, and of y, is within σ of 1";
    /// Hilbert space embedding, figure 2, left.
    NULL_MEAN: "mean of MMD_u² without a change, in standard errors", 4.0,
        "an unbiased estimate of 0";
    /// Hilbert space embedding, figure 2, left.
    NULL_SKEWNESS: "skewness of MMD_u² without a change", 0.5,
        "a sum of few χ²: 2.8 for one eigenvalue, and falling with the root of how many count";
    /// Hilbert space embedding, figure 2, left.
    NULL_THRESHOLD: "threshold by the spectrum of one pool of 100 against the measured quantile", 0.25,
        "eigenvalues of 100 samples scatter by a tenth, and a quantile of 2000 by less than a twentieth";
    /// Hilbert space embedding, figure 2, right.
    CHANGED_SKEWNESS: "skewness of MMD_u² with a change, from that of a U-statistic", 0.18,
        "three standard errors over 2000 instances: a sample's skewness deviates by √(6.7/2000) = .058 where the distribution is a Gamma of skewness .28 (the delta method by its first six moments), and theory's own by some .02; validated over 40 other seeds by tests/calibration.rs";
    /// Hilbert space embedding, theorem 5.
    CHANGED_DEVIATION: "deviation of MMD_u² by theorem 5 from one pair of sets against measured", 0.25,
        "a deviation estimated from 100 samples scatters by a tenth";

    /// The quick report.
    REPORT_QUICK: "seconds of `cargo xtask reproduce --quick`, without building", 60.0,
        "required";
    /// The whole report.
    REPORT: "seconds of `cargo xtask reproduce`, without building", 900.0,
        "required";

    /// Quasi-random sampling at d = 3, L = 64.
    QUASI_ACCURACY: "relative error of MMD², quasi-random, d=3, L=64", 0.04,
        "required, where independent frequencies give 0.096";
    /// Orthogonal sampling at d = 16, L = 256.
    ORTHOGONAL_ACCURACY: "relative error of MMD², orthogonal, d=16, L=256", 0.025,
        "required, where plain Fastfood gives 0.042";
    /// The rule behind `Sampling::Auto`.
    QUASI_RULE: "error of quasi-random over orthogonal, up to QUASI_MAX_DIMS", 1.0,
        "the documented rule: at least as good on average over three kinds of change";

    /// Spectral distributions.
    SPECTRUM: "mean cosine against the kernel", 0.012,
        "4.4 standard deviations of the mean of 65 536 independent cosines";

    /// Spectral distribution of Fastfood.
    SPECTRUM_FASTFOOD: "mean cosine of Fastfood's frequencies against the kernel", 0.025,
        "as SPECTRUM, but frequencies of a block may move together: up to four times the variance";

    /// Mixture weights of the core's regimes against the oracle's solver.
    REGIME_WEIGHT: "weight of a regime, core against oracle", 1e-3,
        "promised unless two regimes are nearly alike";
    /// Mixture weights against the true ones.
    REGIME_SHARE: "weight of a regime against its share of some 200 samples", 0.2,
        "embeddings of 200 and 400 samples are off by .07 and .05, and of regimes a root of .4 in MMD² apart: a deviation of some .07 for a weight, and three of them";

    /// Forgetting twice against once.
    FORGET: "mean and relative weight after forgetting twice or once", 1e-6,
        "factors are good to 2⁻³², sums and weights to 2⁻³⁰, and the conversion to f32 adds 2⁻²⁴";
    /// The transform applied twice.
    HADAMARD: "relative error of N⁻¹·WHT² for any input", 4e-6,
        "2·log₂ N roundings of 2⁻²⁴ each, for N up to 1024, of the largest entry times √N";

    /// A mean after 10⁹ samples.
    LONG_RUN: "mean point after 10⁹ samples", 1e-6,
        "promised: as good as after 10³";
    /// How bad a naive sum is at least.
    NAIVE_SUM: "mean of an f32 sum after 10⁸ samples, at least", 0.1,
        "an f32 sum of ones stops at 2²⁴, so five sixths are lost; far from the 1e-6 allowed";
    /// The largest coordinate of a mean that restore accepts.
    STATE_MEAN: "coordinate of a mean restored from altered bytes", 1.01,
        "a mean of points on the circle, with room for a coarse backend's 1/256";

    /// Run lengths of a coupling monitor, from below.
    RUN_LENGTH_SHORTEST: "mean time to a false alarm of coupling over the promise, at least", 0.8,
        "required";
    /// Run lengths of a coupling monitor, from above.
    RUN_LENGTH_LONGEST_AT_1000: "mean time to a false alarm of coupling over a promise of 10³", 2.0,
        "required";
    /// Changes found by the default detector.
    DETECTION_FOUND: "share of changes found at 15 % false alarms in 2600 rows, at least", 0.98,
        "wanted of all changes but those below";
    /// Two humps.
    DETECTION_FOUND_HUMPS: "the same of two humps with the same moments", 0.7,
        "wanted: mean and variance stay";
    /// A small step of an autoregression.
    DETECTION_FOUND_SMALL: "the same of a step of .5 on an autoregression of .9", 0.6,
        "wanted: 2000 such rows tell as much as 105 independent ones";
    /// Correlation beside other movement.
    DETECTION_FOUND_CORRELATION: "the same of correlation on autoregression and sine", 0.65,
        "wanted: most of the variance is not that of the noise";
    /// Zeros for twenty rows.
    DETECTION_ZEROS: "the same of zeros for twenty rows, while they last", 0.95,
        "wanted";
    /// Stuck.
    DETECTION_STUCK: "rows in which a stuck channel is found, at the median", 16.0,
        "wanted";
    /// Delay, against the best column.
    DETECTION_DELAY: "median delay over that of the best method", 1.5,
        "wanted, or so many rows more as follows";
    /// Delay, against the best column.
    DETECTION_LATER: "median delay less that of the best method, in rows", 20.0,
        "wanted, or so many times as much as above";
    /// What of this is not reached.
    DETECTION_UNMET: "figures of detection that are not as wanted, at most", 6.0,
        "as reached: noise half as large again takes 59 and 64 rows, small steps of an autoregression and of a sine up to a quarter more than wanted";
    /// The same of few logs.
    DETECTION_UNMET_QUICK: "figures of quick detection that are not as wanted, at most", 5.0,
        "as reached, 4, and one for so few logs";
    /// Slow drift.
    SLOW_FOUND: "share of ramps of 3 deviations found, at least", 1.0,
        "wanted";
    /// Slow drift.
    SLOW_DELAY: "median delay of a ramp of 3 deviations in 10,000 rows", 2500.0,
        "wanted";
    /// What of this is not reached.
    SLOW_UNMET: "figures of slow drift that are not as wanted, at most", 1.0,
        "as reached: one ramp of 100 on a cycle, where a drift was open before";
    /// The promise, up to the learning rows.
    PROMISE_SHORTEST: "mean time between false alarms over a promise of at most the learning rows, at least", 0.7,
        "wanted";
    /// The promise, up to the learning rows.
    PROMISE_LONGEST: "mean time between false alarms over a promise of at most the learning rows", 2.5,
        "wanted: a detector that is too quiet misses changes";
    /// The promise beyond.
    PROMISE_FAR_SHORTEST: "mean time between false alarms over a promise of up to ten times the learning rows, at least", 0.5,
        "wanted: beyond what learning saw";
    /// The promise beyond.
    PROMISE_FAR_LONGEST: "mean time between false alarms over a promise of up to ten times the learning rows", 3.0,
        "wanted: beyond what learning saw";
    /// What of this is not reached.
    PROMISE_UNMET: "figures of the promise that are not as wanted, at most", 24.0,
        "as reached: too quiet on a day whose noise grows with it, and far beyond learning on walks and cycles";
    /// The same of few devices.
    PROMISE_UNMET_QUICK: "figures of the quick promise that are not as wanted, at most", 7.0,
        "as reached, 6, and one for so few devices";
    /// What the detector in integers may lose.
    INTEGERS_SHARE: "points of the share found that integers lose, at most", 2.0,
        "wanted";
    /// How much later it may be.
    INTEGERS_DELAY: "median delay in integers over that in f32, at most", 1.1,
        "wanted";
    /// What it learns of a channel, from two thousand rows.
    INTEGERS_LEARNED: "relative error of a level, deviation and part of missing readings learned in integers", 0.1,
        "three deviations of the estimates are 0.07";
    /// Alarms on recordings.
    INTEGERS_RECORDINGS: "share of alarms in f32 on recordings that have one in integers within two rows, at least", 0.95,
        "wanted";
    /// What of this is not reached.
    INTEGERS_UNMET: "figures of the detector in integers that are not as wanted, at most", 0.5,
        "wanted";
    /// A false alarm before a change.
    MASKED_FOUND: "share of steps of 1.5 that alarm soon after a false alarm, at least", 0.95,
        "wanted";
    /// What of this is not reached.
    MASKED_UNMET: "figures of masking that are not as wanted, at most", 0.5,
        "none";
    /// Single outliers.
    OUTLIER_ALARMS: "share of single outliers that alarm", 0.05,
        "wanted: one reading is no drift";
    /// Impulses, dropouts, dead channels.
    FAULT_FOUND: "share of impulses, dropouts and dead channels found, at least", 0.95,
        "wanted";
    /// What of this is not reached.
    ROBUSTNESS_UNMET: "figures of robustness that are not as wanted, at most", 12.0,
        "as reached: up to .09 of outliers of all channels at once alarm, and .2 where tails are heavy";
    /// The same of few devices.
    ROBUSTNESS_UNMET_QUICK: "figures of quick robustness that are not as wanted, at most", 3.0,
        "as reached";
    /// The suite of the literature: every delay shorter than NEWMA's.
    PUBLISHED_UNMET: "delays on the suite of the literature that are longer than NEWMA's, at most", 1.0,
        "as reached, none, and one for so few devices";
    /// RAM.
    RAM: "bytes of the default detector of 3 channels", 5120.0,
        "required";
    /// The witness function, core against oracle.
    WITNESS_VALUE: "f(x) of the witness function", 1e-5,
        "a mean of L products of points, each good to 1e-6, at phases of a few turns";
    /// Its gradient.
    WITNESS_GRADIENT: "∇f(x) of the witness function", 5e-5,
        "as f(x), times 2π and frequencies of up to a turn per unit; differences are good to 1e-7";
    /// The witness function over 1024 quasi-random frequencies against the exact one.
    WITNESS_EXACT: "f(x) by 1024 frequencies against all pairs", 0.02,
        "independent frequencies would be off by 1/√(2·1024) = 0.022";
    /// A monitor's strength of coupling.
    COUPLING_HSIC: "strength of coupling over exact HSIC, from 1", 0.15,
        "64 frequencies estimate a kernel to 1/√128 = 0.09, HSIC is quadratic, quasi-random halves it; deviations are estimated from 256 rows, to 0.04";
    /// Alarms of a coupling monitor for a change of one channel.
    COUPLING_OTHER: "share of monitors that take a shifted level for a coupling", 0.3,
        "0.1 are due to chance within a tenth of the promise; three deviations of 30 trials more";
    /// Channels of alarms.
    ATTRIBUTED_CHANNEL: "share of changes whose channel is named by the amended alarm, at least", 0.97,
        "wanted";
    /// Kinds of alarms.
    ATTRIBUTED_KIND: "share of changes whose kind is named by the amended alarm, at least", 0.95,
        "wanted";
    /// Onsets.
    ATTRIBUTED_ONSET: "median |since − onset| of steps and spreads, in rows", 20.0,
        "wanted";
    /// Onsets of ramps.
    ATTRIBUTED_RAMP: "median |since − onset| of ramps over the median delay", 0.25,
        "wanted";
    /// What of this is not reached.
    ATTRIBUTED_UNMET: "figures of attribution that are not as wanted, at most", 6.0,
        "as reached: onsets of ramps, and of the smallest steps of an autoregression and a sine";
    /// The same of few trials.
    ATTRIBUTED_UNMET_QUICK: "figures of quick attribution that are not as wanted, at most", 5.0,
        "as reached";
    /// Recordings of the Numenta benchmark.
    NAB_WANTED_CAUGHT: "windows caught in the half of the Numenta benchmark, wanted", 30.0,
        "wanted";
    /// Recordings of the Numenta benchmark.
    NAB_WANTED_FALSE: "false episodes there, wanted", 16.0,
        "wanted";
    /// Recordings of the Numenta benchmark.
    NAB_CAUGHT: "windows caught in the half of the Numenta benchmark, at least", 28.0,
        "as reached, 29, less one";
    /// Recordings of the Numenta benchmark.
    NAB_FALSE: "false episodes there, at most", 21.0,
        "as reached, 20, and one";
    /// What of this is not reached.
    NAB_UNMET: "figures of the Numenta benchmark that are not as wanted, at most", 3.0,
        "as reached: windows caught, false episodes, alarms in integers on the same rows";
    /// Recordings of the Skoltech benchmark.
    SKAB_WANTED_MISSED: "change points of the half of the Skoltech benchmark missed, wanted", 42.0,
        "wanted";
    /// Recordings of the Skoltech benchmark.
    SKAB_WANTED_FALSE: "false episodes of the Skoltech benchmark, wanted", 18.0,
        "wanted";
    /// Recordings of the Skoltech benchmark.
    SKAB_BETTER: "standard deviations by which fewer change points of the Skoltech benchmark are missed than by random alarms with as many false, at least", 3.0,
        "compared with random alarms of an equal count; three deviations are hardly chance";
    /// Recordings of the Skoltech benchmark.
    SKAB_MISSED: "change points of the half of the Skoltech benchmark missed, at most", 43.0,
        "as reached, 42, and one";
    /// Recordings of the Skoltech benchmark.
    SKAB_FALSE: "false episodes of the Skoltech benchmark, at most", 23.0,
        "as reached, 22, and one";
    /// What of this is not reached.
    SKAB_UNMET: "figures of the Skoltech benchmark that are not as wanted, at most", 1.0,
        "as reached: false alarms";
    /// Recordings of servers: as many false as the detector before this one had.
    SERVERS_FALSE: "false episodes of servers at which events are counted", 8.0,
        "what the detector before this one had at a promise of 10,000, with 4 events";
    /// Recordings of servers.
    SERVERS_WANTED_CAUGHT: "events of servers caught with so many false, wanted", 5.6,
        "wanted: 40 % more than the detector before this one";
    /// Recordings of servers.
    SERVERS_CAUGHT: "events of servers caught at a promise of 10,000, at least", 25.0,
        "as reached, 26, less one";
    /// Recordings of servers.
    SERVERS_FALSE_HELD: "false episodes of servers at a promise of 10,000, at most", 41.0,
        "as reached, 40, and one";
    /// Healthy recordings.
    HEALTHY_SHORTEST: "mean time between alarms over the promise on healthy recordings, at least", 0.5,
        "wanted, of promises up to the learning rows";
    /// Healthy recordings.
    HEALTHY_LONGEST: "mean time between alarms over the promise on healthy recordings", 3.0,
        "wanted, of promises up to the learning rows";
    /// What of this is not reached.
    SERVERS_UNMET: "figures of servers that are not as wanted, at most", 1.0,
        "as reached: healthy parts are not all alike";

    /// Least of exact MMD's time over Fastfood's at 16 channels and 10⁵ samples.
    SPEED_OVER_EXACT: "times as fast as exact MMD", 4000.0,
        "required; the paper's own figure";
    /// Least of the B-test's time over Fastfood's at the same place.
    SPEED_OVER_B_TEST: "times as fast as the B-test", 20.0,
        "required";
    /// Least of numpy's time over the core's, for the same number of features.
    SPEED_OVER_NUMPY: "times as fast as numpy", 1.5,
        "required, for the dense map and Fastfood at every shape that is timed";
    /// Exponent of the number of samples in the time, from 1.
    SPEED_LINEAR: "power of the samples in the time", 0.1,
        "linear, but for what the first samples wait for caches";
    /// Largest exponent of the number of channels in the time.
    SPEED_LOGARITHMIC: "power of the channels in the time", 0.3,
        "from 8 to 1024 channels a logarithm grows as their power 0.25";
}
