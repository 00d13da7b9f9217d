//! Elementary functions the core needs and `core` lacks.
//!
//! The `f64` ones are `const fn`, so that a map can be computed by the compiler and live in
//! flash. All of them use only IEEE additions, multiplications, divisions and bit patterns, so
//! they give the same bits on every target.

mod cast;
mod chi;
mod elementary;
mod normal;
mod number;
mod single;

pub(crate) use cast::{
    f32_of, f32_of_squares, f32_of_sum, f32_of_weight, f64_of, nearest, part_of, rounded,
    row_count, u16_of, u32_of, whole,
};
pub(crate) use chi::chi_quantile;
pub(crate) use elementary::{cos_sin_turns, exp, ln, sqrt};
pub(crate) use normal::{normal_quantile, normal_tail};
pub(crate) use number::{CircleMeans, Maxima, Moments, Number, Rate, Real, draw_in};
pub(crate) use single::{
    angle_turns, compensated_sum, larger, ln_count, ln_f32, ln_in_units, smaller, sqrt_f32, within,
};
