//! Mean embeddings by the core against the same in numpy: random features in single precision, with
//! as many frequencies, on one thread each.

use std::process::{Command, Stdio};

use fastmmd::dynamic::Map;
use fastmmd::features::sincos::SinCos;
use fastmmd::shape::Fixed;
use fastmmd::{Embedding, Error, Fastfood, FeatureMap, Fourier, Kernel, Sampling};
use fastmmd_reference::generate::Generator;
use fastmmd_reference::{real, single, tolerance};

use super::clock;

/// Turns in which both are timed alternately.
const TURNS: usize = 3;

/// Block of a Fastfood map for few channels, as its documentation advises.
const BLOCK: usize = 16;

/// How many times as fast as numpy the core is at one shape.
#[derive(Debug, Clone, PartialEq)]
pub struct OverNumpy {
    /// Channels and frequencies.
    pub shape: [usize; 2],
    /// The dense map, in batches.
    pub fourier: f64,
    /// The same, one sample after the other.
    pub fourier_single: f64,
    /// Fastfood, in batches.
    pub fastfood: f64,
    /// The same, one sample after the other.
    pub fastfood_single: f64,
    /// Of shapes known at run time, in batches: dense and Fastfood.
    pub dynamic: [f64; 2],
}

/// All shapes, and the version of numpy; or why there is no comparison.
///
/// # Errors
/// Where Python or numpy is missing, with what it said.
pub fn over_numpy() -> Result<(String, Vec<OverNumpy>), String> {
    let mut version = String::new();
    let rows = [
        shape::<3, BLOCK, 64>(40_000, &mut version)?,
        shape::<16, 16, 128>(20_000, &mut version)?,
        shape::<64, 64, 1024>(2_000, &mut version)?,
    ];
    Ok((version, rows.to_vec()))
}

fn shape<const D: usize, const P: usize, const L: usize>(
    samples: usize,
    version: &mut String,
) -> Result<OverNumpy, String> {
    let mut generator = Generator::new(1);
    let rows: Vec<[f32; D]> =
        (0..samples).map(|_| std::array::from_fn(|_| single(generator.normal()))).collect();
    let drawn = |error: Error| error.to_string();
    let fourier = Fourier::<D, L>::new(Kernel::GAUSSIAN, Sampling::Auto, 1).map_err(drawn)?;
    let fastfood = Fastfood::<D, P, L>::new(Kernel::GAUSSIAN, 1).map_err(drawn)?;
    let dynamic = [
        Map::fourier(Kernel::GAUSSIAN, Sampling::Auto, 1, D, L).map_err(drawn)?,
        Map::fastfood(Kernel::GAUSSIAN, 1, D, P, L).map_err(drawn)?,
    ];
    let mut least = [f64::INFINITY; 6];
    let mut numpy = f64::INFINITY;
    for _ in 0..TURNS {
        let times = [
            many(&fourier, &rows),
            one_by_one(&fourier, &rows),
            many(&fastfood, &rows),
            one_by_one(&fastfood, &rows),
            many_dynamic(&dynamic[0], &rows),
            many_dynamic(&dynamic[1], &rows),
        ];
        for (least, time) in least.iter_mut().zip(times) {
            *least = least.min(time / real(samples));
        }
        let (seconds, found) = by_numpy([D, L, samples])?;
        numpy = numpy.min(seconds);
        *version = found;
    }
    let [fourier, fourier_single, fastfood, fastfood_single, first, second] =
        least.map(|seconds| numpy / seconds);
    let dynamic = [first, second];
    Ok(OverNumpy { shape: [D, L], fourier, fourier_single, fastfood, fastfood_single, dynamic })
}

fn many<M, const D: usize>(map: &M, rows: &[[f32; D]]) -> f64
where
    M: FeatureMap<Inputs = Fixed<D>, Backend: SinCos>,
{
    let mut embedding = Embedding::new(map);
    let work = || {
        embedding.reset();
        embedding.add_many(map, rows)
    };
    let (found, seconds) = clock::least_of_three(work);
    found.expect("normal samples are in range");
    seconds
}

fn one_by_one<M, const D: usize>(map: &M, rows: &[[f32; D]]) -> f64
where
    M: FeatureMap<Inputs = Fixed<D>, Backend: SinCos>,
{
    let mut embedding = Embedding::new(map);
    let work = || {
        embedding.reset();
        rows.iter().try_for_each(|row| embedding.add(map, row))
    };
    let (found, seconds) = clock::least_of_three(work);
    found.expect("normal samples are in range");
    seconds
}

fn many_dynamic<const D: usize>(map: &Map, rows: &[[f32; D]]) -> f64 {
    let mut embedding = Embedding::new(map);
    let work = || {
        embedding.reset();
        embedding.add_many(map, rows.as_flattened().chunks_exact(D))
    };
    let (found, seconds) = clock::least_of_three(work);
    found.expect("normal samples are in range");
    seconds
}

/// Seconds per sample, and the version.
fn by_numpy(numbers: [usize; 3]) -> Result<(f64, String), String> {
    let output = Command::new("python3")
        .args(["-c", include_str!("numpy.py")])
        .args(numbers.map(|number| number.to_string()))
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("python3: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let mut words = said.split_whitespace();
    match (words.next().and_then(|word| word.parse().ok()), words.next()) {
        (Some(seconds), Some(version)) if output.status.success() => {
            Ok((seconds, version.to_owned()))
        }
        _ => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(said.lines().last().unwrap_or("python3 said nothing").to_owned())
        }
    }
}

/// Whether the limit is kept at every shape, with the measured value.
#[must_use]
pub fn promises(rows: &[OverNumpy]) -> Vec<(String, bool)> {
    let limit = tolerance::SPEED_OVER_NUMPY;
    let promise = |name: &str, row: &OverNumpy, found: f64| {
        let [d, l] = row.shape;
        let text =
            format!("{} {d}/{l} {name}: {found:.2}, at least {}", limit.operation, limit.limit);
        (text, found >= limit.limit)
    };
    rows.iter()
        .flat_map(|row| {
            [promise("Fourier", row, row.fourier), promise("Fastfood", row, row.fastfood)]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slower_than_promised_is_noticed() {
        let row = OverNumpy {
            shape: [3, 64],
            fourier: 1.5,
            fourier_single: 0.1,
            fastfood: 1.49,
            fastfood_single: 0.1,
            dynamic: [0.1; 2],
        };
        let kept: Vec<bool> = promises(&[row]).into_iter().map(|(_, kept)| kept).collect();
        assert_eq!(kept, [true, false]);
    }
}
