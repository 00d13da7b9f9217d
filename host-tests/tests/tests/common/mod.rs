//! What several tests need to bring core and reference together.

use fastmmd::FeatureMap;
use fastmmd_reference::features::Frequencies;

/// All frequency vectors of a map in `f64`, by mapping the unit vectors: for Fastfood much
/// cheaper than asking for each.
pub(crate) fn dense<M: FeatureMap<D, L>, const D: usize, const L: usize>(map: &M) -> Frequencies {
    // Any length within reach does, if it is a power of two: scaling is then exact.
    let mut unit = 1.0_f32;
    while unit >= map.reach() {
        unit *= 0.5;
    }
    let mut rows = vec![vec![0.0; D]; L];
    for channel in 0..D {
        let mut axis = [0.0; D];
        axis[channel] = unit;
        let mut phases = [0.0; L];
        map.project(&axis, &mut phases, |item, phase| *item = phase)
            .expect("a unit vector is within reach");
        for (row, phase) in rows.iter_mut().zip(phases) {
            row[channel] = f64::from(phase / unit);
        }
    }
    Frequencies::new(rows).expect("L rows of D")
}
