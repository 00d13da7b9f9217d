//! Frequencies follow the kernel's spectral distribution: their mean cosine is the kernel.

use crate::common::dense;
use fastmmd::{Error, Fastfood, Fourier, Kernel, Profile, Sampling};
use fastmmd_reference::features::Frequencies;
use fastmmd_reference::kernel::{exponential, gaussian, laplacian, matern32, matern52};
use fastmmd_reference::single;
use fastmmd_reference::tolerance;

const SEEDS: u32 = 64;
const BANDWIDTH: f64 = 1.5;

fn kernel(profile: Profile) -> Kernel {
    Kernel::new(profile, single(BANDWIDTH)).expect("in range")
}

fn reference(profile: Profile, x: &[f64]) -> f64 {
    let zero = vec![0.0; x.len()];
    match profile {
        Profile::Gaussian => gaussian(BANDWIDTH)(x, &zero),
        Profile::Laplacian => laplacian(BANDWIDTH)(x, &zero),
        Profile::Exponential => exponential(BANDWIDTH)(x, &zero),
        Profile::Matern32 => matern32(BANDWIDTH)(x, &zero),
        Profile::Matern52 => matern52(BANDWIDTH)(x, &zero),
    }
}

/// Differences x − y to test: along an axis, along the diagonal, and an uneven one; near and far.
fn differences(dims: usize) -> Vec<Vec<f64>> {
    let mut all = Vec::new();
    for length in [0.1, 0.5, 1.0, 2.0, 4.0] {
        let shapes: [fn(usize) -> f64; 3] =
            [|i| if i == 0 { 1.0 } else { 0.0 }, |_| 1.0, |i| [1.0, -2.0, 0.5, 3.0][i % 4]];
        for shape in shapes {
            let x: Vec<f64> = (0..dims).map(shape).collect();
            let norm = x.iter().map(|v| v * v).sum::<f64>().sqrt();
            all.push(x.iter().map(|v| length * v / norm).collect());
        }
    }
    all
}

/// The largest difference from a kernel, over differences, of the mean over seeds.
fn largest_error(
    profile: Profile,
    dims: usize,
    seeds: u32,
    draw: impl Fn(u64) -> Frequencies,
) -> f64 {
    let differences = differences(dims);
    let mut means = vec![0.0; differences.len()];
    for seed in 0..seeds {
        let frequencies = draw(seed.into());
        for (mean, x) in means.iter_mut().zip(&differences) {
            *mean += frequencies.mean_cosine(x) / f64::from(seeds);
        }
    }
    let pairs = means.iter().zip(&differences);
    pairs.map(|(mean, x)| (mean - reference(profile, x)).abs()).fold(0.0, f64::max)
}

fn fourier<const D: usize>() {
    for profile in Profile::ALL {
        for sampling in [Sampling::Independent, Sampling::Quasi, Sampling::Orthogonal] {
            if sampling == Sampling::Orthogonal && profile == Profile::Laplacian {
                continue;
            }
            let error = largest_error(profile, D, SEEDS, |seed| {
                dense(&Fourier::<D, 1024>::new(kernel(profile), sampling, seed).expect("spherical"))
            });
            println!("Fourier {D} {profile:?} {sampling:?}: {error:.4}");
            tolerance::SPECTRUM.hold_below(&format!("{D} {profile:?} {sampling:?}"), error);
        }
    }
}

fn fastfood<const D: usize, const P: usize>() {
    for profile in Profile::ALL.into_iter().filter(|p| *p != Profile::Laplacian) {
        let error = largest_error(profile, D, SEEDS, |seed| {
            dense(&Fastfood::<D, P, 1024>::new(kernel(profile), seed).expect("spherical"))
        });
        println!("Fastfood {D} {profile:?}: {error:.4}");
        tolerance::SPECTRUM_FASTFOOD.hold_below(&format!("{D} {profile:?}"), error);
    }
}

#[test]
fn dense_maps_have_the_kernels_spectrum() {
    fourier::<1>();
    fourier::<3>();
    fourier::<10>();
}

#[test]
fn fastfood_maps_have_the_kernels_spectrum() {
    fastfood::<1, 4>();
    fastfood::<3, 4>();
    fastfood::<10, 16>();
    fastfood::<32, 32>();
}

/// The control: the tolerance separates any two kernels, and bandwidths 10 % apart.
#[test]
fn another_spectrum_is_caught() {
    let draw = |kernel: Kernel| {
        move |seed| {
            dense(&Fourier::<3, 1024>::new(kernel, Sampling::Quasi, seed).expect("spherical"))
        }
    };
    for given in Profile::ALL {
        for held_to in Profile::ALL {
            let error = largest_error(held_to, 3, 32, draw(kernel(given)));
            let caught = error > tolerance::SPECTRUM.limit;
            assert_eq!(caught, given != held_to, "{given:?} for {held_to:?}: {error:.4}");
        }
    }
    let wide = Kernel::new(Profile::Gaussian, single(1.1 * BANDWIDTH)).expect("in range");
    assert!(largest_error(Profile::Gaussian, 3, 32, draw(wide)) > tolerance::SPECTRUM.limit);
}

#[test]
fn additive_sampling_says_which_kernel_it_needs() {
    for profile in Profile::ALL {
        let told = Sampling::Additive.resolve(&kernel(profile), 3);
        let expected = match profile {
            Profile::Gaussian => Ok(Sampling::Additive),
            Profile::Laplacian | Profile::Exponential | Profile::Matern32 | Profile::Matern52 => {
                Err(Error::NotGaussian)
            }
        };
        assert_eq!(told, expected, "{profile:?}");
        let drawn = Fourier::<3, 16>::new(kernel(profile), Sampling::Additive, 1);
        assert_eq!(drawn.err(), expected.err(), "{profile:?}");
    }
}

#[test]
fn the_product_laplacian_has_no_spherical_sampling() {
    let laplacian = kernel(Profile::Laplacian);
    assert_eq!(Fastfood::<3, 4, 64>::new(laplacian, 1), Err(Error::NotSpherical));
    let orthogonal = Fourier::<3, 64>::new(laplacian, Sampling::Orthogonal, 1);
    assert_eq!(orthogonal, Err(Error::NotSpherical));
    // `Auto` also finds a valid sampling above its limit of dimensions.
    assert!(Fourier::<32, 64>::new(laplacian, Sampling::Auto, 1).is_ok());
}
