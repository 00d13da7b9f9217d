//! A sensor of a kilohertz: every 100 rows become one, and a detector watches means and spreads.

use fastmmd::condition::Decimate;
use fastmmd::{Config, Detector, Fourier, Verdict};

/// Mean and spread of an accelerometer's two axes.
static MAP: Fourier<4, 32> = Fourier::additive(1);

/// Raw rows of a second.
const RATE: u32 = 1000;
/// Raw rows that become one.
const AS_ONE: u32 = 100;
/// A bearing begins to rattle: the level stays, the spread within 100 rows does not.
const RATTLES: u32 = 600;

fn main() -> Result<(), fastmmd::Error> {
    let mut decimate = Decimate::<2>::new(AS_ONE)?;
    // Ten rows a second: one false alarm in about three hours.
    let mut detector = Detector::new(&MAP, Config::rows(1e5))?;
    let mut noise = 1_u32;
    for second in 0..RATTLES + 10 {
        // What the sensor's FIFO has gathered in a second.
        let mut rows = Vec::new();
        for _ in 0..RATE {
            let width = if second < RATTLES { 1.0 } else { 1.2 };
            let [x, y] = [0, 1].map(|_| {
                noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                f32::from((noise >> 16) as u16) / 65_536.0 - 0.5
            });
            if let Some(([a, b], [c, d])) = decimate.push_with_spread(&[width * x, y])? {
                rows.push([a, b, c, d]);
            }
        }
        detector.push_many(&rows, |verdict| {
            if let Verdict::Alarm(alarm) = verdict {
                let name = ["mean of x", "mean of y", "spread of x", "spread of y"][alarm.channel];
                println!("second {second}: {name}, {:?} since row {}", alarm.change, alarm.since);
            }
        })?;
    }
    let alarm = detector.last_alarm().expect("a spread larger by a fifth is found");
    assert_eq!(alarm.channel, 2);
    assert!(alarm.row >= u64::from(RATTLES * RATE / AS_ONE), "no alarm before");
    Ok(())
}
