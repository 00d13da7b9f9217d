//! The detector with all legs, with few and with a cycle, the monitor of couplings, and the choice
//! among regimes.

use core::hint::black_box;

use fastmmd::embedding::Nearest;
use fastmmd::features::ScalarOf;
use fastmmd::features::sincos::{Points, SinCos};
use fastmmd::monitor::{
    Alarm, Bins, Change, ChannelQuality, Config, Cyclic, Detector, Difference, FixedShape, Leg,
    LegStatus, Legs, Monitor, Mute, NotANumber, Off, On, Open, SavedLegs, Stage, Status,
    Steadiness, Verdict, coupling,
};
use fastmmd::shape::Fixed;
use fastmmd::state::{Kind, checksum};
use fastmmd::{Embedding, Error, FeatureMap, Fourier, MapKind, Profile, Regimes, Sampling};

use crate::maps::{Sink, window};
use crate::{number, sample};

/// Long enough for every saved state here.
const BYTES: usize = 16_384;

/// Level and jumps alone, by the phase of a cycle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Lean;

impl Legs for Lean {
    type Level = On;
    type Jump = On;
    type Spread = Off;
    type Values = Off;
    type Innovations = Off;
    type Cycle = Bins<5>;
}

/// Everything that watches rows over one map.
pub(crate) fn all<M, const D: usize, const L: usize>(map: &M)
where
    M: FeatureMap<Inputs = Fixed<D>, Frequencies = Fixed<L>, Backend: SinCos>,
{
    let config = black_box(Config::seconds(number(), number()));
    detector(|config| Detector::new(map, config), config);
    detector(|config| Detector::new(map, config), config.with_legs::<Lean>());
    detector(|config| Detector::new(map, config), config.with_period(number()));
    detector(|config| Detector::new(map, config), config.with_legs::<Cyclic<5>>());
    regimes(map);
    coupled(map);
}

/// One detector over a map, with all legs: for backends that differ in nothing else.
pub(crate) fn one<M, const D: usize, const L: usize>(map: &M)
where
    M: FeatureMap<Inputs = Fixed<D>, Frequencies = Fixed<L>, Backend: SinCos>,
{
    let config = black_box(Config::rows(number()));
    detector(|config| Detector::new(map, config), config);
}

/// The detector in integers over one map.
pub(crate) fn in_integers<M, const D: usize>(map: &M)
where
    M: FixedShape + FixedShape<Lean> + FixedShape<Cyclic<5>> + FeatureMap<Inputs = Fixed<D>>,
    ScalarOf<M>: Default,
{
    let config = black_box(Config::rows(number()));
    detector(|config| Detector::new(map, config), config);
    detector(|config| Detector::new(map, config), config.with_legs::<Lean>());
    detector(|config| Detector::new(map, config), config.with_legs::<Cyclic<5>>());
}

/// What needs no map.
pub(crate) fn settings() {
    let config = black_box(Config::rows(number()));
    let _ = black_box((config.check(), config.supported_mean_time()));
    for warning in config.warnings() {
        let _ = core::fmt::Write::write_fmt(&mut Sink, format_args!("{warning}"));
    }
    let _ = black_box(config.with_period(number()).check());
    black_box(config.with_period(number()).least_learning_rows());
    black_box(Fourier::<2, 4>::additive(black_box(1)));
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
    each!(Change, Kind, Leg, MapKind, NotANumber, Profile, Sampling, Stage, Steadiness);
    black_box(black_box(MapKind::Fourier).is_dynamic());
    black_box(black_box(Stage::Drift).is_learned());
}

