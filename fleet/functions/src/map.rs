//! The map of a fleet: random Fourier features, and the scale of each channel before them.
//!
//! It is written as words, so that it can stand in a query, in a file and in a mail:
//! `kernel=gaussian bandwidth=1 sampling=additive seed=1 frequencies=64 level=20.5,3 deviation=2,0.25`.
//! Words that are left out have these defaults; without levels and deviations, values are embedded as
//! they are.

use std::cell::RefCell;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use fastmmd::dynamic::Map;
use fastmmd::{FeatureMap, Kernel, MapKind, Profile, Recipe, Sampling};

use crate::error::Cause;

/// Frequencies of a map that does not say how many.
pub const FREQUENCIES: usize = 64;

/// Most numbers of a map, channels times frequencies: 64 MB. The bytes of a state only grow with their
/// sum; so a small state that somebody made up cannot demand all memory.
const MOST_DRAWN: usize = 1 << 24;

/// Whether a map of frequency vectors is small enough to be drawn.
pub(crate) fn is_drawn(channels: usize, frequencies: usize) -> bool {
    channels.saturating_mul(frequencies) <= MOST_DRAWN
}

/// How a channel is standardised before it is embedded: (x − level) / deviation, in `f64`, then
/// rounded to `f32`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// What is subtracted.
    pub level: f64,
    /// What the rest is divided by; above 0.
    pub deviation: f64,
}

impl Scale {
    /// Leaves values as they are.
    pub const NONE: Self = Self { level: 0.0, deviation: 1.0 };

    /// The standardised value.
    #[inline]
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "rounding to f32 is what is asked for")]
    pub fn apply(self, value: f64) -> f32 {
        ((value - self.level) / self.deviation) as f32
    }
}

/// A map, drawn, and the scale of its channels.
#[derive(Debug, PartialEq)]
pub struct FleetMap {
    map: Map,
    scales: Vec<Scale>,
}

impl FleetMap {
    /// A map with the scale of each of its channels.
    ///
    /// # Errors
    /// [`Cause::BadMap`] if there is not one scale for each channel, or one is not finite or not
    /// above 0.
    pub fn new(map: Map, scales: Vec<Scale>) -> Result<Self, Cause> {
        let inputs = map.recipe().inputs as usize;
        if scales.len() != inputs {
            let count = scales.len();
            return Err(Cause::BadMap(format!("{count} scales for {inputs} channels")));
        }
        let fits = |scale: &Scale| {
            scale.level.is_finite() && scale.deviation.is_finite() && scale.deviation > 0.0
        };
        match scales.iter().find(|scale| !fits(scale)) {
            Some(Scale { level, deviation }) => {
                Err(Cause::BadMap(format!("level {level}, deviation {deviation}")))
            }
            None => Ok(Self { map, scales }),
        }
    }

    /// The map of a text, for this many channels. The last one that a thread asked for is kept.
    ///
    /// # Errors
    /// [`Cause::BadMap`].
    pub fn of(text: &str, channels: usize) -> Result<Arc<Self>, Cause> {
        thread_local! {
            static LAST: RefCell<Option<(String, Arc<FleetMap>)>> = const { RefCell::new(None) };
        }
        LAST.with_borrow_mut(|last| {
            if let Some((known, map)) = last
                && known == text
                && map.scales.len() == channels
            {
                return Ok(Arc::clone(map));
            }
            let map = Arc::new(text.parse::<Words>()?.draw(channels)?);
            *last = Some((text.to_owned(), Arc::clone(&map)));
            Ok(map)
        })
    }

    /// The map of features.
    #[must_use]
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// The scale of each channel.
    #[must_use]
    pub fn scales(&self) -> &[Scale] {
        &self.scales
    }

    /// Its channels.
    #[must_use]
    pub fn channels(&self) -> usize {
        self.scales.len()
    }

    /// Whether states of both can be compared: the same recipe, and so the same frequencies, and the same
    /// scales.
    #[must_use]
    pub fn is_as(&self, other: &Self) -> bool {
        // Not their fingerprints: of 2³² of those, two maps may have the same.
        self.map.recipe() == other.map.recipe() && self.scales == other.scales
    }

    /// An error that names both.
    pub(crate) fn unlike(&self, other: &Self) -> Cause {
        Cause::OtherMap { expected: self.to_string(), found: other.to_string() }
    }
}

impl fmt::Display for FleetMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Recipe { kind, kernel, sampling, seed, block, frequencies, .. } = self.map.recipe();
        if *kind == MapKind::Fastfood {
            write!(f, "kind=fastfood block={block} ")?;
        }
        write!(f, "kernel={} bandwidth={} ", kernel.profile().name(), kernel.bandwidth())?;
        if (kernel.amplitude() - 1.0).abs() > 0.0 {
            write!(f, "amplitude={} ", kernel.amplitude())?;
        }
        write!(f, "sampling={} seed={seed} frequencies={frequencies}", sampling.name())?;
        if self.scales.iter().all(|scale| *scale == Scale::NONE) {
            return Ok(());
        }
        let list = |of: fn(&Scale) -> f64| {
            self.scales.iter().map(|scale| of(scale).to_string()).collect::<Vec<_>>().join(",")
        };
        write!(f, " level={} deviation={}", list(|s| s.level), list(|s| s.deviation))
    }
}

