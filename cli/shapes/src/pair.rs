//! The two-sample statistic for any number of channels and frequencies.

use fastmmd::{Error, Fastfood, FeatureMap, Fourier, Kernel, Sampling, TwoSample};

/// Most channels.
pub const MOST_INPUTS: usize = 32;

/// Which map, and of what.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// [`Fastfood`] instead of [`Fourier`].
    pub fastfood: bool,
    /// The kernel.
    pub kernel: Kernel,
    /// How frequencies are spread; [`Fastfood`] has its own way.
    pub sampling: Sampling,
    /// What they are drawn from.
    pub seed: u64,
    /// How many.
    pub features: usize,
}

/// MMD² of two samples, and the map behind it.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// MMD_b².
    pub biased: f32,
    /// MMD_u².
    pub unbiased: f32,
    /// How the frequencies were spread in the end.
    pub sampling: Sampling,
    /// The frequencies, in turns per unit of input: one for each channel.
    pub frequencies: Vec<Vec<f32>>,
}

/// MMD² of two samples of rows of `inputs` values each. Where there is no map of so many inputs,
/// the next larger one is used with the rest 0: the kernel is the same.
///
/// # Errors
/// A line that says what is not on offer or what the core refuses.
pub fn pair(choice: &Choice, inputs: usize, x: &[f32], y: &[f32]) -> Result<Pair, String> {
    macro_rules! choose {
        ($($d:literal $p:literal),*) => {
            match inputs {
                $(1..=$d => by_features::<$d, $p>(choice, inputs, x, y),)*
                _ => Err(format!("{inputs} columns: at most {MOST_INPUTS} are available")),
            }
        };
    }
    choose!(1 4, 2 4, 3 4, 4 4, 8 8, 16 16, 32 32)
}

fn by_features<const D: usize, const P: usize>(
    choice: &Choice,
    inputs: usize,
    x: &[f32],
    y: &[f32],
) -> Result<Pair, String> {
    macro_rules! choose {
        ($($l:literal)*) => {
            match (choice.fastfood, choice.features) {
                (false, 16) => dense::<D, 16>(choice, inputs, x, y),
                $((false, $l) => dense::<D, $l>(choice, inputs, x, y),)*
                $((true, $l) => fast::<D, P, $l>(choice, inputs, x, y),)*
                (_, other) => Err(format!(
                    "{other} frequencies: 64, 256 or 1024, and without fastfood 16, are available"
                )),
            }
        };
    }
    choose!(64 256 1024)
}

fn dense<const D: usize, const L: usize>(
    choice: &Choice,
    inputs: usize,
    x: &[f32],
    y: &[f32],
) -> Result<Pair, String> {
    let map = Fourier::<D, L>::new(choice.kernel, choice.sampling, choice.seed);
    measured(map, inputs, x, y)
}

fn fast<const D: usize, const P: usize, const L: usize>(
    choice: &Choice,
    inputs: usize,
    x: &[f32],
    y: &[f32],
) -> Result<Pair, String> {
    measured(Fastfood::<D, P, L>::new(choice.kernel, choice.seed), inputs, x, y)
}

fn measured<M: FeatureMap<D, L>, const D: usize, const L: usize>(
    map: Result<M, Error>,
    inputs: usize,
    x: &[f32],
    y: &[f32],
) -> Result<Pair, String> {
    let said = |error: Error| error.to_string();
    let map = Box::new(map.map_err(said)?);
    let mut two: Box<TwoSample<'_, M, D, L>> = Box::new(TwoSample::new(&map));
    let padded = |row: &[f32]| {
        let mut sample = [0.0; D];
        sample.iter_mut().zip(row).for_each(|(value, given)| *value = *given);
        sample
    };
    for row in x.chunks_exact(inputs) {
        two.push_p(&padded(row)).map_err(said)?;
    }
    for row in y.chunks_exact(inputs) {
        two.push_q(&padded(row)).map_err(said)?;
    }
    let frequency = |index| map.frequency(index).map(|all| all[..inputs.min(D)].to_vec());
    Ok(Pair {
        biased: two.mmd2_biased().map_err(said)?,
        unbiased: two.mmd2_unbiased().map_err(said)?,
        sampling: map.recipe().sampling,
        frequencies: (0..L).filter_map(frequency).collect(),
    })
}
