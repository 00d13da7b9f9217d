//! Drift detection on a machine that has a cycle: a bearing slowly wears out, and a sensor breaks.
//!
//! Three channels at 1 Hz, a cycle of 300 rows that the user knows. The user states one number, the
//! mean time between false alarms. The detector is not told when the faults begin.

use fastmmd::monitor::NotANumber;
use fastmmd::{Config, Detector, Fourier, Verdict};

static MAP: Fourier<3, 32> = Fourier::additive(1);

const RATE: f32 = 1.0;
const CYCLE: f32 = 300.0;
const WEAR: u32 = 10_000;
const BREAK: u32 = 13_000;

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

/// The sensors: temperature and current follow the cycle, vibration does not. From `WEAR` on the
/// temperature rises, by one deviation of its noise in 1000 rows; at `BREAK` the current sensor
/// gives no more readings.
fn reading(row: u32) -> [f32; 3] {
    let (sin, cos) = (f32::from((row % 300) as u16) / CYCLE * std::f32::consts::TAU).sin_cos();
    let wear = f32::from(row.saturating_sub(WEAR) as u16) * 3e-4;
    let current = 4.0 + cos + 0.2 * noise(3 * row + 1);
    [
        60.0 + 5.0 * sin + noise(3 * row) + wear,
        if row < BREAK { current } else { f32::NAN },
        0.5 * noise(3 * row + 2),
    ]
}

fn main() -> Result<(), fastmmd::Error> {
    let config = Config {
        learning_rows: 8192,
        not_a_number: NotANumber::Missing,
        ..Config::seconds(RATE, 7.0 * 86_400.0)
    };
    for warning in config.warnings() {
        println!("note: {warning}");
    }
    let mut detector = Detector::new(&MAP, config.with_period(CYCLE))?;
    println!("the detector takes {} bytes", size_of_val(&detector));

    let mut found = [None; 3];
    for row in 0..14_000 {
        match detector.push(&reading(row))? {
            Verdict::Alarm(alarm) => {
                println!(
                    "row {row}: channel {} changed in {}, since row {} (the {} leg, {:.1} times its \
                     threshold)",
                    alarm.channel,
                    alarm.change.name(),
                    alarm.since,
                    alarm.leg.name(),
                    alarm.severity()
                );
                found[alarm.channel] = found[alarm.channel].or(Some(row));
            }
            Verdict::Amended(alarm) => {
                println!("row {row}: rather {}, since row {}", alarm.change.name(), alarm.since);
            }
            Verdict::Learning { .. } | Verdict::Healthy | Verdict::Drifting => {}
        }
    }
    for open in detector.open() {
        println!(
            "at the end: {} of channel {:?}, size {:.1}",
            open.leg.name(),
            open.channel,
            open.size
        );
    }
    assert!(found[0].is_some_and(|row| row > WEAR) && found[1].is_some_and(|row| row > BREAK));
    assert_eq!(found[2], None);
    Ok(())
}
