//! Detectors whose shape is known only when the program runs.
//!
//! The core has shapes as const generics: here every shape on offer is compiled, and one is
//! chosen. They are few, for each adds to the program. This is a package of its own so that it is
//! compiled once, however often the command around it changes.

pub mod pair;

use fastmmd::detector::{
    Config, Detector, Difference, Raw, SavedShape, Stage, Verdict, View, Warning,
};
use fastmmd::innovation::Innovation;
use fastmmd::{Error, Fourier, Kernel, MapKind, Recipe, Sampling};

/// Most channels.
pub const MOST_CHANNELS: usize = 16;
/// What there is, in one line.
pub const ON_OFFER: &str = "available: of up to 8 channels innovations with 16, 32 or 64 \
     frequencies and 3 scales, raw values with 32 or 64 and 3 or with 64 and 4, vectors of 2 or 4, of \
     up to 4 channels also 3 or 8, lags with 64 and 3; of up to 16 channels innovations with 16 and 3, raw values with 64 and 4";

/// What the core has in its types.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// Channels C.
    pub channels: usize,
    /// Rows in a delay vector, D/C.
    pub lags: usize,
    /// Frequencies L.
    pub features: usize,
    /// Windows S.
    pub windows: usize,
    /// Whether the view is that of innovations.
    pub innovation: bool,
    /// The kernel of the map.
    pub kernel: Kernel,
    /// How its frequencies are spread.
    pub sampling: Sampling,
    /// What they are drawn from.
    pub seed: u64,
}

impl Shape {
    /// The shape of a saved detector.
    ///
    /// # Errors
    /// As [`SavedShape::restore`], and [`Error::WrongShape`] for a map that cannot be drawn again.
    pub fn of_saved(bytes: &[u8]) -> Result<Self, Error> {
        let recipe = Recipe::restore(bytes)?;
        let saved = SavedShape::restore(bytes)?;
        if recipe.kind != MapKind::Fourier || saved.channels == 0 {
            return Err(Error::WrongShape);
        }
        Ok(Self {
            channels: saved.channels as usize,
            lags: (recipe.dims / saved.channels) as usize,
            features: recipe.features as usize,
            windows: saved.windows as usize,
            innovation: saved.innovation,
            kernel: recipe.kernel,
            sampling: recipe.sampling,
            seed: recipe.seed,
        })
    }

    /// What the view is called.
    #[must_use]
    pub fn view(&self) -> &'static str {
        match (self.innovation, self.lags) {
            (true, _) => "innovation",
            (false, 1) => "raw",
            (false, _) => "delay",
        }
    }

    /// What is looked at.
    #[must_use]
    pub fn seen(&self) -> String {
        match (self.innovation, self.lags) {
            (true, _) => "innovations".to_owned(),
            (false, 1) => "raw values".to_owned(),
            (false, lags) => format!("vectors of {lags} rows"),
        }
    }

    /// Whether there is a detector of this shape.
    ///
    /// # Errors
    /// A line that says so, and what there is instead.
    pub fn check(&self) -> Result<(), String> {
        self.constructor().map(drop)
    }

    /// Says that there is no detector of this shape, and what there is instead.
    fn refusal(&self) -> String {
        format!(
            "no detector for {} of {} channels with {} frequencies and {} scales; {ON_OFFER}",
            self.seen(),
            self.channels,
            self.features,
            self.windows,
        )
    }
}

/// What the core has in its settings, with any number of scales.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// All but the scales.
    pub config: Config<0>,
    /// The scales.
    pub scales: Vec<u32>,
}

impl Settings {
    /// The settings of a detector.
    #[must_use]
    pub fn of<const S: usize>(config: &Config<S>) -> Self {
        Self { config: config.with_scales([]), scales: config.scales.to_vec() }
    }

    /// The settings for S scales, if there are as many.
    #[must_use]
    pub fn with_windows<const S: usize>(&self) -> Option<Config<S>> {
        Some(self.config.with_scales(<[u32; S]>::try_from(self.scales.as_slice()).ok()?))
    }

