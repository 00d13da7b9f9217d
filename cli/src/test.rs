//! `test`: a two-sample test of two files.

use fastmmd::dynamic::{self, Map};
use fastmmd::{Error, FeatureMap, Kernel, MapKind, Profile, Sampling, TwoSample};
use fastmmd_reference::features::Frequencies;
use fastmmd_reference::null::{Estimate, Features, Pool as _};
use fastmmd_reference::{Weighted, exact, kernel};
use fastmmd_tune::memory::Memory;
use fastmmd_tune::null::{self, Method};
use serde_json::{Value, json};

use crate::args::{Sigma, TestArguments};
use crate::bar::Working;
use crate::blocks;
use crate::fault::Fault;
use crate::report::{self, number};
use crate::sample::{Readings, median_distance, points, refused, same_columns};

/// Largest number of rows of each file, evenly spread, for the null distribution.
const MOST_NULL_ROWS: usize = 2000;
/// Largest number of rows of both files for the median distance.
const MOST_MEDIAN_ROWS: usize = 1000;
/// Number of draws of a resampled null distribution, unless the level needs more.
const DRAWS: usize = 999;
/// Largest number of draws; a level that needs more is refused.
const MOST_DRAWS: f64 = 100_000.0;
/// Most channels that are tested by themselves.
const MOST_CHANNELS: usize = 256;
/// Bandwidths of the family, in median distances.
const FAMILY: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];

/// Runs the test; returns whether the files differ.
pub(crate) fn run(arguments: &TestArguments) -> Result<bool, Fault> {
    let working = Working::begin("testing");
    let read = |path| Readings::read(path, &arguments.columns, arguments.missing);
    let (mut x, mut y) = (read(&arguments.x)?, read(&arguments.y)?);
    let names = agree(&x, &y)?;
    if arguments.standardise {
        standardise(&mut x, &mut y);
    }
    let memory = blocks::memory(&x, &y);
    let null = match arguments.null {
        Some(null) => null,
        None if memory.is_dependent() => Method::Blocks,
        None => Method::Gamma,
    };
    // What is told of the files and what is compared with the threshold are of the same rows.
    let whole = |sample: &mut Readings| match null {
        Method::Blocks => sample.keep_whole(memory.block),
        _ => 0,
    };
    let left_out = [whole(&mut x), whole(&mut y)];
    let plan = Plan { null, memory, left_out, map: arguments.map };
    let sigmas = match arguments.sigma {
        Sigma::Number(sigma) => vec![sigma],
        Sigma::Median => vec![median(&x, &y)?],
        Sigma::Family => {
            let median = median(&x, &y)?;
            FAMILY.map(|factor| factor * median).to_vec()
        }
    };
    // Several tests share the level (Bonferroni).
    let tests = sigmas.len();
    let mut best: Option<Tested> = None;
    for sigma in sigmas {
        let tested = test(arguments, &plan, &x, &y, sigma, tests)?;
        if best.as_ref().is_none_or(|best| tested.p_value < best.p_value) {
            best = Some(tested);
        }
    }
    let best = best.ok_or_else(|| Fault::new("no bandwidth"))?;
    let channels = channels(arguments, &plan, &x, &y)?;
    if arguments.json {
        let mut object = best.json(arguments, &x, &y)?;
        plan.tell(&mut object);
        let channels = channels.iter().map(
            |(name, p)| json!({ "name": name, "p_value": p, "differs": *p <= arguments.alpha }),
        );
        object["channels"] = channels.collect();
        drop(working);
        report::say_json(&object)?;
    } else {
        let mut lines = best.lines(arguments, &x, &y, &names)?;
        let last = lines.pop();
        lines.extend(plan.lines());
        lines.extend(last);
        lines.extend(which(best.reject(arguments.alpha), &channels, arguments.alpha));
        drop(working);
        lines.iter().try_for_each(report::say)?;
    }
    Ok(best.reject(arguments.alpha))
}

/// How rows are tested.
struct Plan {
    null: Method,
    memory: Memory,
    /// Rows of each file that fill no block.
    left_out: [usize; 2],
    map: MapKind,
}

impl Plan {
    fn tell(&self, object: &mut Value) {
        object["null"] = json!(self.null.name());
        object["memory_rows"] = json!(self.memory.rows);
        object["independent_rows"] = json!(self.memory.worth);
        object["block_rows"] = json!((self.null == Method::Blocks).then_some(self.memory.block));
        object["left_out_rows"] = json!(self.left_out);
    }

