//! Embeddings, MMD², families, two-sample statistics and their saved state.

use core::hint::black_box;

use fastmmd::embedding::mmd::{self, Circle};
use fastmmd::embedding::{Alternative, Assumption, Class, Interval, Member};
use fastmmd::features::ScalarOf;
use fastmmd::features::sincos::{Point, Polynomial, SinCos};
use fastmmd::shape::Fixed;
use fastmmd::{Classifier, Embedding, FeatureMap, KernelFamily, TwoSample, TwoSampleTest, Witness};

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
    significance(map);
    classifier(map);
    family(map);
}

#[inline(never)]
fn significance<M, const D: usize>(map: &M)
where
    M: FeatureMap<Inputs = Fixed<D>>,
    ScalarOf<M>: Default,
{
    let Ok(mut test) = TwoSampleTest::new(map, black_box(4)) else {
        return;
    };
    let _ = black_box((test.push_p(&sample()), test.push_q(&sample())));
    let _ = black_box((test.p_value(), test.threshold(number())));
    let mut bytes = black_box([0; BYTES]);
    black_box((test.saved_bytes(), test.block(), test.streams()));
    let _ = black_box(test.save(window(&mut bytes)));
    let _ = black_box(test.restore(window(&mut bytes)));
    let mut copy = black_box(test.clone());
    copy.reset();
    black_box(copy);
}

#[inline(never)]
fn classifier<M, const D: usize>(map: &M)
where
    M: FeatureMap<Inputs = Fixed<D>>,
    ScalarOf<M>: Default,
{
    let weights = black_box([Point::ZERO; 16]);
    let made = Classifier::new(map, [black_box(&weights); 2], sample::<f32, 2>());
    let mut classes = made.unwrap_or_else(|_| Classifier::empty(map));
    let class: Result<Class, _> = classes.class(map, &sample());
    let _ = black_box((classes.scores(map, &sample()), class));
    let window_of_samples = black_box(Embedding::new(map));
    let _ = black_box(classes.of_embedding(&window_of_samples));
    let _ = black_box(classes.class_of_embedding(&window_of_samples));
    let mut bytes = black_box([0; BYTES]);
    black_box(classes.saved_bytes());
    let _ = black_box(classes.save(map, window(&mut bytes)));
    let _ = black_box(classes.restore(map, window(&mut bytes)));
    black_box(classes.clone());
}

#[inline(never)]
fn change<M, const D: usize>(map: &M, p: &mut Embedding<M>, q: &mut Embedding<M>)
where
    M: FeatureMap<Inputs = Fixed<D>>,
    ScalarOf<M>: Default,
{
    let _ = black_box(p.add(map, &sample()));
    let _ = black_box(p.add_many(map, &black_box([sample(), sample()])));
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
    black_box((p.weight(), p.exact_weight(), p.amplitude(), p.frequencies(), p.saved_bytes()));
    p.exact_sums().for_each(|sums| {
        black_box(sums);
    });
    let _ = black_box((p.concentration(), p.squared_norm(), p.inner_product(q)));
    let _ = black_box(p.error_bar(number()));
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
    let Ok(streams) = TwoSample::from_embeddings(map, p, q) else {
        return;
    };
    if let Ok(mut alternative) = Alternative::new(&streams, black_box(1)) {
        let _ = black_box((alternative.push_p(&sample()), alternative.push_q(&sample())));
        let interval: Result<Interval, _> = alternative.interval(number());
        let _ = black_box((alternative.deviation(), interval));
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
    let many = black_box([sample(), sample()]);
    let _ = black_box((test.push_p_many(&many), test.push_q_many(&many)));
    let _ = black_box(test.push_p_weighted(&sample(), number()));
    let _ = black_box(test.push_q_weighted(&sample(), number()));
    let _ = black_box((test.mmd2_biased(), test.mmd2_unbiased(), test.mmd()));
    for assumption in black_box([Assumption::Nothing, Assumption::ManySamples]) {
        let _ = black_box((test.threshold(assumption, number()), test.p_value(assumption)));
    }
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
    M: FeatureMap<Inputs = Fixed<D>>,
    ScalarOf<M>: Default,
{
    let Ok(mut family) = KernelFamily::new(map, sample::<f32, 3>()) else {
        return;
    };
    let _ = black_box((family.push_p(&sample()), family.push_q(&sample())));
    let _ = black_box((family.biased(), family.unbiased()));
    let largest: Result<Member, _> = family.maximum_biased();
    let _ = black_box((largest, family.maximum_unbiased()));
    black_box((family.map().fingerprint(), family.p(), family.q(), family.bandwidths()));
    let _ = black_box(family.push_p_weighted(&sample(), number()));
    let _ = black_box(family.push_q_weighted(&sample(), number()));
    let _ = black_box((family.forget_p(number()), family.forget_q(number())));
    for assumption in black_box([Assumption::Nothing, Assumption::ManySamples]) {
        let _ = black_box((family.threshold(assumption, number()), family.p_value(assumption)));
    }
    let mut bytes = black_box([0; BYTES]);
    black_box(family.saved_bytes());
    let _ = black_box(family.save(window(&mut bytes)));
    let _ = black_box(family.restore(window(&mut bytes)));
    black_box(&mut family).reset();
}
