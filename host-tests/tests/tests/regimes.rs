//! Compares the core's kernel on sets and mixture weights with the f64 oracle, which uses all pairs
//! of samples and solves the quadratic program in another way.

use crate::common::dense;
use fastmmd::{Embedding, Fourier, Regimes};
use fastmmd_reference::generate::Generator;
use fastmmd_reference::population::Normal;
use fastmmd_reference::{Points, Refused, Weighted, data, exact, real, simplex, tolerance};
use nalgebra::{DMatrix, DVector};

type Map = Fourier<2, 128>;
const REGIMES: usize = 4;

/// Four regimes in the plane.
fn regimes() -> [Normal; REGIMES] {
    [
        ([0.0, 0.0], [1.0, 1.0]),
        ([2.5, 0.0], [0.5, 1.0]),
        ([0.0, 3.0], [1.0, 0.4]),
        ([0.0, 0.0], [2.5, 0.3]),
    ]
    .map(|(mean, deviation)| Normal { mean: mean.to_vec(), deviation: deviation.to_vec() })
}

fn embedded(map: &Map, points: &Points) -> Embedding<Map> {
    let mut embedding = Embedding::new(map);
    for sample in points.arrays::<2>().expect("a plane") {
        embedding.add(map, &sample).expect("finite");
    }
    embedding
}

/// Samples from each regime, as many as `shares` says.
fn mixed(generator: &mut Generator, shares: [usize; REGIMES]) -> Result<Points, Refused> {
    let mut values = Vec::new();
    for (law, count) in regimes().iter().zip(shares).filter(|(_, count)| *count > 0) {
        values.extend(data::normal(generator, count, law)?.rows().flatten());
    }
    Points::new(2, values)
}

#[test]
fn the_kernel_on_sets_is_the_mean_over_all_pairs() -> Result<(), Refused> {
    let map = Map::gaussian(1);
    let frequencies = dense(&map);
    let kernel = |x: &[f64], y: &[f64]| {
        let difference: Vec<f64> = x.iter().zip(y).map(|(a, b)| a - b).collect();
        frequencies.mean_cosine(&difference)
    };
    let mut generator = Generator::new(71);
    let mut sets = Vec::new();
    for (index, law) in regimes().iter().enumerate() {
        sets.push(data::normal(&mut generator, 40 + 10 * index, law)?);
    }
    for a in &sets {
        for b in &sets {
            let value = embedded(&map, a).inner_product(&embedded(&map, b)).expect("one map");
            let reference =
                exact::mean_kernel(&Weighted::even(a.clone()), &Weighted::even(b.clone()), kernel)?;
            tolerance::MMD2.hold("kernel on sets", f64::from(value), reference);
        }
    }
    Ok(())
}

#[test]
fn matching_weights_are_those_of_the_reference() -> Result<(), Refused> {
    let map = Map::gaussian(1);
    let frequencies = dense(&map);
    let mut generator = Generator::new(72);
    let mut known = Vec::new();
    for law in &regimes() {
        known.push(data::normal(&mut generator, 400, law)?);
    }
    let embeddings: Vec<_> = known.iter().map(|set| embedded(&map, set)).collect();
    let [a, b, c, d] = embeddings.as_slice() else { return Err(Refused::Empty) };
    let regimes = Regimes::new([a, b, c, d]).expect("one map, many samples");
    let spectra: Vec<_> = known
        .iter()
        .map(|set| frequencies.spectrum(&Weighted::even(set.clone())))
        .collect::<Result<_, _>>()?;
    // Pairs of different samples only: (m²‖μ‖² − m)/(m² − m).
    let gram = DMatrix::from_fn(REGIMES, REGIMES, |i, j| {
        let m = real(known[i].len());
        let all = spectra[i].inner_product(&spectra[j]);
        if i == j { (m * m * all - m) / (m * m - m) } else { all }
    });
    for shares in [
        [100, 100, 100, 100],
        [300, 100, 0, 0],
        [0, 0, 0, 200],
        [30, 170, 150, 50],
        [10, 0, 390, 0],
    ] {
        let now = mixed(&mut generator, shares)?;
        let spectrum = frequencies.spectrum(&Weighted::even(now.clone()))?;
        let products = spectra.iter().map(|known| known.inner_product(&spectrum));
        let reference = simplex::minimise(&gram, &DVector::from_iterator(REGIMES, products))?;
        let weights = regimes.proportions(&embedded(&map, &now)).expect("some samples");
        let total: usize = shares.iter().sum();
        for ((weight, reference), share) in weights.iter().zip(&reference).zip(shares) {
            println!(
                "{weight:.4}, reference {reference:.4}, truth {:.4}",
                real(share) / real(total)
            );
            tolerance::REGIME_WEIGHT.hold("weight", f64::from(*weight), *reference);
            tolerance::REGIME_SHARE.hold("share", f64::from(*weight), real(share) / real(total));
        }
        let nearest = regimes.nearest(&embedded(&map, &now)).expect("some samples");
        let distances: Vec<f64> =
            spectra.iter().map(|known| known.unbiased(&spectrum)).collect::<Result<_, _>>()?;
        let least = distances.iter().copied().fold(f64::INFINITY, f64::min);
        tolerance::MMD2.hold("nearest", f64::from(nearest.squared), least);
        tolerance::MMD2.hold("its place", distances[nearest.index], least);
    }
    Ok(())
}
