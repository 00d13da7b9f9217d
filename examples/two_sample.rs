//! Do two streams have one distribution? The maximum mean discrepancy, whether it is more than chance, and
//! how exact it is.

use fastmmd::Fourier;
use fastmmd::embedding::{Alternative, TwoSampleTest};

/// A reading of three channels, each independent of earlier ones; channel 1 has moved by `shift`.
fn reading(step: u16, shift: f32) -> [f32; 3] {
    let noise = |place: f32| (f32::from(step) * 12.9898 + place).sin() * 437.58 % 1.0;
    [noise(0.0), noise(1.0) + shift, noise(2.0)]
}

fn main() -> Result<(), fastmmd::Error> {
    let map = Fourier::<3, 64>::gaussian(1);
    // Blocks of one sample: readings do not depend on earlier ones.
    let mut test = TwoSampleTest::new(&map, 1)?;
    for step in 0..1000 {
        test.push_p(&reading(step, 0.0))?; // healthy readings
        test.push_q(&reading(step + 1000, 0.3))?; // present readings
    }
    let streams = test.streams();
    println!("MMD² = {:.4}, {:.4} biased", streams.mmd2_unbiased()?, streams.mmd2_biased()?);
    println!(
        "p = {:.1e}; by chance, 1 in 20 is above {:.4}",
        test.p_value()?,
        test.threshold(0.05)?
    );

    // The same samples once more, or later ones of the same kind, give a confidence interval.
    let mut alternative = Alternative::new(streams, 1)?;
    for step in 0..1000 {
        alternative.push_p(&reading(step, 0.0))?;
        alternative.push_q(&reading(step + 1000, 0.3))?;
    }
    let interval = alternative.interval(0.95)?;
    println!("MMD² is from {:.4} to {:.4}, with 95 % confidence", interval.low, interval.high);
    let bar = streams.p().error_bar(0.05)?;
    println!("the embedding of P is off by at most {bar:.3}, with 95 % confidence");

    // The circle on which the two streams differ most, and the diameter that has one stream on each
    // side.
    let largest = streams.circles()?.max_by(|a, b| a.amplitude.total_cmp(&b.amplitude));
    if let Some(circle) = largest {
        println!("largest circular discrepancy: {:.3}", circle.amplitude);
        println!("decision diameter at {:.3} turns", circle.diameter);
    }
    Ok(())
}
