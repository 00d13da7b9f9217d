//! Conditioning of rows before they reach a map.

use core::hint::black_box;

use fastmmd::condition::{
    Decimate, DecimateOf, Delay, DelayOf, MedianDistance, MedianDistanceOf, Scale, ScaleOf,
};
use fastmmd::shape::Fixed;

use crate::sample;

/// Every kind of conditioning, for rows of C channels.
#[inline(never)]
pub(crate) fn all<const C: usize>() {
    let mut scale: ScaleOf<Fixed<C>> = black_box(Scale::default());
    black_box(Scale::<C>::new());
    let _ = black_box(scale.push(&sample()));
    black_box((scale.rows(), scale.means(), scale.deviations()));
    let _ = black_box(scale.standardised(&sample()));
    let mut distance: MedianDistanceOf<Fixed<C>> = black_box(MedianDistance::new(black_box(8)));
    let _ = black_box(distance.push(&sample()));
    black_box(distance.median());
    let decimate: Result<DecimateOf<Fixed<C>, f32>, _> = Decimate::new(black_box(8));
    if let Ok(mut decimate) = decimate {
        let _ = black_box((decimate.push(&sample()), decimate.push_with_spread(&sample())));
    }
    if let Ok(mut decimate) = Decimate::<C, i16>::new(black_box(8)) {
        let _ = black_box((decimate.push(&sample()), decimate.push_with_spread(&sample())));
    }
}

/// Vectors of D values made from rows of C.
#[inline(never)]
pub(crate) fn delay<const C: usize, const D: usize>() {
    let mut delay: DelayOf<Fixed<C>, Fixed<D>> = black_box(Delay::default());
    black_box(Delay::<C, D>::new());
    let _ = black_box(delay.push(&sample()));
}
