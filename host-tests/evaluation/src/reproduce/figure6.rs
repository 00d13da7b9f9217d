//! FastMMD, figure 6: MMD² on rings for a family of bandwidths, and the scatter of estimates.

use fastmmd::dynamic::Map;
use fastmmd::{Kernel, KernelFamily, Profile, Sampling};

use super::figure5::BLOCK;

use super::{Effort, Failed, Figure, Tick, deviation, mean, short};
use crate::evaluate::devices::fleet;
use crate::evaluate::table::Table;
use crate::plot::{Axis, Series};
use fastmmd_reference::generate::Generator;
use fastmmd_reference::kernel::gaussian;
use fastmmd_reference::{
    Points, Refused, Weighted, b_test, data, exact, linear, single, tolerance,
};

pub(super) const STEPS: u32 = 3;

/// Samples in each ring.
const SAMPLES: usize = 200;

/// One value for each bandwidth.
pub type Row = [f64; 16];

/// Estimates of MMD_u² by four methods, over seeds or orders of samples, and the exact values.
#[derive(Debug, Clone)]
pub struct Scatter {
    /// MMD_u² over all pairs.
    pub exact: Row,
    /// By the core with independent frequencies, L = 1024.
    pub fourier: Vec<Row>,
    /// By the core with Fastfood, L = 1024.
    pub fastfood: Vec<Row>,
    /// By blocks of √n samples, in random orders.
    pub b_test: Vec<Row>,
    /// By pairs, in random orders.
    pub linear: Vec<Row>,
}

/// σ from 0.1 to 100 in steps of 10^(1/5).
#[must_use]
pub fn bandwidths() -> Row {
    let mut exponent = -1.2;
    [(); 16].map(|()| {
        exponent += 0.2;
        f64::from(single(10_f64.powf(exponent)))
    })
}

/// Standard deviation for each bandwidth.
#[must_use]
pub fn deviations(rows: &[Row]) -> Row {
    std::array::from_fn(|column| deviation(&rows.iter().map(|row| row[column]).collect::<Vec<_>>()))
}

/// Frequencies of each map.
const FREQUENCIES: usize = 1024;

/// MMD_u² of every bandwidth, over seeds, by the core's kernel family.
fn family(
    p: &[[f32; 2]],
    q: &[[f32; 2]],
    seeds: usize,
    draw: impl Fn(u64) -> Result<Map, fastmmd::Error> + Sync,
) -> Result<Vec<Row>, fastmmd::Error> {
    let one = |seed: usize| {
        let map = draw(u64::try_from(seed).unwrap_or(0))?;
        let mut family = KernelFamily::new(&map, bandwidths().map(single))?;
        for (p, q) in p.iter().zip(q) {
            family.push_p(p)?;
            family.push_q(q)?;
        }
        Ok(family.unbiased()?.map(|member| f64::from(member.squared)))
    };
    fleet(seeds, one).into_iter().collect()
}

/// The B-test and MMD-linear, which depend on the order of the samples.
fn peers(
    p: &Points,
    q: &Points,
    orders: usize,
    generator: &mut Generator,
) -> Result<[Vec<Row>; 2], Refused> {
    let mut rows = [Vec::new(), Vec::new()];
    let block = b_test::usual_block(SAMPLES);
    for _ in 0..orders {
        let p = p.reordered(&generator.order(SAMPLES))?;
        let q = q.reordered(&generator.order(SAMPLES))?;
        let [mut blocks, mut pairs] = [[0.0; 16]; 2];
        for (index, s) in bandwidths().into_iter().enumerate() {
            blocks[index] = b_test::mmd2(&p, &q, block, gaussian(s))?;
            pairs[index] = linear::mmd2(&p, &q, gaussian(s))?;
        }
        rows[0].push(blocks);
        rows[1].push(pairs);
    }
    Ok(rows)
}

