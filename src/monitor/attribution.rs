//! Which channel changed, and what about it.
//!
//! Beside the map's frequencies each channel has three of its own, along its axis. At a low one
//! the phase of the mean point follows the channel's level and its amplitude the spread; the two
//! higher ones see what level and spread do not tell. Each of these four pieces of evidence is compared
//! with its usual size, learned as a mean while all was well.

use crate::features::sincos::{Point, SinCos};
use crate::numeric::{larger, sqrt_f32};
use crate::shape::{Length, Per};
use crate::state::state;

use super::verdict::Change;

/// Frequencies along a channel's axis, in turns per standard deviation: ¼, 1 and 2 radians.
const TURNS: [f32; 3] = [
    core::f32::consts::FRAC_1_PI / 8.0,
    core::f32::consts::FRAC_1_PI / 2.0,
    core::f32::consts::FRAC_1_PI,
];
/// Below this multiple of its usual size, neither level nor spread explains an alarm.
const NOTABLE: f32 = 9.0;
/// Weight of evidence that is the square of two coordinates against that of one coordinate:
/// by chance the latter strays farther from its mean. Twice as far in the logarithm of the
/// probability if the two coordinates were independent and of equal size, which they are not.
const TWO_COORDINATES: f32 = 1.5;

/// Points of one channel at its own three frequencies.
pub(crate) type Axis = [Point; 3];

/// Squared differences of one channel: in level, in spread, and at the two higher frequencies.
pub(crate) type Evidence = [f32; 4];

/// Puts the points of one row of standardised values into their place.
pub(crate) fn axes_into<C: Length, B: SinCos>(axes: &mut Per<C, Axis>, values: &Per<C, f32>) {
    for (points, value) in axes.iter_mut().zip(values.iter()) {
        for (point, turns) in points.iter_mut().zip(TURNS) {
            *point = B::point(turns * value);
        }
    }
}

/// Moves means towards the points of a row by the fraction `rate`.
pub(crate) fn blend_axes<C: Length>(axes: &mut Per<C, Axis>, row: &Per<C, Axis>, rate: f32) {
    for (means, points) in axes.iter_mut().zip(row.iter()) {
        for (mean, point) in means.iter_mut().zip(points) {
            mean.blend(*point, rate);
        }
    }
}

/// How a channel of a window differs from the reference.
pub(crate) fn evidence(window: &Axis, reference: &Axis) -> Evidence {
    let [low, middle, high] = window;
    let [usual_low, usual_middle, usual_high] = reference;
    let (length, usual_length) = (distance(low), larger(distance(usual_low), 1e-6));
    let spread = (length - usual_length) * (length - usual_length);
    // The chord between the two directions at the usual distance from the centre: unlike the
    // tangent it grows with the angle all the way round, and leaves the amplitude to the spread
    // alone.
    let chord = larger(low.squared_distance(usual_low) - spread, 0.0);
    [
        chord * usual_length / larger(length, 0.1 * usual_length),
        spread,
        middle.squared_distance(usual_middle),
        high.squared_distance(usual_high),
    ]
}

state! {
    /// What the evidence of each channel of each window usually is, over the normaliser of its
    /// statistic.
    #[derive(Debug, Clone, PartialEq)]
    pub(crate) struct Attribution<C: Length, W: Length> {
        pub(crate) usual: Per<W, Per<C, Evidence>>,
    }
}

fn distance(point: &Point) -> f32 {
    sqrt_f32(point.cos * point.cos + point.sin * point.sin)
}

/// The channel whose evidence, given over its usual size, is largest, and what about it changed.
pub(crate) fn attribute(evidence: &[Evidence]) -> (usize, Change) {
    let mut best = (0, 0.0, Change::Shape);
    for (channel, [level, spread, middle, high]) in evidence.iter().copied().enumerate() {
        let largest = level.max(spread).max(TWO_COORDINATES * middle.max(high));
        if largest > best.1 {
            let change = if level.max(spread) < NOTABLE {
                Change::Shape
            } else if 2.0 * level >= spread {
                Change::Level
            } else {
                Change::Spread
            };
            best = (channel, largest, change);
        }
    }
    (best.0, best.2)
}
