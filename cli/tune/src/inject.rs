//! Changes to inject into a healthy log.

use fastmmd_reference::{real, single};

/// Size of a step, in deviations of the channel.
const STEP: f32 = 1.0;
/// Final height of a ramp, in deviations of the channel.
const RAMP: f32 = 2.0;
/// Factor by which the spread is multiplied or divided.
const SPREAD: f32 = 2.0;
/// Every so many rows, a reading is lost.
const DROPOUT: usize = 10;
/// A change of spread keeps the mean over this many rows on either side.
const NEAR: usize = 8;

/// A kind of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Injected {
    /// The level is off from one row to the next.
    Step,
    /// The level rises little by little.
    Ramp,
    /// More spread about the same mean.
    SpreadUp,
    /// Less spread about the same mean.
    SpreadDown,
    /// The reading does not move any more.
    Stuck,
    /// Some readings are lost.
    Dropouts,
}

impl Injected {
    /// Every kind, in the order in which they are tried.
    pub const ALL: [Self; 6] =
        [Self::Step, Self::Ramp, Self::SpreadUp, Self::SpreadDown, Self::Stuck, Self::Dropouts];

    /// In one or two words, for files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Ramp => "ramp",
            Self::SpreadUp => "spread up",
            Self::SpreadDown => "spread down",
            Self::Stuck => "stuck",
            Self::Dropouts => "dropouts",
        }
    }

    /// How large it is: in deviations, or as a factor of the spread.
    #[must_use]
    pub fn size(self) -> Option<f32> {
        match self {
            Self::Step => Some(STEP),
            Self::Ramp => Some(RAMP),
            Self::SpreadUp => Some(SPREAD),
            Self::SpreadDown => Some(1.0 / SPREAD),
            Self::Stuck | Self::Dropouts => None,
        }
    }

    /// In words.
    #[must_use]
    pub fn about(self) -> String {
        match self {
            Self::Step => format!("step of {STEP} deviation"),
            Self::Ramp => format!("ramp to {RAMP} deviations"),
            Self::SpreadUp => format!("{SPREAD} times the spread"),
            Self::SpreadDown => format!("1/{SPREAD} of the spread"),
            Self::Stuck => "stuck".to_owned(),
            Self::Dropouts => format!("1 in {DROPOUT} readings lost"),
        }
    }
}

/// A change of a channel from a row on.
#[derive(Debug, Clone, Copy)]
pub struct Injection {
    /// What is changed.
    pub kind: Injected,
    /// The channel that is changed.
    pub channel: usize,
    /// Deviation of the channel.
    pub deviation: f32,
    /// The first row that is changed.
    pub from: usize,
    /// Rows after which a ramp is complete.
    pub within: usize,
    /// What a lost reading is: missing, or 0 where none may be missing.
    pub lost: f32,
}

impl Injection {
    /// The reading of a row, changed; a missing one stays missing, except that what is stuck reads.
    #[must_use]
    pub fn reading(&self, rows: &[Vec<f32>], at: usize) -> f32 {
        let reading = |at: usize| {
            rows.get(at).and_then(|row| row.get(self.channel)).copied().unwrap_or(f32::NAN)
        };
        let spread = |factor: f32| {
            let near = at.saturating_sub(NEAR)..=at + NEAR;
            let near: Vec<f32> = near.map(reading).filter(|x| x.is_finite()).collect();
            let level = single(near.iter().map(|x| f64::from(*x)).sum::<f64>() / real(near.len()));
            level + factor * (reading(at) - level)
        };
        match self.kind {
            Injected::Step => reading(at) + STEP * self.deviation,
            Injected::Ramp => {
                let part = real(at - self.from) / real(self.within.max(1));
                reading(at) + RAMP * single(part) * self.deviation
            }
            Injected::SpreadUp => spread(SPREAD),
            Injected::SpreadDown => spread(1.0 / SPREAD),
            Injected::Stuck => {
                let before = (0..=self.from).rev().map(reading);
                before.take(1 + NEAR).find(|x| x.is_finite()).unwrap_or(f32::NAN)
            }
            Injected::Dropouts => {
                let lost = (at - self.from).is_multiple_of(DROPOUT);
                if lost { self.lost } else { reading(at) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_what_they_say() {
        let rows: Vec<Vec<f32>> = (0..100_u8).map(|row| vec![f32::from(row % 2), 5.0]).collect();
        let of = |kind| {
            let it = Injection {
                kind,
                channel: 0,
                deviation: 0.5,
                from: 40,
                within: 20,
                lost: f32::NAN,
            };
            [40, 50, 51].map(|at| it.reading(&rows, at))
        };
        let near = |kind, wanted: [f32; 3]| {
            let off = of(kind).iter().zip(wanted).map(|(x, y)| (x - y).abs()).fold(0.0, f32::max);
            assert!(off < 1e-6, "{kind:?} {:?}", of(kind));
        };
        near(Injected::Step, [0.5, 0.5, 1.5]);
        near(Injected::Ramp, [0.0, 0.5, 1.55]);
        near(Injected::Stuck, [0.0; 3]);
        let [first, tenth, next] = of(Injected::Dropouts);
        assert!(first.is_nan() && tenth.is_nan() && next.to_bits() == 1_f32.to_bits());
        for (kind, wide) in [(Injected::SpreadUp, 2.0), (Injected::SpreadDown, 0.5)] {
            let [_, low, high] = of(kind);
            assert!((high - low - wide).abs() < 0.06, "{kind:?} {low} {high}");
        }
    }
}
