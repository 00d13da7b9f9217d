//! Embeddings, MMD², families, two-sample statistics and their saved state.

use core::hint::black_box;

use fastmmd::sincos::Polynomial;
use fastmmd::{
    Backend, Circle, Embedding, FeatureMap, KernelFamily, Member, SinCos, TwoSample, Witness, mmd,
};

use crate::maps::window;
use crate::{number, sample};

/// Long enough for every saved state here.
const BYTES: usize = 16_384;

/// Everything that is computed on top of one map with one backend.
#[inline(never)]
pub(crate) fn all<M: FeatureMap<D, L>, const D: usize, const L: usize, B: SinCos>(map: &M) {
    embeddings::<M, D, L, B>(map);
    witness::<M, D, L, B>(map);
    family::<M, D, L, B>(map);
}

/// The part of it that integers have too.
#[inline(never)]
pub(crate) fn embeddings<M, const D: usize, const L: usize, B: Backend<Scalar: Default>>(map: &M)
where
    M: FeatureMap<D, L, B::Scalar>,
{
    let mut p = Embedding::<L, B>::new(map);
    let mut q = black_box(p.clone());
    change(map, &mut p, &mut q);
    read(&p, &q);
    keep(map, &mut p);
    two_sample::<M, D, L, B>(map, p, q);
}

#[inline(never)]
fn change<M, const D: usize, const L: usize, B: Backend<Scalar: Default>>(
    map: &M,
    p: &mut Embedding<L, B>,
    q: &mut Embedding<L, B>,
) where
    M: FeatureMap<D, L, B::Scalar>,
{
    let _ = black_box(p.add(map, &sample()));
    let _ = black_box(q.add_weighted(map, &sample(), number()));
    let _ = black_box(p.remove(map, &sample()));
    let _ = black_box(q.remove_weighted(map, &sample(), number()));
    let _ = black_box(p.forget(number()));
    let _ = black_box(q.merge(p));
    if black_box(false) {
        p.reset();
    }
}

#[inline(never)]
fn read<const L: usize, B: Backend>(p: &Embedding<L, B>, q: &Embedding<L, B>) {
    black_box((p.weight(), p.kernel_scale()));
    let _ = black_box((p.concentration(), p.squared_norm(), p.inner_product(q)));
    p.mean().into_iter().flatten().for_each(|point| {
        black_box(point);
    });
    let _ = black_box((mmd::squared_biased(p, q), mmd::squared_unbiased(p, q)));
    let _ = black_box((mmd::biased(p, q), mmd::unbiased_squared_norm(p)));
    mmd::circles(p, q).into_iter().flatten().for_each(see);
}

#[inline(never)]
fn witness<M: FeatureMap<D, L>, const D: usize, const L: usize, B: SinCos>(map: &M) {
    let mut p = Embedding::<L, B>::new(map);
    let q = black_box(p.clone());
    let _ = black_box(p.add(map, &sample()));
    if let Ok(witness) = Witness::new(map, &p, &q) {
        let _ = black_box((witness.at(&sample()), witness.gradient(&sample())));
    }
}

fn see(circle: Circle) {
    black_box(circle.squared_amplitude::<Polynomial>());
}

#[inline(never)]
fn keep<M, const D: usize, const L: usize, B: Backend>(map: &M, embedding: &mut Embedding<L, B>)
where
    M: FeatureMap<D, L, B::Scalar>,
{
    let mut bytes = black_box([0; BYTES]);
    let _ = black_box(embedding.save(map, window(&mut bytes)));
    let _ = black_box(embedding.restore(map, window(&mut bytes)));
    black_box(embedding);
}

#[inline(never)]
fn two_sample<M, const D: usize, const L: usize, B: Backend<Scalar: Default>>(
    map: &M,
    p: Embedding<L, B>,
    q: Embedding<L, B>,
) where
    M: FeatureMap<D, L, B::Scalar>,
{
    let gathered = TwoSample::<M, D, L, B>::from_embeddings(map, p, q);
    let mut test = gathered.unwrap_or_else(|_| TwoSample::new(map));
    let _ = black_box((test.push_p(&sample()), test.push_q(&sample())));
    let _ = black_box(test.push_p_weighted(&sample(), number()));
    let _ = black_box(test.push_q_weighted(&sample(), number()));
    let _ = black_box((test.mmd2_biased(), test.mmd2_unbiased(), test.mmd()));
    test.circles().into_iter().flatten().for_each(see);
    black_box((test.map().fingerprint(), test.p(), test.q()));
    let _ = black_box(test.p_mut().forget(number()));
    let _ = black_box(test.q_mut().forget(number()));
    let mut bytes = black_box([0; BYTES]);
    let _ = black_box(test.save(window(&mut bytes)));
    let _ = black_box(test.restore(window(&mut bytes)));
    let mut copy = black_box(test.clone());
    copy.reset();
    black_box(copy);
}

#[inline(never)]
fn family<M: FeatureMap<D, L>, const D: usize, const L: usize, B: SinCos>(map: &M) {
    let Ok(mut family) = KernelFamily::<M, 3, D, L, B>::new(map, sample()) else {
        return;
    };
    let _ = black_box((family.push_p(&sample()), family.push_q(&sample())));
    let _ = black_box((family.biased(), family.unbiased()));
    let largest: Result<Member, _> = family.maximum_biased();
    let _ = black_box((largest, family.maximum_unbiased()));
    black_box((family.p(), family.q()));
}
