//! Statistics of two samples: MMD² and its significance, by the toolbox in `f64` over all pairs, or by
//! the core's frequencies.

use fastmmd::dynamic::Map;
use fastmmd::{Kernel, Profile, TwoSample};
use fastmmd_reference::features::Frequencies;
use fastmmd_reference::kernel as formula;
use fastmmd_reference::null::{Estimate, Features, Gram, Pool};
use fastmmd_reference::points::{Points, Weighted};
use fastmmd_reference::{error::Refused, exact};
use fastmmd_tune::distance;
use fastmmd_tune::memory::Memory;
use fastmmd_tune::null::{self, Method};
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;

use crate::error::{of_samples, value_error};
use crate::settings::{self, single};

/// Largest number of rows for the median distance, evenly spread.
const MOST_MEDIAN_ROWS: usize = 1000;

/// Most rows of both samples of which all pairs are kept: 3.2 GB.
const MOST_PAIRED_ROWS: usize = 20_000;

/// Runs the same code with the formula of any kernel.
macro_rules! with_formula {
    ($kernel:expr, $formula:ident => $result:expr) => {{
        let sigma = f64::from($kernel.bandwidth());
        match $kernel.profile() {
            Profile::Gaussian => {
                let $formula = formula::gaussian(sigma);
                $result
            }
            Profile::Laplacian => {
                let $formula = formula::laplacian(sigma);
                $result
            }
            Profile::Exponential => {
                let $formula = formula::exponential(sigma);
                $result
            }
            Profile::Matern32 => {
                let $formula = formula::matern32(sigma);
                $result
            }
            Profile::Matern52 => {
                let $formula = formula::matern52(sigma);
                $result
            }
        }
    }};
}

/// The rows of both samples.
struct Both {
    x: Points,
    y: Points,
}

impl Both {
    fn read(x: &PyReadonlyArray2<'_, f64>, y: &PyReadonlyArray2<'_, f64>) -> PyResult<Self> {
        let (x, y) = (points("X", x)?, points("Y", y)?);
        if x.dims() != y.dims() {
            let why = format!("{} columns; X has {}", y.dims(), x.dims());
            return Err(value_error("Y", why));
        }
        Ok(Self { x, y })
    }

    /// Rows of both.
    fn rows(&self) -> usize {
        self.x.len() + self.y.len()
    }

    /// One and the other.
    fn samples(&self) -> [&Points; 2] {
        [&self.x, &self.y]
    }

    /// How much the rows depend on earlier ones.
    fn memory(&self) -> Memory {
        let [x, y]: [Vec<&[f64]>; 2] = [&self.x, &self.y].map(|points| points.rows().collect());
        Memory::of([x.len(), y.len()], self.x.dims(), |sample, row, channel| {
            [&x, &y][sample][row][channel]
        })
    }

    /// The kernel of this name, as wide as the median distance if no bandwidth is given.
    fn kernel(&self, profile: &str, bandwidth: Option<f64>) -> PyResult<Kernel> {
        let bandwidth = match bandwidth {
            Some(bandwidth) => bandwidth,
            None => median_distance(&self.x, &self.y).ok_or_else(|| {
                value_error("bandwidth", "no median distance: all rows are equal")
            })?,
        };
        settings::kernel(profile, bandwidth)
    }

    fn map(&self, kernel: Kernel, sampling: &str, seed: u64, frequencies: usize) -> PyResult<Map> {
        settings::map(kernel, sampling, seed, self.x.dims(), frequencies)
    }
}

/// An array as points, all finite.
fn points(name: &str, rows: &PyReadonlyArray2<'_, f64>) -> PyResult<Points> {
    let array = rows.as_array();
    let values: Vec<f64> = array.iter().copied().collect();
    if let Some(at) = values.iter().position(|value| !value.is_finite()) {
        let (row, column) = (at / array.ncols(), at % array.ncols());
        let why = format!("row {row}, column {column}: {} is not a finite number", values[at]);
        return Err(value_error(name, why));
    }
    Points::new(array.ncols(), values).map_err(|error| value_error(name, error))
}

/// The median distance of at most [`MOST_MEDIAN_ROWS`] rows of both, evenly spread.
fn median_distance(x: &Points, y: &Points) -> Option<f64> {
    distance::median(x.rows().chain(y.rows()), x.len() + y.len(), MOST_MEDIAN_ROWS)
}

