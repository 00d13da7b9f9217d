//! Drift detection in a few lines: learns the distribution of three channels, reports a change.

use fastmmd::{Config, Detector, Fourier, Verdict};

static MAP: Fourier<3, 32> = Fourier::additive(1); // 3 channels, 32 frequencies, in flash

fn main() -> Result<(), fastmmd::Error> {
    // One number to state: the mean time between false alarms, here 10,000 rows.
    let mut detector = Detector::new(&MAP, Config::rows(10_000.0))?;
    for row in 0..8000_u16 {
        let noise = |w: f32| ((f32::from(row) * w).sin() * 437.58) % 1.0;
        let drift = if row < 6000 { 0.0 } else { 1.0 };
        let readings = [noise(12.99), noise(78.23) + drift, noise(37.72)];
        if let Verdict::Alarm(alarm) | Verdict::Amended(alarm) = detector.push(&readings)? {
            println!("channel {}: {:?} since row {}", alarm.channel, alarm.change, alarm.since);
        }
    }
    Ok(())
}
