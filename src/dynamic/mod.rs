//! Maps, embeddings and detectors of shapes known only at run time. Needs an allocator: for hosts,
//! not for microcontrollers.
//!
//! A [`Map`] is a [`FeatureMap`](crate::FeatureMap) like the ones with their shape in the type. So
//! [`Embedding`](crate::Embedding), [`TwoSample`](crate::TwoSample) and the others work with it
//! unchanged, and [`Detector`] is the crate's own. Results and saved states are the same bit for
//! bit: a state saved on a microcontroller can be restored here, and the other way round.
//!
//! ```
//! use fastmmd::dynamic::{Map, detector};
//! use fastmmd::{Config, Kernel, Sampling, TwoSample};
//!
//! let channels = 3;
//! let map = Map::fourier(Kernel::GAUSSIAN, Sampling::Auto, 1, channels, 64)?;
//! let mut test = TwoSample::new(&map);
//! test.push_p(&[0.1, 0.2, 0.3])?;
//!
//! let map = Map::fourier(Kernel::GAUSSIAN, Sampling::Additive, 1, channels, 32)?;
//! let mut detector = detector(&map, Config::rows(4000.0))?;
//! detector.push(&[0.1, 0.2, 0.3])?;
//! # Ok::<(), fastmmd::Error>(())
//! ```

mod lengths;
mod map;

pub use lengths::{Frequencies, Inputs};
pub use map::{MOST, Map};

use crate::Config;
use crate::error::Error;
use crate::features::Recipe;
use crate::features::sincos::{Polynomial, SinCos};
use crate::monitor::{All, LEARNING_ROWS, Legs};

/// A detector of any shape.
pub type Detector<'m, L = All, B = Polynomial> = crate::Detector<'m, Map<B>, L>;

/// A new detector, with a channel for each input of the map.
///
/// # Errors
/// What [`Config::check`] refuses.
pub fn detector<L: Legs, B: SinCos>(
    map: &Map<B>,
    config: Config<L>,
) -> Result<Detector<'_, L, B>, Error> {
    Detector::sized(map, config)
}

/// Restores a saved detector with the legs `L`: see
/// [`SavedLegs`](crate::monitor::SavedLegs::restore). The map must be that of its [`Recipe`]: see
/// [`saved_map`].
///
/// # Errors
/// Those of [`Detector::restore`](crate::Detector::restore).
pub fn restored<'m, L: Legs, B: SinCos>(
    map: &'m Map<B>,
    bytes: &[u8],
) -> Result<Detector<'m, L, B>, Error> {
    // These settings only have to be valid: the saved ones replace them.
    let config = Config { learning_rows: *LEARNING_ROWS.end(), ..Config::rows(1e4) };
    let mut detector = detector(map, config.with_legs::<L>())?;
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
