//! How different are two streams of three channels?

use fastmmd::{Fourier, Kernel, Sampling, TwoSample};

// 3 channels, 64 frequencies; drawn by the compiler, kept in flash.
static MAP: Fourier<3, 64> = match Fourier::new(Kernel::GAUSSIAN, Sampling::Auto, 1) {
    Ok(map) => map,
    Err(_) => panic!("checked when compiled"),
};

fn main() -> Result<(), fastmmd::Error> {
    let mut test: TwoSample<_, 3, 64> = TwoSample::new(&MAP);
    for step in 0..1000_u16 {
        let wave = (f32::from(step) * 0.37).sin();
        test.push_p(&[wave, 0.0, 1.0])?; // what the sensor read when all was well
        test.push_q(&[wave, 0.5, 1.0])?; // what it reads now: channel 1 has moved
    }
    println!("MMD² = {:.4}", test.mmd2_unbiased()?);
    Ok(())
}
