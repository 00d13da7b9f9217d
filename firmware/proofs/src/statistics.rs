//! Embeddings, MMD², families, two-sample statistics and their saved state.

use core::hint::black_box;

use fastmmd::embedding::Member;
use fastmmd::embedding::mmd::{self, Circle};
use fastmmd::features::ScalarOf;
use fastmmd::features::sincos::{Polynomial, SinCos};
use fastmmd::shape::Fixed;
use fastmmd::{Embedding, FeatureMap, KernelFamily, TwoSample, Witness};

use crate::maps::window;
use crate::{number, sample};

/// Long enough for every saved state here.
const BYTES: usize = 16_384;

/// Everything that is computed on top of one map with one backend.
#[inline(never)]
pub(crate) fn all<M, const D: usize>(map: &M)
where
    M: FeatureMap<Inputs = Fixed<D>, Backend: SinCos>,
{
    embeddings(map);
    witness(map);
    family(map);
}

/// The part that also exists for integers.
#[inline(never)]
pub(crate) fn embeddings<M, const D: usize>(map: &M)
where
    M: FeatureMap<Inputs = Fixed<D>>,
    ScalarOf<M>: Default,
{
    let mut p = Embedding::new(map);
    let mut q = black_box(p.clone());
    change(map, &mut p, &mut q);
    read(&p, &q);
    keep(map, &mut p);
    two_sample(map, p, q);
}

#[inline(never)]
fn change<M, const D: usize>(map: &M, p: &mut Embedding<M>, q: &mut Embedding<M>)
where
    M: FeatureMap<Inputs = Fixed<D>>,
    ScalarOf<M>: Default,
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
fn read<M: FeatureMap>(p: &Embedding<M>, q: &Embedding<M>) {
    black_box((p.weight(), p.amplitude(), p.frequencies(), p.saved_bytes()));
    let _ = black_box((p.concentration(), p.squared_norm(), p.inner_product(q)));
    p.mean().into_iter().flatten().for_each(|point| {
        black_box(point);
    });
    let _ = black_box((mmd::squared_biased(p, q), mmd::squared_unbiased(p, q)));
    let _ = black_box((mmd::biased(p, q), mmd::unbiased_squared_norm(p)));
    mmd::circles(p, q).into_iter().flatten().for_each(see);
}

#[inline(never)]
fn witness<M, const D: usize>(map: &M)
where
    M: FeatureMap<Inputs = Fixed<D>, Backend: SinCos>,
{
    let mut p = Embedding::new(map);
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
fn keep<M: FeatureMap>(map: &M, embedding: &mut Embedding<M>) {
    let mut bytes = black_box([0; BYTES]);
    let _ = black_box(embedding.save(map, window(&mut bytes)));
    let _ = black_box(embedding.restore(map, window(&mut bytes)));
    black_box(embedding);
}

#[inline(never)]
fn two_sample<M, const D: usize>(map: &M, p: Embedding<M>, q: Embedding<M>)
where
    M: FeatureMap<Inputs = Fixed<D>>,
    ScalarOf<M>: Default,
{
    let gathered = TwoSample::from_embeddings(map, p, q);
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
    black_box(test.saved_bytes());
    let _ = black_box(test.save(window(&mut bytes)));
    let _ = black_box(test.restore(window(&mut bytes)));
    let mut copy = black_box(test.clone());
    copy.reset();
    black_box(copy);
}

#[inline(never)]
fn family<M, const D: usize>(map: &M)
where
    M: FeatureMap<Inputs = Fixed<D>, Backend: SinCos>,
{
    let Ok(mut family) = KernelFamily::new(map, sample::<f32, 3>()) else {
        return;
    };
    let _ = black_box((family.push_p(&sample()), family.push_q(&sample())));
    let _ = black_box((family.biased(), family.unbiased()));
    let largest: Result<Member, _> = family.maximum_biased();
    let _ = black_box((largest, family.maximum_unbiased()));
    black_box((family.map().fingerprint(), family.p(), family.q()));
    black_box(&mut family).reset();
}
