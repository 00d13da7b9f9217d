//! The longest test: the board and the host process the same samples and must give the same
//! results.

use core::fmt;

use fastmmd::{Alarm, Detector, Embedding, Error, Verdict};

use crate::profile::{ENDURANCE, ENDURANCE_MAP};

/// Marks the samples in the board's memory; their number follows it.
pub const MARK: u32 = 0x5341_4D50;

/// The results of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Summary {
    /// Number of samples.
    pub samples: u32,
    /// Number of alarms.
    pub alarms: u32,
    /// CRC-32 in the saved embedding of all samples: recipe, weight and every sum.
    pub sums: u32,
    /// Bits of the mean cosine at the first frequency, to compare with a mean that is computed in
    /// another way: sums with growing error would differ.
    pub first_cosine: u32,
    /// CRC-32 in the detector's saved state, over all of it.
    pub state: u32,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { samples, alarms, sums, first_cosine, state } = self;
        write!(
            f,
            "{samples} samples, {alarms} alarms, sums {sums:#010x}, \
             mean {first_cosine:#010x}, state {state:#010x}"
        )
    }
}

/// An alarm raised during the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Raised(pub Alarm);

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Alarm { row, since, window, score, channel, .. } = self.0;
        let bits = score.to_bits();
        write!(
            f,
            "row {row}: alarm since {since}, window {window}, score {bits:#010x}, channel {channel}"
        )
    }
}

/// Processes all samples; calls `raised` for every alarm.
///
/// # Errors
/// [`Error`] for a sample that is not finite.
pub fn run(
    samples: impl Iterator<Item = [f32; 3]>,
    mut raised: impl FnMut(Raised),
) -> Result<Summary, Error> {
    let mut detector = Detector::new(&ENDURANCE_MAP, ENDURANCE)?;
    let mut embedding = Embedding::new(&ENDURANCE_MAP);
    let mut summary = Summary { samples: 0, alarms: 0, sums: 0, first_cosine: 0, state: 0 };
    for sample in samples {
        summary.samples = summary.samples.saturating_add(1);
        embedding.add(&ENDURANCE_MAP, &sample.map(|value| value / 64.0))?;
        if let Verdict::Alarm(alarm) = detector.push(&sample)? {
            summary.alarms = summary.alarms.saturating_add(1);
            raised(Raised(alarm));
        }
    }
    let mut bytes = [0; 8192];
    let length = embedding.save(&ENDURANCE_MAP, &mut bytes)?;
    summary.sums = checksum(&bytes, length);
    summary.first_cosine = embedding.mean()?.next().map_or(0, |point| point.cos.to_bits());
    let length = detector.save(&mut bytes)?;
    summary.state = checksum(&bytes, length);
    Ok(summary)
}

/// The checksum at the end of a record. (A CRC over the whole record, its own CRC included, would
/// be the same for every record.)
fn checksum(bytes: &[u8], length: usize) -> u32 {
    let record = bytes.get(..length).unwrap_or_default();
    record.last_chunk().map_or(0, |checksum| u32::from_le_bytes(*checksum))
}
