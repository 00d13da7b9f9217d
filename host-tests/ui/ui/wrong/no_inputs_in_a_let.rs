//! A map of samples without channels, not in a constant: found when code is generated.

use fastmmd::Fourier;

fn main() {
    let _ = Fourier::<0, 64>::gaussian(1);
}
