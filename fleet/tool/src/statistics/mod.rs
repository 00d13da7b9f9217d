//! Which devices differ from their peers by more than peers differ among themselves.
//!
//! The unit is the device: its mean embedding is one observation. How far healthy devices lie from
//! each other is estimated from the fleet itself, so that rows which depend on earlier ones, and
//! devices that are never quite alike, count as what they are.

pub(crate) mod eigen;
pub(crate) mod levels;
pub mod movement;
pub mod peers;
pub mod plane;
mod spread;
pub(crate) mod tail;

/// A device's mean embedding, in the unit in which squared distances are MMD².
#[derive(Debug, Clone, PartialEq)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// The group of its peers, as a site; empty if there is only one.
    pub group: String,
    /// Rows, or their total weight.
    pub rows: f64,
    /// √(K(0)/L) times the mean points.
    pub mean: Vec<f32>,
}

/// The places of devices, by group.
pub(crate) fn groups(devices: &[Device]) -> Vec<(&str, Vec<usize>)> {
    let mut by_name = std::collections::BTreeMap::<&str, Vec<usize>>::new();
    for (index, device) in devices.iter().enumerate() {
        by_name.entry(&device.group).or_default().push(index);
    }
    by_name.into_iter().collect()
}

/// The mean of some vectors.
pub(crate) fn mean_of<'v>(vectors: impl Iterator<Item = &'v [f32]>, width: usize) -> Vec<f64> {
    let (mut sum, mut count) = (vec![0.0; width], 0.0);
    for vector in vectors {
        sum.iter_mut().zip(vector).for_each(|(sum, x)| *sum += f64::from(*x));
        count += 1.0;
    }
    sum.iter_mut().for_each(|sum| *sum /= f64::max(count, 1.0));
    sum
}

#[cfg(test)]
mod tests {
    use super::Device;
    use crate::made::SplitMix64;

    /// Normal numbers from a seed, for devices that are not made of rows.
    pub(crate) struct Numbers(SplitMix64);

    impl Numbers {
        pub(crate) fn new(seed: u64) -> Self {
            Self(SplitMix64(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d))
        }

        pub(crate) fn normal(&mut self) -> f32 {
            let radius = (-2.0 * self.0.uniform().ln()).sqrt();
            (radius * (std::f64::consts::TAU * self.0.uniform()).cos()) as f32
        }
    }

    pub(crate) fn device(group: &str, mean: Vec<f32>) -> Device {
        Device { name: String::new(), group: group.to_owned(), rows: 100.0, mean }
    }
}
