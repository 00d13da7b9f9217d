//! A family of no bandwidths.

use fastmmd::{Error, Fourier, KernelFamily};

static MAP: Fourier<3, 64> = Fourier::gaussian(1);

fn main() -> Result<(), Error> {
    KernelFamily::new(&MAP, [])?.push_p(&[0.1, 0.2, 0.3])
}
