//! A family of no bandwidths in a `static`, where `cargo check` finds it too.

use fastmmd::{Fourier, KernelFamily, checked};

static MAP: Fourier<3, 64> = Fourier::gaussian(1);
static FAMILY: KernelFamily<Fourier<3, 64>, 0> = checked!(MAP.family([]));

fn main() {
    let _ = &FAMILY;
}
