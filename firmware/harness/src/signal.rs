//! The signals at the emulated sensors.

/// Reproducible random numbers (xorshift64*).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The sequence of this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// The next number.
    pub const fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number from 0 to below `limit`, which is above 0.
    pub const fn below(&mut self, limit: u64) -> u64 {
        (self.next() >> 16) % limit
    }

    /// A byte.
    pub fn byte(&mut self) -> u8 {
        self.next().to_be_bytes()[0]
    }

    /// Uniform between 0 and 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    pub fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Normal with mean 0 and deviation 1 (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// The physical values at the sensors of the board at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// The magnetic field along X, Y, Z.
    pub nanotesla: [u32; 3],
    /// The temperature, in thousandths of a degree Celsius.
    pub millicelsius: i32,
}

impl Reading {
    /// The values that the firmware reads: microtesla rounded to the sensor's counts, degrees
    /// Celsius in steps of ½.
    #[must_use]
    pub fn values(&self) -> [f32; 4] {
        let [x, y, z] = self.nanotesla.map(|field| f64::from(field) / 100_000.0);
        let steps = (f64::from(self.millicelsius) / 500.0).floor();
        let counted = |gauss: f64, gain: f64| (gauss * gain).floor() * 100.0 / gain;
        let values = [counted(x, 1100.0), counted(y, 1100.0), counted(z, 980.0), steps / 2.0];
        #[expect(clippy::cast_possible_truncation, reason = "single precision is what it computes")]
        values.map(|value| value as f32)
    }
}

/// A magnetic field and a temperature with noise, and optionally a drift.
#[derive(Debug, Clone)]
pub struct Scene {
    random: Random,
    /// Added to the mean of each axis, in nanotesla.
    pub shift: [f64; 3],
    /// The noise of each axis is multiplied by this.
    pub spread: [f64; 3],
    /// This axis repeats its value.
    pub stuck: Option<usize>,
    last: [u32; 3],
}

/// Means of the field along X, Y, Z in nanotesla: positive, since QEMU accepts no others.
const MEAN: [f64; 3] = [40_000.0, 60_000.0, 80_000.0];

/// The mean values at the sensors: no single one looks unusual.
pub const USUAL: Reading = Reading { nanotesla: [40_000, 60_000, 80_000], millicelsius: 21_000 };

/// Deviation of the healthy field, in nanotesla: some 40 counts of the sensor.
pub const DEVIATION: f64 = 4_000.0;

impl Scene {
    /// A healthy scene.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            shift: [0.0; 3],
            spread: [1.0; 3],
            stuck: None,
            last: [0; 3],
        }
    }

    /// The next values at the sensors.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "held to the sensors' range first"
    )]
    pub fn reading(&mut self) -> Reading {
        let axes = MEAN.iter().zip(self.shift).zip(self.spread);
        for (axis, (value, ((mean, shift), spread))) in self.last.iter_mut().zip(axes).enumerate() {
            let nanotesla = mean + shift + spread * DEVIATION * self.random.normal();
            if self.stuck != Some(axis) {
                *value = nanotesla.clamp(0.0, 120_000.0) as u32;
            }
        }
        let celsius = 21.0 + self.random.normal();
        let millicelsius = (1000.0 * celsius.clamp(-40.0, 120.0)) as i32;
        Reading { nanotesla: self.last, millicelsius }
    }
}
