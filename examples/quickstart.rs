//! Drift detection in a few lines: learns the distribution of three channels, reports a change.

use fastmmd::{Config, Detector, Fourier, Verdict};

static MAP: Fourier<3, 64> = Fourier::gaussian(1); // 3 channels, 64 frequencies, in flash

fn main() -> Result<(), fastmmd::Error> {
    // One number to state: the mean time between false alarms, here 4000 rows.
    let mut detector = Detector::new(&MAP, Config::rows(4000.0))?;
    for row in 0..8000_u16 {
        let [x, y, z] = [0.11, 0.23, 0.37].map(|w| (f32::from(row) * w * f32::from(row)).sin());
        let drift = if row < 6000 { 0.0 } else { 0.4 };
        if let Verdict::Alarm(alarm) = detector.push(&[x, y + drift, z])? {
            println!("channel {}: {:?} since row {}", alarm.channel, alarm.change, alarm.since);
        }
    }
    Ok(())
}
