//! Finds the cycle of a log. Peaks of the autocorrelation are candidates. A candidate is accepted if
//! its profile over the first half of the log predicts the second half well.

use fastmmd::monitor::PERIODS;
use fastmmd_reference::real;

use crate::detector::BINS;

/// Number of points of an autocorrelation. In a longer log, a point is the mean of several rows.
const POINTS: usize = 4096;
/// Largest number of points on which a candidate is tried.
const MOST_POINTS: usize = 1 << 17;
/// Largest lag of an autocorrelation, in points. Longer lags are reached with more rows per point.
const LAGS: usize = 1024;
/// The number of rows per point grows by this factor from one autocorrelation to the next.
const COARSER: usize = 4;
/// Smallest autocorrelation of a candidate.
const LEAST_CORRELATION: f64 = 0.1;
/// Number of highest peaks of each autocorrelation that are tried.
const CANDIDATES: usize = 3;
/// Largest number of lengths tried on either side of a candidate.
const MOST_STEPS: usize = 400;
/// Relative error of a peak's lag. No other peak within this distance counts.
const NEAR: f64 = 0.05;
/// The first peak of at least this share of the highest is a candidate, too.
const FIRST: f64 = 0.7;
/// Smallest share of the variance that a cycle must explain in some channel. 1/(number of cycles) is
/// added: with few cycles, a profile explains about that share by chance.
const LEAST_EXPLAINED: f64 = 0.1;
/// A whole number of rows is preferred if it explains this share of what the exact length does.
const AS_MUCH: f64 = 0.995;
/// A shorter cycle is preferred if it explains this share of what the best one does.
const ALMOST: f64 = 0.9;

/// A cycle.
#[derive(Debug, Clone, PartialEq)]
pub struct Cycle {
    /// Its length in rows.
    pub rows: f64,
    /// Cycles in the log.
    pub count: f64,
    /// For each channel, the share of the variance in the second half of the log that the profile
    /// over the first half explains.
    pub explained: Vec<f64>,
}

impl Cycle {
    /// What it explains of all channels.
    fn total(&self) -> f64 {
        self.explained.iter().map(|part| part.max(0.0)).sum()
    }

    /// Whether it explains enough of some channel.
    fn is_proven(&self) -> bool {
        let least = LEAST_EXPLAINED + 1.0 / self.count;
        self.explained.iter().any(|part| *part >= least)
    }
}

/// The cycle of a log, if it has one. The log must hold at least two of it.
#[must_use]
pub fn find(rows: &[Vec<f32>], channels: usize) -> Option<Cycle> {
    let series: Vec<Vec<f64>> = (0..channels).map(|channel| detrended(rows, channel)).collect();
    // What the core takes, and the log holds two of.
    let most = f64::from(*PERIODS.end()).min(real(rows.len()) / 2.0);
    let allowed = f64::from(*PERIODS.start())..=most;
    let (mut cycles, mut tried): (Vec<Cycle>, Vec<f64>) = (Vec::new(), Vec::new());
    for own in &series {
        for rough in candidates(own) {
            if tried.iter().any(|length| (length - rough.rows).abs() <= rough.error) {
                continue;
            }
            // So many rows per point that each part of a profile still has four points.
            let size = whole(rough.rows / real(4 * BINS)).max(1);
            let points = means(own, size, MOST_POINTS);
            let length = real(size) * refined(&points, rough.in_points(size));
            tried.push(length);
            if allowed.contains(&length) {
                cycles.push(nearest(&series, length));
            }
        }
    }
    cycles.retain(Cycle::is_proven);
    let best = cycles.iter().map(Cycle::total).fold(0.0, f64::max);
    let good = cycles.into_iter().filter(|cycle| cycle.total() >= ALMOST * best);
    good.min_by(|a, b| a.rows.total_cmp(&b.rows))
}

/// The cycle of this length, or of the nearest whole number of rows if that explains as much.
fn nearest(series: &[Vec<f64>], length: f64) -> Cycle {
    let count = real(series.first().map_or(0, Vec::len));
    let of = |rows: f64| {
        let explained = series.iter().map(|series| explained(series, rows)).collect();
        Cycle { rows, count: count / rows, explained }
    };
    let (exact, whole) = (of(length), of(length.round()));
    if whole.total() >= AS_MUCH * exact.total() { whole } else { exact }
}

/// A channel minus its mean and trend; 0 where a reading is missing.
fn detrended(rows: &[Vec<f32>], channel: usize) -> Vec<f64> {
    let reading = |row: &Vec<f32>| row.get(channel).copied().map(f64::from);
    let present = || {
        let all = rows.iter().enumerate();
        all.filter_map(|(at, row)| reading(row).filter(|x| x.is_finite()).map(|x| (real(at), x)))
    };
    let count = real(present().count().max(1));
    let (at, mean) = present().fold((0.0, 0.0), |(t, x), (at, value)| (t + at, x + value));
    let (at, mean) = (at / count, mean / count);
    let (both, own) = present().fold((0.0, 0.0), |(both, own), (t, x)| {
        (both + (t - at) * (x - mean), own + (t - at) * (t - at))
    });
    let slope = if own > 0.0 { both / own } else { 0.0 };
    let left = |(t, row): (usize, &Vec<f32>)| {
        let value = reading(row).filter(|x| x.is_finite());
        value.map_or(0.0, |x| x - mean - slope * (real(t) - at))
    };
    rows.iter().enumerate().map(left).collect()
}

