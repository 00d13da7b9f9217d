//! Devices on a plane, as far apart as their pairwise MMD allows.
//!
//! MMD is the distance of mean embeddings, so classical scaling of all pairwise MMD is the projection
//! of the means on their two main axes: no matrix of pairs is needed.

use super::eigen::Symmetric;
use super::{Device, mean_of};

/// Places of devices.
#[derive(Debug, Clone, PartialEq)]
pub struct Plane {
    /// For each device its place, in units of MMD.
    pub places: Vec<[f64; 2]>,
    /// The part of all squared distances that the plane shows, from 0 to 1.
    pub shown: f64,
}

/// Lays devices out. O(devices·L²).
#[must_use]
pub fn lay_out(devices: &[Device]) -> Plane {
    let width = devices.first().map_or(0, |device| device.mean.len());
    let mean = mean_of(devices.iter().map(|device| &device.mean[..]), width);
    let off = |device: &Device| -> Vec<f64> {
        device.mean.iter().zip(&mean).map(|(x, mean)| f64::from(*x) - mean).collect()
    };
    let mut scatter = Symmetric::zero(width);
    devices.iter().for_each(|device| scatter.add_square(&off(device), 1.0));
    let pairs = scatter.eigen();
    let total: f64 = pairs.iter().map(|(value, _)| value.max(0.0)).sum();
    let main: f64 = pairs.iter().take(2).map(|(value, _)| value.max(0.0)).sum();
    let along = |off: &[f64], axis: usize| {
        pairs.get(axis).map_or(0.0, |(_, axis)| off.iter().zip(axis).map(|(x, a)| x * a).sum())
    };
    let places = devices.iter().map(|device| {
        let off = off(device);
        [along(&off, 0), along(&off, 1)]
    });
    Plane { places: places.collect(), shown: if total > 0.0 { main / total } else { 1.0 } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_a_plane_keep_their_distances() {
        let device = |x: f32, y: f32| Device {
            name: String::new(),
            group: String::new(),
            rows: 1.0,
            mean: vec![x, y, x + y, 2.0 * x, -y],
        };
        let devices: Vec<_> =
            (0..9_u8).map(|i| device(f32::from(i % 3), f32::from(i / 3))).collect();
        let plane = lay_out(&devices);
        assert!((plane.shown - 1.0).abs() < 1e-9);
        for (a, p) in devices.iter().zip(&plane.places) {
            for (b, q) in devices.iter().zip(&plane.places) {
                let exact: f32 = a.mean.iter().zip(&b.mean).map(|(x, y)| (x - y) * (x - y)).sum();
                let shown = (p[0] - q[0]).powi(2) + (p[1] - q[1]).powi(2);
                assert!((f64::from(exact) - shown).abs() < 1e-6);
            }
        }
    }
}
