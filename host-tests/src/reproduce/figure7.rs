//! FastMMD, figure 7: running time as samples and channels are added, as ratios.
//!
//! `cargo xtask bench --host` has the same at the paper's sizes, and holds the core to promises.

use super::{Effort, Failed, Figure, Tick, short};
use crate::evaluate::table::Table;
use crate::plot::Axis;
use crate::speed::{self, Times, chart};
use crate::{Refused, tolerance};

/// By samples, and by channels.
pub(super) const STEPS: u32 = 2;

/// Channels in the second part.
const CHANNELS: [usize; 4] = [8, 32, 128, 512];

/// The shortest time of three runs at each place: what disturbs a run only lengthens it.
fn shortest(run: impl Fn() -> Result<Vec<Times>, Refused>) -> Result<Vec<Times>, Refused> {
    let mut best = run()?;
    for _ in 0..2 {
        for (best, again) in best.iter_mut().zip(run()?) {
            best.exact = best.exact.min(again.exact);
            best.b_test = best.b_test.min(again.b_test);
            best.linear = best.linear.min(again.linear);
            best.fourier = best.fourier.min(again.fourier);
            best.fastfood = best.fastfood.min(again.fastfood);
        }
    }
    Ok(best)
}

/// Adds times over that of Fastfood, as a table and as a plot.
fn show(
    figure: &mut Figure,
    file: &str,
    what: &'static str,
    times: &[Times],
) -> Result<(), Failed> {
    let mut table = Table::new([what, "Fourier", "exact", "B-test", "MMD-linear"]);
    for t in times {
        let over = [t.fourier, t.exact, t.b_test, t.linear].map(|time| short(time / t.fastfood));
        table.line([t.at.to_string()].into_iter().chain(over));
    }
    figure.table(&table);
    let lines = chart::lines(times).unwrap_or_default();
    let y = Axis::log("time over the first of Fastfood");
    figure.plot(file, &format!("Running time by {what}"), Axis::log(what), y, &lines)
}

pub(super) fn run(effort: Effort, tick: Tick<'_>) -> Result<Figure, Failed> {
    let counts = effort.pick([500, 1000, 2000, 4000], [1000, 3000, 6000, 12_000]);
    let samples = effort.pick(50, 2000);
    let by_samples = shortest(|| speed::over_samples(&counts))?;
    tick();
    let by_channels = speed::over_dimensions(&CHANNELS, samples)?;
    tick();
    let mut figure = Figure::new(
        "FastMMD, figure 7: running time",
        &format!(
            "Times over that of FastMMD by Fastfood. FastMMD is the core, in f32; the others are \
             the judge, in f64. First as samples are added, with d = 16 and L = 128; then as \
             channels are, with L = 8192 and {samples} samples in each set."
        ),
    );
    show(&mut figure, "fastmmd-7-samples", "samples in each set", &by_samples)?;
    show(&mut figure, "fastmmd-7-channels", "channels", &by_channels)?;
    let faster = speed::growth(&by_samples, |t| t.exact / t.fastfood);
    figure.hold_above(tolerance::FIGURE7_SAMPLES, "exact over Fastfood", faster);
    if let Some(last) = by_channels.last() {
        let ratio = last.fourier / last.fastfood;
        figure.hold_above(tolerance::FIGURE7_CHANNELS, "Fourier over Fastfood", ratio);
    }
    Ok(figure)
}
