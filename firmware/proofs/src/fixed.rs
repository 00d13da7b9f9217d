//! The integer path.

use core::hint::black_box;

use fastmmd::features::sincos::Backend;
use fastmmd::shape::Fixed;
use fastmmd::{FeatureMap, Sampling, fixed};

use crate::maps::{kernel, recipe};
use crate::{detectors, sample, statistics};

/// Every map in every shape, and the conversion of samples.
pub(crate) fn all() {
    let _ = black_box(fixed::sample(&sample::<f32, 3>()));
    let scale = fixed::Scale::new(sample(), sample::<f32, 3>());
    let _ = black_box(scale.map(|scale| scale.sample(&sample())));
    black_box(fixed::Table::units(black_box(1)));
    dense::<1, 1>();
    dense::<3, 64>();
    dense::<16, 128>();
    structured::<1, 4, 4>();
    structured::<12, 16, 48>();
    structured::<16, 16, 128>();
    structured::<64, 64, 256>();
    detectors::in_integers(&fixed::Fourier::<1, 32>::additive(black_box(1)));
    detectors::in_integers(&fixed::Fourier::<3, 64>::additive(black_box(1)));
    detectors::in_integers(&fixed::Fastfood::<12, 16, 48>::gaussian(black_box(1)));
}

/// Every way to make a dense map at run time, and all that can be done with it.
#[inline(never)]
fn dense<const D: usize, const L: usize>() {
    let drawn = fixed::Fourier::<D, L>::new(kernel(), black_box(Sampling::Auto), black_box(1));
    let again = fixed::Fourier::from_recipe(&recipe());
    let usual = Ok(fixed::Fourier::gaussian(black_box(1)));
    for map in [drawn, again, usual].iter().flatten() {
        black_box(map.exact_frequency(black_box(1)));
        interface(map);
    }
}

/// Every way to make a structured map at run time, and all that can be done with it.
#[inline(never)]
fn structured<const D: usize, const P: usize, const L: usize>() {
    let drawn = fixed::Fastfood::<D, P, L>::new(kernel(), black_box(1));
    let again = fixed::Fastfood::from_recipe(&recipe());
    let usual = Ok(fixed::Fastfood::gaussian(black_box(1)));
    for map in [drawn, again, usual].iter().flatten() {
        black_box(map.exact_frequency(black_box(1)));
        interface(map);
    }
}

fn interface<M, const D: usize, const L: usize>(map: &M)
where
    M: FeatureMap<Inputs = Fixed<D>, Frequencies = Fixed<L>, Backend = fixed::Table>,
{
    black_box((map.recipe(), map.fingerprint(), map.reach()));
    black_box((map.frequency(black_box(1)), map.weighted_frequencies(&sample())));
    let mut items = [0; L];
    let _ = black_box(map.project(&sample(), &mut items, |item, phase| *item ^= phase));
    black_box(items);
    statistics::embeddings(map);
}
