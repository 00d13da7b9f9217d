//! What is done to rows before they reach a map.

use core::hint::black_box;

use fastmmd::bandwidth::MedianDistance;
use fastmmd::delay::Delay;
use fastmmd::innovation::{Innovation, Update};
use fastmmd::scale::Scale;

use crate::sample;

/// Every kind of conditioning, for rows of C channels.
#[inline(never)]
pub(crate) fn all<const C: usize>() {
    let mut scale = black_box(Scale::<C>::default());
    let _ = black_box(scale.push(&sample()));
    black_box((scale.rows(), scale.means(), scale.deviations()));
    let _ = black_box(scale.standardised(&sample()));
    let mut distance = black_box(MedianDistance::<C>::new(black_box(8)));
    let _ = black_box(distance.push(&sample()));
    black_box(distance.median());
    innovation::<C, 2>();
    innovation::<C, 5>();
}

fn innovation<const C: usize, const TERMS: usize>() {
    let mut innovation = black_box(Innovation::<C, TERMS>::default());
    let _ = black_box(innovation.push(&sample(), black_box(Update::Learn)));
    let _ = black_box(innovation.push(&sample(), black_box(Update::Skip)));
}

/// Vectors of D values made from rows of C.
#[inline(never)]
pub(crate) fn delay<const C: usize, const D: usize>() {
    let mut delay = black_box(Delay::<C, D>::default());
    let _ = black_box(delay.push(&sample()));
}
