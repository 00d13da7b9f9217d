//! A stand-in for the core's detector until that exists: the app runs end to end with it.
//!
//! The first samples give each channel's scale, the next ones a reference embedding; a
//! forgetting embedding is compared with it, and the largest MMD² seen in the second half of
//! learning, doubled, is the threshold.

use fastmmd::{Embedding, Error, Fourier, mmd};

use crate::CHECKSUM;
use crate::bytes::checked;
use crate::engine::{Alarm, ChangeKind, Engine, EngineError, NO_CHANNEL, Outcome, Phase};

const L: usize = 64;
const WINDOW: u32 = 64;
const KEEP: f32 = 1.0 - 1.0 / 64.0;
const SCALING: u32 = 64;
const LEARNING: u32 = 1024;
const CALIBRATING_FROM: u32 = SCALING + LEARNING / 2;
const LEARNED: u32 = SCALING + LEARNING;
const PART: usize = Embedding::<L>::SAVED_BYTES;
const TAIL: usize = 4 * 4 + 4;

/// Fixed reference against a forgetting window, with a threshold from the learning maximum.
#[derive(Debug, Clone)]
pub struct ThresholdEngine<'m, const C: usize> {
    map: &'m Fourier<C, L>,
    sums: [[f32; 2]; C],
    reference: Embedding<L>,
    window: Embedding<L>,
    count: u32,
    statistic: f32,
    threshold: f32,
    alarm_at: u32,
}

impl<'m, const C: usize> ThresholdEngine<'m, C> {
    /// An engine that begins to learn.
    #[must_use]
    pub fn new(map: &'m Fourier<C, L>) -> Self {
        Self {
            map,
            sums: [[0.0; 2]; C],
            reference: Embedding::new(map),
            window: Embedding::new(map),
            count: 0,
            statistic: 0.0,
            threshold: 0.0,
            alarm_at: 0,
        }
    }

    /// The sample in units of twice its channels' deviations.
    fn scaled(&self, sample: &[f32; C]) -> [f32; C] {
        let mut scaled = *sample;
        let count = 64.0;
        for (value, [sum, squares]) in scaled.iter_mut().zip(self.sums) {
            let mean = sum / count;
            let variance = (squares / count - mean * mean).max(1e-6);
            // One step of Newton's from above is near enough for a scale.
            let mut deviation = variance.max(1.0);
            for _ in 0..12 {
                deviation = 0.5 * (deviation + variance / deviation);
            }
            *value = (*value - mean) / (2.0 * deviation);
        }
        scaled
    }

    fn scale(&mut self, sample: &[f32; C]) -> Result<(), EngineError> {
        if !sample.iter().all(|value| value.is_finite()) {
            return Err(EngineError::NotFinite);
        }
        for ([sum, squares], value) in self.sums.iter_mut().zip(sample) {
            *sum += value;
            *squares += value * value;
        }
        Ok(())
    }
}

fn engine_error(error: Error) -> EngineError {
    match error {
        Error::NonFinite(_) => EngineError::NotFinite,
        Error::PhaseTooLarge => EngineError::OutOfRange,
        _ => EngineError::Refused,
    }
}

