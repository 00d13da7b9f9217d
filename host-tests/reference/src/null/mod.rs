//! Null distributions of MMD²: thresholds and p-values for two sets from one distribution.
//!
//! Every method takes a [`Pool`] of the two sets, exact ([`Gram`], any kernel on any type) or by
//! random features ([`Features`]), and gives a [`Null`] with a threshold for each level and a
//! p-value for each statistic. N is the number of samples of both sets, L that of frequencies.
//!
//! | method | what it assumes | cost over a Gram matrix | over features |
//! |---|---|---|---|
//! | [`permutation`] | nothing: exact at any size | N² for each shuffle | NL |
//! | [`bootstrap`] | many samples | 2N² for each draw | 2NL |
//! | [`spectrum`] | many samples: (1/m + 1/n)·Σλ(z² − 1) | N³ once | NL² + L³ |
//! | [`pearson`] | as the spectrum, by three moments | N³ once | NL² |
//! | [`pearson_by_four`] | as the spectrum, by four moments | N³ once | NL² + L³ |
//! | [`gamma`] | as the spectrum, by two moments | N² once | NL² |
//! | [`blocks`] | many blocks, each longer than samples depend on each other | – | NL |
//! | [`distribution_free`] | independent samples, 0 ≤ k ≤ 1 | none | none |
//!
//! MMD-linear and the B-test have a normal distribution instead: [`mean_of_independent`].
//!
//! The λ are the eigenvalues of the centred kernel as an operator, and z ~ N(0, 1) independent
//! (Gretton and others, 2012, theorem 12).

mod asymptotic;
mod blocked;
mod law;
mod pool;
mod resample;

pub use asymptotic::{
    distribution_free, gamma, mean_of_independent, pearson, pearson_by_four, spectrum,
};
pub use blocked::blocks;
pub use law::Null;
pub use pool::{Estimate, Features, Gram, Moments, Pool};
pub use resample::{bootstrap, permutation};

pub(crate) use pool::{centre, centre_columns, symmetric};