/// A length in rows, and its largest error.
#[derive(Debug, Clone, Copy)]
struct Rough {
    rows: f64,
    error: f64,
}

impl Rough {
    /// The same in points of `size` rows.
    fn in_points(self, size: usize) -> Self {
        Self { rows: self.rows / real(size), error: self.error / real(size) }
    }
}

/// The highest peaks of the autocorrelation, over points of more and more rows.
fn candidates(series: &[f64]) -> Vec<Rough> {
    let (mut found, mut size) = (Vec::new(), 1);
    while series.len() / size >= 4 * COARSER {
        let correlation = autocorrelation(&means(series, size, POINTS));
        found.extend(peaks(&correlation).into_iter().map(|lag| Rough {
            rows: real(lag * size),
            error: real(size) * (1.0 + NEAR * real(lag)),
        }));
        size *= COARSER;
    }
    found
}

/// Means of so many rows each, up to a number of them.
fn means(series: &[f64], size: usize, most: usize) -> Vec<f64> {
    let parts = series.chunks_exact(size).take(most);
    parts.map(|rows| rows.iter().sum::<f64>() / real(size)).collect()
}

/// The autocorrelation at each lag up to half the points.
fn autocorrelation(points: &[f64]) -> Vec<f64> {
    let power: f64 = points.iter().map(|x| x * x).sum();
    let lags = LAGS.min(points.len() / 2);
    let at = |lag: usize| {
        let pairs = points.iter().zip(points.iter().skip(lag));
        let sum: f64 = pairs.map(|(a, b)| a * b).sum();
        // As if there were as many pairs at every lag.
        let part = real(points.len()) / real(points.len() - lag);
        if power > 0.0 { part * sum / power } else { 0.0 }
    };
    (0..=lags).map(at).collect()
}

/// The lags of the highest peaks after a dip, and of the first that is almost as high: those of
/// several cycles may be higher by chance.
fn peaks(correlation: &[f64]) -> Vec<usize> {
    let (mut peaks, mut lowest) = (Vec::new(), f64::INFINITY);
    for (lag, here) in correlation.iter().enumerate().skip(2) {
        lowest = lowest.min(correlation[lag - 1]);
        let high = *here >= LEAST_CORRELATION && *here - lowest >= LEAST_CORRELATION;
        let reach = whole(NEAR * real(lag)) + 1;
        let near = correlation.get(lag - reach.min(lag - 1)..=lag + reach);
        // At the end nothing tells a peak from a slope.
        if high && near.is_some_and(|near| near.iter().all(|other| other <= here)) {
            peaks.push(lag);
        }
    }
    let highest = peaks.iter().map(|lag| correlation[*lag]).fold(0.0, f64::max);
    let first = peaks.iter().copied().find(|lag| correlation[*lag] >= FIRST * highest);
    peaks.sort_by(|a, b| correlation[*b].total_cmp(&correlation[*a]));
    peaks.truncate(CANDIDATES);
    peaks.extend(first);
    peaks
}

/// A length as all points tell it: the one whose profile explains most, over more and more cycles.
fn refined(points: &[f64], rough: Rough) -> f64 {
    let bins = BINS.min(whole(rough.rows)).max(2);
    let (mut best, mut error) = (rough.rows, rough.error);
    let mut cycles = f64::max(4.0, real(8 * BINS) / rough.rows);
    loop {
        let end = whole(best * cycles).min(points.len());
        let some = points.get(..end).unwrap_or(points);
        // Steps by which the last of these cycles moves by one part of 32.
        let step = best * best / (32.0 * real(end.max(1)));
        let steps = whole((error / step).ceil()).min(MOST_STEPS);
        let length = |place: usize| best + (real(place) - real(steps)) * step;
        let lengths = (0..=2 * steps).map(length).filter(|length| *length > 2.0);
        let fits = lengths.map(|length| (Profile::of(some, length, bins).explained(some), length));
        best = fits.max_by(|(a, _), (b, _)| a.total_cmp(b)).map_or(best, |(_, length)| length);
        if end == points.len() {
            return best;
        }
        (error, cycles) = (4.0 * step, 4.0 * cycles);
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and the number is positive"
)]
fn whole(number: f64) -> usize {
    number as usize
}

/// Part of the variance of the second half of a log that the profile of the first half explains.
fn explained(series: &[f64], length: f64) -> f64 {
    let (first, second) = series.split_at(series.len() / 2);
    let mut profile = Profile::of(first, length, BINS.min(whole(length)).max(2));
    profile.begins = real(first.len());
    profile.explained(second)
}

