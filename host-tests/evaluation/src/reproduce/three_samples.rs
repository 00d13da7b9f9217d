//! Nyström MMD, figure 2: does Z have the distribution of X or of Y? Approximations of equal cost.

use super::{Effort, Failed, Figure, Tick, deviation, mean, seconds, short};
use crate::evaluate::table::Table;
use crate::plot::{Axis, Series};
use fastmmd_reference::features::Frequencies;
use fastmmd_reference::generate::Generator;
use fastmmd_reference::kernel::gaussian;
use fastmmd_reference::nystrom::{self, Nystrom};
use fastmmd_reference::{Points, Refused, Weighted, b_test, exact, linear, real, tolerance};

/// Six sizes.
pub(super) const STEPS: u32 = 6;

/// The methods, in the order of results.
const METHODS: [&str; 7] = [
    "exact",
    "random features",
    "Nyström, uniform",
    "Nyström, leverage",
    "block",
    "linear, by pairs",
    "linear, √n points",
];

/// λ of the leverage scores.
const RIDGE: f64 = 1e-3;

/// One run: three samples of n numbers each.
struct Problem {
    /// X, Y and Z.
    sets: [Points; 3],
    bandwidth: f64,
    /// s = ⌈log n⌉ landmarks, frequencies, or samples in a block.
    few: usize,
}

/// ⌈log n⌉.
fn logarithm(count: usize) -> usize {
    (1..).find(|&s| real(s) >= real(count).ln()).unwrap_or(1)
}

impl Problem {
    /// X and Z of N(0, 1), Y of N(0, 2); the kernel's 2σ² is the mean squared distance in X.
    fn draw(generator: &mut Generator, count: usize) -> Result<Self, Refused> {
        let mut set = |deviation: f64| {
            Points::new(1, (0..count).map(|_| deviation * generator.normal()).collect())
        };
        let sets = [set(1.0)?, set(2.0_f64.sqrt())?, set(1.0)?];
        let values: Vec<f64> = sets[0].rows().flatten().copied().collect();
        Ok(Self { sets, bandwidth: deviation(&values), few: logarithm(count) })
    }

    /// All three sets, each as single numbers.
    fn numbers(&self) -> [Vec<f64>; 3] {
        self.sets.each_ref().map(|set| set.rows().flatten().copied().collect())
    }

    /// MMD between X and Y, Z and X, Z and Y by one method.
    fn distances(&self, method: usize, generator: &mut Generator) -> Result<[f64; 3], Refused> {
        let kernel = gaussian(self.bandwidth);
        let squared = match method {
            0 => {
                let [x, y, z] = self.sets.each_ref().map(|set| Weighted::even(set.clone()));
                [
                    exact::biased(&x, &y, kernel)?,
                    exact::biased(&z, &x, kernel)?,
                    exact::biased(&z, &y, kernel)?,
                ]
            }
            1 => {
                let frequencies = Frequencies::gaussian(generator, self.few, 1, self.bandwidth)?;
                let spectrum = |set: &Points| frequencies.spectrum(&Weighted::even(set.clone()));
                let [x, y, z] = &self.sets;
                let (x, y, z) = (spectrum(x)?, spectrum(y)?, spectrum(z)?);
                [x.biased(&y), z.biased(&x), z.biased(&y)]
            }
            2 | 3 => {
                let sets = self.numbers();
                let all: Vec<f64> = sets.iter().flatten().copied().collect();
                let one = |x: &f64, y: &f64| kernel(&[*x], &[*y]);
                let chosen = nystrom::uniform(all.len(), self.few, generator)?;
                let mut map = Nystrom::new(chosen.iter().map(|&i| all[i]).collect(), one)?;
                if method == 3 {
                    let scores = map.leverage(&all, RIDGE)?;
                    let chosen = nystrom::by_scores(&scores, self.few, generator)?;
                    map = Nystrom::new(chosen.iter().map(|&i| all[i]).collect(), one)?;
                }
                let [x, y, z] = &sets;
                [map.mmd2(x, y)?, map.mmd2(z, x)?, map.mmd2(z, y)?]
            }
            4 => {
                let block = |p: &Points, q: &Points| b_test::mmd2(p, q, self.few, kernel);
                let [x, y, z] = &self.sets;
                [block(x, y)?, block(z, x)?, block(z, y)?]
            }
            5 => {
                let [x, y, z] = &self.sets;
                [
                    linear::mmd2(x, y, kernel)?,
                    linear::mmd2(z, x, kernel)?,
                    linear::mmd2(z, y, kernel)?,
                ]
            }
            _ => {
                let mut root = |p, q| linear::of_root(p, q, kernel, generator);
                let [x, y, z] = &self.sets;
                [root(x, y)?, root(z, x)?, root(z, y)?]
            }
        };
        Ok(squared.map(|squared| squared.max(0.0).sqrt()))
    }
}