/// The estimate and the bandwidth; see `fastmmd.mmd2`.
#[pyfunction]
#[pyo3(signature = (x, y, *, kernel, bandwidth, unbiased, frequencies, sampling, seed))]
#[expect(clippy::too_many_arguments, reason = "called by name, from one place")]
pub(crate) fn mmd2(
    py: Python<'_>,
    x: PyReadonlyArray2<'_, f64>,
    y: PyReadonlyArray2<'_, f64>,
    kernel: &str,
    bandwidth: Option<f64>,
    unbiased: bool,
    frequencies: Option<usize>,
    sampling: &str,
    seed: u64,
) -> PyResult<(f64, f64)> {
    let both = Both::read(&x, &y)?;
    py.detach(|| {
        let kernel = both.kernel(kernel, bandwidth)?;
        let value = match frequencies {
            Some(count) => {
                by_frequencies(&both, &both.map(kernel, sampling, seed, count)?, unbiased)?
            }
            None => {
                let (p, q) = (Weighted::even(both.x.clone()), Weighted::even(both.y.clone()));
                with_formula!(kernel, formula => if unbiased {
                    exact::unbiased(&p, &q, formula)
                } else {
                    exact::biased(&p, &q, formula)
                })
                .map_err(of_samples)?
            }
        };
        Ok((value, f64::from(kernel.bandwidth())))
    })
}

/// MMD² as a device computes it, in `f32`.
fn by_frequencies(both: &Both, map: &Map, unbiased: bool) -> PyResult<f64> {
    let mut two = TwoSample::new(map);
    let mut row = Vec::new();
    for (name, points) in [("X", &both.x), ("Y", &both.y)] {
        for (number, values) in points.rows().enumerate() {
            row.clear();
            row.extend(values.iter().map(|value| single(*value)));
            let pushed = if name == "X" { two.push_p(&row) } else { two.push_q(&row) };
            pushed.map_err(|error| value_error(&format!("{name}, row {number}"), error))?;
        }
    }
    let value = if unbiased { two.mmd2_unbiased() } else { two.mmd2_biased() };
    value.map(f64::from).map_err(|error| value_error("X, Y", error))
}

/// The statistic and its p-value.
fn tested(
    pool: &impl Pool,
    method: Method,
    estimate: Estimate,
    draws: usize,
    seed: u64,
) -> Result<(f64, f64), Refused> {
    let statistic = pool.mmd2(estimate)?;
    let law = method.law(pool, estimate, draws, seed)?;
    // A p-value of exactly 0 is never justified.
    Ok((statistic, law.p_value(statistic).clamp(f64::MIN_POSITIVE, 1.0)))
}

/// Statistic, p-value, bandwidth, and rows of a block if blocks were shuffled; see
/// `fastmmd.two_sample_test`.
#[pyfunction]
#[pyo3(signature = (
    x, y, *, method, kernel, bandwidth, unbiased, frequencies, sampling, seed, draws
))]
#[expect(clippy::too_many_arguments, reason = "called by name, from one place")]
pub(crate) fn two_sample_test(
    py: Python<'_>,
    x: PyReadonlyArray2<'_, f64>,
    y: PyReadonlyArray2<'_, f64>,
    method: &str,
    kernel: &str,
    bandwidth: Option<f64>,
    unbiased: bool,
    frequencies: Option<usize>,
    sampling: &str,
    seed: u64,
    draws: usize,
) -> PyResult<(f64, f64, f64, Option<usize>)> {
    let both = Both::read(&x, &y)?;
    let method = settings::named("method", method, &Method::ALL, Method::name)?;
    let estimate = if unbiased { Estimate::Unbiased } else { Estimate::Biased };
    py.detach(|| {
        let kernel = both.kernel(kernel, bandwidth)?;
        let block = (method == Method::Blocks).then(|| both.memory().block);
        let tested = match frequencies {
            Some(count) => {
                let map = both.map(kernel, sampling, seed, count)?;
                let vectors = map.frequencies();
                let vectors = vectors.chunks_exact(both.x.dims());
                let turns = |vector: &[f32]| vector.iter().map(|it| f64::from(*it)).collect();
                Frequencies::new(vectors.map(turns).collect())
                    .and_then(|frequencies| match block {
                        None => Features::new(&frequencies, &both.x, &both.y),
                        Some(block) => null::block_features(&frequencies, both.samples(), block),
                    })
                    .and_then(|pool| tested(&pool, method, estimate, draws, seed))
            }
            None if both.rows() > MOST_PAIRED_ROWS => {
                let why = format!(
                    "all pairs of {} rows do not fit into memory; give a number, such as 1024",
                    both.rows()
                );
                return Err(value_error("frequencies", why));
            }
            None => with_formula!(kernel, formula => match block {
                None => Gram::of_points(&both.x, &both.y, formula),
                Some(block) => null::block_gram(both.samples(), block, formula),
            })
            .and_then(|pool| tested(&pool, method, estimate, draws, seed)),
        };
        let (statistic, p_value) = tested.map_err(|error| match error {
            Refused::BadParameter { .. } => value_error("draws", error),
            other => of_samples(other),
        })?;
        Ok((statistic, p_value, f64::from(kernel.bandwidth()), block))
    })
}
