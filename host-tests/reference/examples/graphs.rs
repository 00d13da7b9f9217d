//! Two-sample test on labelled graphs: Nyström MMD with the shortest-path kernel.
//!
//! The graphs are molecules: rings or chains of three kinds of atoms; the second set has more
//! rings. The same landmarks also solve the three-sample problem: which of the two sets is a third
//! one like?

use fastmmd_reference::Refused;
use fastmmd_reference::generate::Generator;
use fastmmd_reference::graph::{Graph, shortest_path_kernel};
use fastmmd_reference::null::{self, Estimate, Gram, Pool};
use fastmmd_reference::nystrom::{self, Nystrom};

/// A chain of 6 to 9 atoms, closed to a ring with a probability of `closed`.
fn molecule(generator: &mut Generator, closed: f64) -> Result<Graph, Refused> {
    let size = 6 + generator.below(4);
    let labels: Vec<u8> = (0..size).map(|_| b"CNO"[generator.below(3)]).collect();
    let mut bonds: Vec<(usize, usize)> = (1..size).map(|atom| (atom - 1, atom)).collect();
    if generator.uniform() < closed {
        bonds.push((size - 1, 0));
    }
    Graph::new(&labels, &bonds)
}

fn main() -> Result<(), Refused> {
    let generator = &mut Generator::new(1);
    let mut set = |count: usize, closed: f64| -> Result<Vec<Graph>, Refused> {
        (0..count).map(|_| molecule(generator, closed)).collect()
    };
    let (x, y, z) = (set(120, 0.2)?, set(120, 0.8)?, set(120, 0.2)?);

    let pool = Gram::new(&x, &y, shortest_path_kernel)?;
    let null = null::permutation(&pool, Estimate::Unbiased, 499, generator)?;
    let exact = pool.mmd2(Estimate::Unbiased)?;
    println!("few rings against many: MMD_u² {exact:.4}, p = {:.3}", null.p_value(exact));
    assert!(null.p_value(exact) < 0.01);

    let pool = Gram::new(&x, &z, shortest_path_kernel)?;
    let null = null::permutation(&pool, Estimate::Unbiased, 499, generator)?;
    let same = pool.mmd2(Estimate::Unbiased)?;
    println!("few rings against few:  MMD_u² {same:.4}, p = {:.3}", null.p_value(same));

    // Leverage scores by a pilot of twice the landmarks, then k̂ + λδ.
    let all: Vec<Graph> = x.iter().chain(&y).cloned().collect();
    let pick = |chosen: Vec<usize>| chosen.into_iter().map(|index| all[index].clone()).collect();
    let pilot =
        Nystrom::new(pick(nystrom::uniform(all.len(), 24, generator)?), shortest_path_kernel)?;
    let scores = pilot.leverage(&all, 1e-3)?;
    let chosen = nystrom::by_scores(&scores, 12, generator)?;
    let map = Nystrom::new(pick(chosen), shortest_path_kernel)?;
    let to_x = map.regularised(&z, &x, 1e-6, Graph::clone)?;
    let to_y = map.regularised(&z, &y, 1e-6, Graph::clone)?;
    println!("by 12 landmarks, the third set is {to_x:.5} from few and {to_y:.5} from many rings");
    assert!(to_x < to_y);
    Ok(())
}
