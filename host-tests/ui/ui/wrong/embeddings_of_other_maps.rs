//! Sums of 32 frequencies merged with sums of 64.

use fastmmd::{Embedding, Error, Fourier};

static COARSE: Fourier<3, 32> = Fourier::gaussian(1);
static FINE: Fourier<3, 64> = Fourier::gaussian(1);

fn main() -> Result<(), Error> {
    let mut coarse = Embedding::new(&COARSE);
    let fine = Embedding::new(&FINE);
    coarse.merge(&fine)?;
    Ok(())
}
