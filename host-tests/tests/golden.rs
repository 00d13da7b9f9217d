// Golden values: what every target must compute, bit for bit. Included by `tests/golden.rs` and
// by firmware (`include!`), so it uses only `core`, and only exact operations on the inputs:
// integers, and divisions by powers of two.

/// The expected results of a map for the golden streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Golden {
    /// The CRC-32 of the saved `TwoSample`: it covers recipe and all sums.
    pub(crate) record: u32,
    /// Bits of MMD_b².
    pub(crate) biased: u32,
    /// Bits of MMD_u².
    pub(crate) unbiased: u32,
}

/// Samples in each golden stream.
pub(crate) const GOLDEN_SAMPLES: u32 = 1000;

/// Seed of the golden maps, whose kernel is the Gaussian with σ = 1.
pub(crate) const GOLDEN_SEED: u64 = 20_150_512;

/// Channel `channel` of sample `index`: a multiple of 1/512 in [−1, 1), and in the second stream
/// stretched by 5/4 and moved by 1/4.
pub(crate) fn golden_value(index: u32, channel: u32, second: bool) -> f32 {
    let mixed = index
        .wrapping_mul(2_654_435_761)
        .wrapping_add(channel.wrapping_mul(2_246_822_519))
        .rotate_left(13)
        .wrapping_mul(3_266_489_917);
    let step = (mixed >> 22) as u16;
    let value = f32::from(step) / 512.0 - 1.0;
    if second { value * 1.25 + 0.25 } else { value }
}

/// A number that samples are made of.
pub(crate) trait GoldenNumber: Copy {
    /// Converts a golden value, exactly.
    fn of(value: f32) -> Self;
}

impl GoldenNumber for f32 {
    fn of(value: f32) -> Self {
        value
    }
}

impl GoldenNumber for i16 {
    #[expect(clippy::cast_possible_truncation, reason = "a whole number of steps below 2¹²")]
    fn of(value: f32) -> Self {
        (value * 2048.0) as Self
    }
}

/// Sample `index` of a golden stream.
pub(crate) fn golden_sample<X: GoldenNumber, const D: usize>(index: u32, second: bool) -> [X; D] {
    let mut sample = [X::of(0.0); D];
    for (channel, value) in (0..).zip(&mut sample) {
        *value = X::of(golden_value(index, channel, second));
    }
    sample
}

/// `Fourier<3, 64>`, quasi-random.
pub(crate) const GOLDEN_QUASI: Golden =
    Golden { record: 0xe725_98f7, biased: 0x3d58_3ea5, unbiased: 0x3d53_5a94 };

/// `Fourier<16, 128>`, orthogonal.
pub(crate) const GOLDEN_ORTHOGONAL: Golden =
    Golden { record: 0x77af_8a18, biased: 0x3c80_9972, unbiased: 0x3c61_00be };

/// `Fastfood<16, 16, 128>`.
pub(crate) const GOLDEN_FASTFOOD: Golden =
    Golden { record: 0x6b2d_f44a, biased: 0x3c95_00a9, unbiased: 0x3c84_db31 };

/// `fixed::Fourier<3, 64>`, quasi-random.
pub(crate) const GOLDEN_FIXED_FOURIER: Golden =
    Golden { record: 0xaf41_9e44, biased: 0x3d58_3d36, unbiased: 0x3d53_591f };

/// `fixed::Fastfood<16, 16, 128>`.
pub(crate) const GOLDEN_FIXED_FASTFOOD: Golden =
    Golden { record: 0xc900_1fd3, biased: 0x3c95_04b5, unbiased: 0x3c84_df41 };

/// The expected results of a detector of 3 channels over `GOLDEN_QUASI`'s map for a golden stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GoldenDetector {
    /// The CRC-32 of its final saved state: it covers everything.
    pub(crate) record: u32,
    /// A hash of every verdict, in order.
    pub(crate) verdicts: u32,
    /// Number of alarms.
    pub(crate) alarms: u32,
    /// Number of them that were amended.
    pub(crate) amended: u32,
    /// Row, first row of the change, and channel of the first alarm.
    pub(crate) first: [u32; 3],
    /// Bits of its score.
    pub(crate) score: u32,
}

/// The detector's stream: number of learning rows, row at which the second golden stream begins,
/// and number of rows.
pub(crate) const GOLDEN_ROWS: [u32; 3] = [1024, 1400, 1800];

/// Rows of the cycle of the detector that has one.
pub(crate) const GOLDEN_PERIOD: f32 = 100.5;

/// Row `index` of the detector's stream.
pub(crate) fn golden_row<X: GoldenNumber, const D: usize>(index: u32) -> [X; D] {
    let mut row = golden_sample(index, false);
    if index >= GOLDEN_ROWS[1] {
        row[1] = X::of(golden_value(index, 1, true) + 0.5);
    }
    row
}

/// Adds one verdict, as a number, to the hash.
pub(crate) fn golden_mixture(before: u32, verdict: u32) -> u32 {
    before.rotate_left(5).wrapping_mul(2_654_435_761) ^ verdict
}

/// The detector with all legs.
pub(crate) const GOLDEN_DETECTOR: GoldenDetector = GoldenDetector {
    record: 0x33f2_325f,
    verdicts: 0xd983_8f23,
    alarms: 0x0000_0001,
    amended: 0x0000_0001,
    first: [
        0x0000_057b,
        0x0000_056e,
        0x0000_0001,
    ],
    score: 0x3fed_ac41,
};

/// The detector with all legs and a cycle.
pub(crate) const GOLDEN_DETECTOR_CYCLIC: GoldenDetector = GoldenDetector {
    record: 0x45af_9a06,
    verdicts: 0x6200_e67b,
    alarms: 0x0000_0001,
    amended: 0x0000_0001,
    first: [
        0x0000_057b,
        0x0000_0579,
        0x0000_0001,
    ],
    score: 0x3fd3_3e4e,
};

/// The same in integers, over `GOLDEN_FIXED_FOURIER`'s map.
pub(crate) const GOLDEN_DETECTOR_FIXED: GoldenDetector = GoldenDetector {
    record: 0x87e0_a93a,
    verdicts: 0x7da3_18a9,
    alarms: 0x0000_0001,
    amended: 0x0000_0001,
    first: [
        0x0000_057b,
        0x0000_056e,
        0x0000_0001,
    ],
    score: 0x3fed_e400,
};

/// The same in integers, with a cycle.
pub(crate) const GOLDEN_DETECTOR_FIXED_CYCLIC: GoldenDetector = GoldenDetector {
    record: 0xc61b_d9fc,
    verdicts: 0x2db4_c5e4,
    alarms: 0x0000_0001,
    amended: 0x0000_0001,
    first: [
        0x0000_057b,
        0x0000_0579,
        0x0000_0001,
    ],
    score: 0x3fd3_1480,
};
