//! The type of a row where the legs belong.

use fastmmd::{Detector, Error, Fourier};

fn watch(_detector: &mut Detector<Fourier<3, 64>, [f32; 3]>) -> Result<(), Error> {
    Ok(())
}

fn main() {
    let _ = watch;
}
