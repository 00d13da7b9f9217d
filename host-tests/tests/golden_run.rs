// The computations of the golden values, included after `golden.rs` by the host's tests and by the
// boards' programs: both run the same code.

use fastmmd::features::ScalarOf;
use fastmmd::monitor::Monitor;
use fastmmd::shape::Fixed;
use fastmmd::{Config, Error, FeatureMap, TwoSample, Verdict};

/// Long enough for every record here.
const GOLDEN_RECORD_BYTES: usize = 8192;

/// Both streams, each sample with weight 1.
pub(crate) fn golden_pair<M: FeatureMap<Inputs = Fixed<D>>, const D: usize>(
    map: &M,
    sample: impl Fn(u32, bool) -> [ScalarOf<M>; D],
) -> Result<Golden, Error> {
    let mut test = TwoSample::new(map);
    for index in 0..GOLDEN_SAMPLES {
        test.push_p(&sample(index, false))?;
        test.push_q(&sample(index, true))?;
    }
    golden_of(&test)
}

/// The checksum of the saved state, and the bits of MMD².
pub(crate) fn golden_of<M: FeatureMap>(test: &TwoSample<'_, M>) -> Result<Golden, Error> {
    Ok(Golden {
        record: checksum_of(|bytes| test.save(bytes))?,
        biased: test.mmd2_biased()?.to_bits(),
        unbiased: test.mmd2_unbiased()?.to_bits(),
    })
}

/// The settings of the golden detector with all legs; the other has a cycle beside.
pub(crate) const fn golden_config() -> Config {
    Config { learning_rows: GOLDEN_ROWS[0], ..Config::rows(1000.0) }
}

/// Runs a new detector over the golden rows, which contain a change.
pub(crate) fn golden_detector<X: GoldenNumber>(
    detector: &mut impl Monitor<Row = [X; 3]>,
) -> Result<GoldenDetector, Error> {
    let mut found = GoldenDetector {
        record: 0,
        verdicts: 0,
        alarms: 0,
        amended: 0,
        first: [0; 3],
        score: 0,
    };
    for index in 0..GOLDEN_ROWS[2] {
        let number = match detector.push(&golden_row(index))? {
            Verdict::Learning { progress } => progress.to_bits(),
            Verdict::Healthy => 1,
            Verdict::Alarm(alarm) => {
                if found.alarms == 0 {
                    let channel = u32::try_from(alarm.channel).unwrap_or(u32::MAX);
                    let since = u32::try_from(alarm.since).unwrap_or(u32::MAX);
                    found.first = [index, since, channel];
                    found.score = alarm.score.to_bits();
                }
                found.alarms += 1;
                alarm.score.to_bits()
            }
            Verdict::Amended(alarm) => {
                found.amended += 1;
                u32::try_from(alarm.since).unwrap_or(u32::MAX)
            }
            Verdict::Drifting => 2,
        };
        found.verdicts = golden_mixture(found.verdicts, number);
    }
    found.record = checksum_of(|bytes| detector.save(bytes))?;
    Ok(found)
}

/// The checksum that a record has as one of version 1: golden values outlive a version that does not
/// change what they are of.
fn checksum_of(save: impl FnOnce(&mut [u8]) -> Result<usize, Error>) -> Result<u32, Error> {
    let mut bytes = [0; GOLDEN_RECORD_BYTES];
    let length = save(&mut bytes)?;
    let record = bytes.get_mut(..length).and_then(<[u8]>::split_last_chunk_mut::<4>);
    let (body, _) = record.ok_or(Error::WrongLength)?;
    if let Some(version) = body.get_mut(4) {
        *version = 1;
    }
    Ok(golden_crc(body))
}

/// The CRC-32 that ends a record.
pub(crate) fn golden_crc(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
    }
    !crc
}
