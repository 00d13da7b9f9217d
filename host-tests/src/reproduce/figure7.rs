//! FastMMD, figure 7: running time as samples and channels are added, as ratios.

use std::thread;

use fastmmd::{Fastfood, FeatureMap, Fourier, Kernel, Profile, Sampling, TwoSample};

use super::plot::{Axis, Series};
use super::{Effort, Failed, Figure, Tick, seconds, short};
use crate::evaluate::table::Table;
use crate::generate::Generator;
use crate::kernel::gaussian;
use crate::{Points, Weighted, b_test, data, exact, linear, real, single, tolerance};

/// Four sizes, and five numbers of channels.
pub(super) const STEPS: u32 = 9;

/// Channels while samples are added.
const CHANNELS: usize = 16;

/// Section 4.3's cubes as the core and as the judge take them, half of the samples in each.
fn cubes<const D: usize>(samples: usize) -> Result<([Vec<[f32; D]>; 2], [Points; 2]), Failed> {
    let mut generator = Generator::new(7);
    let p = data::cube(&mut generator, samples / 2, D, 0.0, 0.95)?;
    let q = data::cube(&mut generator, samples / 2, D, 0.95, 1.0)?;
    Ok(([p.arrays()?, q.arrays()?], [p, q]))
}

/// σ that keeps distances in a cube of d channels of order 1.
fn bandwidth(channels: usize) -> f64 {
    real(channels).sqrt()
}

/// MMD² by a map, from the drawing of its frequencies on.
fn fast<M: FeatureMap<D, L>, const D: usize, const L: usize>(
    sets: &[Vec<[f32; D]>; 2],
    map: Result<M, fastmmd::Error>,
) -> Result<f32, Failed> {
    let map = map?;
    let mut test: Box<TwoSample<_, D, L>> = Box::new(TwoSample::new(&map));
    for (p, q) in sets[0].iter().zip(&sets[1]) {
        test.push_p(p)?;
        test.push_q(q)?;
    }
    Ok(test.mmd2_biased()?)
}

/// Seconds of Fourier, Fastfood, exact, B-test and MMD-linear.
fn by_samples(samples: usize) -> Result<[f64; 5], Failed> {
    const L: usize = 128;
    let (arrays, [p, q]) = cubes::<CHANNELS>(samples)?;
    let s = bandwidth(CHANNELS);
    let kernel = Kernel::new(Profile::Gaussian, single(s))?;
    let block = b_test::usual_block(samples / 2);
    let (whole_p, whole_q) = (Weighted::even(p.clone()), Weighted::even(q.clone()));
    let independent = || Fourier::<CHANNELS, L>::new(kernel, Sampling::Independent, 1);
    Ok([
        seconds(3, || fast::<_, CHANNELS, L>(&arrays, independent()))?,
        seconds(3, || {
            fast::<_, CHANNELS, L>(&arrays, Fastfood::<CHANNELS, CHANNELS, L>::new(kernel, 1))
        })?,
        seconds(2, || Ok(exact::biased(&whole_p, &whole_q, gaussian(s))?))?,
        seconds(3, || Ok(b_test::mmd2(&p, &q, block, gaussian(s))?))?,
        seconds(3, || Ok(linear::mmd2(&p, &q, gaussian(s))?))?,
    ])
}

/// The work in a thread with room for maps of millions of numbers, which are arrays.
fn with_stack<T: Send>(work: impl FnOnce() -> Result<T, Failed> + Send) -> Result<T, Failed> {
    let joined = thread::scope(|scope| {
        let builder = thread::Builder::new().stack_size(64 << 20);
        builder.spawn_scoped(scope, work).map(thread::ScopedJoinHandle::join)
    });
    match joined {
        Ok(Ok(result)) => result,
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        Err(error) => Err(Failed::Thread(error.to_string())),
    }
}

/// Seconds of Fourier and Fastfood with D channels, a power of two.
fn by_channels<const D: usize>(samples: usize) -> Result<[f64; 2], Failed> {
    const L: usize = 1024;
    let (arrays, _) = cubes::<D>(samples)?;
    let kernel = Kernel::new(Profile::Gaussian, single(bandwidth(D)))?;
    let independent = || Fourier::<D, L>::new(kernel, Sampling::Independent, 1);
    Ok([
        seconds(3, || fast::<_, D, L>(&arrays, independent()))?,
        seconds(3, || fast::<_, D, L>(&arrays, Fastfood::<D, D, L>::new(kernel, 1)))?,
    ])
}

pub(super) fn run(effort: Effort, tick: Tick<'_>) -> Result<Figure, Failed> {
    let sizes = effort.pick([500, 1000, 2000, 4000], [1000, 4000, 16_000, 32_000]);
    let mut figure = Figure::new(
        "FastMMD, figure 7: running time",
        "Times over that of FastMMD by Fastfood, the shortest of three runs each. FastMMD is the \
         core, in f32; the others are the judge, in f64. First as samples are added, with d = 16 and L = 128; \
         then as channels are, with L = 1024.",
    );
    let mut rows = Vec::new();
    for samples in sizes {
        rows.push(by_samples(samples)?);
        tick();
    }
    let mut table = Table::new(["N", "Fourier", "exact", "B-test", "MMD-linear"]);
    for (samples, row) in sizes.iter().zip(&rows) {
        let over = [row[0], row[2], row[3], row[4]].map(|time| short(time / row[1]));
        table.line([samples.to_string()].into_iter().chain(over));
    }
    figure.table(&table);
    // Relative to the first Fastfood, so that slopes show.
    let unit = rows[0][1];
    let names = ["Fourier", "Fastfood", "exact", "B-test", "MMD-linear"];
    let series: Vec<Series> = (0..5)
        .map(|column| {
            let times = rows.iter().map(|row| row[column] / unit);
            Series::dots(names[column], sizes.map(real).into_iter().zip(times))
        })
        .collect();
    let ratio = Axis::log("time over the first of Fastfood");
    figure.plot("fastmmd-7-samples", "Time by samples, d = 16", Axis::log("N"), ratio, &series)?;

    let samples = effort.pick(200, 2000);
    let mut times = Vec::new();
    let by_channels: [(usize, fn(usize) -> Result<[f64; 2], Failed>); 5] = [
        (8, by_channels::<8>),
        (32, by_channels::<32>),
        (128, by_channels::<128>),
        (256, by_channels::<256>),
        (512, by_channels::<512>),
    ];
    let mut table = Table::new(["d", "Fourier over Fastfood"]);
    for (channels, measure) in by_channels {
        let [dense, fast] = with_stack(|| measure(samples))?;
        table.line([channels.to_string(), short(dense / fast)]);
        times.push((real(channels), dense, fast));
        tick();
    }
    figure.table(&table);
    let unit = times[0].2;
    figure.plot(
        "fastmmd-7-channels",
        "Time by channels, L = 1024",
        Axis::log("d"),
        ratio,
        &[
            Series::dots("Fourier", times.iter().map(|&(d, dense, _)| (d, dense / unit))),
            Series::dots("Fastfood", times.iter().map(|&(d, _, fast)| (d, fast / unit))),
        ],
    )?;
    let gain = |row: &[f64; 5]| row[2] / row[1];
    let growth = gain(&rows[3]) / gain(&rows[0]) / (real(sizes[3]) / real(sizes[0]));
    figure.hold_above(tolerance::FIGURE7_SAMPLES, "exact over Fastfood", growth);
    let (_, dense, fast) = times[4];
    figure.hold_above(tolerance::FIGURE7_CHANNELS, "Fourier over Fastfood", dense / fast);
    Ok(figure)
}
