//! Kernels, sampling, transforms and maps.

use core::convert::Infallible;
use core::hint::black_box;

use fastmmd::features::sincos::{
    Backend, Libm, Micromath, Point, Polynomial, Quick, SinCos, Versed,
};
use fastmmd::features::{Cosine, Offset, hadamard};
use fastmmd::shape::Fixed;
use fastmmd::{
    Error, Fastfood, FeatureMap, Fourier, Kernel, MapKind, Parameter, Profile, Recipe, Sampling,
    seed_from,
};

use crate::{number, sample};

/// A random generator the compiler cannot see into.
struct Generator;

impl rand_core::TryRng for Generator {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(black_box(1))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(black_box(1))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.fill(black_box(1));
        Ok(())
    }
}

/// Everything that needs no map: kernels, sampling, backends, transforms, the text of errors.
pub(crate) fn values() {
    let kernel = kernel();
    black_box((kernel.profile(), kernel.bandwidth(), kernel.amplitude()));
    black_box((kernel.is_spherical(), Kernel::default()));
    let _ = black_box(black_box(Sampling::Auto).resolve(&kernel, black_box(3)));
    black_box(seed_from(&mut Generator));
    backend::<Polynomial>();
    backend::<Quick>();
    backend::<Libm>();
    backend::<Micromath>();
    hadamard::transform(&mut sample::<f32, 1>());
    let mut values = sample::<f32, 64>();
    hadamard::transform(&mut values);
    black_box(values);
    let refusal: Error = crate::refusal();
    black_box((refusal.message(), refusal.parameter().map(Parameter::name)));
    let _ = core::fmt::Write::write_fmt(&mut Sink, format_args!("{refusal}"));
}

/// A writer that drops all text.
pub(crate) struct Sink;

impl core::fmt::Write for Sink {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        black_box(text);
        Ok(())
    }
}

fn backend<B: SinCos>() {
    let Point { cos, sin } = B::point(number());
    black_box((cos, sin));
    let Versed { versine, sin } = B::versed(number());
    black_box((Point::from(Versed { versine, sin }), Versed::from(Point { cos, sin })));
}

pub(crate) fn kernel() -> Kernel {
    Kernel::new(black_box(Profile::Matern52), number())
        .and_then(|kernel| kernel.with_amplitude(number()))
        .unwrap_or(Kernel::GAUSSIAN)
}

pub(crate) fn recipe() -> Recipe {
    black_box(Recipe {
        kind: MapKind::Fourier,
        kernel: kernel(),
        sampling: Sampling::Auto,
        seed: 1,
        inputs: 1,
        block: 1,
        frequencies: 1,
    })
}

/// The same map with every other backend.
pub(crate) fn dense_backends<const D: usize, const L: usize>(map: &Fourier<D, L>) {
    other_backend(&map.clone().with_backend::<Libm>());
    other_backend(&map.clone().with_backend::<Micromath>());
}

/// The same for a structured one.
pub(crate) fn structured_backends<const D: usize, const P: usize, const L: usize>(
    map: &Fastfood<D, P, L>,
) {
    other_backend(&map.clone().with_backend::<Libm>());
    other_backend(&map.clone().with_backend::<Micromath>());
}

fn other_backend<M, const D: usize, const L: usize>(map: &M)
where
    M: FeatureMap<Inputs = Fixed<D>, Frequencies = Fixed<L>, Backend: SinCos>,
{
    crate::statistics::all(map);
    crate::detectors::one(map);
}

/// Every way to make a dense map at run time.
#[inline(never)]
pub(crate) fn dense<const D: usize, const L: usize>(then: impl Fn(&Fourier<D, L>)) {
    let drawn = Fourier::<D, L>::new(kernel(), black_box(Sampling::Auto), black_box(1));
    let again = Fourier::from_recipe(&recipe());
    let given = Fourier::given(black_box([[0.5; D]; L]), number());
    let usual = Ok(Fourier::gaussian(black_box(1)));
    let other = Ok(Fourier::with_kernel(kernel(), black_box(1)));
    for map in [drawn, again, given, usual, other].iter().flatten() {
        then(map);
    }
}

/// Every way to make a structured map at run time.
#[inline(never)]
pub(crate) fn structured<const D: usize, const P: usize, const L: usize>(
    then: impl Fn(&Fastfood<D, P, L>),
) {
    let drawn = Fastfood::<D, P, L>::new(kernel(), black_box(1));
    let again = Fastfood::from_recipe(&recipe());
    let usual = Ok(Fastfood::gaussian(black_box(1)));
    for map in [drawn, again, usual].iter().flatten() {
        then(map);
    }
}

/// Every way to make a map with offsets at run time, and all that can be done with it.
#[inline(never)]
pub(crate) fn offset<const D: usize, const L: usize>() {
    let drawn = Offset::<D, L>::new(kernel(), black_box(Sampling::Auto), black_box(1));
    let again = Offset::from_recipe(&recipe());
    let usual = Ok(Offset::gaussian(black_box(1)));
    for map in [drawn, again, usual].iter().flatten() {
        black_box((map.recipe(), map.fingerprint(), map.reach(), map.offset(black_box(1))));
        black_box((map.frequency(black_box(1)), map.weighted_frequencies(&black_box([0.0; L]))));
        black_box(Cosine::<Polynomial>::units(number()));
        crate::statistics::embeddings(map);
        crate::statistics::embeddings(&map.clone().with_backend::<Micromath>());
    }
}

/// All methods of a map.
#[inline(never)]
pub(crate) fn interface<M, const D: usize, const L: usize>(map: &M)
where
    M: FeatureMap<Inputs = Fixed<D>, Frequencies = Fixed<L>, Backend: SinCos>,
{
    black_box((map.recipe(), map.fingerprint(), map.reach()));
    black_box(map.frequency(black_box(1)));
    black_box(map.weighted_frequencies(&black_box([0.0; L])));
    let mut items = [0.0; L];
    let _ = black_box(map.project(&sample(), &mut items, |item, phase| *item += phase));
    black_box(items);
    let mut bytes = black_box([0; 256]);
    let recipe: &Recipe = map.recipe();
    black_box(recipe.fingerprint());
    let _ = black_box(recipe.save(window(&mut bytes)));
    let _ = black_box(Recipe::restore(window(&mut bytes)));
    let _ = black_box(Recipe::from_bytes(&black_box(recipe.to_bytes())));
}

/// The front of a buffer, of a length that the compiler cannot know.
pub(crate) fn window(bytes: &mut [u8]) -> &mut [u8] {
    bytes.get_mut(..black_box(10)).unwrap_or_default()
}
