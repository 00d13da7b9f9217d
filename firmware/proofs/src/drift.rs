//! The drift detector, with all legs and with few.

use core::hint::black_box;

use fastmmd::drift::{
    Alarm, Change, ChannelQuality, Config, Detector, Leg, Legs, Mute, NotANumber, Off, On, Open,
    Stage, Steadiness, Verdict,
};
use fastmmd::features::sincos::SinCos;
use fastmmd::shape::Fixed;
use fastmmd::{Error, FeatureMap, Fourier};

use crate::maps::window;
use crate::{number, sample};

/// Level and jumps alone.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Lean;

impl Legs for Lean {
    type Level = On;
    type Jump = On;
    type Spread = Off;
    type Values = Off;
    type Innovations = Off;
}

/// Detectors over one map.
pub(crate) fn all<M, const D: usize, const L: usize>(map: &M)
where
    M: FeatureMap<Inputs = Fixed<D>, Frequencies = Fixed<L>, Backend: SinCos>,
{
    let config = black_box(Config::seconds(number(), number()));
    detector(|config| Detector::new(map, config), config);
    detector(|config| Detector::new(map, config), config.with_legs::<Lean>());
}

/// What needs no map.
pub(crate) fn settings() {
    let config = black_box(Config::rows(number()));
    let _ = black_box((config.check(), config.supported_mean_time()));
    let code = black_box(3);
    let names = (
        Stage::from_code(code).map(|stage| (stage.code(), stage.name(), stage.is_learned())),
        Leg::from_code(code).map(|leg| (leg.code(), leg.name())),
        Change::from_code(code).map(|change| (change.code(), change.name())),
        Steadiness::from_code(code).map(|steadiness| (steadiness.code(), steadiness.name())),
        NotANumber::from_code(code).map(|meaning| (meaning.code(), meaning.name())),
    );
    black_box(names);
    black_box(Fourier::<2, 4>::additive(black_box(1)));
}

#[inline(never)]
fn detector<'m, M, L, const D: usize>(
    new: impl Fn(Config<L>) -> Result<Detector<'m, M, L>, Error>,
    config: Config<L>,
) where
    M: FeatureMap<Inputs = Fixed<D>, Backend: SinCos> + 'm,
    L: Legs,
{
    let Ok(mut detector) = new(config) else {
        return;
    };
    if let Ok(Verdict::Alarm(alarm) | Verdict::Amended(alarm)) = black_box(detector.push(&sample()))
    {
        let Alarm { row, since, channel, .. } = alarm;
        black_box((row, since, channel, alarm.severity()));
    }
    let _ = black_box(detector.push_partial(&sample().map(Some)));
    black_box((detector.stage(), detector.rows(), detector.progress()));
    black_box((detector.last_alarm(), detector.config(), detector.map().fingerprint()));
    detector.open().for_each(|Open { leg, channel, .. }| {
        black_box((leg, channel));
    });
    detector.quality().for_each(|ChannelQuality { level, deviation, .. }| {
        black_box((level, deviation));
    });
    detector.mute().for_each(|Mute { leg, channel, .. }| {
        black_box((leg, channel));
    });
    black_box(&mut detector).dismiss();
    let mut bytes = black_box([0; 16_384]);
    let _ = black_box((detector.saved_bytes(), detector.save(window(&mut bytes))));
    let _ = black_box(detector.restore(window(&mut bytes)));
    black_box(&mut detector).relearn();
    let _ = black_box(detector.relearn_with(config));
    black_box(detector.clone());
}
