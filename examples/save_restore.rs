//! Saves and restores what a detector has learned, as for a power cut; damaged bytes are refused.

use fastmmd::{Config, Detector, Error, Fourier, Recipe, Stage, Verdict};

type Sensor = Detector<'static, Fourier<2, 32>>;

static MAP: Fourier<2, 32> = Fourier::additive(42);

/// Two channels of a machine. From row 5000 on, the second is off.
fn reading(row: u16) -> [f32; 2] {
    let noise = |w: f32| ((f32::from(row) * w).sin() * 437.58) % 1.0;
    [noise(12.99), noise(78.23) + if row < 5000 { 0.0 } else { 1.0 }]
}

fn main() -> Result<(), Error> {
    let mut before: Sensor = Detector::new(&MAP, Config::rows(100_000.0))?;
    for row in 0..4500 {
        before.push(&reading(row))?;
    }
    let mut flash = [0; Sensor::SAVED_BYTES];
    before.save(&mut flash)?;
    println!("saved {} bytes after {} rows", flash.len(), before.rows());

    // After the reset: the record contains the settings, and the recipe of its map.
    let recipe = Recipe::restore(&flash)?;
    println!("they were made with {:?}, seed {}", recipe.kind, recipe.seed);
    let mut after: Sensor = Detector::new(&MAP, Config::rows(1e6))?;
    after.restore(&flash)?;
    assert_eq!(after.config(), before.config());

    // It goes on bit for bit as the one before would have.
    for row in 4500..5200 {
        let verdict = after.push(&reading(row))?;
        assert_eq!(before.push(&reading(row))?, verdict);
        if let Verdict::Alarm(alarm) = verdict {
            println!("row {row}: channel {}, {}", alarm.channel, alarm.change.name());
        }
    }
    assert_eq!(after.stage(), Stage::Drift);

    // An incomplete write is detected, and the state in RAM stays as it was.
    flash[100] ^= 1;
    assert_eq!(after.restore(&flash), Err(Error::ChecksumMismatch));
    assert_eq!(after.rows(), 5200);
    println!("one bit changed: {}", Error::ChecksumMismatch);
    Ok(())
}
