//! Kernel statistics in `f64` with `std`: a toolbox, and the oracle of fastmmd's tests.
//!
//! It computes the maximum mean discrepancy (MMD) of two samples and its significance, dependence
//! between channels, feature selection, and weights that make one sample match another. What cannot
//! be computed is [`Refused`], with the reason.
//!
//! It is independent of the `fastmmd` crate and uses other formulae where possible: the crate
//! subtracts mean points, this follows the paper's Algorithm 1 with amplitudes and phases; the
//! crate corrects a biased estimate, this counts pairs. It is written to be compared with the
//! papers, not for speed.
//!
//! | you want to | call |
//! |---|---|
//! | measure how different two samples are | [`exact::unbiased`]; many samples [`features`]; any type [`nystrom`] |
//! | test whether they differ | a [`null::Pool`] and [`null::permutation`] or another of [`null`] |
//! | the same for samples that depend on earlier ones | [`null::blocks`] |
//! | bound how far an estimate may be off | [`bounds`], [`exact::u_variance`] |
//! | test whether two quantities are independent | [`hsic`]; more than two [`cliques::Blocks`] |
//! | see where they depend on each other | [`cliques::DependenceWitness`] |
//! | choose channels that predict a label | [`selection::backward_elimination`]; one by one [`scores`] |
//! | weight one sample to look like another | [`matching::match_means`] |
//! | estimate a density by a mixture | [`mixture::shares`], [`mixture::maximum_entropy`] |
//! | classify by a kernel, or by features for a device | [`svm::KernelMachine`], [`svm::LinearMachine`] |
//! | compare distributions given by masses | [`discrete`], [`nystrom::Nystrom::mmd2_of_masses`] |
//!
//! The command `fastmmd` has some of it for files: `test`, `independence`, `select`, `reweight` and
//! `nystrom`.
//!
//! # Modules
//!
//! | module | what |
//! |---|---|
//! | [`points`] | samples and their weights |
//! | [`kernel`] | the five kernels as closures |
//! | [`exact`] | MMD² over all pairs, biased and unbiased, weighted |
//! | [`features`] | MMD² by Algorithm 1 for given frequencies |
//! | [`linear`], [`b_test`] | the estimators the paper compares with |
//! | [`null`] | thresholds and p-values of MMD² by eight methods |
//! | [`bounds`] | the paper's theorems 3 and 4, errors of kernels and embeddings |
//! | [`nystrom`], [`graph`] | MMD² by landmarks, on any type; a kernel on labelled graphs |
//! | [`circular`] | other distances and norms than those of MMD |
//! | [`discrete`] | distributions by masses, and the distances that MMD is one of |
//! | [`hsic`], [`cliques`] | dependence of two blocks of channels, and of more |
//! | [`selection`], [`scores`] | selection of channels |
//! | [`matching`], [`mixture`] | weights by matched embeddings, solved over the [`simplex`] |
//! | [`svm`] | support vector machines, with a kernel and over features |
//! | [`population`] | MMD² of normal distributions in closed form |
//! | [`generate`], [`data`] | seeded numbers, and the paper's data from them |
//! | [`checksum`] | CRC-32 by table |
//! | [`error`] | errors |
//! | [`tolerance`] | every limit that a test of the project uses, with its reason |
//!
//! # Example
//!
//! Do two samples have the same distribution?
//!
//! ```
//! use fastmmd_reference::generate::Generator;
//! use fastmmd_reference::kernel::gaussian;
//! use fastmmd_reference::null::{self, Estimate, Gram, Pool};
//! use fastmmd_reference::{Points, Refused};
//!
//! # fn main() -> Result<(), Refused> {
//! let generator = &mut Generator::new(1);
//! // 100 samples of two channels each; the second set is shifted by one standard deviation.
//! let mut sample = |mean: f64| {
//!     Points::new(2, (0..200).map(|_| mean + generator.normal()).collect())
//! };
//! let (p, q) = (sample(0.0)?, sample(1.0)?);
//!
//! let pool = Gram::of_points(&p, &q, gaussian(1.0))?;
//! let mmd2 = pool.mmd2(Estimate::Unbiased)?;
//! let chance = null::permutation(&pool, Estimate::Unbiased, 199, generator)?;
//! assert!(mmd2 > chance.threshold(0.05)?);
//! assert!(chance.p_value(mmd2) < 0.01);
//! # Ok(())
//! # }
//! ```
//!
//! More in `examples`: thresholds, dependence, components, graphs, reweighting.
//!
//! # What the papers have, and where it is
//!
//! | paper | section | function | test |
//! |---|---|---|---|
//! | FastMMD | equation 4, algorithm 1 | [`features`] | `algorithm_1_is_the_sum_over_pairs_of_its_own_kernel` |
//! | | theorems 3 and 4 | [`bounds::Region`] | `theorem_3_by_hand`, `theorem_4_does_not_depend_on_the_unit` |
//! | | definition 2, figure 2 | [`features::Sinusoid::diameter`] | `the_diameter_is_where_definition_2_is_largest` |
//! | | section 3.3 | [`circular`] | `mallows_is_the_cheapest_matching` |
//! | | section 4.5 | [`null`] | `tests/null.rs` |
//! | embedding | theorem 2, equation 3 | [`bounds::embedding_error`], [`bounds::rademacher_average`] | `rademacher_averages_are_bounded` |
//! | | equation 4 | [`cliques`] | `two_blocks_are_hsic_and_cliques_add_up` |
//! | | equation 6 | [`exact::h`], [`exact::u_statistic`] | `the_u_statistic_leaves_out_pairs_measured_together` |
//! | | theorem 5, different distributions | [`exact::u_variance`] | `intervals_cover_the_mmd_of_the_distributions` |
//! | | theorem 5, equation 8 | [`null::spectrum`] | `the_spectrum_draws_equation_8`, `tests/null.rs` |
//! | | theorem 4 | [`null::distribution_free`] | `the_distribution_free_bound_by_hand`, `the_distribution_free_bound_is_above_all` |
//! | | after theorem 5 | [`null::pearson_by_four`] | `curves_are_those_of_scipy`, `the_curve_by_four_has_the_moments_of_the_sum` |
//! | | equation 7, figure 1 | `fastmmd::embedding::Witness` | `tests/witness.rs` |
//! | | equation 9 | [`matching`] | `mean_matching_is_that_of_a_general_solver` |
//! | | theorem 7, figure 3 | [`hsic`], [`cliques::DependenceWitness`] | `dependence_is_that_of_hyppo`, `the_witness_has_the_mean_of_hsic` |
//! | | equations 10 to 20 | [`selection::pearson`], [`scores`] | `every_score_is_a_special_case_of_hsic`, `scores_are_those_of_scipy` |
//! | | equation 21 | [`mixture::maximum_entropy`] | `even_mixtures_are_those_of_a_general_solver` |
//! | | equations 25 to 27 | [`mixture::shares`] | `a_known_mixture_is_found` |
//! | | lemma 1, equation 28 | [`mixture::expectation_error`], [`mixture::distance`] | `means_under_a_mixture_are_within_lemma_1` |
//! | | equation 29 | [`exact::mean_kernel`], `fastmmd::Embedding::inner_product` | `the_set_kernel_has_full_rank` |
//! | Nyström | theorem 1 | [`discrete::dirac_norms`] | `norms_of_point_masses_rise_to_their_bound` |
//! | | definition 4, theorem 4 | [`discrete::squared_distance`] | `masses_are_weights_and_theorem_4_holds` |
//! | | section 4, lemma 6 | [`nystrom`] | `nystrom_is_that_of_scikit_learn`, `masses_are_compared_in_the_landmarks_span` |
//! | | lemma 7 | [`discrete::Coherence`] | `the_coherence_bound_is_kept` |
//! | kernel notes | section 1 | [`svm`] | `machines_are_those_of_libsvm_and_liblinear` |
//! | | theorem 1 | [`svm`] | `mercers_features_have_the_kernels_machine` |
//! | | example 1 | [`exact::biased`], [`selection::linear_kernel`] | `a_linear_kernel_compares_means` |
//! | | equation 12 | `fastmmd::features::Offset` | `offset_features_are_those_of_their_kernel` |
//! | | after equation 13 | [`bounds::kernel_failure`] | `products_of_features_keep_hoeffdings_bound` |
//!
//! The figures and tables of the first three are made by `cargo xtask reproduce`; its report, `--quick` or not,
//! begins with what is left out of them or different.

#![forbid(unsafe_code)]

pub mod b_test;
pub mod bounds;
pub mod checksum;
pub mod circular;
pub mod cliques;
pub mod data;
pub mod discrete;
pub mod error;
pub mod exact;
pub mod features;
pub mod generate;
pub mod graph;
pub mod hsic;
pub mod kernel;
pub mod linear;
pub mod matching;
pub mod mixture;
pub mod null;
pub mod nystrom;
pub mod points;
pub mod population;
pub mod scores;
pub mod selection;
pub mod simplex;
pub mod svm;
pub mod tolerance;

pub use error::Refused;
pub use points::{Points, Weighted};

/// A count as a real number; exact, since no count here reaches 2³².
#[must_use]
pub fn real(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}

/// The nearest `f32`: the core's input for an `f64` value of the oracle.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "rounding to f32 is the purpose")]
pub fn single(value: f64) -> f32 {
    value as f32
}
