//! The control: all of it with shapes that fit.

use fastmmd::condition::Delay;
use fastmmd::monitor::{Cyclic, Legs, Off, On, coupling};
use fastmmd::{Config, Detector, Embedding, Error, Fastfood, Fourier, KernelFamily, checked};

/// Level and jumps alone.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Lean;

impl Legs for Lean {
    type Level = On;
    type Jump = On;
    type Spread = Off;
    type Values = Off;
    type Innovations = Off;
    type Cycle = Off;
}

static MAP: Fourier<3, 64> = Fourier::additive(1);
static FAST: Fastfood<3, 4, 64> = Fastfood::gaussian(1);
static PUMP: Fourier<1, 16> = Fourier::gaussian(1);
static START: Detector<Fourier<3, 64>> = checked!(Detector::new(&MAP, Config::rows(4e3)));
static DAY: Detector<Fourier<3, 64>, Cyclic<32>> =
    checked!(Detector::new(&MAP, Config::rows(4e3).with_period(288.0)));
static LEAN: Detector<Fourier<3, 64>, Lean> =
    checked!(Detector::new(&MAP, Config::rows(4e3).with_legs::<Lean>()));
static FAMILY: KernelFamily<Fourier<3, 64>, 1> = checked!(MAP.family([1.0]));
static LAST: Delay<2, 4> = Delay::new();

fn main() -> Result<(), Error> {
    let (mut detector, mut day, mut lean) = (START.clone(), DAY.clone(), LEAN.clone());
    detector.push(&[0.1, 0.2, 0.3])?;
    day.push(&[0.1, 0.2, 0.3])?;
    lean.push_partial(&[Some(0.1), None, Some(0.3)])?;
    let mut embedding = Embedding::new(&FAST);
    embedding.add(&FAST, &[0.1, 0.2, 0.3])?;
    embedding.merge(&embedding.clone())?;
    KernelFamily::new(&MAP, [1.0])?.push_p(&[0.1, 0.2, 0.3])?;
    let mut coupling = coupling::Monitor::new(&PUMP, &MAP, coupling::Config::rows(1e4))?;
    coupling.push(&[0.1], &[0.1, 0.2, 0.3])?;
    let _ = (&FAMILY, &LAST);
    Ok(())
}