/// Measures the figure on one pair of rings of 200 samples.
///
/// # Errors
/// Those of the core and the oracle; none are expected.
pub fn scatter(seeds: usize, orders: usize, tick: Tick<'_>) -> Result<Scatter, Failed> {
    let mut generator = Generator::new(42);
    let p = data::ring(&mut generator, SAMPLES, true)?;
    let q = data::ring(&mut generator, SAMPLES, false)?;
    let (whole_p, whole_q) = (Weighted::even(p.clone()), Weighted::even(q.clone()));
    let mut truth = [0.0; 16];
    for (truth, s) in truth.iter_mut().zip(bandwidths()) {
        *truth = exact::unbiased(&whole_p, &whole_q, gaussian(s))?;
    }
    let [blocks, pairs] = peers(&p, &q, orders, &mut generator)?;
    tick();
    let kernel = Kernel::new(Profile::Gaussian, 1.0)?;
    let (p, q) = (p.arrays()?, q.arrays()?);
    let independent = Sampling::Independent;
    let draw = |seed| Map::fourier(kernel, independent, seed, 2, FREQUENCIES);
    let fourier = family(&p, &q, seeds, draw)?;
    tick();
    let draw = |seed| Map::fastfood(kernel, seed, 2, BLOCK, FREQUENCIES);
    let fastfood = family(&p, &q, seeds, draw)?;
    tick();
    Ok(Scatter { exact: truth, fourier, fastfood, b_test: blocks, linear: pairs })
}

impl Scatter {
    /// The bandwidth with the largest MMD².
    ///
    /// # Panics
    /// Never: there are sixteen bandwidths.
    #[must_use]
    pub fn best(&self) -> usize {
        let order = |a: &usize, b: &usize| self.exact[*a].total_cmp(&self.exact[*b]);
        (0..16).max_by(order).expect("sixteen")
    }

    /// Name, values and deviations of each method.
    fn methods(&self) -> [(&'static str, &[Row], Row); 4] {
        [
            ("Fourier", &self.fourier),
            ("Fastfood", &self.fastfood),
            ("B-test", &self.b_test),
            ("MMD-linear", &self.linear),
        ]
        .map(|(name, rows)| (name, rows.as_slice(), deviations(rows)))
    }
}

pub(super) fn run(effort: Effort, tick: Tick<'_>) -> Result<Figure, Failed> {
    let (seeds, orders) = effort.pick((30, 100), (300, 1000));
    let scatter = scatter(seeds, orders, tick)?;
    let mut figure = Figure::new(
        "FastMMD, figure 6: MMD² on rings for a family of kernels",
        &format!(
            "Exact MMD_u² of 200 samples in each set, and the standard deviation of estimates over \
             {seeds} seeds (L = 1024) or {orders} orders of the samples (B-test, MMD-linear). \
             MMD_b², which the paper has beside it, is left out: B-test and MMD-linear have none."
        ),
    );
    let methods = scatter.methods();
    let mut table = Table::new(["σ", "exact", "Fourier", "Fastfood", "B-test", "MMD-linear"]);
    for (index, s) in bandwidths().into_iter().enumerate() {
        let spread = methods.each_ref().map(|(_, _, deviations)| short(deviations[index]));
        table.line([short(s), short(scatter.exact[index])].into_iter().chain(spread));
    }
    figure.table(&table);
    let mut values = vec![Series::dots("exact", bandwidths().into_iter().zip(scatter.exact))];
    let mut spreads = Vec::new();
    for (name, rows, deviations) in &methods {
        let means = (0..16).map(|i| mean(&rows.iter().map(|row| row[i]).collect::<Vec<_>>()));
        values.push(Series::line(name, bandwidths().into_iter().zip(means)));
        spreads.push(Series::dots(name, bandwidths().into_iter().zip(*deviations)));
    }
    let bandwidth = Axis::log("bandwidth σ");
    let mean_axis = Axis::even("mean of MMD_u²");
    figure.plot("fastmmd-6-mean", "MMD² on rings", bandwidth, mean_axis, &values)?;
    let spread_axis = Axis::log("standard deviation of MMD_u²");
    figure.plot(
        "fastmmd-6-deviation",
        "scatter of MMD² on rings",
        bandwidth,
        spread_axis,
        &spreads,
    )?;
    let best = scatter.best();
    let [.., b_test, linear] = &methods;
    for (name, _, deviations) in &methods[..2] {
        let ratio = |peer: &Row| deviations[best] / peer[best];
        figure.hold_below(tolerance::FIGURE6_B_TEST, name, ratio(&b_test.2));
        figure.hold_below(tolerance::FIGURE6_LINEAR, name, ratio(&linear.2));
    }
    Ok(figure)
}
