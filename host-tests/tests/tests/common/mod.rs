//! Shared by tests that compare the core with the f64 oracle.

pub(crate) mod readings;
pub(crate) mod records;

use fastmmd::FeatureMap;
use fastmmd::features::sincos::SinCos;
use fastmmd::shape::Length;
use fastmmd_reference::features::Frequencies;

/// All frequency vectors of a map in `f64`, found by projecting the unit vectors: for Fastfood much
/// cheaper than computing each vector.
pub(crate) fn dense<M: FeatureMap<Backend: SinCos>>(map: &M) -> Frequencies {
    // A power of two within reach: multiplying by it is exact.
    let mut unit = 1.0_f32;
    while unit >= map.reach() {
        unit *= 0.5;
    }
    let mut axis = M::Inputs::make(&map.dims(), || 0.0);
    let mut phases = M::Frequencies::make(&map.dims(), || 0.0);
    let (axis, phases) =
        (M::Inputs::borrow_mut(&mut axis), M::Frequencies::borrow_mut(&mut phases));
    let mut rows = vec![vec![0.0; axis.as_ref().len()]; phases.as_ref().len()];
    for channel in 0..axis.as_ref().len() {
        axis.as_mut().fill(0.0);
        axis.as_mut()[channel] = unit;
        map.project(axis, phases, |item, phase| *item = phase)
            .expect("a unit vector is within reach");
        for (row, phase) in rows.iter_mut().zip(phases.as_ref()) {
            row[channel] = f64::from(phase / unit);
        }
    }
    Frequencies::new(rows).expect("L rows of D")
}
