//! A map of samples without channels.

use fastmmd::Fourier;

static MAP: Fourier<0, 64> = Fourier::gaussian(1);

fn main() {
    let _ = &MAP;
}
