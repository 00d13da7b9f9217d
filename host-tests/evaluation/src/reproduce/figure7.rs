//! FastMMD, figure 7: running time by number of samples and channels, as ratios.
//!
//! `cargo xtask bench --host` measures the same at the paper's sizes, and checks limits.

use super::{Effort, Failed, Figure, Tick, short};
use crate::evaluate::table::Table;
use crate::plot::Axis;
use crate::speed::{self, Times, chart};
use fastmmd_reference::{Refused, real, tolerance};

/// Two steps: by samples, and by channels.
pub(super) const STEPS: u32 = 2;

/// Channels in the second part.
const CHANNELS: [usize; 4] = [8, 32, 128, 512];

/// The shortest time of three runs: disturbances only make a run longer.
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
    figure.plot(file, &format!("running time by {what}"), Axis::log(what), y, &lines)
}

/// Powers with which the number of kernel values grows between two numbers of samples: for exact
/// MMD, the B-test and MMD-linear.
fn counted(few: usize, many: usize) -> Result<[f64; 3], Refused> {
    let (few_values, many_values) = (speed::kernel_values(few)?, speed::kernel_values(many)?);
    let growth = (real(many) / real(few)).ln();
    Ok(std::array::from_fn(|i| (many_values[i] / few_values[i]).ln() / growth))
}

/// Checks what does not depend on a clock: the growth of the number of kernel values, and that all
/// methods estimate the same MMD².
fn hold_values(
    figure: &mut Figure,
    by_samples: &[Times],
    by_channels: &[Times],
) -> Result<(), Failed> {
    let (Some(few), Some(many)) = (by_samples.first(), by_samples.last()) else {
        return Err(Refused::Empty.into());
    };
    let laws = [("exact", 2.0), ("B-test", 1.5), ("MMD-linear", 1.0)];
    for ((name, law), power) in laws.into_iter().zip(counted(few.at, many.at)?) {
        let case = format!("{name}: {power:.3} from {law}");
        figure.hold_below(tolerance::FIGURE7_COUNTED, &case, (power - law).abs());
    }
    let truth = speed::population();
    let found = &many.values;
    let off = (found.exact - truth).abs();
    figure.hold_below(tolerance::FIGURE7_EXACT, "exact", off);
    for (name, value) in [("B-test", found.b_test), ("MMD-linear", found.linear)] {
        figure.hold_below(tolerance::FIGURE7_SCATTERED, name, (value - truth).abs());
    }
    for times in by_samples.iter().chain(by_channels) {
        let found = &times.values;
        for (name, value) in [("Fourier", found.fourier), ("Fastfood", found.fastfood)] {
            let case = format!("{name} at {}", times.at);
            figure.hold_below(tolerance::FIGURE7_VALUE, &case, (value - found.exact).abs());
        }
    }
    Ok(())
}

pub(super) fn run(effort: Effort, tick: Tick<'_>) -> Result<Figure, Failed> {
    let counts = effort.pick([500, 1000, 2000, 4000], [1000, 3000, 6000, 12_000]);
    let samples = effort.pick(50, 2000);
    let by_samples = shortest(|| speed::over_samples(&counts))?;
    tick();
    let by_channels = speed::over_dimensions(&CHANNELS, samples)?;
    tick();
    let extrapolated = effort.pick(
        "nothing here is extrapolated",
        "by channels the dense map is timed over 200 samples and taken to grow with their number, \
         and exact MMD over 1000 and with their square; by samples nothing is extrapolated",
    );
    let mut figure = Figure::new(
        "FastMMD, figure 7: running time",
        &format!(
            "Times over that of FastMMD by Fastfood. FastMMD is the core, in f32; the others are \
             the oracle, in f64. First as samples are added, with d = 16 and L = 128, each timed \
             nine times; then as channels are, with L = 8192 and {samples} samples in each set, each \
             timed three times; the least counts. Samples are of N(0, 1) and N(0.1, 1), not of two \
             cubes as in the paper: times do not depend on them. They end at {}, and channels at \
             512 with {samples} samples, where the paper has 10⁵, 1024 and 10⁴: exact MMD takes the \
             square of the samples, and would alone take longer than the whole report. `cargo xtask \
             bench --host` goes to 10⁵, with exact MMD beyond 20,000 by the square of the samples. \
             As for extrapolation: {extrapolated}.",
            counts[3]
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
    // By channels, all methods use the same samples only if nothing is extrapolated.
    hold_values(&mut figure, &by_samples, effort.pick(by_channels.as_slice(), &[]))?;
    Ok(figure)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The control: a method that computes something else, or uses other pairs, fails.
    #[test]
    fn another_value_is_noticed() -> Result<(), Failed> {
        let good = speed::over_samples(&[500, 4000])?;
        let broken = |times: &[Times]| -> Result<usize, Failed> {
            let mut figure = Figure::new("", "");
            hold_values(&mut figure, times, &[])?;
            Ok(figure.broken().len())
        };
        assert_eq!(broken(&good)?, 0);
        let mut biased = good.clone();
        // Pairs of a sample with itself would add (1 − E k)(1/m + 1/n), with E k = 0.39.
        biased[0].values.fastfood += 0.6 * 2.0 / 500.0;
        biased[1].values.exact += 0.005;
        assert_eq!(broken(&biased)?, 4);
        Ok(())
    }
}
