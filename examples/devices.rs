//! A fleet of machines of one type: which one is not like the others? And a common reference for
//! those that are alike.
//!
//! The first device learns by itself. Its saved state goes to all others, which keep its scale and
//! learn what is healthy for them.

use fastmmd::{Config, Detector, Fourier, Verdict};

type Machine = Detector<'static, Fourier<2, 32>>;

static MAP: Fourier<2, 32> = Fourier::additive(1);
const LEARNING: u32 = 2048;

/// Noise of a machine: temperature and pressure. The last machine runs warmer.
struct Readings(u32, f32);

impl Readings {
    fn new(device: u16) -> Self {
        Self(0x9e37_79b9 ^ (u32::from(device) + 1), if device == 3 { 1.0 } else { 0.0 })
    }

    fn noise(&mut self) -> f32 {
        let mut sum = 0.0;
        for _ in 0..4 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 17;
            self.0 ^= self.0 << 5;
            sum += f32::from((self.0 >> 16) as u16) / 32_768.0 - 1.0;
        }
        sum
    }

    fn row(&mut self) -> [f32; 2] {
        [60.0 + self.noise() + self.1, 2.0 + 0.1 * self.noise()]
    }
}

/// A device: takes up the fleet's scale, learns, and sends what it learned.
fn learned(device: u16, scale: Option<&[u8]>) -> Result<Vec<u8>, fastmmd::Error> {
    let config = Config { learning_rows: LEARNING, ..Config::rows(1e5) };
    let mut detector: Machine = Detector::new(&MAP, config)?;
    if let Some(scale) = scale {
        detector.restore(scale)?;
        detector.relearn_reference();
    }
    let mut readings = Readings::new(device);
    while !detector.stage().is_learned() {
        detector.push(&readings.row())?;
    }
    let mut bytes = vec![0; Machine::SAVED_BYTES];
    detector.save(&mut bytes)?;
    Ok(bytes)
}

fn restored(bytes: &[u8]) -> Result<Machine, fastmmd::Error> {
    let mut detector: Machine = Detector::new(&MAP, Config::rows(1e5))?;
    detector.restore(bytes)?;
    Ok(detector)
}

fn main() -> Result<(), fastmmd::Error> {
    println!("{} bytes from each device", Machine::SAVED_BYTES);
    let first = learned(0, None)?;
    let mut fleet = restored(&first)?;
    for device in 1..4 {
        let other = restored(&learned(device, Some(&first))?)?;
        let difference = fleet.difference(&other)?;
        println!("device {device}: p-value {:.1e}", difference.p_value);
        if difference.p_value > 0.001 {
            fleet.merge(&other)?;
        } else {
            println!("  not like the others, most in channel {}", difference.channel);
            assert_eq!((device, difference.channel), (3, 0));
        }
    }
    println!("the reference stands on {} devices", fleet.merged());
    assert_eq!(fleet.merged(), 3);

    // It serves any of them.
    let mut readings = Readings::new(1);
    let alarms = (0..5000).filter(|_| matches!(fleet.push(&readings.row()), Ok(Verdict::Alarm(_))));
    println!("{} alarms on device 1 in 5000 rows", alarms.count());
    Ok(())
}