/// Means of the parts of a cycle.
struct Profile {
    length: f64,
    /// The row at which rows begin to be counted.
    begins: f64,
    means: Vec<f64>,
}

impl Profile {
    fn of(series: &[f64], length: f64, bins: usize) -> Self {
        let mut profile = Self { length, begins: 0.0, means: vec![0.0; bins] };
        let mut counts = vec![0.0_f64; bins];
        for (at, value) in series.iter().enumerate() {
            let bin = profile.bin(at);
            profile.means[bin] += value;
            counts[bin] += 1.0;
        }
        profile.means.iter_mut().zip(counts).for_each(|(mean, count)| *mean /= count.max(1.0));
        profile
    }

    fn bin(&self, at: usize) -> usize {
        let turns = (self.begins + real(at)) / self.length;
        let bins = self.means.len();
        // Rounding must not move a row that lies at the beginning of a part to the one before.
        whole((turns - turns.floor()) * real(bins) + 1e-6).min(bins - 1)
    }

    /// Part of the variance of a series that this explains.
    fn explained(&self, series: &[f64]) -> f64 {
        let variance = |values: &mut dyn Iterator<Item = f64>| {
            let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
            for value in values {
                count += 1.0;
                sum += value;
                squares += value * value;
            }
            let mean = sum / f64::max(count, 1.0);
            squares / f64::max(count, 1.0) - mean * mean
        };
        let all = variance(&mut series.iter().copied());
        let left = series.iter().enumerate().map(|(at, value)| value - self.means[self.bin(at)]);
        if all > 0.0 { 1.0 - variance(&mut { left }) / all } else { 0.0 }
    }
}

/// A period with as many digits as it deserves.
#[must_use]
pub fn rounded(rows: f64) -> f64 {
    let digits = if rows >= 1000.0 { 1.0 } else { 100.0 };
    (rows * digits).round() / digits
}

/// A number of rows that is not less.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and the number is positive"
)]
#[must_use]
pub fn ceiling(rows: f64) -> u32 {
    rows.ceil() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastmmd_reference::generate::Generator;
    use fastmmd_reference::single;
    use std::f64::consts::TAU;

    fn log(rows: usize, mut signal: impl FnMut(f64) -> f64) -> Vec<Vec<f32>> {
        (0..rows).map(|row| vec![single(signal(real(row)))]).collect()
    }

    #[test]
    fn cycles_of_any_length_are_found() {
        for (length, rows) in [
            (6.0, 2000),
            (24.0, 3000),
            (100.5, 4000),
            (754.0, 6000),
            (1885.0, 16_000),
            (9000.25, 100_000),
        ] {
            let mut random = Generator::new(1);
            let rows = log(rows, |at| (at * TAU / length).sin() + 0.5 * random.normal());
            let cycle = find(&rows, 1).expect("a cycle");
            assert!((cycle.rows / length - 1.0).abs() < 0.005, "{length} {cycle:?}");
            assert!((0.5..0.8).contains(&cycle.explained[0]), "{length} {cycle:?}");
        }
    }

    #[test]
    fn a_week_of_days_is_a_week_only_if_days_differ() {
        let day = |at: f64| (at * TAU / 48.0).sin();
        let mut random = Generator::new(2);
        let mut noise = || 0.3 * random.normal();
        let days = log(48 * 7 * 12, |at| day(at) + noise());
        assert!((find(&days, 1).expect("a day").rows - 48.0).abs() < 0.1);
        let week = |at: f64| if (at / 48.0) % 7.0 < 5.0 { day(at) } else { -2.0 };
        let weeks = log(48 * 7 * 12, |at| week(at) + noise());
        assert!((find(&weeks, 1).expect("a week").rows / 336.0 - 1.0).abs() < 0.005);
    }

    #[test]
    fn noise_has_no_cycle() {
        let mut found = 0;
        for seed in 0..60 {
            let mut random = Generator::new(seed);
            let memory = [0.0, 0.9, 0.99, 1.0][usize::try_from(seed % 4).expect("small")];
            let mut last = 0.0;
            let rows = log(4000, |_| {
                last = memory * last + random.normal();
                last
            });
            if let Some(cycle) = find(&rows, 1).filter(|cycle| cycle.count >= 4.0) {
                println!("{memory} {cycle:?}");
                found += 1;
            }
        }
        assert!(found <= 2, "{found}");
    }

    #[test]
    fn one_channel_of_many_is_enough() {
        let mut random = Generator::new(3);
        let rows: Vec<Vec<f32>> = (0..6000)
            .map(|row| {
                let cycle = (real(row) * TAU / 250.0).sin() + 0.2 * random.normal();
                let missing = if row % 3 == 0 { f64::NAN } else { cycle };
                [random.normal(), missing, 7.0].map(single).to_vec()
            })
            .collect();
        let cycle = find(&rows, 3).expect("a cycle");
        assert!((cycle.rows - 250.0).abs() < 0.5, "{cycle:?}");
        assert!(cycle.explained[1] > 0.4 && cycle.explained[0] < 0.1, "{cycle:?}");
    }
}
