//! Drift detection: a vibration sensor learns its normal behaviour, then a bearing wears out.
//!
//! Three channels at 1 Hz. The user states one number, the mean time between false alarms. The
//! detector is not told when the fault begins.

use fastmmd::{Config, Detector, Fourier, Verdict};

static MAP: Fourier<3, 64> = Fourier::gaussian(1);

const RATE: f32 = 1.0;
const FAULT: u32 = 8000;

/// A number in (−1, 1), roughly bell-shaped, from a counter.
fn noise(counter: u32) -> f32 {
    let mut word = counter.wrapping_mul(0x9e37_79b9) ^ 0x85eb_ca6b;
    let mut sum = 0.0;
    for _ in 0..4 {
        word ^= word << 13;
        word ^= word >> 17;
        word ^= word << 5;
        sum += f32::from((word >> 16) as u16) / 32_768.0 - 1.0;
    }
    sum / 4.0
}

/// The sensor: a rotating shaft and noise. From the fault on, channel 1 shakes 1.5 times as much.
fn reading(row: u32) -> [f32; 3] {
    let phase = (row % 1000) as u16;
    let (sin, cos) = (f32::from(phase) * 0.628_318_5).sin_cos();
    let worn = if row >= FAULT { 1.5 } else { 1.0 };
    [
        0.3 * sin + noise(3 * row),
        (0.3 * cos + noise(3 * row + 1)) * worn,
        9.8 + 0.5 * noise(3 * row + 2),
    ]
}

fn main() -> Result<(), fastmmd::Error> {
    let config = Config::seconds(RATE, 3600.0);
    for warning in config.warnings() {
        println!("note: {warning}");
    }
    let mut detector = Detector::new(&MAP, config)?;
    println!("the detector takes {} bytes", size_of_val(&detector));

    for row in 0..10_000 {
        if let Verdict::Alarm(alarm) = detector.push(&reading(row))? {
            println!(
                "row {}: channel {} changed in {:?} (window of {} rows, {:.1} times the threshold)",
                alarm.row,
                alarm.channel,
                alarm.change,
                alarm.window,
                alarm.severity()
            );
            println!("estimated begin: row {}; true begin: row {FAULT}", alarm.since);
            return Ok(());
        }
    }
    println!("no alarm");
    Ok(())
}
