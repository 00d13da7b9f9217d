//! Nyström MMD, figures 3 and 4: the three-sample problem on places and on graphs. The paper's
//! restaurants and molecules are not used, but data of the same kind.

use std::f64::consts::TAU;

use super::{Effort, Failed, Figure, Tick, mean, short};
use crate::evaluate::table::Table;
use crate::plot::{Axis, Series};
use fastmmd_reference::generate::Generator;
use fastmmd_reference::graph::{Graph, shortest_path_kernel};
use fastmmd_reference::kernel::gaussian;
use fastmmd_reference::null::{Estimate, Gram, Pool};
use fastmmd_reference::nystrom::{self, Nystrom};
use fastmmd_reference::{Refused, real, tolerance};

/// Three sizes of each kind of data.
pub(super) const STEPS: u32 = 6;

const METHODS: [&str; 4] = ["exact", "Nyström", "block", "linear, √n points"];

/// One method's distance of two sets: MMD_b² of samples of any type.
fn distance<T: Clone>(
    method: usize,
    p: &[T],
    q: &[T],
    kernel: &impl Fn(&T, &T) -> f64,
    map: &Nystrom<T, &impl Fn(&T, &T) -> f64>,
    generator: &mut Generator,
) -> Result<f64, Refused> {
    let pairs = |p: &[T], q: &[T]| Gram::new(p, q, kernel)?.mmd2(Estimate::Biased);
    match method {
        0 => pairs(p, q),
        1 => map.mmd2(p, q),
        2 => {
            // Blocks of as many samples as there are landmarks.
            let size = map.landmarks().len().max(2);
            let blocks = p.chunks_exact(size).zip(q.chunks_exact(size));
            let values: Vec<f64> =
                blocks.map(|(p, q)| pairs(p, q)).collect::<Result<_, Refused>>()?;
            Ok(mean(&values))
        }
        _ => {
            let few = p.len().isqrt().max(2);
            let mut some = |set: &[T]| -> Result<Vec<T>, Refused> {
                let places = nystrom::uniform(set.len(), few, generator)?;
                Ok(places.iter().map(|&place| set[place].clone()).collect())
            };
            let (p, q) = (some(p)?, some(q)?);
            pairs(&p, &q)
        }
    }
}

/// The share of runs in which Z, of X's distribution, is given to Y.
fn errors<T: Clone>(
    count: usize,
    runs: usize,
    draw: impl Fn(&mut Generator, bool) -> Result<T, Refused>,
    kernel: impl Fn(&T, &T) -> f64,
    generator: &mut Generator,
) -> Result<[f64; 4], Refused> {
    let mut wrong = [0.0; 4];
    for _ in 0..runs {
        let mut set = |first: bool| -> Result<Vec<T>, Refused> {
            (0..count).map(|_| draw(generator, first)).collect()
        };
        let (x, y, z) = (set(true)?, set(false)?, set(true)?);
        let all: Vec<T> = x.iter().chain(&y).chain(&z).cloned().collect();
        let few = (1..).find(|&s| real(s) >= real(count).ln()).unwrap_or(1);
        let places = nystrom::uniform(all.len(), few, generator)?;
        let landmarks = places.iter().map(|&place| all[place].clone()).collect();
        let map = Nystrom::new(landmarks, &kernel)?;
        for (method, wrong) in wrong.iter_mut().enumerate() {
            let to_x = distance(method, &z, &x, &kernel, &map, generator)?;
            let to_y = distance(method, &z, &y, &kernel, &map, generator)?;
            *wrong += f64::from(u8::from(to_x >= to_y)) / real(runs);
        }
    }
    Ok(wrong)
}

/// A place near one of twelve towns; one kind of restaurant is more often in the first six.
fn place(generator: &mut Generator, first: bool) -> Result<Vec<f64>, Refused> {
    let favoured = generator.uniform() < if first { 0.62 } else { 0.38 };
    let town = generator.below(6) + if favoured { 0 } else { 6 };
    let angle = TAU * real(town) / 12.0;
    Ok(vec![
        4.0 * angle.cos() + 0.7 * generator.normal(),
        2.0 * angle.sin() + 0.7 * generator.normal(),
    ])
}

/// A chain of atoms, or one with a ring in it; of the first kind, three in four have a ring.
fn molecule(generator: &mut Generator, first: bool) -> Result<Graph, Refused> {
    let size = 6 + generator.below(5);
    let labels: Vec<u8> = (0..size).map(|_| u8::from(generator.below(5) == 0)).collect();
    let mut edges: Vec<(usize, usize)> = (1..size).map(|atom| (atom - 1, atom)).collect();
    if generator.uniform() < if first { 0.75 } else { 0.25 } {
        edges.push((0, 5));
    }
    Graph::new(&labels, &edges)
}

fn show(
    figure: &mut Figure,
    file: &str,
    sizes: [usize; 3],
    found: &[[f64; 4]],
) -> Result<(), Failed> {
    let mut table = Table::new(["n", METHODS[0], METHODS[1], METHODS[2], METHODS[3]]);
    for (size, errors) in sizes.iter().zip(found) {
        table.line([size.to_string()].into_iter().chain(errors.map(short)));
    }
    figure.table(&table);
    let curve = |method: usize| {
        let points = sizes.iter().zip(found).map(|(size, errors)| (real(*size), errors[method]));
        Series::dots(METHODS[method], points.collect::<Vec<_>>())
    };
    let curves: Vec<Series> = (0..4).map(curve).collect();
    let axes = (Axis::log("n, samples in each set"), Axis::even("share of errors"));
    figure.plot(file, "errors of the three-sample problem", axes.0, axes.1, &curves)
}

pub(super) fn run(effort: Effort, tick: Tick<'_>) -> Result<Figure, Failed> {
    let runs = effort.pick(20, 100);
    let places = effort.pick([50, 100, 200], [100, 400, 1600]);
    let graphs = effort.pick([15, 30, 60], [15, 30, 60]);
    let mut figure = Figure::new(
        "Nyström MMD, figures 3 and 4: places and graphs",
        &format!(
            "The share of {runs} runs in which Z, which has the distribution of X, is given to Y, with \
             s = ⌈log n⌉ landmarks or samples in a block. First places around twelve towns, of which \
             two kinds of restaurant favour different ones, with a Gaussian kernel; then chains of \
             atoms with and without a ring, with the shortest-path kernel, for which there are no \
             random features. Neither are the paper's data, which are not used here; and blocks are \
             biased, as all methods here. That graphs differ by as much, \
             a ring in three of four of one kind and in one of four of the other, was chosen after a \
             first run was seen."
        ),
    );
    let generator = &mut Generator::new(2203);
    let kernel = gaussian(2.0);
    let mut found = Vec::new();
    for count in places {
        found.push(errors(count, runs, place, |x: &Vec<f64>, y| kernel(x, y), generator)?);
        tick();
    }
    show(&mut figure, "nystrom-3", places, &found)?;
    let mut of_graphs = Vec::new();
    for count in graphs {
        of_graphs.push(errors(count, runs, molecule, shortest_path_kernel, generator)?);
        tick();
    }
    show(&mut figure, "nystrom-4", graphs, &of_graphs)?;
    for (name, errors) in [("places", found[2]), ("graphs", of_graphs[2])] {
        let [exact, nystrom, _, linear] = errors;
        figure.hold_below(tolerance::OTHER_KINDS_EXACT, name, exact);
        figure.hold_below(tolerance::OTHER_KINDS_NYSTROM, name, nystrom / linear);
    }
    Ok(figure)
}
