//! The detector with each view of its rows, the monitor of couplings, and the choice among
//! regimes.

use core::hint::black_box;

use fastmmd::condition::{Innovation, InnovationOf, Raw, RawOf, View, ViewKind};
use fastmmd::embedding::Nearest;
use fastmmd::features::sincos::SinCos;
use fastmmd::monitor::{
    Difference, LoneOutliers, Monitor, Policy, SavedShape, Status, WindowStatus, coupling,
};
use fastmmd::shape::{Fixed, Windows};
use fastmmd::{
    Alarm, Change, Config, Detector, Embedding, Error, FeatureMap, MapKind, Profile, Regimes,
    Sampling, Stage,
};

use crate::maps::window;
use crate::{number, sample};

/// Detectors over one map, with every view.
pub(crate) fn all<M, const D: usize, const L: usize>(map: &M)
where
    M: FeatureMap<Inputs = Fixed<D>, Frequencies = Fixed<L>, Backend: SinCos>,
{
    let config: Config<Raw<D>> = black_box(Config::seconds(number(), number()));
    let config = config.with_windows(black_box([4, 16, 64]));
    detector(|config| Detector::new(map, config), config.with_view::<Raw<D>>());
    detector(|config| Detector::new(map, config), config.with_view::<RawOf<Fixed<1>, Fixed<D>>>());
    detector(|config| Detector::new(map, config), config.with_view::<Innovation<D>>());
    detector(
        |config| Detector::new(map, config),
        config.with_view::<InnovationOf<Fixed<D>, Fixed<D>, 2>>(),
    );
    detector(|config| Detector::new(map, config), config.with_view::<Innovation<D, D, 5>>());
    regimes(map);
    coupled(map);
}

/// Settings that need no map.
pub(crate) fn settings() {
    let config: Config<Raw<1>> = Config::rows(number());
    let _ = black_box((config.check(), config.warnings().count(), config.least_learning_rows()));
    black_box((config.rows_to_learn(black_box(2)), config.least_calibration_memory()));
    black_box((config.lengthened(), config.policy.name()));
    black_box(Policy::from_name(black_box("relearn"), black_box([1, 2])));
    let lagged: Config<Raw<1, 2>> = Config::lagged(number());
    let innovation: Config<Innovation<1>, _> = Config::innovation(number());
    let _ = black_box((lagged.check(), innovation.check()));
}

#[inline(never)]
fn coupled<M, const D: usize, const L: usize>(map: &M)
where
    M: FeatureMap<Inputs = Fixed<D>, Frequencies = Fixed<L>, Backend: SinCos>,
{
    let config = black_box(coupling::Config::rows(number()));
    let _ = black_box(config.check());
    let Ok(mut monitor) = coupling::Monitor::new(map, map, config) else {
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
fn detector<'m, M, V, const C: usize>(
    new: impl Fn(Config<V, Windows<3>>) -> Result<Detector<'m, M, V, Windows<3>>, Error>,
    config: Config<V, Windows<3>>,
) where
    M: FeatureMap<Inputs = V::Inputs, Backend: SinCos> + 'm,
    V: View<Channels = Fixed<C>>,
{
    let Ok(mut detector) = new(config) else {
        return;
    };
    let _ = black_box(detector.push(&sample()));
    black_box((detector.stage(), detector.rows(), detector.progress()));
    black_box((detector.statistic(), detector.threshold()));
    let foremost: WindowStatus = detector.foremost();
    black_box((foremost, detector.windows().count(), detector.saved_bytes()));
    black_box((detector.p_value(), detector.attribution()));
    black_box(detector.last_alarm().as_ref().map(Alarm::severity));
    black_box(detector.last_alarm().map(Alarm::to_bytes));
    black_box(Alarm::from_bytes(&black_box([0; Alarm::BYTES])).map_err(|error| error.class()).ok());
    black_box((detector.config(), detector.map().fingerprint(), detector.lags()));
    let mut bytes = black_box([0; 16_384]);
    let _ = black_box(detector.save(window(&mut bytes)));
    let _ = black_box(detector.restore(window(&mut bytes)));
    let saved: Result<SavedShape, _> = SavedShape::restore(window(&mut bytes));
    let _ = black_box(saved);
    black_box((detector.scale(), detector.bandwidth(), detector.reference_rows()));
    let difference: Result<Difference, _> = detector.difference(black_box(&detector));
    let _ = black_box(difference);
    let Ok(other) = new(config) else {
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

/// The calls that firmware makes, through the trait `Monitor`.
#[inline(never)]
fn through_the_trait<M: Monitor>(monitor: &mut M, row: &M::Row, config: M::Config) {
    let _ = black_box(monitor.push(row));
    let status: Status = monitor.status();
    black_box((
        status,
        status.stage.is_learned(),
        monitor.saved_bytes(),
        monitor.warnings().count(),
    ));
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
            black_box($name::from_name(black_box("another")));
        )*};
    }
    each!(Change, LoneOutliers, MapKind, Profile, Sampling, Stage, ViewKind);
    black_box(black_box(MapKind::Fourier).is_dynamic());
}

#[inline(never)]
fn regimes<M: FeatureMap>(map: &M) {
    let known = black_box([(); 3].map(|()| Embedding::new(map)));
    if let Ok(regimes) = Regimes::new(known.each_ref()) {
        let nearest: Result<Nearest, _> = regimes.nearest(&known[0]);
        let _ = black_box((nearest, regimes.proportions(&known[1])));
    }
}
