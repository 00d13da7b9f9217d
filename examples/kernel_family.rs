//! Which bandwidth shows the difference between two samples? Nine bandwidths from one projection.
//!
//! Both streams cover the same interval, but the second is a comb of narrow teeth: only a kernel
//! about as wide as a tooth responds to it.

use fastmmd::{Fourier, KernelFamily};

fn main() -> Result<(), fastmmd::Error> {
    let map = Fourier::<1, 256>::gaussian(1);
    let bandwidths = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0];
    let mut family = KernelFamily::new(&map, bandwidths)?;

    for step in 0..5000_u16 {
        // Multiples of the golden ratio modulo one: an even cover of the interval.
        let even = (f32::from(step) * 0.618_034).fract();
        let tooth = ((even * 4.0).floor() + 0.3 * (even * 4.0).fract()) / 4.0;
        family.push_p(&[even])?;
        family.push_q(&[tooth])?;
    }

    let best = family.maximum_unbiased()?;
    println!("bandwidth   MMD²");
    for member in family.unbiased()? {
        let mark = if member == best { "  <- largest" } else { "" };
        println!("{:9.2}   {:.5}{mark}", member.bandwidth, member.squared);
    }
    Ok(())
}
