//! Drift detection in a few lines: learns the distribution of three channels, reports a change.

use fastmmd::{Config, Detector, Fourier, Verdict};

static MAP: Fourier<3, 32> = Fourier::additive(1); // 3 channels, 32 frequencies, in flash

fn main() -> Result<(), fastmmd::Error> {
    let mut detector = Detector::new(&MAP, Config::rows(1e4))?; // a false alarm in 10,000 rows
    for row in 0..8000_u16 {
        let noise = |w: f32| ((f32::from(row) * w).sin() * 437.58) % 1.0;
        let readings = [noise(12.99), noise(78.23) + f32::from(row >= 6000), noise(37.72)];
        if let Verdict::Alarm(alarm) | Verdict::Amended(alarm) = detector.push(&readings)? {
            println!("channel {}: {:?} since row {}", alarm.channel, alarm.change, alarm.since);
        }
    }
    Ok(())
}
