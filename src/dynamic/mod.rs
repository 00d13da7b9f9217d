//! Maps, embeddings and detectors of shapes known only at run time. Needs an allocator: for hosts,
//! not for microcontrollers.
//!
//! A [`Map`] is a [`FeatureMap`] like the ones with their shape in the type. So
//! [`Embedding`](crate::Embedding), [`TwoSample`](crate::TwoSample) and the others work with it
//! unchanged, and [`Detector`] is the crate's own. Results and saved states are the same bit for
//! bit: a state saved on a microcontroller can be restored here, and the other way round.
//!
//! ```
//! use fastmmd::condition::ViewKind;
//! use fastmmd::dynamic::{Config, Map, detector};
//! use fastmmd::{Kernel, Sampling, TwoSample};
//!
//! let channels = 3;
//! let map = Map::fourier(Kernel::GAUSSIAN, Sampling::Auto, 1, channels, 64)?;
//! let mut test = TwoSample::new(&map);
//! test.push_p(&[0.1, 0.2, 0.3])?;
//!
//! let config = Config::preset(ViewKind::Raw, 4000.0);
//! let mut detector = detector(&map, channels, ViewKind::Raw, config)?;
//! detector.push(&[0.1, 0.2, 0.3])?;
//! # Ok::<(), fastmmd::Error>(())
//! ```

mod lengths;
mod map;
mod view;

pub use lengths::{Channels, Frequencies, Inputs, Windows};
pub use map::{MOST, Map};
pub use view::View;

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::condition::{Innovation, Raw, ViewKind};
use crate::error::{Error, MOST_ROWS};
use crate::features::sincos::{Polynomial, SinCos};
use crate::features::{FeatureMap, Recipe};
use crate::monitor::{Calibration, SavedShape};
use crate::shape::{Dims, Length};

/// A detector of any shape.
pub type Detector<'m, B = Polynomial> = crate::Detector<'m, Map<B>, View, Windows>;

/// The settings of a [`Detector`]: any number of windows.
pub type Config = crate::Config<View, Windows>;

impl Config {
    /// The settings of a detector with its shape in the type, for one of any shape.
    #[must_use]
    pub fn of<V, W: Length>(config: &crate::Config<V, W>) -> Self {
        config.changed::<View, Windows>(Box::from(config.lengths()))
    }

    /// The default settings for a view: [`Config::rows`](crate::Config::rows) or
    /// [`Config::innovation`](crate::Config::innovation). `mean_time` is the stated mean time
    /// between false alarms, in rows.
    #[must_use]
    pub fn preset(view: ViewKind, mean_time: f32) -> Self {
        match view {
            ViewKind::Raw => Self::of(&crate::Config::<Raw<1>>::rows(mean_time)),
            ViewKind::Innovation => {
                Self::of(&crate::Config::<Innovation<1>, _>::innovation(mean_time))
            }
        }
    }

    /// The same settings with other window lengths, in rows.
    #[must_use]
    pub fn with_lengths(&self, windows: Vec<u32>) -> Self {
        self.changed::<View, Windows>(windows.into_boxed_slice())
    }
}

/// A new detector. The map has as many inputs as there are channels, or, for vectors of several
/// rows, a multiple of that.
///
/// # Errors
/// [`Error::WrongShape`] for a map with another number of inputs, and those of
/// [`Config::check`](crate::Config::check).
pub fn detector<B: SinCos>(
    map: &Map<B>,
    channels: usize,
    view: ViewKind,
    config: Config,
) -> Result<Detector<'_, B>, Error> {
    let Dims { inputs, frequencies, .. } = map.dims();
    if channels == 0 || !inputs.is_multiple_of(channels) {
        return Err(Error::WrongShape);
    }
    let dims = Dims { channels, inputs, frequencies, windows: config.lengths().len() };
    Detector::sized(map, config, &dims, View::new(view, &dims))
}

/// A [`drift::Detector`](crate::drift::Detector) with a channel for each input of the map, which has
/// seen nothing.
///
/// # Errors
/// What [`Config::check`](crate::drift::Config::check) refuses.
pub fn drift<L: crate::drift::Legs, B: SinCos>(
    map: &Map<B>,
    config: crate::drift::Config<L>,
) -> Result<crate::drift::Detector<'_, Map<B>, L>, Error> {
    crate::drift::Detector::sized(map, config)
}

/// Restores a saved detector. The map must be that of its [`Recipe`]: see [`saved_map`].
///
/// # Errors
/// Those of [`Detector::restore`](crate::Detector::restore).
pub fn restored<'m, B: SinCos>(map: &'m Map<B>, bytes: &[u8]) -> Result<Detector<'m, B>, Error> {
    let shape = SavedShape::restore(bytes)?;
    // These settings only have to be valid and of the right shape: the saved ones replace them.
    let last = shape.windows.checked_add(2).filter(|_| shape.windows <= 1024);
    let windows: Vec<u32> = (2..last.ok_or(Error::WrongShape)?).collect();
    let preset = Config::preset(shape.view, 1e4).with_lengths(windows);
    let calibration = Calibration::Learned;
    let config = Config { learning_rows: MOST_ROWS, calibration, ..preset };
    let mut detector = detector(map, shape.channels as usize, shape.view, config)?;
    detector.restore(bytes)?;
    Ok(detector)
}

/// Draws the map of a saved state again.
///
/// # Errors
/// Those of [`Recipe::restore`] and [`Map::from_recipe`].
pub fn saved_map(bytes: &[u8]) -> Result<Map, Error> {
    Map::from_recipe(&Recipe::restore(bytes)?)
}
