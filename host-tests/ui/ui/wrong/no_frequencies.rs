//! A map without frequencies.

use fastmmd::Fourier;

static MAP: Fourier<3, 0> = Fourier::gaussian(1);

fn main() {
    let _ = &MAP;
}
