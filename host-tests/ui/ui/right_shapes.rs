//! The control: all of it with shapes that fit.

use fastmmd::condition::Raw;
use fastmmd::monitor::coupling;
use fastmmd::shape::Windows;
use fastmmd::{Config, Detector, Embedding, Error, Fastfood, Fourier, KernelFamily, checked};

static MAP: Fourier<3, 64> = Fourier::gaussian(1);
static LAGGED: Fourier<6, 64> = Fourier::gaussian(1);
static FAST: Fastfood<3, 4, 64> = Fastfood::gaussian(1);
static PUMP: Fourier<1, 16> = Fourier::gaussian(1);
static START: Detector<Fourier<3, 64>, Raw<3>, Windows<2>> =
    checked!(Detector::new(&MAP, Config::rows(4e3).with_windows([4, 16])));

fn main() -> Result<(), Error> {
    let mut detector = START.clone();
    detector.push(&[0.1, 0.2, 0.3])?;
    let mut detector = Detector::new(&LAGGED, Config::<Raw<3, 6>>::lagged(4e3))?;
    detector.push(&[0.1, 0.2, 0.3])?;
    let mut embedding = Embedding::new(&FAST);
    embedding.add(&FAST, &[0.1, 0.2, 0.3])?;
    embedding.merge(&embedding.clone())?;
    KernelFamily::new(&MAP, [1.0])?.push_p(&[0.1, 0.2, 0.3])?;
    let mut coupling = coupling::Monitor::new(&PUMP, &MAP, coupling::Config::rows(1e4))?;
    coupling.push(&[0.1], &[0.1, 0.2, 0.3])?;
    Ok(())
}
