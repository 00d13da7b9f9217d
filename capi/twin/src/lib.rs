//! What `capi/example` does in C, in Rust: the rows, and the report on them.

#![no_std]

use core::fmt;

use fastmmd::features::ScalarOf;
use fastmmd::features::sincos::Points;
use fastmmd::monitor::{Monitor, Status};
use fastmmd::shape::Fixed;
use fastmmd::{Alarm, Detector, Error, FeatureMap, Fourier, Verdict, fixed};

/// Channels of a row.
pub const CHANNELS: usize = 3;

/// The maps of the shapes `fastmmd_f32_3` and `fastmmd_i16_3`.
pub static FLOAT: Fourier<CHANNELS, 32> = Fourier::additive(1);
/// See [`FLOAT`].
pub static INTEGER: fixed::Fourier<CHANNELS, 32> = fixed::Fourier::additive(1);

/// Rows in all; from [`IN_BATCHES`] on, the program in C pushes several at once.
pub const ROWS: u32 = 200_000;
const IN_BATCHES: u32 = 180_000;
/// Rows until two of the changes have been found.
pub const TWO_CHANGES: u32 = 46_000;
/// One status in so many rows is part of the digest.
const BETWEEN: u32 = 1000;
/// The promise, in rows.
pub const MEAN_TIME: f32 = 1e4;

/// A number that readings are made of.
pub trait Reading: Copy {
    /// From counts.
    fn of(counts: i16) -> Self;
}

impl Reading for f32 {
    fn of(counts: i16) -> f32 {
        f32::from(counts) / 512.0
    }
}

impl Reading for i16 {
    fn of(counts: i16) -> i16 {
        counts
    }
}

/// Rows with changes at known places, the same as in `rows.h`.
pub struct Rows {
    state: u32,
    row: u32,
    slow: i16,
    last: i16,
}

impl Default for Rows {
    fn default() -> Self {
        Self { state: 0x1234_5678, row: 0, slow: 0, last: 0 }
    }
}

impl Rows {
    /// About normal, with a deviation of 512.
    fn noise(&mut self) -> i16 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 17;
        self.state ^= self.state << 5;
        let part = |shift: u32| ((self.state >> shift) & 0x3ff) as i16;
        part(0) + part(10) + part(20) - 1534
    }

    /// The next row.
    pub fn row<T: Reading>(&mut self) -> [T; CHANNELS] {
        let row = self.row;
        let (mut x, mut y, z) = (self.noise(), self.noise(), self.noise());
        self.slow += (z - self.slow) / 4;
        if (40_000..45_000).contains(&row) {
            y += 800;
        }
        if (80_000..90_000).contains(&row) {
            x *= 2;
        }
        if let Some(since) = row.checked_sub(150_000) {
            x += i16::try_from(since / 64).unwrap_or(i16::MAX);
        }
        if !(120_000..124_000).contains(&row) {
            self.last = self.slow;
        }
        self.row += 1;
        [x, y, self.last].map(T::of)
    }
}

/// FNV-1a over bytes.
struct Digest(u64);

impl Digest {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn alarm(&mut self, alarm: &Alarm) {
        self.add(&alarm.row.to_le_bytes());
        self.add(&alarm.since.to_le_bytes());
        self.add(&u32::try_from(alarm.channel).unwrap_or(u32::MAX).to_le_bytes());
        self.add(&[alarm.change.code(), alarm.leg.code()]);
        self.add(&alarm.window.to_le_bytes());
        self.add(&alarm.score.to_bits().to_le_bytes());
        self.add(&alarm.threshold.to_bits().to_le_bytes());
    }

    fn status(&mut self, status: &Status) {
        self.add(&status.rows.to_le_bytes());
        self.add(&[status.stage.code()]);
        self.add(&status.progress.to_bits().to_le_bytes());
        self.add(&status.statistic.to_bits().to_le_bytes());
        self.add(&status.threshold.to_bits().to_le_bytes());
        self.add(&status.open.to_le_bytes());
    }
}

/// The numbers that `fastmmd.h` has for verdicts.
fn number(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Learning { .. } => 1,
        Verdict::Healthy => 2,
        Verdict::Alarm(_) => 3,
        Verdict::Amended(_) => 4,
        Verdict::Drifting => 5,
    }
}

/// Pushes all rows, and prints every alarm and what all of them come to.
///
/// # Errors
/// Those of the detector; there are none.
pub fn report<M>(
    detector: &mut Detector<'static, M>,
    saved: &mut [u8],
    mut print: impl FnMut(fmt::Arguments<'_>),
) -> Result<(), Error>
where
    M: FeatureMap<Inputs = Fixed<CHANNELS>, Backend: Points>,
    ScalarOf<M>: Reading,
{
    let mut rows = Rows::default();
    let mut digest = Digest(0xcbf2_9ce4_8422_2325);
    for row in 0..ROWS {
        let verdict = detector.push(&rows.row())?;
        if let Verdict::Alarm(alarm) | Verdict::Amended(alarm) = &verdict {
            digest.alarm(alarm);
        }
        if let Verdict::Alarm(Alarm { row, since, channel, change, leg, .. }) = &verdict {
            let (change, leg) = (change.name(), leg.name());
            print(format_args!("row {row} since {since} channel {channel} {change} by {leg}"));
        }
        if row < IN_BATCHES {
            digest.add(&[number(&verdict)]);
            if row % BETWEEN == 0 {
                digest.status(&Monitor::status(detector));
            }
        }
    }
    for quality in detector.quality() {
        for number in [quality.level, quality.deviation, quality.ties, quality.rise] {
            digest.add(&number.to_bits().to_le_bytes());
        }
    }
    let length = detector.save(saved)?;
    digest.add(saved.get(..length).unwrap_or_default());
    print(format_args!("{length} bytes saved"));
    print(format_args!("digest {:016x}", digest.0));
    Ok(())
}