impl<const C: usize> Engine<C> for ThresholdEngine<'_, C> {
    const STATE_BYTES: usize = 2 * PART + 8 * C + TAIL;

    fn push(&mut self, sample: &[f32; C]) -> Result<Outcome, EngineError> {
        if self.count < SCALING {
            self.scale(sample)?;
            self.count += 1;
            return Ok(Outcome::Quiet);
        }
        let scaled = self.scaled(sample);
        if self.count < LEARNED {
            self.reference.add(self.map, &scaled).map_err(engine_error)?;
        }
        self.window.forget(KEEP).map_err(engine_error)?;
        self.window.add(self.map, &scaled).map_err(engine_error)?;
        self.count = self.count.saturating_add(1);
        self.statistic =
            mmd::squared_biased(&self.reference, &self.window).map_err(engine_error)?;
        if self.count <= LEARNED {
            if self.count > CALIBRATING_FROM {
                self.threshold = self.threshold.max(2.0 * self.statistic);
            }
            let done = self.count == LEARNED;
            return Ok(if done { Outcome::Learned } else { Outcome::Quiet });
        }
        if self.statistic > self.threshold && self.alarm_at == 0 {
            self.alarm_at = self.count;
            if let Some(alarm) = self.alarm() {
                return Ok(Outcome::Drift(alarm));
            }
        }
        if self.statistic < 0.5 * self.threshold {
            self.alarm_at = 0;
        }
        Ok(Outcome::Quiet)
    }

    fn phase(&self) -> Phase {
        let permille = |part: u32, whole: u32| u16::try_from(part * 1000 / whole).unwrap_or(1000);
        if self.count < SCALING {
            Phase::Scaling { permille: permille(self.count, SCALING) }
        } else if self.count < LEARNED {
            Phase::Learning { permille: permille(self.count - SCALING, LEARNING) }
        } else if self.alarm_at == 0 {
            Phase::Monitoring
        } else {
            Phase::Drift
        }
    }

    fn count(&self) -> u32 {
        self.count
    }

    fn statistic(&self) -> f32 {
        self.statistic
    }

    fn threshold(&self) -> f32 {
        self.threshold
    }

    fn alarm(&self) -> Option<Alarm> {
        (self.alarm_at > 0).then_some(Alarm {
            sample: self.alarm_at,
            since: self.alarm_at.saturating_sub(WINDOW),
            scale: WINDOW,
            score: self.statistic,
            threshold: self.threshold,
            channel: NO_CHANNEL,
            kind: ChangeKind::Unknown,
        })
    }

    fn relearn(&mut self) {
        // In place: a new engine on the stack would be as large again.
        self.sums = [[0.0; 2]; C];
        self.reference.reset();
        self.window.reset();
        self.count = 0;
        self.statistic = 0.0;
        self.threshold = 0.0;
        self.alarm_at = 0;
    }

    fn save(&self, out: &mut [u8]) -> Result<usize, EngineError> {
        let out = out.get_mut(..Self::STATE_BYTES).ok_or(EngineError::NoRoom)?;
        let no_room = |_| EngineError::NoRoom;
        self.reference.save(self.map, out).map_err(no_room)?;
        let rest = out.get_mut(PART..).ok_or(EngineError::NoRoom)?;
        self.window.save(self.map, rest).map_err(no_room)?;
        let rest = rest.get_mut(PART..).ok_or(EngineError::NoRoom)?;
        let tail = [
            self.count.to_le_bytes(),
            self.statistic.to_le_bytes(),
            self.threshold.to_le_bytes(),
            self.alarm_at.to_le_bytes(),
        ];
        let sums = self.sums.iter().flatten().map(|value| value.to_le_bytes());
        for (byte, new) in rest.iter_mut().zip(sums.chain(tail).flatten()) {
            *byte = new;
        }
        let (content, checksum) = out.split_last_chunk_mut().ok_or(EngineError::NoRoom)?;
        *checksum = CHECKSUM.checksum(content).to_le_bytes();
        Ok(Self::STATE_BYTES)
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), EngineError> {
        let unreadable = EngineError::Unreadable;
        if bytes.len() != Self::STATE_BYTES {
            return Err(unreadable);
        }
        let content = checked(bytes).map_err(|_| unreadable)?;
        let (reference, rest) = content.split_at_checked(PART).ok_or(unreadable)?;
        let (window, rest) = rest.split_at_checked(PART).ok_or(unreadable)?;
        let (words, _) = rest.as_chunks::<4>();
        let (sums, tail) = words.split_at_checked(2 * C).ok_or(unreadable)?;
        let [count, statistic, threshold, alarm_at] = *tail.first_chunk().ok_or(unreadable)?;
        self.reference.restore(self.map, reference).map_err(|_| unreadable)?;
        self.window.restore(self.map, window).map_err(|_| unreadable)?;
        for (value, new) in self.sums.iter_mut().flatten().zip(sums) {
            *value = f32::from_le_bytes(*new);
        }
        self.count = u32::from_le_bytes(count);
        self.statistic = f32::from_le_bytes(statistic);
        self.threshold = f32::from_le_bytes(threshold);
        self.alarm_at = u32::from_le_bytes(alarm_at);
        Ok(())
    }
}
