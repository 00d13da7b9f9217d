//! Measures how different two streams are, at any time: the maximum mean discrepancy.

use fastmmd::{Fourier, TwoSample};

fn main() -> Result<(), fastmmd::Error> {
    let map = Fourier::<3, 64>::gaussian(1);
    let mut test = TwoSample::new(&map);
    for step in 0..1000_u16 {
        let wave = (f32::from(step) * 0.37).sin();
        test.push_p(&[wave, 0.0, 1.0])?; // healthy readings
        test.push_q(&[wave, 0.5, 1.0])?; // present readings: channel 1 has moved
    }
    println!("MMD² = {:.4} (unbiased), {:.4} (biased)", test.mmd2_unbiased()?, test.mmd2_biased()?);

    // The circle on which the two streams differ most, and the diameter that has one stream on each
    // side.
    let largest = test.circles()?.max_by(|a, b| a.amplitude.total_cmp(&b.amplitude));
    if let Some(circle) = largest {
        println!("largest circular discrepancy: {:.3}", circle.amplitude);
        println!("decision diameter at {:.3} turns", circle.diameter);
    }
    Ok(())
}
