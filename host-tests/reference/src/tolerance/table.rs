//! The table.

use super::Tolerance;

macro_rules! table {
    ($($(#[$doc:meta])* $name:ident: $operation:literal, $limit:expr, $reason:literal;)*) => {
        $(
            #[doc = concat!("Of ", $operation, ".")]
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
    REFERENCE_IDENTITY: "the oracle, computed in two ways", 1e-12,
        "f64 sums of at most some thousand terms of size 1";
    DIAMETER: "decision diameter and its margin against a grid of 200 000 angles", 5e-5,
        "half a step of the grid is 1.6e-5 radians";
    CURVATURE: "E ω'ω over the second difference of the kernel at 0, from 1", 0.003,
        "the Matérn 3/2 kernel has a third power of the distance: a step of 1e-3 over σ/√3 is off by 2/3 of a thousandth, and rounding by 1e-9";
    ROOT_MEAN: "mean of MMD_b² of √n samples over 4000 draws", 0.03,
        "single values deviate by less than .5: four standard errors";
    POPULATION_BY_SAMPLES: "closed-form MMD² against 3000 samples", 0.012,
        "three standard deviations of MMD_u² at 3000 samples";
    NORMAL_MOMENTS: "moments of 10⁶ normal numbers", 0.05,
        "five standard deviations of the fourth moment, √(96/10⁶)";
    BLOB_RATIO: "ratio of the blobs' eigenvalues", 0.25,
        "six standard deviations of a ratio of two variances at 20 000 samples";

    QUANTILE: "thresholds and p-values, one from the other", 1e-6,
        "bisection to the last bits of f64; the incomplete gamma function is good to 1e-9";
    NULL_RESAMPLED: "type-I error at .05 of permutation and bootstrap, from .05", 0.03,
        "three standard deviations of a share of .05 in 500 trials";
    NULL_ASYMPTOTIC: "type-I error at .05 of spectrum, Pearson curves and Gamma, from .05", 0.04,
        "as resampled, and .01 for what two to four moments miss of a sum of many χ²";
    NULL_CONTROL: "type-II error at two and a half times the deviation", 0.05,
        "MMD² is then four times its threshold at 60 and 40 samples";
    BLOCK_THRESHOLD: "threshold at .05 by blocks of 1 of 4000 samples over that of the spectrum, from 1", 0.1,
        "Σλ² by 3998 products of deviation 2: three deviations are a tenth of it, a twentieth of the deviation; 4000 draws scatter by .03; two moments miss .02";
    SIGNIFICANCE_P: "p-value of a test on the device over that by the incomplete beta function, from 1", 0.06,
        "documented for .05: the cube root of F is nearly normal";
    SIGNIFICANCE_FAR: "logarithm of such a ratio, from p-values of .0005 to .5", 0.3,
        "the same, in the tails";
    SIGNIFICANCE_TYPE_I: "share of tests at .05 that are above it without a change, from .05", 0.01,
        "required: within a fifth";
    SIGNIFICANCE_BLOCKS: "the same for eight channels by blocks half as long as they should be, from .035", 0.01,
        "as documented, on the careful side only: three deviations of 3000 trials";
    SIGNIFICANCE_MISSED: "share of tests at .05 that miss a shift of .3 deviations by 300 samples", 0.2,
        "a z-test has a power of .96 there; the kernel also looks elsewhere";
    CONSERVATIVE_MANY: "threshold for many samples of any distribution over that of the spectrum", 3.0,
        "1.96², the threshold of a single eigenvalue, is 3.84 of the mean; that of the spectrum is above 1.3 of it";
    CONSERVATIVE_ANY: "threshold that assumes nothing over that of the spectrum", 20.0,
        "(1 + √(2·ln 20))² is 11.9 of K(0); that of the spectrum is above .6 of it";
    CONSERVATIVE_LEAST: "threshold of the spectrum over one that assumes nothing", 0.2,
        "a control of the same: that of the spectrum is below 2.4 of K(0)";
    ERROR_BAR_KEPT: "share of embeddings further from the truth than their error bar at .2", 0.2,
        "a bound";
    CLASSIFIER_WRONG: "share of samples of two classes that a classifier on the device gets wrong", 0.02,
        "classes far apart; one or two of a hundred may be near the boundary";
    SIGNIFICANCE_NARROW: "the same for a kernel a quarter as wide, from .05", 0.016,
        "as documented: up to .066, as many small eigenvalues are no Gamma distribution";
    CONSERVATIVE_TYPE_I: "share of tests at .05 above a bound without a change", 0.05,
        "a bound";
    INTERVAL_COVERAGE: "share of 95 % intervals with the MMD² of the distributions, from .95", 0.03,
        "three standard deviations of a share of .95 in 600 trials are .027; the limit is normal";
    INTERVAL_BLOCKS: "the same of samples that depend on earlier ones, by blocks, from .95", 0.04,
        "the same .027, and .01 for what blocks of 32 leave out of a memory of three and for their number";
    INTERVAL_SINGLE: "the same by single samples, at most", 0.88,
        "a control: their variance is a third to a half of that of the mean, so .75 to .83 are covered, and three standard deviations";
    OFFSET_VARIANCE: "variance of a product of offset features over that by theory, from 1", 0.1,
        "a variance from 4000 draws of bounded products: four deviations";
    CLASSIFIER_SCORE: "score of a class, core against oracle, for weights of size 1", 1e-4,
        "sums of 128 products, each of a point good to 1e-6";
    NYSTROM_FULL: "Nyström with all samples as landmarks, against exact", 1e-5,
        "eigenvalues below 1e-12 of the largest are left out, and roots of those near it lose half the digits";
    SIMPLEX: "weights of a quadratic program, two ways", 1e-6,
        "solved to a gap of 1e-10; weights are as good as its root over the least curvature, 0.1";
    HSIC_TYPE_I: "type-I error of HSIC at .05, from .05", 0.046,
        "three standard deviations of a share of .05 in 200 trials";
    HSIC_MEMORY: "type-I error of HSIC at .05 by blocks as long as the memory", 0.25,
        "measured .10 at 400 rows, where single rows have .75; three standard deviations of a share of .12 in 60 trials are .13";
    TOOLBOX: "weights and relative HSIC that the tool prints, against the toolbox on the same rows", 1e-9,
        "the same sums in f64, in another order; weights are solved to 1e-10";
    TOOL_MMD2: "MMD² that the tool prints by 256 frequencies over the exact one, from 1", 0.02,
        "quasi-random in two dimensions; independent ones reach .06";
    TOOL_TIES: "p-value of permutations with many ties, from that over all of them", 0.03,
        "three standard deviations of a share of .07 in 999 draws are .024";
    TOOL_MEMORY: "rows of memory of an autoregression by 4000 rows over those of theory, from 1", 0.6,
        "4000 rows are a hundred memories: an estimate from as many is good to a fifth, and three of that";
    TOOL_INDEPENDENT: "dependence of independent columns over that of a and a² by 200 rows", 1.0 / 3.0,
        "what chance leaves of 200 rows is a tenth of a clear dependence";
    TOOL_MATCHED: "difference of means after reweighting over that before", 0.3,
        "a shift of .6 of 250 rows is known to .09";
    TOOL_SIZE: "size of a step of four deviations that the tool prints", 1.5,
        "estimated from the rows between onset and alarm, which are few";
    TOOL_DEVIATION: "deviation of a channel that the tool prints, from 1", 0.2,
        "learned robustly from some hundred rows: three deviations of .06";
    TOOL_SURE: "p-value that the tool prints for a large change", 1e-6,
        "a change that leaves no doubt";
    DEFECT_LEVEL: "learned level after a glitch at power-on, from the true one", 0.5,
        "in deviations; 4096 rows tell it far better";
    DEFECT_DEVIATION: "learned deviation after a glitch at power-on", 1.6,
        "of noise of 1: the glitch made it 255 where it counted";
    DEFECT_OFTEN: "promise over the mean time between false alarms on quantised and sparse readings", 2.0,
        "wanted: at least half the promise";
    DEFECT_RAMP: "median error of the onset of a ramp over the delay of its alarm", 0.35,
        "as reached; the first rows of a ramp do not show it";
    MEDIAN_STEP: "median distance of quantised rows, in steps, from 1", 0.01,
        "the P² algorithm interpolates";
    MEDIAN_KNOWN: "median distance of rows that remember, over the true one, from .99", 0.02,
        "three deviations of 20 runs";
    MATCHED_MOMENT: "moments of a reweighted sample of 400", 0.12,
        "three standard deviations of a mean of some 100 effective samples of deviation .6, and .02 for the kernel's blindness";
    MATCHED_EFFECTIVE: "effective samples over those of the density ratio, in powers of two", 1.0,
        "matching need not be the density ratio, but weights that waste half the samples would be no use";
    EQUATION_8: "quantile at .05 of 20 000 draws with one eigenvalue over the exact one, from 1", 0.06,
        "the share above it scatters by .0015, and a thirtieth of .05 moves z² by a fiftieth; without its centre z² is a quarter smaller, so four deviations of .012 and of it";
    MIXTURE_SHARE: "shares of a mixture from 3000 samples", 0.04,
        "four standard deviations of a share of .3 among 3000, and as much again for overlap of candidates";
    SVM_CONDITIONS: "conditions of the kernel machine: Σyα, margins, and the gap over the primal", 1e-6,
        "solved until no pair violates by more than 1e-10; sums of 80 terms of size up to 50";
    SVM_FALL: "power of 1/L by which decisions differ from those of the kernel, from 1/2", 0.2,
        "a root mean square of six draws scatters by a fifth; .3/log 16";
    SVM_BIAS_FALL: "power of 1/B by which decisions differ from those with a free bias, from 2", 0.25,
        "b/B² is what the classes differ in weight; the next order is 1/B⁴, and log₂ 1.19 for a fifth of it at B = 4";
    SVM_UNITS: "decisions in units a hundredth as large against those in the own", 1e-5,
        "solved to 1e-10 and 1e-8 in units of the decision, and a root of the sum over 60 samples";
    SVM_COARSE: "the dual solved to violations of 1e-3 over that solved to 1e-10, from 1", 2e-3,
        "no sample adds more than α times a violation, and Σα is at most twice the dual";
    SVM_AGREE: "share of decisions by 512 frequencies against the kernel's", 0.02,
        "rings 1.2 apart with noise of .15: few samples are near the boundary";
    SVM_WRONG: "share of samples on the wrong side by the kernel machine itself", 0.05,
        "the same rings: what features are compared with has to be right itself";
    LEVERAGE_CHANCE: "share of draws of 8 of 303 points, uniformly, with one of 3 far away", 0.2,
        "8·3/303 is .08; three standard deviations of that share in 200 draws are .06";
    LEVERAGE_MISSED: "share of draws by leverage scores without one of 3 far away", 0.25,
        "three lonely points of score near 1 among scores that sum to some ten";
    PRIOR_ALIKE: "40 samples over those that the prior of one size is worth", 1.0,
        "channels of one size shrink all the way: the prior outweighs the samples";
    PRIOR_APART: "samples that the prior of sizes a decade apart is worth", 2.0,
        "such sizes say nothing about each other: less than two samples of 40";
    GUARANTEE_FALL: "theorem 3's guarantee of 2¹⁰ over that of 2²⁰ frequencies, over 32, from 1", 0.25,
        "the root of their ratio is 32; the logarithm in the theorem changes by a fifth at most";
    PRINTED_UNITS: "theorem 4's guarantee as printed, in a larger unit over a smaller", 0.2,
        "a control: what depends on the unit must be seen to, by five times at least";
    RADEMACHER_NEAR: "bound of a Rademacher average over the average, for a narrow kernel", 1.25,
        "a control: of samples that hardly touch, the bound is nearly reached";
    CURVE_MOMENTS: "moments of a Pearson curve by integrating its tail, over those it was fitted to", 0.01,
        "rectangles of a two-hundredth of a deviation up to 200 deviations; the fourth moment of a curve of excess 8 has some thousandths beyond";
    MAXIMUM_ENTROPY: "shares of a mixture by maximum entropy against scipy's SLSQP", 1e-4,
        "solved there to an objective of 1e-12, whose root over a curvature of 1 is 1e-6, with a constraint met to 1e-9 of some 1e-3";
    SELECTION: "HSIC with linear kernels against Pearson and centroid scores", 1e-9,
        "sums of 6400 terms of size up to 30";
    PEER: "the oracle against scikit-learn, scipy and hyppo", 1e-9,
        "both in f64; their eigenvalues and quantiles are good to some 1e-10";
    PEER_CURVE: "quantiles and p-values of Pearson curves against scipy", 1e-6,
        "moments matched to 1e-6 of themselves here, and quadrature to 1e-9 there";
    PEER_MACHINE: "decisions and weights against libsvm and liblinear", 1e-6,
        "solved there to violations of 1e-12 and here of 1e-8";
    PEER_PROGRAM: "weights of a quadratic program against scipy's SLSQP", 1e-5,
        "solved there to an objective of 1e-15, over the least curvature of .01 and as a root";
    BOUND_KEPT: "largest error of MMD² over all pairs of points, over theorem 3's promise", 1.0,
        "a promise that holds with a probability of .95, and as it is conservative, always";
    BOUND_CONSERVATIVE: "theorem 3's promise over the largest error over all pairs of points", 50.0,
        "√(64·3·log(4096·(10/ε)²/.05)/L) is 58/√L; twice the largest of some 20 deviations of 1/√(2L) is about 4/√L: a ratio of 14, and three times that for a lucky draw";
    NULL_NORMAL: "type-I error at .05 of MMD-linear and B-test, from .05", 0.04,
        "three standard deviations of a share of .05 in 300 trials; thirty blocks are not quite normal";

    MMD2: "MMD², norm, inner product", 1e-5,
        "promised for phases up to 16 turns; a phase in f32 is good to 16·2⁻²⁴ turns";
    MMD2_MICROMATH: "MMD², norm, inner product by micromath", 2e-3,
        "promised; micromath's sine is good to 1.1e-3";
    MMD2_FIXED: "MMD², norm, inner product in integers", 2e-4,
        "promised for every sample of 16 bits; a point is off by 8e-5 + 2π·2⁻¹⁷, in no preferred direction";
    POINT_FIXED: "cos or sin of one phase in integers", 2e-4,
        "promised for the whole path; the table promises 8e-5, and a phase is cut to 2⁻¹⁷ turns";
    MMD2_FIXED_AND_FLOAT: "MMD² in integers against f32, same seed", 2e-3,
        "frequencies rounded to a two-thousandth of themselves, over phases of a turn or so, with as many signs as frequencies";
    CIRCLE_AMPLITUDE: "A₁, A₂ and A of one circle", 1e-5,
        "the mean point is good to 1e-5 at 16 turns, and so is its distance from the centre";
    CIRCLE_PHASE: "θ₁, θ₂ and θ of one circle, in turns", 2e-5,
        "a mean point off by 1e-5 turns by 1e-5/(2π·0.1) turns, and angles are good to 1e-7";
    CIRCLE_VISIBLE: "amplitude that has a phase", 0.1,
        "below, the limit on the phase would have to grow as one over the amplitude";
    FREQUENCY: "frequency(k) against all of them at once", 1e-12,
        "the same computation, so the same bits";

    FIGURE5_BIASED: "mean relative error of MMD_b² on blobs", 0.085,
        "required; independent prototypes gave 0.071 and 0.068";
    FIGURE5_UNBIASED: "mean relative error of MMD_u² on blobs", 0.16,
        "required; independent prototypes gave 0.138 and 0.130";
    FIGURE5_SLOPE: "slope of log error over log L, from −1/2", 0.07,
"0.03 of noise at 200 seeds; at L = 16 single errors are skewed, which flattens the mean";
    FIGURE5_FALL: "error of MMD_b² on blobs at L = 1024 over that at L = 64", 0.4,
        "the law 1/√L gives .25; a mean of 100 skewed errors is good to a fifth";
    FIGURE6_B_TEST: "deviation of MMD_u² over that of the B-test", 0.4,
        "required";
    FIGURE6_LINEAR: "deviation of MMD_u² over that of MMD-linear", 0.12,
        "required";
    FIGURE6_FOUND: "share of estimates that are largest at the right bandwidth", 0.9,
        "the paper: lower variance finds the right σ; steps of 10^(1/5) are far apart for L = 1024";
    FIGURE6_FOUND_LINEAR: "share of MMD-linear largest at the right bandwidth over that of FastMMD", 1.0,
        "the paper: FastMMD finds it with the higher probability";
    FIGURE6_FOUND_B_TEST: "share of the B-test largest at the right bandwidth over that of FastMMD", 1.0,
        "the paper: FastMMD finds it with the higher probability";
    FIGURE6_BIASED: "mean of MMD_b² over seeds at the right bandwidth, from the exact one", 0.05,
        "a mean of 30 estimates, each off by less than a tenth";
    FIGURE7_SAMPLES: "power of the samples by which the speed-up grows", 0.7,
        "2n² − n kernel values to 2n projections: 1; four times that scatter by a tenth each, over eight times the samples, take off up to 3·.1·√4/log 8 = .29";
    FIGURE7_COUNTED: "powers of the samples in the number of kernel values, from 2, 3/2 and 1", 0.05,
        "2n² − n, b of them for blocks of b = ⌊√n⌋, and 2n: rounding of 500 to 22·22 is .04 of it, over log 8";
    FIGURE7_EXACT: "exact MMD_u² of 4000 samples or more from that of the distributions", 0.001,
        "four deviations: 2·√(2Σλ²)/n is at most 2·10⁻⁴ and 2·√(Var h₁/n) as much";
    FIGURE7_SCATTERED: "MMD_u² of 4000 samples or more by few pairs from that of the distributions", 0.02,
        "MMD-linear averages 2000 terms of deviation .25: three times .0056; the B-test scatters less";
    FIGURE7_VALUE: "MMD_u² by FastMMD against exact in figure 7", 0.002,
        "three deviations of a mean over 128 frequencies of |φ_P − φ_Q|², which deviates by .0052 for the shift and by .0057 for 500 samples; over 8192 for 50 samples by .057";
    FIGURE7_CHANNELS: "time of Fourier over Fastfood at d = 512", 3.0,
        "512 products to 40 sums for each frequency, and a sine and a cosine for both";
    TABLE1_ERROR: "mean of MMD by ten maps of 1024 frequencies over exact MMD, both biased, from 1", 0.02,
        "for one map 1/(2√L) = .016, since squared differences at single frequencies scatter as much as their mean; four deviations of the mean of ten";
    TABLE1_ERROR_QUICK: "mean of MMD by three maps of 1024 frequencies over exact MMD, both biased, from 1", 0.04,
        "as of ten: four deviations of the mean of three";
    TABLE1_UNBIASED: "mean of MMD_u² by ten maps of 1024 frequencies less exact MMD_u², over K(0)", 0.001,
        "one map scatters by MMD_b²/√L = .0007, since MMD_b² is .022 of K(0): four deviations of the mean of ten";
    TABLE1_UNBIASED_QUICK: "mean of MMD_u² by three maps of 1024 frequencies less exact MMD_u², over K(0)", 0.009,
        "as of ten, for so few images that MMD_b² is .12 of K(0)";
    TABLE1_SCATTER: "deviation of FastMMD at the shape of table 1 over that of the B-test", 1.0,
        "the paper has .25; measured with few images .6, and a ratio of deviations of ten runs each scatters by a third";
    TABLE1_SCATTER_LINEAR: "deviation of FastMMD at the shape of table 1 over that of MMD-linear", 0.5,
        "the paper has .025; measured with few images .25, and three times a third of it";
    TABLE1_TIME: "time of Fourier over Fastfood at the shape of table 1", 2.0,
        "the paper has 2.03; 21 504 products for each frequency to 2·15 sums for each of 32 768 rows";
    FIGURE8_TYPE_I: "type-I error at .05", 0.12,
        "three standard deviations of a share of .05 in 100 trials above it; some parts have more";
    FIGURE8_LOST: "type-II error of FastMMD with L = 256 above that of exact MMD, mean over ε", 0.1,
        "the paper calls them comparable; three deviations of the mean of 240 paired trials";
    FIGURE8_TYPE_II: "type-II error on blobs with ε = 4, 1000 samples", 0.05,
        "the paper's curve falls to nothing as frequencies are added";
    FIGURE8_TYPE_II_QUICK: "type-II error on blobs with ε = 4, 500 samples, 24 trials", 0.14,
        "0.028 in 400 trials of other seeds (tests/calibration.rs) and three deviations of 24 and 400 trials";
    FIGURE8_FEW: "type-II error on blobs with ε = 4 by two frequencies", 0.6,
        "0.858 in 400 trials of other seeds with 500 samples (tests/calibration.rs), less three deviations of 24 and 400 trials; 0.81 in 200 trials with 1000 samples is further off, for the report has 100";
    FIGURE8_POWER_QUICK: "power on blobs with ε from 2.6 to 3, 300 samples", 0.12,
        "0.307, the spectrum's, is the least of five methods in 300 trials of other seeds (tests/calibration.rs); less three deviations of 72 and 300 trials";
    FIGURE8_POWER: "power on blobs with ε from 2.6 to 3, 1000 samples", 0.74,
        "0.889, FastMMD's, is the least of five methods in 90 trials of other seeds (tests/calibration.rs); less three deviations of 90 and 90 trials";
    FIGURE8_FREE: "power of the distribution-free threshold on blobs with ε up to 3", 0.01,
        "4·√(log(2/.05)/1000) = .24, and MMD² is below .01";
    FIGURE8_TIME: "time of FastMMD + bootstrap over that of the exact bootstrap", 0.5,
        "2L numbers for each sample instead of N are a quarter of the products; the paper has .05";
    ENSEMBLE_BLOBS_QUICK: "power of each ensemble on blobs with ε = 6, 200 samples, L = 32", 0.15,
        "0.295, of sine and L1, is the least of six in 1000 trials of other seeds (tests/calibration.rs); less three deviations of 100 and 1000 trials";
    ENSEMBLE_SHAPE_QUICK: "power of each ensemble on the change of shape, 200 samples, L = 32", 0.42,
        "0.581, of sine and L1, is the least of six in 1000 trials of other seeds (tests/calibration.rs); less three deviations of 100 and 1000 trials";
    ENSEMBLE_BLOBS: "power of each ensemble on blobs with ε = 6, 600 samples, L = 64", 0.73,
        "0.83, of sine and L1, is the least of six in 400 trials of other seeds (tests/calibration.rs); less three deviations of 200 and 400 trials";
    ENSEMBLE_SHAPE: "power of each ensemble on the change of shape, 600 samples, L = 64", 0.95,
        "0.985, of sine and L1, is the least of six in 400 trials of other seeds (tests/calibration.rs); less three deviations of 200 and 400 trials";
    ENSEMBLE_OVER_MMD: "power of another ensemble over that of MMD on the same trials", 0.3,
        "all see the same circles; 0.295/0.394 is the least ratio in 1000 trials of other seeds, less three deviations as if both were of different trials";
    ENSEMBLE_FEW_CIRCLES: "power of L1 over that of L∞ on blobs", 1.0,
        "blobs on a lattice 10 apart are told only by frequencies near its reciprocal, so by few circles: the largest shows them, the mean drowns them in the others' noise";
    CALIBRATED: "what a calibrated limit leaves beyond its three deviations", 0.05,
        "limits are rounded to the safe side";
    THREE_SAMPLE_ERRORS: "share of three-sample problems solved wrongly at the largest n", 0.05,
        "the paper has none, and one in ten runs would be above";
    THREE_SAMPLE_NYSTROM: "error of Nyström MMD over that of block MMD at the largest n", 1.0,
        "the paper finds it the more accurate";
    THREE_SAMPLE_FEATURES: "error of random features over that of linear MMD, in either meaning, at the largest n", 1.0,
        "the paper finds them the more accurate";
    OTHER_KINDS_EXACT: "share of three-sample problems on places and graphs solved wrongly by exact MMD at the largest n", 0.1,
        "shares of .75 and .25 of 60 graphs are 6.3 standard errors of their difference apart, and shares of .62 and .38 of 200 places 4.9: errors are seldom, and three deviations of one in a hundred among 20 runs are .07";
    OTHER_KINDS_NYSTROM: "such a share of Nyström MMD over that of linear MMD", 1.0,
        "the paper finds linear MMD to err much more";
    NYSTROM_COST: "coordinates read by Nyström MMD over 2nsd, from 1", 0.01,
        "2nsd for two sets of n, and s(s + 1)d/2 among landmarks: .008 of it for 32 landmarks of 1000";
    NYSTROM_TIME: "powers of n, s and d in the time of Nyström MMD, from 1", 0.25,
        "Θ(nsd); the exponential is an eighth of a kernel value of 64 channels, which takes .05 off the power of d; times scatter by a tenth, four to four of them: 3·.1·√(1/4 + 1/4)/log 8 = .1; and .1 for caches";
    WITNESS: "witness of 20 000 samples against that of the densities", 0.015,
        "four deviations of the difference of two means of kernel values, which deviate by .35";
    DEPENDENCE_ON_CIRCLE: "share of the circle of the pairs where the witness is above 0", 0.9,
        "200 pairs are 3 to an arc of σ/2; gaps are rare";
    DEPENDENCE_OFF_CIRCLE: "witness below 0 at the corner, where x and y are frequent but no pair is, at least", 0.01,
        "−f is then E k·E l, and more than a tenth of x, and of y, is within σ of 1";
    NULL_MEAN: "mean of MMD_u² without a change, in standard errors", 4.0,
        "an unbiased estimate of 0";
    NULL_SKEWNESS: "skewness of MMD_u² without a change", 0.5,
        "a sum of few χ²: 2.8 for one eigenvalue, and falling with the root of how many count";
    NULL_THRESHOLD: "threshold by the spectrum of one pool of 100 against the measured quantile", 0.25,
        "eigenvalues of 100 samples scatter by a tenth, and a quantile of 2000 by less than a twentieth";
    CHANGED_SKEWNESS: "skewness of MMD_u² with a change, from that of a U-statistic", 0.18,
        "three standard errors over 2000 instances: a sample's skewness deviates by √(6.7/2000) = .058 where the distribution is a Gamma of skewness .28 (the delta method by its first six moments), and theory's own by some .02; validated over 40 other seeds by tests/calibration.rs";
    CHANGED_DEVIATION: "deviation of MMD_u² by theorem 5 from one pair of sets against measured", 0.25,
        "a deviation estimated from 100 samples scatters by a tenth";

    REPORT_QUICK: "seconds of `cargo xtask reproduce --quick`, without building", 60.0,
        "required";
    REPORT: "seconds of `cargo xtask reproduce`, without building", 900.0,
        "required";

    QUASI_ACCURACY: "relative error of MMD², quasi-random, d=3, L=64", 0.04,
        "required, where independent frequencies give 0.096";
    ORTHOGONAL_ACCURACY: "relative error of MMD², orthogonal, d=16, L=256", 0.025,
        "required, where plain Fastfood gives 0.042";
    QUASI_RULE: "error of quasi-random over orthogonal, up to QUASI_MAX_DIMS", 1.0,
        "the documented rule: at least as good on average over three kinds of change";

    SPECTRUM: "mean cosine against the kernel", 0.012,
        "4.4 standard deviations of the mean of 65 536 independent cosines";

    SPECTRUM_FASTFOOD: "mean cosine of Fastfood's frequencies against the kernel", 0.025,
        "as SPECTRUM, but frequencies of a block may move together: up to four times the variance";

    REGIME_WEIGHT: "weight of a regime, core against oracle", 1e-3,
        "promised unless two regimes are nearly alike";
    REGIME_SHARE: "weight of a regime against its share of some 200 samples", 0.2,
        "embeddings of 200 and 400 samples are off by .07 and .05, and of regimes a root of .4 in MMD² apart: a deviation of some .07 for a weight, and three of them";

    FORGET: "mean and relative weight after forgetting twice or once", 1e-6,
        "factors are good to 2⁻³², sums and weights to 2⁻³⁰, and the conversion to f32 adds 2⁻²⁴";
    HADAMARD: "relative error of N⁻¹·WHT² for any input", 4e-6,
        "2·log₂ N roundings of 2⁻²⁴ each, for N up to 1024, of the largest entry times √N";

    LONG_RUN: "mean point after 10⁹ samples", 1e-6,
        "promised: as good as after 10³";
    NAIVE_SUM: "mean of an f32 sum after 10⁸ samples, at least", 0.1,
        "an f32 sum of ones stops at 2²⁴, so five sixths are lost; far from the 1e-6 allowed";
    STATE_MEAN: "coordinate of a mean restored from altered bytes", 1.01,
        "a mean of points on the circle, with room for a coarse backend's 1/256";

    RUN_LENGTH_SHORTEST: "mean time to a false alarm of coupling over the promise, at least", 0.8,
        "required";
    RUN_LENGTH_LONGEST_AT_1000: "mean time to a false alarm of coupling over a promise of 10³", 2.0,
        "required";
    DETECTION_FOUND: "share of changes found at 15 % false alarms in 2600 rows, at least", 0.98,
        "wanted of all changes but those below";
    DETECTION_FOUND_HUMPS: "the same of two humps with the same moments", 0.7,
        "wanted: mean and variance stay";
    DETECTION_FOUND_SMALL: "the same of a step of .5 on an autoregression of .9", 0.6,
        "wanted: 2000 such rows tell as much as 105 independent ones";
    DETECTION_FOUND_CORRELATION: "the same of correlation on autoregression and sine", 0.65,
        "wanted: most of the variance is not that of the noise";
    DETECTION_ZEROS: "the same of zeros for twenty rows, while they last", 0.95,
        "wanted";
    DETECTION_STUCK: "rows in which a stuck channel is found, at the median", 16.0,
        "wanted";
    DETECTION_DELAY: "median delay over that of the best method", 1.5,
        "wanted, or so many rows more as follows";
    DETECTION_LATER: "median delay less that of the best method, in rows", 20.0,
        "wanted, or so many times as much as above";
    DETECTION_UNMET: "figures of detection that are not as wanted, at most", 3.0,
        "as reached: steps of half a deviation of an autoregression and of a sine take 12 % and 27 % more than wanted, noise half as large again of an autoregression takes 55 rows instead of 54";
    DETECTION_UNMET_QUICK: "figures of quick detection that are not as wanted, at most", 5.0,
        "as reached, with so few logs";
    SLOW_FOUND: "share of ramps of 3 deviations found, at least", 1.0,
        "wanted";
    SLOW_DELAY: "median delay of a ramp of 3 deviations in 10,000 rows", 2500.0,
        "wanted";
    SLOW_UNMET: "figures of slow drift that are not as wanted, at most", 0.5,
        "none";
    PROMISE_SHORTEST: "mean time between false alarms over a promise of at most the learning rows, at least", 0.7,
        "wanted";
    PROMISE_LONGEST: "mean time between false alarms over a promise of at most the learning rows", 2.5,
        "wanted: a detector that is too quiet misses changes";
    PROMISE_FAR_SHORTEST: "mean time between false alarms over a promise of up to ten times the learning rows, at least", 0.5,
        "wanted: beyond what learning saw";
    PROMISE_FAR_LONGEST: "mean time between false alarms over a promise of up to ten times the learning rows", 3.0,
        "wanted: beyond what learning saw";
    PROMISE_UNMET: "figures of the promise that are not as wanted, at most", 18.0,
        "as reached: too quiet on a day whose noise grows with it, on walks, and on a week that was not learned";
    PROMISE_UNMET_QUICK: "figures of the quick promise that are not as wanted, at most", 3.0,
        "as reached, 2, and one for so few devices";
    INTEGERS_SHARE: "points by which the share found in integers differs from that in f32, at most", 2.0,
        "wanted";
    INTEGERS_DELAY: "median delay in integers over that in f32, at most, and its difference the other way", 1.1,
        "wanted";
    INTEGERS_LEARNED: "relative error of a level, deviation and part of missing readings learned in integers", 0.1,
        "three deviations of the estimates are 0.07";
    INTEGERS_RECORDINGS: "share of alarms in f32 on recordings that have one in integers within two rows, at least", 0.95,
        "wanted";
    INTEGERS_UNMET: "figures of the detector in integers that are not as wanted, at most", 0.5,
        "wanted";
    MASKED_FOUND: "share of steps of 1.5 that alarm soon after a false alarm, at least", 0.95,
        "wanted";
    MASKED_UNMET: "figures of masking that are not as wanted, at most", 0.5,
        "none";
    OUTLIER_ALARMS: "share of single outliers that alarm", 0.05,
        "wanted: one reading is no drift";
    FAULT_FOUND: "share of impulses, dropouts and dead channels found, at least", 0.95,
        "wanted";
    ROBUSTNESS_UNMET: "figures of robustness that are not as wanted, at most", 12.0,
        "as reached: up to .09 of outliers of all channels at once alarm, and .2 where tails are heavy";
    ROBUSTNESS_UNMET_QUICK: "figures of quick robustness that are not as wanted, at most", 3.0,
        "as reached";
    PUBLISHED_UNMET: "delays on the suite of the literature that are longer than NEWMA's, at most", 1.0,
        "as reached, none, and one for so few devices";
    RAM: "bytes of the default detector of 3 channels", 5120.0,
        "required";
    WITNESS_VALUE: "f(x) of the witness function", 1e-5,
        "a mean of L products of points, each good to 1e-6, at phases of a few turns";
    WITNESS_GRADIENT: "∇f(x) of the witness function", 5e-5,
        "as f(x), times 2π and frequencies of up to a turn per unit; differences are good to 1e-7";
    WITNESS_EXACT: "f(x) by 1024 frequencies against all pairs", 0.02,
        "independent frequencies would be off by 1/√(2·1024) = 0.022";
    COUPLING_HSIC: "strength of coupling over exact HSIC, from 1", 0.15,
        "64 frequencies estimate a kernel to 1/√128 = 0.09, HSIC is quadratic, quasi-random halves it; deviations are estimated from 256 rows, to 0.04";
    COUPLING_OTHER: "share of monitors that take a shifted level for a coupling", 0.3,
        "0.1 are due to chance within a tenth of the promise; three deviations of 30 trials more";
    ATTRIBUTED_CHANNEL: "share of changes whose channel is named by the amended alarm, at least", 0.97,
        "wanted";
    ATTRIBUTED_KIND: "share of changes whose kind is named by the amended alarm, at least", 0.95,
        "wanted";
    ATTRIBUTED_ONSET: "median |since − onset| of steps and spreads, in rows", 20.0,
        "wanted";
    ATTRIBUTED_RAMP: "median |since − onset| of ramps over the median delay", 0.25,
        "wanted";
    ATTRIBUTED_UNMET: "figures of attribution that are not as wanted, at most", 6.0,
        "as reached: onsets of ramps, and of the smallest steps of an autoregression and a sine";
    ATTRIBUTED_UNMET_QUICK: "figures of quick attribution that are not as wanted, at most", 5.0,
        "as reached";
    NAB_WANTED_CAUGHT: "windows caught in the half of the Numenta benchmark, wanted", 30.0,
        "wanted";
    NAB_WANTED_FALSE: "false episodes there, wanted", 16.0,
        "wanted";
    NAB_CAUGHT: "windows caught in the half of the Numenta benchmark, at least", 30.0,
        "as reached, 31, less one";
    NAB_FALSE: "false episodes there, at most", 15.0,
        "as reached, 14, and one";
    NAB_UNMET: "figures of the Numenta benchmark that are not as wanted, at most", 1.0,
        "as reached: alarms in integers on the same rows";
    SKAB_WANTED_MISSED: "change points of the half of the Skoltech benchmark missed, wanted", 42.0,
        "wanted";
    SKAB_WANTED_FALSE: "false episodes of the Skoltech benchmark, wanted", 18.0,
        "wanted";
    SKAB_BETTER: "standard deviations by which fewer change points of the Skoltech benchmark are missed than by random alarms with as many false, at least", 3.0,
        "compared with random alarms of an equal count; three deviations are hardly chance";
    SKAB_MISSED: "change points of the half of the Skoltech benchmark missed, at most", 42.0,
        "as reached, 41, and one";
    SKAB_FALSE: "false episodes of the Skoltech benchmark, at most", 18.0,
        "as reached, 17, and one";
    SKAB_UNMET: "figures of the Skoltech benchmark that are not as wanted, at most", 0.5,
        "none";
    SERVERS_FALSE: "false episodes of servers at which events are counted", 8.0,
        "what joint innovations alone had at a promise of 10,000, with 4 events";
    SERVERS_WANTED_CAUGHT: "events of servers caught with so many false, wanted", 5.6,
        "wanted: 40 % more than joint innovations alone";
    SERVERS_CAUGHT: "events of servers caught at a promise of 10,000, at least", 25.0,
        "as reached, 26, less one";
    SERVERS_FALSE_HELD: "false episodes of servers at a promise of 10,000, at most", 38.0,
        "as reached, 37, and one";
    HEALTHY_SHORTEST: "mean time between alarms over the promise on healthy recordings, at least", 0.5,
        "wanted, of promises up to the learning rows";
    HEALTHY_LONGEST: "mean time between alarms over the promise on healthy recordings", 3.0,
        "wanted, of promises up to the learning rows";
    SERVERS_UNMET: "figures of servers that are not as wanted, at most", 1.0,
        "as reached: healthy parts are not all alike";

    SPEED_OVER_EXACT: "times as fast as exact MMD", 4000.0,
        "required; the paper's own figure";
    SPEED_OVER_B_TEST: "times as fast as the B-test", 20.0,
        "required";
    SPEED_OVER_NUMPY: "times as fast as numpy", 1.5,
        "required, for the dense map and Fastfood at every shape that is timed";
    SIGNAL_LEVEL: "mean of 400 000 rows of a simulated signal, in deviations of noise", 0.08,
        "a telegraph that stays for hundreds of rows is worth some thousand rows: two and a half of its standard errors";
    SIGNAL_SPREAD: "deviation of 400 000 rows of a simulated signal over that stated, from 1", 0.06,
        "as the level, and the bursts and clusters of variance of others";
    AUTOREGRESSION: "coefficients of an autoregression from 20 000 rows", 0.03,
        "1/√20 000 is .007; those of neighbouring lags lean on each other: four deviations";
    NEWMA_RATES: "weight of the window by the fast rate over that by the slow, from 1", 1e-6,
        "their definition, solved by bisection";
    NEWMA_FAST: "the fast rate of NEWMA for windows from 20 rows", 0.3,
        "beyond it would remember three rows only, and no window";
    CUSUM_NOTICES: "largest of 200 healthy rows of a baseline's CUSUM over that of changed ones", 1.0 / 3.0,
        "a deviation in each of 200 rows sums to a hundred, and healthy rows to some ten at most";
    SPEED_LINEAR: "power of the samples in the time", 0.1,
        "linear, but for what the first samples wait for caches";
    SPEED_LOGARITHMIC: "power of the channels in the time", 0.3,
        "from 8 to 1024 channels a logarithm grows as their power 0.25";
}