    /// What the promise cannot be trusted for: as [`Config::warning`], that which asks for more.
    #[must_use]
    pub fn warning(&self) -> Option<Warning> {
        let longest = self.scales.iter().copied().max().unwrap_or(0);
        let config = self.config.with_scales([longest]);
        let first = config.warning()?;
        // Were that mended, would another be left?
        let (Warning::LearningTooShortForScale { advised }
        | Warning::LearningTooShortForPromise { advised }) = first;
        Config { learning_rows: advised, ..config }.warning().or(Some(first))
    }

    /// Rows until monitoring begins.
    #[must_use]
    pub fn rows_to_learn(&self, lags: usize) -> u64 {
        let first = u64::try_from(lags.saturating_sub(1)).unwrap_or(0);
        u64::from(self.config.scaling_rows) + u64::from(self.config.learning_rows) + first
    }
}

/// A detector of any shape.
pub trait Watch {
    /// As [`Detector::push`].
    ///
    /// # Errors
    /// As there, and [`Error::WrongShape`] for a row of another length.
    fn push(&mut self, row: &[f32]) -> Result<Verdict, Error>;
    /// What it is doing.
    fn stage(&self) -> Stage;
    /// Rows until it has learned.
    fn rows_to_learn(&self) -> u64;
    /// Rows pushed in all.
    fn rows(&self) -> u64;
    /// Statistic and threshold of the foremost window.
    fn standing(&self) -> (f32, f32);
    /// As [`Detector::p_value`].
    fn p_value(&self) -> Option<f32>;
    /// Means and deviations of the channels.
    fn scale(&self) -> Option<(Vec<f32>, Vec<f32>)>;
    /// As [`Detector::bandwidth`].
    fn bandwidth(&self) -> Option<f32>;
    /// Rows in the reference.
    fn reference_rows(&self) -> u32;
    /// Its settings.
    fn settings(&self) -> Settings;
    /// Its size on this machine; on a microcontroller it is a few bytes less.
    fn ram_bytes(&self) -> usize;
    /// Thresholds of the windows, shortest first.
    fn thresholds(&self) -> Vec<f32>;
    /// As [`Detector::save`].
    ///
    /// # Errors
    /// As there.
    fn save(&self) -> Result<Vec<u8>, Error>;
    /// As [`Detector::restore`].
    ///
    /// # Errors
    /// As there.
    fn restore(&mut self, bytes: &[u8]) -> Result<(), Error>;
    /// As [`Detector::relearn_reference`].
    fn relearn_reference(&mut self);
    /// How different a saved detector of the same shape is.
    ///
    /// # Errors
    /// As [`Detector::difference`] and [`Detector::restore`].
    fn difference(&self, saved: &[u8]) -> Result<Difference, Error>;
    /// Merges a saved detector of the same shape.
    ///
    /// # Errors
    /// As [`Detector::merge`] and [`Detector::restore`].
    fn merge(&mut self, saved: &[u8]) -> Result<(), Error>;
}

type Owned<V, const C: usize, const D: usize, const L: usize, const S: usize> =
    Detector<'static, Fourier<D, L>, V, C, D, L, S>;

impl<V, const C: usize, const D: usize, const L: usize, const S: usize> Watch
    for Owned<V, C, D, L, S>
where
    V: View<C>,
{
    fn push(&mut self, row: &[f32]) -> Result<Verdict, Error> {
        self.push(row.try_into().map_err(|_| Error::WrongShape)?)
    }

    fn stage(&self) -> Stage {
        self.stage()
    }

    fn rows_to_learn(&self) -> u64 {
        let all = Settings::of(self.config()).rows_to_learn(D / C);
        if self.stage().is_learned() { 0 } else { all.saturating_sub(self.rows()).max(1) }
    }

    fn rows(&self) -> u64 {
        self.rows()
    }

    fn standing(&self) -> (f32, f32) {
        (self.statistic(), self.threshold())
    }

    fn p_value(&self) -> Option<f32> {
        self.p_value()
    }

    fn scale(&self) -> Option<(Vec<f32>, Vec<f32>)> {
        self.scale().map(|(means, deviations)| (means.to_vec(), deviations.to_vec()))
    }

    fn bandwidth(&self) -> Option<f32> {
        self.bandwidth()
    }

    fn reference_rows(&self) -> u32 {
        self.reference_rows()
    }

    fn settings(&self) -> Settings {
        Settings::of(self.config())
    }

    fn ram_bytes(&self) -> usize {
        size_of::<Self>()
    }

    fn thresholds(&self) -> Vec<f32> {
        self.readings().iter().map(|reading| reading.threshold).collect()
    }

    fn save(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; Self::SAVED_BYTES];
        self.save(&mut bytes)?;
        Ok(bytes)
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.restore(bytes)
    }

    fn relearn_reference(&mut self) {
        self.relearn_reference();
    }

    fn difference(&self, saved: &[u8]) -> Result<Difference, Error> {
        let mut other = self.clone();
        other.restore(saved)?;
        self.difference(&other)
    }

    fn merge(&mut self, saved: &[u8]) -> Result<(), Error> {
        let mut other = self.clone();
        other.restore(saved)?;
        self.merge(&other)
    }
}