    fn lines(&self) -> Vec<String> {
        let Memory { rows: [x, y], worth: [m, n], block, short } = self.memory;
        if !self.memory.is_dependent() {
            let none = "memory      none: rows do not depend on earlier ones".to_owned();
            return std::iter::once(none).chain(self.left_out_line()).collect();
        }
        let mut lines = vec![format!(
            "memory      about {x:.0} and {y:.0} rows: the files are worth {m:.0} and {n:.0} \
             independent rows"
        )];
        if self.null != Method::Blocks {
            let why = "note: rows depend on earlier ones, so that p is too small; --null blocks";
            lines.push(format!("{why} corrects for it"));
        } else {
            lines.push(format!("null        blocks of {block} rows, shuffled"));
            lines.extend(self.left_out_line());
            lines.extend(short.then(|| blocks::SHORT.to_owned()));
        }
        lines
    }

    fn left_out_line(&self) -> Option<String> {
        let [x, y] = self.left_out;
        (x + y > 0).then(|| format!("note: without the last {x} and {y} rows, which fill no block"))
    }
}

/// The p-value of each channel by itself, times their number; nothing for a single one.
fn channels(
    arguments: &TestArguments,
    plan: &Plan,
    x: &Readings,
    y: &Readings,
) -> Result<Vec<(String, f64)>, Fault> {
    let dims = x.dims();
    if !(2..=MOST_CHANNELS).contains(&dims) {
        return Ok(Vec::new());
    }
    let plan = Plan { map: MapKind::Fourier, ..*plan };
    let p_value = |channel: usize| {
        let (x, y) = (x.channel(channel), y.channel(channel));
        let tested = test(arguments, &plan, &x, &y, median(&x, &y)?, dims)?;
        Ok((x.names[0].clone(), tested.p_value))
    };
    (0..dims).map(p_value).collect()
}

/// Which channels differ, in words.
fn which(differ: bool, channels: &[(String, f64)], alpha: f64) -> Option<String> {
    let one = |(name, p): &(String, f64)| format!("{name} (p = {})", report::probability(*p));
    let mut found: Vec<&(String, f64)> = channels.iter().filter(|(_, p)| *p <= alpha).collect();
    found.sort_by(|a, b| a.1.total_cmp(&b.1));
    match found.as_slice() {
        _ if channels.is_empty() => None,
        [] if differ => Some("no channel differs by itself: how they go together does".to_owned()),
        [] => None,
        found => {
            let names: Vec<String> = found.iter().map(|it| one(it)).collect();
            Some(format!("channels that differ by themselves: {}", names.join(", ")))
        }
    }
}

/// The columns, if both samples have the same ones and none is constant.
fn agree(x: &Readings, y: &Readings) -> Result<Vec<String>, Fault> {
    same_columns((&x.name, &x.names), (&y.name, &y.names))?;
    for (column, name) in x.names.iter().enumerate() {
        let first = x.values[column];
        let same = |row: &[f32]| row[column].to_bits() == first.to_bits();
        if x.rows().chain(y.rows()).all(same) {
            let why = format!(
                "rows 0 to {}, column {name:?}: always {first}, as in {}; choose others with \
                 --columns",
                x.len() - 1,
                y.name
            );
            return Err(Fault::of(&x.name, why));
        }
    }
    Ok(x.names.clone())
}

/// Divides each channel by its deviation over both samples.
fn standardise(x: &mut Readings, y: &mut Readings) {
    let dims = x.dims();
    for column in 0..dims {
        let cells = || {
            let all = x.values.iter().chain(&y.values).skip(column).step_by(dims);
            all.map(|value| f64::from(*value))
        };
        let count = fastmmd_reference::real(x.len() + y.len());
        let mean = cells().sum::<f64>() / count;
        let variance = cells().map(|value| (value - mean) * (value - mean)).sum::<f64>() / count;
        let deviation = variance.sqrt();
        for sample in [&mut *x, &mut *y] {
            for value in sample.values.iter_mut().skip(column).step_by(dims) {
                *value = fastmmd_reference::single((f64::from(*value) - mean) / deviation);
            }
        }
    }
}

/// The median distance between rows of both samples.
fn median(x: &Readings, y: &Readings) -> Result<f64, Fault> {
    median_distance(&points(x.dims(), x.rows().chain(y.rows()))?, MOST_MEDIAN_ROWS)
}

/// The result for one bandwidth.
struct Tested {
    sigma: f64,
    /// How the frequencies were drawn.
    sampling: Sampling,
    /// MMD_b², as it is compared with the threshold.
    biased: f64,
    /// MMD_u².
    unbiased: f32,
    p_value: f64,
    threshold: f64,
    /// Number of rows of each file used for the null distribution, if not all.
    thinned: Option<[usize; 2]>,
}

