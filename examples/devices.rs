//! Finds the device of a fleet whose readings have another distribution, from about a kilobyte of
//! each device and none of its readings.

use fastmmd::{Embedding, Fourier};

type Map = Fourier<2, 64>;
const DEVICES: u16 = 5;

static MAP: Map = Fourier::gaussian(1);

/// Temperature and pressure, in standard deviations. The last device is mounted beside a fan: it
/// has the same mean as the others, but more spread.
fn reading(device: u16, step: u16) -> [f32; 2] {
    let swing = if device + 1 == DEVICES { 2.5 } else { 1.0 };
    let phase = f32::from(step) * 0.77 + f32::from(device);
    [swing * phase.sin(), (1.31 * phase).cos()]
}

/// A device: learns, and sends its embedding.
fn sent(device: u16) -> Result<Vec<u8>, fastmmd::Error> {
    let mut learned = Embedding::new(&MAP);
    for step in 0..400 {
        learned.add(&MAP, &reading(device, step))?;
    }
    let mut bytes = vec![0; Embedding::<Map>::SAVED_BYTES];
    learned.save(&MAP, &mut bytes)?;
    Ok(bytes)
}

fn main() -> Result<(), fastmmd::Error> {
    let mut fleet = Vec::new();
    for device in 0..DEVICES {
        let mut received = Embedding::new(&MAP);
        received.restore(&MAP, &sent(device)?)?;
        fleet.push(received);
    }
    println!("{} bytes from each device", Embedding::<Map>::SAVED_BYTES);

    // ⟨μ_a, μ_b⟩/‖μ_a‖‖μ_b‖: 1 for sets of one distribution.
    let mut least = (f32::INFINITY, 0);
    for (index, a) in fleet.iter().enumerate() {
        let mut row = 0.0;
        for b in &fleet {
            let alike = a.inner_product(b)? / (a.squared_norm()? * b.squared_norm()?).sqrt();
            print!("{alike:7.3}");
            row += alike;
        }
        println!();
        if row < least.0 {
            least = (row, index);
        }
    }
    println!("device {} is not like the others", least.1);
    assert_eq!(least.1 + 1, usize::from(DEVICES));
    Ok(())
}