#[inline(never)]
fn detector<'m, M, L, const D: usize>(
    new: impl Fn(Config<L>) -> Result<Detector<'m, M, L>, Error>,
    config: Config<L>,
) where
    M: FeatureMap<Inputs = Fixed<D>, Backend: Points> + 'm,
    ScalarOf<M>: Default,
    L: Legs,
{
    let (Ok(mut detector), Ok(other)) = (new(config), new(config)) else {
        return;
    };
    if let Ok(Verdict::Alarm(alarm) | Verdict::Amended(alarm)) = black_box(detector.push(&sample()))
    {
        let Alarm { row, since, channel, .. } = alarm;
        black_box((row, since, channel, alarm.severity(), alarm.to_bytes()));
    }
    let _ = black_box(Alarm::from_bytes(&black_box([0; Alarm::BYTES])).map_err(|e| e.class()));
    let _ = black_box(detector.push_partial(&sample().map(Some)));
    let rows = black_box([sample(), sample()]);
    let _ = black_box(detector.push_many(&rows, |verdict| {
        black_box(verdict);
    }));
    black_box((detector.stage(), detector.rows(), detector.progress()));
    black_box((detector.last_alarm(), detector.config(), detector.map().fingerprint()));
    read(&detector);
    black_box(&mut detector).dismiss();
    among_devices(&mut detector, black_box(&other));
    let mut bytes = black_box([0; BYTES]);
    let _ = black_box((detector.saved_bytes(), detector.save(window(&mut bytes))));
    let _ = black_box(detector.restore(window(&mut bytes)));
    let saved: Result<SavedLegs, _> = SavedLegs::restore(window(&mut bytes));
    let _ = black_box(Kind::of(window(&mut bytes)));
    black_box(checksum(black_box(0), window(&mut bytes)));
    let _ = black_box(saved.map(|saved| saved == SavedLegs::of::<L>()));
    let _ = black_box(saved.map(|saved| Leg::ALL.map(|leg| saved.carries(leg))));
    black_box(&mut detector).skip(black_box(9));
    black_box(&mut detector).relearn();
    let _ = black_box(detector.relearn_with(black_box(config)));
    through_the_trait(&mut detector, &sample(), config);
    black_box(detector.clone());
    black_box(detector);
}

/// What can be asked of a detector without pushing a row.
#[inline(never)]
fn read<M, L>(detector: &Detector<'_, M, L>)
where
    M: FeatureMap<Backend: Points>,
    L: Legs,
{
    detector.open().for_each(|Open { leg, channel, .. }| {
        black_box((leg, channel));
    });
    detector.legs().for_each(|status: LegStatus| {
        black_box((status, status.ratio()));
    });
    black_box(detector.nearest());
    detector.quality().for_each(|ChannelQuality { level, deviation, .. }| {
        black_box((level, deviation));
    });
    detector.mute().for_each(|Mute { leg, channel, .. }| {
        black_box((leg, channel));
    });
}

/// What is done with detectors of several devices.
#[inline(never)]
fn among_devices<'m, M, L>(detector: &mut Detector<'m, M, L>, other: &Detector<'m, M, L>)
where
    M: FeatureMap<Backend: Points>,
    L: Legs,
{
    let difference: Result<Difference, _> = detector.difference(other);
    let _ = black_box(difference);
    let _ = black_box(detector.merge(other));
    let _ = black_box(detector.embedding());
    black_box(detector.merged());
    black_box(detector).relearn_reference();
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
    monitor.dismiss();
    black_box(*monitor.config() == config);
    let mut bytes = black_box([0; BYTES]);
    let _ = black_box(monitor.save(window(&mut bytes)));
    let _ = black_box(monitor.restore(window(&mut bytes)));
    let _ = black_box(monitor.relearn_with(config));
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
    black_box((monitor.strength(), monitor.learned_strength()));
    black_box((monitor.stage(), monitor.rows(), monitor.config(), monitor.maps().0.reach()));
    black_box(&mut monitor).dismiss();
    let mut bytes = black_box([0; BYTES]);
    let _ = black_box((monitor.saved_bytes(), monitor.save(window(&mut bytes))));
    let _ = black_box(monitor.restore(window(&mut bytes)));
    black_box(&mut monitor).relearn();
    let _ = black_box(monitor.relearn_with(black_box(config)));
    black_box(monitor.clone());
    black_box(monitor);
}

#[inline(never)]
fn regimes<M: FeatureMap>(map: &M) {
    let known = black_box([(); 3].map(|()| Embedding::new(map)));
    if let Ok(regimes) = Regimes::new(known.each_ref()) {
        let nearest: Result<Nearest, _> = regimes.nearest(&known[0]);
        let _ = black_box((nearest, regimes.proportions(&known[1])));
    }
}