fn test(
    arguments: &TestArguments,
    plan: &Plan,
    x: &Readings,
    y: &Readings,
    sigma: f64,
    tests: usize,
) -> Result<Tested, Fault> {
    let kernel = Kernel::new(arguments.kernel, fastmmd_reference::single(sigma));
    let kernel = kernel.map_err(Fault::new)?;
    let map = map(arguments, plan.map, kernel, x.dims())?;
    let [biased, unbiased] = squared(&map, x, y).map_err(Fault::new)?;
    let share = fastmmd_reference::real(tests);
    let vectors = map.frequencies();
    let vectors = vectors.chunks_exact(x.dims());
    let vectors = vectors.map(|vector| vector.iter().map(|turns| f64::from(*turns)).collect());
    let frequencies = Frequencies::new(vectors.collect()).map_err(refused)?;
    let sampling = map.recipe().sampling;
    let draws = draws(arguments.alpha, plan.null, share)?;
    let law = |pool: &Features| {
        plan.null.law(pool, Estimate::Biased, draws, arguments.seed).map_err(refused)
    };
    if plan.null == Method::Blocks {
        let [all_x, all_y] = [x.thinned(usize::MAX)?, y.thinned(usize::MAX)?];
        let pool = null::block_features(&frequencies, [&all_x, &all_y], plan.memory.block);
        let pool = pool.map_err(refused)?;
        let law = law(&pool)?;
        let biased = pool.mmd2(Estimate::Biased).map_err(refused)?;
        let p_value = (law.p_value(biased) * share).clamp(f64::MIN_POSITIVE, 1.0);
        let threshold = law.threshold(arguments.alpha / share).map_err(refused)?;
        return Ok(Tested { sigma, sampling, biased, unbiased, p_value, threshold, thinned: None });
    }
    let (some_x, some_y) = (x.thinned(MOST_NULL_ROWS)?, y.thinned(MOST_NULL_ROWS)?);
    // For equal distributions the statistic is proportional to 1/m + 1/n.
    let spread =
        |m: usize, n: usize| 1.0 / fastmmd_reference::real(m) + 1.0 / fastmmd_reference::real(n);
    let ratio = spread(some_x.len(), some_y.len()) / spread(x.len(), y.len());
    let pool = Features::new(&frequencies, &some_x, &some_y).map_err(refused)?;
    let law = law(&pool)?;
    let thinned = some_x.len() < x.len() || some_y.len() < y.len();
    // If no rows were left out, computed as the draws are, so that ties are exact.
    let biased =
        if thinned { f64::from(biased) } else { pool.mmd2(Estimate::Biased).map_err(refused)? };
    // A p-value of exactly 0 is never justified.
    let p_value = (law.p_value(biased * ratio) * share).clamp(f64::MIN_POSITIVE, 1.0);
    let threshold = law.threshold(arguments.alpha / share).map_err(refused)? / ratio;
    let rows = thinned.then_some([some_x.len(), some_y.len()]);
    Ok(Tested { sigma, sampling, biased, unbiased, p_value, threshold, thinned: rows })
}

/// The map that the options ask for.
fn map(
    arguments: &TestArguments,
    kind: MapKind,
    kernel: Kernel,
    inputs: usize,
) -> Result<Map, Fault> {
    let (seed, frequencies) = (arguments.seed, arguments.features);
    let most = dynamic::MOST;
    if !(1..=most).contains(&frequencies) {
        return Err(Fault::new(format!("--features {frequencies}: must be from 1 to {most}")));
    }
    let block = Map::least_block(inputs);
    match kind {
        MapKind::Fourier => Map::fourier(kernel, arguments.sampling, seed, inputs, frequencies),
        MapKind::Fastfood => Map::fastfood(kernel, seed, inputs, block, frequencies),
        // Not offered.
        MapKind::Given | MapKind::FixedFourier | MapKind::FixedFastfood | MapKind::Offset => {
            Err(Error::WrongShape)
        }
    }
    .map_err(Fault::new)
}

/// MMD_b² and MMD_u² of two samples.
fn squared(map: &Map, x: &Readings, y: &Readings) -> Result<[f32; 2], fastmmd::Error> {
    let mut two = TwoSample::new(map);
    x.rows().try_for_each(|row| two.push_p(row))?;
    y.rows().try_for_each(|row| two.push_q(row))?;
    Ok([two.mmd2_biased()?, two.mmd2_unbiased()?])
}