/// What makes a detector of one shape.
type Constructor = fn(&Shape, &Settings) -> Result<Box<dyn Watch>, String>;

impl Shape {
    fn constructor(&self) -> Result<Constructor, String> {
        let shape = self;
        macro_rules! choose {
        (few: $($few:literal)*; many: $($many:literal)*; delayed: $($c:literal $d:literal),*) => {
            match (shape.innovation, shape.channels, shape.lags, shape.features, shape.windows) {
                $(
                    (true, $few, 1, 16, 3) => new::<Innovation<$few>, $few, $few, 16, 3>,
                    (true, $few, 1, 32, 3) => new::<Innovation<$few>, $few, $few, 32, 3>,
                    (true, $few, 1, 64, 3) => new::<Innovation<$few>, $few, $few, 64, 3>,
                    (false, $few, 1, 32, 3) => new::<Raw, $few, $few, 32, 3>,
                    (false, $few, 1, 64, 3) => new::<Raw, $few, $few, 64, 3>,
                    (false, $few, 1, 64, 4) => new::<Raw, $few, $few, 64, 4>,
                )*
                $(
                    (true, $many, 1, 16, 3) => new::<Innovation<$many>, $many, $many, 16, 3>,
                    (false, $many, 1, 64, 4) => new::<Raw, $many, $many, 64, 4>,
                )*
                $((false, $c, lags, 64, 3) if $c * lags == $d => new::<Raw, $c, $d, 64, 3>,)*
                _ => return Err(shape.refusal()),
            }
        };
    }
        Ok(choose! {
            few: 1 2 3 4 5 6 7 8;
            many: 9 10 11 12 13 14 15 16;
            delayed: 1 2, 1 3, 1 4, 1 8, 2 4, 2 6, 2 8, 2 16, 3 6, 3 9, 3 12, 3 24, 4 8, 4 12, 4 16,
                4 32, 5 10, 5 20, 6 12, 6 24, 7 14, 7 28,
                8 16, 8 32
        })
    }
}

/// A detector that has seen nothing.
///
/// # Errors
/// A line that says what is not on offer or which setting is refused.
pub fn detector(shape: &Shape, settings: &Settings) -> Result<Box<dyn Watch>, String> {
    shape.constructor()?(shape, settings)
}

/// A saved detector as it was.
///
/// # Errors
/// A line that says why there is none.
pub fn restored(bytes: &[u8]) -> Result<(Shape, Box<dyn Watch>), String> {
    let shape = Shape::of_saved(bytes).map_err(|error| error.to_string())?;
    let scales = [4, 16, 64, 256].into_iter().take(shape.windows).collect();
    let config = Config::rows(1e4).with_scales([]);
    // The settings only have to be valid: the saved ones replace them.
    let mut detector = detector(&shape, &Settings { config, scales })?;
    detector.restore(bytes).map_err(|error| error.to_string())?;
    Ok((shape, detector))
}

fn new<V, const C: usize, const D: usize, const L: usize, const S: usize>(
    shape: &Shape,
    settings: &Settings,
) -> Result<Box<dyn Watch>, String>
where
    V: View<C> + 'static,
{
    let said = |error: Error| error.to_string();
    let map = Fourier::<D, L>::new(shape.kernel, shape.sampling, shape.seed).map_err(said)?;
    // A map is borrowed by its detector for good, and there are few of them in a run.
    let map: &'static Fourier<D, L> = Box::leak(Box::new(map));
    let config = settings.with_windows::<S>().ok_or_else(|| shape.refusal())?;
    Ok(Box::new(Owned::<V, C, D, L, S>::new(map, config).map_err(said)?))
}
