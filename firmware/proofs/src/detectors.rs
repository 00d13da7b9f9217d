//! The detector with each view of its rows, the monitor of couplings, and the choice among
//! regimes.

use core::hint::black_box;

use fastmmd::coupling::{self, Monitor};
use fastmmd::monitor::{
    self, Alarm, Change, Config, Detector, Difference, LoneOutliers, Raw, Reading, SavedShape,
    Stage, Status, View,
};
use fastmmd::innovation::Innovation;
use fastmmd::{Embedding, FeatureMap, MapKind, Nearest, Profile, Regimes, Sampling, SinCos};

use crate::maps::window;
use crate::{number, sample};

/// Detectors over one map.
pub(crate) fn all<M: FeatureMap<D, L>, const D: usize, const L: usize, B: SinCos>(map: &M) {
    detector::<M, Raw, D, L, B>(map);
    detector::<M, Innovation<D>, D, L, B>(map);
    regimes::<M, D, L, B>(map);
    monitor::<M, D, L, B>(map);
}

#[inline(never)]
fn monitor<M: FeatureMap<D, L>, const D: usize, const L: usize, B: SinCos>(map: &M) {
    let config = black_box(coupling::Config::rows(number()));
    let _ = black_box(config.check());
    let Ok(mut monitor) = Monitor::<M, M, D, D, L, L, B>::new(map, map, config) else {
        return;
    };
    let verdict = monitor.push(&sample(), &sample());
    if let Ok(coupling::Verdict::Alarm(alarm)) = black_box(verdict) {
        let coupling::Alarm { row, now, before, .. } = alarm;
        black_box((row, now, before));
    }
    black_box((monitor.progress(), monitor.statistic(), monitor.threshold()));
    black_box((monitor.p_value(), monitor.strength(), monitor.learned_strength()));
    let mut bytes = black_box([0; 16_384]);
    let _ = black_box(monitor.save(window(&mut bytes)));
    let _ = black_box(monitor.restore(window(&mut bytes)));
    black_box(&mut monitor).relearn();
    black_box(monitor);
}

#[inline(never)]
fn detector<M, V, const D: usize, const L: usize, B>(map: &M)
where
    M: FeatureMap<D, L>,
    V: View<D>,
    B: SinCos,
{
    let config = black_box(Config::seconds(number(), number()));
    let config = config.with_scales(black_box([4, 16, 64]));
    let _ = black_box((config.check(), config.warnings().next()));
    let Ok(mut detector) = Detector::<M, V, D, D, L, 3, B>::new(map, config) else {
        return;
    };
    let _ = black_box(detector.push(&sample()));
    black_box((detector.stage(), detector.rows(), detector.progress()));
    black_box((detector.statistic(), detector.threshold()));
    let readings: [Reading; 3] = detector.readings();
    black_box(readings);
    black_box((detector.p_value(), detector.attribution()));
    black_box(detector.last_alarm().as_ref().map(Alarm::severity));
    black_box((detector.config(), detector.map().fingerprint()));
    let mut bytes = black_box([0; 16_384]);
    let _ = black_box(detector.save(window(&mut bytes)));
    let _ = black_box(detector.restore(window(&mut bytes)));
    let saved: Result<SavedShape, _> = SavedShape::restore(window(&mut bytes));
    let _ = black_box(saved);
    black_box((detector.scale(), detector.bandwidth(), detector.reference_rows()));
    let difference: Result<Difference, _> = detector.difference(black_box(&detector));
    let _ = black_box(difference);
    let Ok(other) = Detector::<M, V, D, D, L, 3, B>::new(map, config) else {
        return;
    };
    let _ = black_box(detector.merge(black_box(&other)));
    black_box(&mut detector).relearn_reference();
    detector.acknowledge();
    black_box(&mut detector).relearn();
    let _ = black_box(detector.relearn_with(black_box(config)));
    through_the_trait(&mut detector, &sample(), config);
    black_box(detector);
}

/// What firmware calls.
#[inline(never)]
fn through_the_trait<M: detector::Monitor>(monitor: &mut M, row: &M::Row, config: M::Config) {
    let _ = black_box(monitor.push(row));
    let status: Status = monitor.status();
    black_box((status, status.stage.is_learned(), monitor.saved_bytes(), monitor.warnings().next()));
    black_box(*monitor.config() == config);
    let mut bytes = black_box([0; 16_384]);
    let _ = black_box(monitor.save(window(&mut bytes)));
    let _ = black_box(monitor.restore(window(&mut bytes)));
    let _ = black_box(monitor.relearn_with(config));
}

/// Codes and names of the enums.
pub(crate) fn codes() {
    macro_rules! each {
        ($($name:ident),*) => {$(
            let one = black_box($name::from_code(black_box(1)));
            black_box(one.map(|one| (one.code(), one.name())));
        )*};
    }
    each!(Change, LoneOutliers, MapKind, Profile, Sampling, Stage);
}

#[inline(never)]
fn regimes<M: FeatureMap<D, L>, const D: usize, const L: usize, B: SinCos>(map: &M) {
    let known = black_box([(); 3].map(|()| Embedding::<L, B>::new(map)));
    if let Ok(regimes) = Regimes::new(known.each_ref()) {
        let nearest: Result<Nearest, _> = regimes.nearest(&known[0]);
        let _ = black_box((nearest, regimes.proportions(&known[1])));
    }
}
