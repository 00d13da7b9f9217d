//! Times of the core, whose shapes are fixed when compiled.

use fastmmd::{Error, Fastfood, FeatureMap, Fourier, Kernel, Profile, Sampling, TwoSample};

use super::{DIMENSION, Timed, clock, first};
use fastmmd_reference::error::Refused;
use fastmmd_reference::points::Points;
use fastmmd_reference::{real, single};

/// Frequencies of the chart over the number of samples.
pub const FREQUENCIES_BY_SAMPLES: usize = 128;
/// Frequencies of the chart over the number of channels.
pub const FREQUENCIES_BY_DIMENSION: usize = 8192;

type BySamples = Fourier<DIMENSION, FREQUENCIES_BY_SAMPLES>;

/// The dense map and Fastfood at 16 channels and 128 frequencies.
pub(super) fn over_samples(p: &Points, q: &Points) -> Result<[Timed; 2], Refused> {
    let kernel = kernel(DIMENSION);
    let fourier: BySamples = drawn(Fourier::new(kernel, Sampling::Auto, 1));
    let fastfood: Fastfood<DIMENSION, DIMENSION, FREQUENCIES_BY_SAMPLES> =
        drawn(Fastfood::new(kernel, 1));
    Ok([time(&fourier, p, q)?, time(&fastfood, p, q)?])
}

fn kernel(dimension: usize) -> Kernel {
    let bandwidth = single(real(dimension).sqrt());
    Kernel::new(Profile::Gaussian, bandwidth).expect("the bandwidth is in range")
}

fn drawn<M>(map: Result<M, Error>) -> M {
    map.expect("the kernel is spherical")
}

/// MMD² of all samples.
fn time<M: FeatureMap<D, L>, const D: usize, const L: usize>(
    map: &M,
    p: &Points,
    q: &Points,
) -> Result<Timed, Refused> {
    let (p, q) = (p.arrays::<D>()?, q.arrays::<D>()?);
    let mut test: Box<TwoSample<'_, M, D, L>> = Box::new(TwoSample::new(map));
    let (found, seconds) = clock::least_of_three(|| {
        test.reset();
        for (x, y) in p.iter().zip(&q) {
            test.push_p(x)?;
            test.push_q(y)?;
        }
        test.mmd2_unbiased()
    });
    let value = found.expect("normal samples are in range");
    Ok(Timed { value: f64::from(value), seconds })
}

macro_rules! dimensions {
    ($($dimension:literal)*) => {
        /// The numbers of channels.
        pub const DIMENSIONS: [usize; 8] = [$($dimension),*];

        /// The dense map, measured over `most_dense` samples, and Fastfood at 8192 frequencies.
        pub(super) fn over_dimensions(
            p: &Points,
            q: &Points,
            most_dense: usize,
        ) -> Result<[Timed; 2], Refused> {
            let few = (first(p, most_dense)?, first(q, most_dense)?);
            match p.dims() {
                $($dimension => on_large_stack(|| one::<$dimension>((p, q), (&few.0, &few.1))),)*
                found => Err(Refused::Ragged { expected: DIMENSION, found }),
            }
        }
    };
}

dimensions!(8 16 32 64 128 256 512 1024);

fn one<const D: usize>(
    (p, q): (&Points, &Points),
    (few_p, few_q): (&Points, &Points),
) -> Result<[Timed; 2], Refused> {
    let fourier: Box<Fourier<D, FREQUENCIES_BY_DIMENSION>> =
        Box::new(drawn(Fourier::new(kernel(D), Sampling::Independent, 1)));
    let mut dense = time(&*fourier, few_p, few_q)?;
    dense.seconds *= real(p.len()) / real(few_p.len());
    let fastfood: Box<Fastfood<D, D, FREQUENCIES_BY_DIMENSION>> =
        Box::new(drawn(Fastfood::new(kernel(D), 1)));
    Ok([dense, time(&*fastfood, p, q)?])
}

/// Maps are drawn on the stack, and 1024 channels of 8192 frequencies are 32 MB.
fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(1 << 29).spawn_scoped(scope, work);
        thread.expect("a thread can be started").join().expect("it does not panic")
    })
}
