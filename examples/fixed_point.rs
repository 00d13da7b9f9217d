//! Integers only: takes the raw counts of an ADC. The fastest way on a core without FPU.

use fastmmd::{Config, Detector, Embedding, Fastfood, TwoSample, Verdict, fixed};

/// In flash: drawn by the compiler.
static MAP: fixed::Fastfood<6, 8, 64> = fixed::Fastfood::gaussian(1);
/// For a detector of two channels.
static CHANNELS: fixed::Fourier<2, 32> = fixed::Fourier::additive(1);

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
    detect()
}

/// The detector takes the counts as they are: it learns their level and spread by itself.
fn detect() -> Result<(), fastmmd::Error> {
    let mut detector = Detector::new(&CHANNELS, Config::rows(1e4))?;
    let mut word = 1_u32;
    for row in 0..9000 {
        let mut noise = || {
            word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            i16::try_from(word >> 26).unwrap_or(0) // 6 bits
        };
        let counts = [2000 + noise() + if row < 8500 { 0 } else { 40 }, 700 + noise()];
        if let Verdict::Alarm(alarm) = detector.push(&counts)? {
            println!("row {row}: channel {} has another {:?}", alarm.channel, alarm.change);
        }
    }
    Ok(())
}