/// The text of a map, read but not drawn: the number of channels is that of the columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Words {
    block: Option<usize>,
    kernel: Kernel,
    sampling: Sampling,
    seed: u64,
    frequencies: usize,
    scales: Option<Vec<Scale>>,
}

impl FromStr for Words {
    type Err = Cause;

    fn from_str(text: &str) -> Result<Self, Cause> {
        let (mut profile, mut bandwidth, mut amplitude) = (Profile::Gaussian, 1.0_f32, 1.0_f32);
        let (mut fastfood, mut block) = (false, None);
        let (mut sampling, mut seed, mut frequencies) = (None, 1, FREQUENCIES);
        let (mut levels, mut deviations) = (None, None);
        for word in text.split_whitespace() {
            let bad = || Cause::BadMap(word.to_owned());
            let (key, value) = word.split_once('=').ok_or_else(bad)?;
            match key {
                "kind" => {
                    fastfood = match MapKind::from_name(value) {
                        Some(MapKind::Fourier) => false,
                        Some(MapKind::Fastfood) => true,
                        _ => return Err(bad()),
                    }
                }
                "block" => block = Some(value.parse().map_err(|_| bad())?),
                "kernel" => profile = Profile::from_name(value).ok_or_else(bad)?,
                "bandwidth" => bandwidth = value.parse().map_err(|_| bad())?,
                "amplitude" => amplitude = value.parse().map_err(|_| bad())?,
                "sampling" => sampling = Some(Sampling::from_name(value).ok_or_else(bad)?),
                "seed" => seed = value.parse().map_err(|_| bad())?,
                "frequencies" => frequencies = value.parse().map_err(|_| bad())?,
                "level" => levels = Some(numbers(value).ok_or_else(bad)?),
                "deviation" => deviations = Some(numbers(value).ok_or_else(bad)?),
                _ => return Err(bad()),
            }
        }
        let refused = |error: fastmmd::Error| Cause::BadMap(error.to_string());
        let kernel = Kernel::new(profile, bandwidth).map_err(refused)?;
        let kernel = kernel.with_amplitude(amplitude).map_err(refused)?;
        let scales = match (levels, deviations) {
            (None, None) => None,
            (Some(levels), Some(deviations)) if levels.len() == deviations.len() => {
                let pairs = levels.into_iter().zip(deviations);
                Some(pairs.map(|(level, deviation)| Scale { level, deviation }).collect())
            }
            _ => {
                let why = "as many levels as deviations are needed";
                return Err(Cause::BadMap(why.to_owned()));
            }
        };
        let additive = !fastfood && Sampling::Additive.resolve(&kernel, 1).is_ok();
        let default = if additive { Sampling::Additive } else { Sampling::Auto };
        let sampling = sampling.unwrap_or(default);
        if !fastfood && block.is_some() {
            return Err(Cause::BadMap("block= is of kind=fastfood".to_owned()));
        }
        let block = fastfood.then(|| block.unwrap_or(0));
        Ok(Self { block, kernel, sampling, seed, frequencies, scales })
    }
}

impl Words {
    /// Draws the map for this many channels.
    ///
    /// # Errors
    /// [`Cause::BadMap`] if the core refuses its shape, or there are other scales than channels.
    pub fn draw(&self, channels: usize) -> Result<FleetMap, Cause> {
        let Self { kernel, sampling, seed, frequencies, .. } = *self;
        if self.block.is_none() && !is_drawn(channels, frequencies) {
            let what = format!("{channels} channels times {frequencies} frequencies are too many");
            return Err(Cause::BadMap(what));
        }
        let map = match self.block {
            None => Map::fourier(kernel, sampling, seed, channels, frequencies),
            Some(block) => {
                let block = if block == 0 { Map::least_block(channels) } else { block };
                Map::fastfood(kernel, seed, channels, block, frequencies)
            }
        };
        let map = map.map_err(|error| Cause::BadMap(error.to_string()))?;
        let scales = self.scales.clone().unwrap_or_else(|| vec![Scale::NONE; channels]);
        FleetMap::new(map, scales)
    }

    /// How many frequencies it is to have.
    #[must_use]
    pub fn frequencies(&self) -> usize {
        self.frequencies
    }

    /// Whether levels and deviations are among the words.
    #[must_use]
    pub fn has_scales(&self) -> bool {
        self.scales.is_some()
    }

    /// The same words with other scales.
    #[must_use]
    pub fn with_scales(self, scales: Vec<Scale>) -> Self {
        Self { scales: Some(scales), ..self }
    }
}

fn numbers(list: &str) -> Option<Vec<f64>> {
    list.split(',').map(|number| number.parse().ok()).collect()
}
