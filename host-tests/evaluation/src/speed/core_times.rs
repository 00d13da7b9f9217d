//! Times of the core.

use fastmmd::dynamic::Map;
use fastmmd::{Error, Kernel, Profile, Sampling, TwoSample};

use super::{DIMENSION, Timed, clock, first};
use fastmmd_reference::error::Refused;
use fastmmd_reference::points::Points;
use fastmmd_reference::{real, single};

/// Frequencies of the chart over the number of samples.
pub const FREQUENCIES_BY_SAMPLES: usize = 128;
/// Frequencies of the chart over the number of channels.
pub const FREQUENCIES_BY_DIMENSION: usize = 8192;

/// The dense map and Fastfood at 16 channels and 128 frequencies.
pub(super) fn over_samples(p: &Points, q: &Points) -> Result<[Timed; 2], Refused> {
    let kernel = kernel(DIMENSION);
    let fourier = Map::fourier(kernel, Sampling::Auto, 1, DIMENSION, FREQUENCIES_BY_SAMPLES);
    let fastfood = Map::fastfood(kernel, 1, DIMENSION, DIMENSION, FREQUENCIES_BY_SAMPLES);
    Ok([time(&drawn(fourier), p, q)?, time(&drawn(fastfood), p, q)?])
}

fn kernel(dimension: usize) -> Kernel {
    let bandwidth = single(real(dimension).sqrt());
    Kernel::new(Profile::Gaussian, bandwidth).expect("the bandwidth is in range")
}

fn drawn(map: Result<Map, Error>) -> Map {
    map.expect("the kernel is spherical")
}

/// MMD² of all samples.
fn time(map: &Map, p: &Points, q: &Points) -> Result<Timed, Refused> {
    let rows = |points: &Points| -> Vec<f32> {
        points.rows().flat_map(|row| row.iter().map(|x| single(*x))).collect()
    };
    let (dims, p, q) = (p.dims(), rows(p), rows(q));
    let mut test = TwoSample::new(map);
    let (found, seconds) = clock::least_of_three(|| {
        test.reset();
        test.push_p_many(p.chunks_exact(dims))?;
        test.push_q_many(q.chunks_exact(dims))?;
        test.mmd2_unbiased()
    });
    let value = found.expect("normal samples are in range");
    Ok(Timed { value: f64::from(value), seconds })
}

/// The numbers of channels.
pub const DIMENSIONS: [usize; 8] = [8, 16, 32, 64, 128, 256, 512, 1024];

/// The dense map, measured over `most_dense` samples, and Fastfood at 8192 frequencies.
pub(super) fn over_dimensions(
    p: &Points,
    q: &Points,
    most_dense: usize,
) -> Result<[Timed; 2], Refused> {
    let dims = p.dims();
    let (few_p, few_q) = (first(p, most_dense)?, first(q, most_dense)?);
    let (kernel, count) = (kernel(dims), FREQUENCIES_BY_DIMENSION);
    let fourier = drawn(Map::fourier(kernel, Sampling::Independent, 1, dims, count));
    let mut dense = time(&fourier, &few_p, &few_q)?;
    dense.seconds *= real(p.len()) / real(few_p.len());
    let fastfood = drawn(Map::fastfood(kernel, 1, dims, dims, count));
    Ok([dense, time(&fastfood, p, q)?])
}
