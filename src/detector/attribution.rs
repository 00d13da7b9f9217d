//! Which channel changed, and what about it.
//!
//! Beside the map's frequencies each channel has three of its own, along its axis. At a low one
//! the phase of the mean point follows the channel's level and its amplitude the spread; the two
//! higher ones see what level and spread do not tell. Each of these four signs is compared with
//! its usual size, learned as a mean while all was well.

use crate::numeric::{larger, sqrt_f32};
use crate::sincos::{Point, SinCos};
use crate::state::fields;

use super::verdict::Change;

/// Frequencies along a channel's axis, in turns per standard deviation: ¼, 1 and 2 radians.
const TURNS: [f32; 3] = [
    core::f32::consts::FRAC_1_PI / 8.0,
    core::f32::consts::FRAC_1_PI / 2.0,
    core::f32::consts::FRAC_1_PI,
];
/// Below this multiple of its usual size, neither level nor spread explains an alarm.
const NOTABLE: f32 = 9.0;
/// Weight of a sign that is the square of two coordinates against one that is the square of one:
/// by chance the latter strays farther from its mean. Twice as far in the logarithm of the
/// probability if the two coordinates were independent and of equal size, which they are not.
const TWO_COORDINATES: f32 = 1.5;

/// Mean points of C channels at their own three frequencies: 24·C bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Axes<const C: usize> {
    points: [[Point; 3]; C],
}

/// Squared differences of one channel: in level, in spread, and at the two higher frequencies.
pub(super) type Signs = [f32; 4];

impl<const C: usize> Axes<C> {
    pub(super) const fn new() -> Self {
        Self { points: [[Point { cos: 0.0, sin: 0.0 }; 3]; C] }
    }

    /// The points of one row of standardised values.
    pub(super) fn of<B: SinCos>(values: &[f32; C]) -> Self {
        let mut axes = Self::new();
        for (points, value) in axes.points.iter_mut().zip(values) {
            for (point, turns) in points.iter_mut().zip(TURNS) {
                *point = B::point(turns * value);
            }
        }
        axes
    }

    /// Moves towards `row` by the fraction `rate`.
    pub(super) fn blend(&mut self, row: &Self, rate: f32) {
        for (means, points) in self.points.iter_mut().zip(&row.points) {
            for (mean, point) in means.iter_mut().zip(points) {
                mean.cos += rate * (point.cos - mean.cos);
                mean.sin += rate * (point.sin - mean.sin);
            }
        }
    }

    /// The signs of change of each channel of this window against the reference.
    pub(super) fn signs(&self, reference: &Self) -> [Signs; C] {
        let mut all = [[0.0; 4]; C];
        for ((signs, window), usual) in all.iter_mut().zip(&self.points).zip(&reference.points) {
            let [low, middle, high] = window;
            let [usual_low, usual_middle, usual_high] = usual;
            let (length, usual_length) = (distance(low), larger(distance(usual_low), 1e-6));
            let spread = (length - usual_length) * (length - usual_length);
            // The chord between the two directions at the usual distance from the centre: unlike
            // the tangent it grows with the angle all the way round, and leaves the amplitude to
            // the spread alone.
            let chord = larger(squared_distance(low, usual_low) - spread, 0.0);
            *signs = [
                chord * usual_length / larger(length, 0.1 * usual_length),
                spread,
                squared_distance(middle, usual_middle),
                squared_distance(high, usual_high),
            ];
        }
        all
    }
}

fn distance(point: &Point) -> f32 {
    sqrt_f32(point.cos * point.cos + point.sin * point.sin)
}

fn squared_distance(a: &Point, b: &Point) -> f32 {
    let (cos, sin) = (a.cos - b.cos, a.sin - b.sin);
    cos * cos + sin * sin
}

/// The channel whose signs, given over their usual size, are largest, and what about it changed.
pub(super) fn attribute<const C: usize>(signs: &[Signs; C]) -> (usize, Change) {
    let mut best = (0, 0.0, Change::Shape);
    for (channel, [level, spread, middle, high]) in signs.iter().copied().enumerate() {
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

fields!(Axes<const C> { points: [[Point; 3]; C] });
