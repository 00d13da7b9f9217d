//! Integers only: takes the raw counts of an ADC. The fastest way on a core without FPU.

use fastmmd::{Embedding, Fastfood, TwoSample, fixed};

/// In flash: drawn by the compiler.
static MAP: fixed::Fastfood<6, 8, 64> = fixed::Fastfood::gaussian(1);

fn main() -> Result<(), fastmmd::Error> {
    // Six channels of 12 bits; means and deviations in counts: the kernel's σ is 300 counts.
    let scale = fixed::Scale::new([2048.0; 6], [300.0; 6])?;
    let mut test = TwoSample::new(&MAP);
    for step in 0..1000 {
        let mut counts = [0, 1, 2, 3, 4, 5].map(|channel| 1900 + (step * (31 + channel)) % 300);
        test.push_p(&scale.sample(&counts))?; // healthy readings
        counts[2] += 150; // half a deviation
        test.push_q(&scale.sample(&counts))?; // present readings
    }
    println!("MMD² = {:.4} (unbiased), {:.4} (biased)", test.mmd2_unbiased()?, test.mmd2_biased()?);

    // It can be saved; an `f32` map refuses the record.
    let mut flash = [0; Embedding::<fixed::Fastfood<6, 8, 64>>::SAVED_BYTES];
    let length = test.p().save(&MAP, &mut flash)?;
    let floats = Fastfood::<6, 8, 64>::gaussian(1);
    let refused = Embedding::new(&floats).restore(&floats, &flash);
    println!("{length} bytes; offered to f32: {refused:?}");
    Ok(())
}
