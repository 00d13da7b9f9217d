//! A made-up fleet, from a seed: what `generate` writes, and what tests know the truth of.
//!
//! Every device has three channels of AR(1) noise, the first two correlated, at a level and with a
//! spread of its own that differ a little from device to device, and a little more from site to site.
//! An odd device differs in one of four ways. A device with other firmware is noisier in its second
//! half.

/// What is odd about a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Odd {
    /// The first channel is one deviation too high.
    Level,
    /// The second channel scatters twice as much.
    Spread,
    /// The first two channels do not go together.
    Coupling,
    /// The third channel has two levels and nothing between them, with the same mean and deviation.
    Shape,
}

impl Odd {
    const ALL: [Self; 4] = [Self::Level, Self::Spread, Self::Coupling, Self::Shape];
}

/// The size of a fleet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fleet {
    /// Devices, at sites of a hundred or so.
    pub devices: u32,
    /// Rows of each, the second half in week 2.
    pub rows: u32,
    /// Odd devices among them.
    pub odd: u32,
    /// Devices in a thousand that have other firmware in week 2.
    pub moved: u32,
    /// The seed of it all.
    pub seed: u64,
}

/// One device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Made {
    /// Its number.
    pub number: u32,
    /// The number of its site.
    pub site: u32,
    /// What is odd about it.
    pub odd: Option<Odd>,
    /// Whether it has other firmware in week 2.
    pub moved: bool,
}

/// How much of a row's noise is left in the next.
const MEMORY: f64 = 0.7;
/// Correlation of the first two channels.
const COUPLING: f64 = 0.8;

impl Fleet {
    /// A device of the fleet. Odd devices and those that move are spread evenly.
    #[must_use]
    pub fn device(&self, number: u32) -> Made {
        let every = self.devices.checked_div(self.odd).unwrap_or(0);
        let turn = number.checked_div(every).unwrap_or(0);
        // Not always at the same place in its turn, and so at many sites.
        let place = turn.wrapping_mul(7).checked_rem(every);
        let odd = (place.is_some() && number.checked_rem(every) == place && turn < self.odd)
            .then(|| Odd::ALL[turn as usize % Odd::ALL.len()]);
        let share = |count: u32| u64::from(count) * u64::from(self.moved) / 1000;
        Made {
            number,
            site: number % (self.devices / 100).max(1),
            odd,
            moved: share(number + 1) > share(number),
        }
    }

    /// The rows of a device.
    pub fn rows(&self, made: Made) -> impl Iterator<Item = [f32; 3]> + use<> {
        let mut site = Noise::new(self.seed, 1 << 40 | u64::from(made.site));
        let mut noise = Noise::new(self.seed, u64::from(made.number));
        // Levels and gains of a site and of a device.
        let mut level = [20.0, 5.0, 100.0];
        let mut gain = [2.0, 0.5, 10.0];
        for (level, gain) in level.iter_mut().zip(&mut gain) {
            *level += *gain * (0.05 * site.normal() + 0.05 * noise.normal());
            *gain *= (0.03 * noise.normal()).exp();
        }
        let mut last = [noise.normal(), noise.normal(), noise.normal()];
        let (half, rows) = (self.rows / 2, self.rows);
        (0..rows).map(move |row| {
            let keep = (1.0 - MEMORY * MEMORY).sqrt();
            last.iter_mut().for_each(|x| *x = MEMORY * *x + keep * noise.normal());
            let coupling = if made.odd == Some(Odd::Coupling) { 0.0 } else { COUPLING };
            let [a, b, c] = last;
            let mut row_values = [a, coupling * a + (1.0 - coupling * coupling).sqrt() * b, c];
            match made.odd {
                Some(Odd::Level) => row_values[0] += 1.0,
                Some(Odd::Spread) => row_values[1] *= 2.0,
                Some(Odd::Shape) => {
                    row_values[2] = 0.95_f64.copysign(c) + 0.312 * noise.normal();
                }
                Some(Odd::Coupling) | None => {}
            }
            if made.moved && row >= half {
                row_values.iter_mut().for_each(|x| *x *= 1.4);
            }
            let mut values = [0.0; 3];
            for (index, value) in values.iter_mut().enumerate() {
                #[expect(clippy::cast_possible_truncation, reason = "sensors give f32")]
                {
                    *value = (level[index] + gain[index] * row_values[index]) as f32;
                }
            }
            values
        })
    }
}

/// The generator `SplitMix64` (Steele, Lea and Flood 2014), for all that is made up here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    /// The next 64 bits. O(1).
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Above 0, at most 1. O(1).
    #[expect(clippy::cast_precision_loss, reason = "53 bits")]
    pub fn uniform(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }
}

/// Normal numbers from a seed and a stream, by the method of Box and Muller.
struct Noise {
    numbers: SplitMix64,
    spare: Option<f64>,
}

impl Noise {
    fn new(seed: u64, stream: u64) -> Self {
        let own = SplitMix64(seed).bits();
        let mut numbers = SplitMix64(own ^ stream.wrapping_mul(0xd134_2543_de82_ef95));
        numbers.bits();
        Self { numbers, spare: None }
    }

    fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let radius = (-2.0 * self.numbers.uniform().ln()).sqrt();
        let (sine, cosine) = (std::f64::consts::TAU * self.numbers.uniform()).sin_cos();
        self.spare = Some(radius * sine);
        radius * cosine
    }
}