/// Number of draws with which a p-value can be well below the level divided by `tests`.
fn draws(alpha: f64, null: Method, tests: f64) -> Result<usize, Fault> {
    let needed = (4.0 * tests / alpha).ceil();
    if null.is_drawn() && needed > MOST_DRAWS {
        let why = "is too small for a resampled null distribution: choose --null gamma or pearson";
        return Err(Fault::new(format!("--alpha {alpha} {why}")));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
    let needed = needed.min(MOST_DRAWS) as usize;
    Ok(DRAWS.max(needed))
}

impl Tested {
    fn reject(&self, alpha: f64) -> bool {
        self.p_value <= alpha
    }

    fn exact(&self, profile: Profile, x: &Readings, y: &Readings) -> Result<[f64; 2], Fault> {
        let even = |sample: &Readings| sample.thinned(usize::MAX).map(Weighted::even);
        let (p, q) = (even(x)?, even(y)?);
        match profile {
            Profile::Gaussian => both(&p, &q, kernel::gaussian(self.sigma)),
            Profile::Laplacian => both(&p, &q, kernel::laplacian(self.sigma)),
            Profile::Exponential => both(&p, &q, kernel::exponential(self.sigma)),
            Profile::Matern32 => both(&p, &q, kernel::matern32(self.sigma)),
            Profile::Matern52 => both(&p, &q, kernel::matern52(self.sigma)),
        }
    }

    /// How the frequencies were drawn: a structured map has its own way.
    fn sampling(&self, arguments: &TestArguments) -> &'static str {
        if is_sampled(arguments.map) { self.sampling.name() } else { arguments.map.name() }
    }

    fn json(&self, arguments: &TestArguments, x: &Readings, y: &Readings) -> Result<Value, Fault> {
        let mut object = json!({
            "n": x.len(),
            "m": y.len(),
            "dim": x.dims(),
            "sigma": self.sigma,
            "features": arguments.features,
            "map": arguments.map.name(),
            "sampling": self.sampling(arguments),
            "mmd2_biased": self.biased,
            "mmd2_unbiased": number(self.unbiased),
            "p_value": self.p_value,
            "threshold": self.threshold,
            "reject": self.reject(arguments.alpha),
            "alpha": arguments.alpha,
            "statistic": "mmd2_biased",
            "null_rows": self.thinned.unwrap_or([x.len(), y.len()]),
        });
        if arguments.exact {
            let [biased, unbiased] = self.exact(arguments.kernel, x, y)?;
            object["exact_biased"] = json!(biased);
            object["exact_unbiased"] = json!(unbiased);
        }
        Ok(object)
    }

    fn lines(
        &self,
        arguments: &TestArguments,
        x: &Readings,
        y: &Readings,
        names: &[String],
    ) -> Result<Vec<String>, Fault> {
        let mut lines = vec![
            format!("samples     {} rows of {}, {} rows of {}", x.len(), x.name, y.len(), y.name),
            format!("columns     {}", names.join(", ")),
            format!(
                "kernel      {:?}, sigma {:.4} in units of the values",
                arguments.kernel, self.sigma
            ),
            format!(
                "map         {}, {} frequencies, {}",
                arguments.map.name(),
                arguments.features,
                self.sampling(arguments)
            ),
            format!("MMD² biased {:.4e}", self.biased),
            format!("   unbiased {:.4e}", self.unbiased),
        ];
        if arguments.exact {
            let [biased, unbiased] = self.exact(arguments.kernel, x, y)?;
            lines.push(format!("      exact {biased:.4e} biased, {unbiased:.4e} unbiased"));
        }
        lines.push(format!("threshold   {:.4e} for the biased one", self.threshold));
        lines.push(format!("p-value     {}", report::probability(self.p_value)));
        if !is_sampled(arguments.map) && arguments.sampling != Sampling::Auto {
            lines.push(format!("note: --sampling has no effect on {}", arguments.map.name()));
        }
        if let Some([own, other]) = self.thinned {
            lines.push(format!(
                "note: the null distribution is that of {own} and {other} rows of the files"
            ));
        }
        let alpha = arguments.alpha;
        let verdict = report::verdict(self.reject(alpha), "different", "no difference");
        lines.push(format!("{verdict} at the level of {alpha}"));
        Ok(lines)
    }
}

/// Whether the frequencies of such a map are drawn by a [`Sampling`].
fn is_sampled(map: MapKind) -> bool {
    match map {
        MapKind::Fourier | MapKind::FixedFourier | MapKind::Offset => true,
        MapKind::Fastfood | MapKind::FixedFastfood | MapKind::Given => false,
    }
}

fn both(
    p: &Weighted,
    q: &Weighted,
    kernel: impl Fn(&[f64], &[f64]) -> f64 + Copy,
) -> Result<[f64; 2], Fault> {
    let biased = exact::biased(p, q, kernel).map_err(refused)?;
    Ok([biased, exact::unbiased(p, q, kernel).map_err(refused)?])
}
