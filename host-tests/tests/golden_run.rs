// The computations behind the golden values, included after `golden.rs` by the host's tests and
// by the boards' programs: both run the same lines.

use fastmmd::detector::{Config, Detector, Verdict, View};
use fastmmd::{Backend, Error, FeatureMap, Fourier, TwoSample};

/// Long enough for every record here.
const GOLDEN_RECORD_BYTES: usize = 4500;

/// Both streams, each sample with weight 1.
pub(crate) fn golden_pair<B: Backend, M, const D: usize, const L: usize>(
    map: &M,
    sample: impl Fn(u32, bool) -> [B::Scalar; D],
) -> Result<Golden, Error>
where
    M: FeatureMap<D, L, B::Scalar>,
{
    let mut test = TwoSample::new(map);
    for index in 0..GOLDEN_SAMPLES {
        test.push_p(&sample(index, false))?;
        test.push_q(&sample(index, true))?;
    }
    golden_of(&test)
}

/// The saved state by its own checksum, and the bits of MMD².
pub(crate) fn golden_of<B: Backend, M, const D: usize, const L: usize>(
    test: &TwoSample<'_, M, D, L, B>,
) -> Result<Golden, Error>
where
    M: FeatureMap<D, L, B::Scalar>,
{
    Ok(Golden {
        record: checksum_of(|bytes| test.save(bytes))?,
        biased: test.mmd2_biased()?.to_bits(),
        unbiased: test.mmd2_unbiased()?.to_bits(),
    })
}

/// The detector over the golden rows, with a change in them.
pub(crate) fn golden_detector<V: View<3>>(map: &Fourier<3, 64>) -> Result<GoldenDetector, Error> {
    let config = Config {
        scaling_rows: 64,
        learning_rows: GOLDEN_ROWS[0] - 64,
        ..Config::rows(1000.0).with_windows([4, 16, 64])
    };
    let mut detector: Detector<'_, _, V, 3, 3, 64, 3> = Detector::new(map, config)?;
    let mut found = GoldenDetector { record: 0, verdicts: 0, alarms: 0, first: [0; 3], score: 0 };
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
            Verdict::Drifting => 2,
        };
        found.verdicts = golden_mixture(found.verdicts, number);
    }
    found.record = checksum_of(|bytes| detector.save(bytes))?;
    Ok(found)
}

/// The last four bytes of a record.
fn checksum_of(save: impl FnOnce(&mut [u8]) -> Result<usize, Error>) -> Result<u32, Error> {
    let mut bytes = [0; GOLDEN_RECORD_BYTES];
    let length = save(&mut bytes)?;
    let checksum = bytes.get(..length).and_then(<[u8]>::last_chunk);
    Ok(u32::from_le_bytes(*checksum.ok_or(Error::WrongLength)?))
}