/// The results of the runs of one size.
struct Outcome {
    count: usize,
    errors: [f64; 7],
    off: [f64; 7],
    times: [f64; 7],
}

/// A line of a table.
type Row = fn(&Outcome) -> [f64; 7];

fn measure(count: usize, runs: usize, generator: &mut Generator) -> Result<Outcome, Failed> {
    let (mut errors, mut times) = ([0.0; 7], [f64::INFINITY; 7]);
    let mut off: [Vec<f64>; 7] = Default::default();
    for _ in 0..runs {
        let problem = Problem::draw(generator, count)?;
        let mut truth = 0.0;
        for method in 0..METHODS.len() {
            let mut distances = [0.0; 3];
            let time = seconds(1, || {
                distances = problem.distances(method, generator)?;
                Ok(())
            })?;
            times[method] = times[method].min(time);
            let [between, to_x, to_y] = distances;
            if method == 0 {
                truth = between;
            }
            errors[method] += f64::from(u8::from(to_x >= to_y)) / real(runs);
            off[method].push((between - truth).abs());
        }
    }
    Ok(Outcome { count, errors, off: off.map(|values| mean(&values)), times })
}

pub(super) fn run(effort: Effort, tick: Tick<'_>) -> Result<Figure, Failed> {
    let sizes = effort.pick([50, 100, 200, 300, 500, 1000], [100, 250, 500, 1000, 2500, 5000]);
    let runs = effort.pick(6, 40);
    let mut figure = Figure::new(
        "Nyström MMD, figure 2: the three-sample problem",
        &format!(
            "X and Z of N(0, 1), Y of N(0, 2); n samples each, {runs} runs, and s = ⌈log n⌉ \
             landmarks, frequencies or samples in a block. The kernel is Gaussian, 2σ² being the \
             mean squared distance; Nyström MMD is without the term λδ. |approximate − exact| is of \
             MMD between X and Y, and times are over that of Nyström MMD with uniform landmarks. \
             *Linear* has two meanings: the mean over pairs of FastMMD, and the paper's own, MMD of \
             √n random samples. Three things are not as in the paper: in full there are 40 runs \
             instead of 10, which do not tell random features from linear MMD by pairs; both linear \
             ones still err at the largest n, and so are held to nothing; and random features are \
             less accurate than Nyström MMD and, for many samples, than blocks, so they are held to \
             linear MMD alone."
        ),
    );
    let generator = &mut Generator::new(2022);
    let mut outcomes = Vec::new();
    for count in sizes {
        outcomes.push(measure(count, runs, generator)?);
        tick();
    }
    let headings: [&str; 8] = std::array::from_fn(|i| if i == 0 { "n" } else { METHODS[i - 1] });
    let rows: [(&str, Row); 3] = [
        ("Share of runs in which Z is given to Y:", |o| o.errors),
        ("|approximate − exact|:", |o| o.off),
        ("Time:", |o| o.times.map(|time| time / o.times[2])),
    ];
    for (what, row) in rows {
        figure.say(what);
        let mut table = Table::new(headings);
        for outcome in &outcomes {
            let cells = row(outcome).map(short);
            table.line([outcome.count.to_string()].into_iter().chain(cells));
        }
        figure.table(&table);
    }
    let curve = |method: usize, value: fn(&Outcome, usize) -> f64| {
        let points = outcomes.iter().map(|o| (real(o.count), value(o, method)));
        Series::dots(METHODS[method], points.collect::<Vec<_>>())
    };
    let count = Axis::log("n, samples in each set");
    let off: Vec<_> = (1..7).map(|method| curve(method, |o, m| o.off[m])).collect();
    figure.plot("nystrom-2-error", "|approximate − exact| MMD", count, Axis::log("error"), &off)?;
    let times: Vec<_> = (0..7).map(|m| curve(m, |o, m| o.times[m] / o.times[2])).collect();
    let over = Axis::log("time over Nyström, uniform");
    figure.plot("nystrom-2-time", "time of three distances", count, over, &times)?;

    super::cost::show(&mut figure)?;
    let largest = &outcomes[5];
    for (method, name) in METHODS.iter().enumerate().take(5) {
        figure.hold_below(tolerance::THREE_SAMPLE_ERRORS, name, largest.errors[method]);
    }
    for method in [2, 3] {
        let name = METHODS[method];
        let over = largest.off[method] / largest.off[4];
        figure.hold_below(tolerance::THREE_SAMPLE_NYSTROM, &format!("{name} over block"), over);
    }
    for method in [5, 6] {
        let over = largest.off[1] / largest.off[method];
        let name = format!("random features over {}", METHODS[method]);
        figure.hold_below(tolerance::THREE_SAMPLE_FEATURES, &name, over);
    }
    Ok(figure)
}
