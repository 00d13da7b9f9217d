//! Each device against its peers.

use super::eigen::axes;
use super::levels::{precise, q_values};
use super::spread::spreads;
use super::tail::Spectrum;
use super::{Device, groups};

/// Fewest devices from which it is learned how far devices lie apart.
pub const FEWEST: usize = 20;
/// What is added to eigenvalues before they are divided by, in units of their mean: axes along which
/// devices hardly differ are not believed to the last digit.
const RIDGE: f64 = 4.0;
/// Part of the normal devices from which the tail is fitted.
const TAIL: f64 = 0.05;
/// Devices in that part that are wanted: in a small fleet, it is a larger part.
const WANTED: usize = 50;
/// Rounds in which odd devices are left out of what is normal.
const ROUNDS: usize = 20;

/// How odd a device is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Oddness {
    /// MMD² from the mean of its peers, of which each that is not odd counts alike.
    pub mmd2: f64,
    /// What it is on average for a device of this many rows that is as its peers are.
    pub expected: f64,
    /// The probability of an MMD² at least as large, for such a device; none for one without peers.
    pub p_value: Option<f64>,
    /// The false-discovery rate of a list that goes down to this device.
    pub q_value: Option<f64>,
}

impl Oddness {
    /// Whether it is on the list at a false-discovery rate. A device that was not tested is not.
    #[must_use]
    pub fn is_odd(&self, level: f64) -> bool {
        self.q_value.is_some_and(|q_value| q_value <= level)
    }
}

/// What was found, and how well it is founded.
#[derive(Debug, Clone, PartialEq)]
pub struct Findings {
    /// For each device, in the order given.
    pub devices: Vec<Oddness>,
    /// The median of what normal devices have over what it should be: 1 if the tail fits them.
    pub calibration: f64,
}

/// How many devices have another one in their group. O(devices).
#[must_use]
pub fn with_peers(devices: &[Device]) -> usize {
    groups(devices).iter().map(|(_, members)| members.len()).filter(|count| *count > 1).sum()
}

/// Ranks devices against the others of their group.
///
/// For device i, d = μᵢ − mean of the other means of its group. The d of normal devices have a
/// covariance, which the fleet shows: it holds what is due to few rows, to rows that depend on
/// earlier ones, and to devices that are never quite alike. The statistic is d'(C + γ)⁻¹d, that of
/// the kernel Fisher discriminant (Harchaoui, Bach and Moulines 2008): if d is about normal, it is
/// Σz²λ/(λ + γ) with the eigenvalues λ of the covariance C. The p-value is the larger of that of this
/// sum and that of the tail that normal devices show. Devices that are called at the level are left
/// out of means, covariance and tail, and all is computed again, until no more are called. An odd device
/// moves the mean of its peers, and so each of them, by a part of its own distance: who is called, but
/// might be so only because of that, is looked at again in the next round.
///
/// A group may scatter more or less than others, by a factor of its own, if it has [`FEWEST`] devices; the
/// shape of the covariance is taken to be that of all.
///
/// The p-value is of a device from the same population as its peers; a group of one device has no
/// peers, and is not tested; none is, if fewer than [`FEWEST`] have peers. Of a group of two, nobody can
/// say which of them is odd: both are.
#[must_use]
pub fn rank(devices: &[Device], level: f64) -> Findings {
    // For each device the round in which it was left out.
    let mut out = vec![None; devices.len()];
    let (mut findings, mut ratios) = round(devices, &out);
    for number in 0..ROUNDS {
        let called = |i: usize| findings.devices[i].is_odd(level);
        let more = first_called(devices, &ratios, &out, called);
        more.iter().for_each(|i| out[*i] = Some(number));
        let normal = out.iter().filter(|out| out.is_none()).count();
        if more.is_empty() || normal < FEWEST {
            break;
        }
        (findings, ratios) = round(devices, &out);
    }
    if with_peers(devices) < FEWEST {
        findings.devices.iter_mut().for_each(|found| (found.p_value, found.q_value) = (None, None));
    }
    findings
}

/// Devices that are called, not yet left out, and not called because of worse ones of their group.
fn first_called(
    devices: &[Device],
    ratios: &[f64],
    out: &[Option<usize>],
    called: impl Fn(usize) -> bool,
) -> Vec<usize> {
    // Statistics are squares; distances add up.
    let distance = |i: usize| ratios[i].max(0.0).sqrt();
    let least = (0..devices.len()).filter(|i| called(*i)).map(distance).fold(f64::MAX, f64::min);
    let mut first = Vec::new();
    for (_, members) in groups(devices) {
        let inside: Vec<usize> = members.into_iter().filter(|i| out[*i].is_none()).collect();
        let peers = precise(inside.len().max(2) - 1);
        let mut worst: Vec<usize> = inside.into_iter().filter(|i| called(*i)).collect();
        worst.sort_by(|a, b| ratios[*b].total_cmp(&ratios[*a]));
        let mut moved = 0.0;
        for index in worst {
            if moved > 0.0 && distance(index) - moved < least {
                break;
            }
            moved += distance(index) / peers;
            first.push(index);
        }
    }
    first
}

/// What is found if some devices are left out of what is normal, and the statistic of each device.
fn round(devices: &[Device], out: &[Option<usize>]) -> (Findings, Vec<f64>) {
    let width = devices.first().map_or(0, |device| device.mean.len());
    let mut apart = vec![vec![]; devices.len()];
    // The mean of the peers is uncertain, too: by 1/peers of a device's own variance.
    let mut larger = vec![1.0; devices.len()];
    for (_, members) in groups(devices) {
        let mut normal: Vec<usize> =
            members.iter().copied().filter(|i| out[*i].is_none()).collect();
        if normal.len() < 2 {
            // Those that were left out last are the least odd: they are compared with each other.
            let left = |i: &usize| out[*i].unwrap_or(usize::MAX);
            let mut order: Vec<usize> = members.iter().map(left).collect();
            order.sort_unstable_by(|a, b| b.cmp(a));
            let second = order.get(1).copied().unwrap_or(0);
            normal = members.iter().copied().filter(|i| left(i) >= second).collect();
        }
        let normal = &normal;
        let mut sum = vec![0.0; width];
        for index in normal {
            add(&mut sum, &devices[*index].mean, 1.0);
        }
        for &index in &members {
            let own = normal.binary_search(&index).is_ok();
            let peers = precise(normal.len()) - if own { 1.0 } else { 0.0 };
            if peers < 1.0 {
                continue;
            }
            let mut d: Vec<f64> = sum.iter().map(|sum| -sum / peers).collect();
            add(&mut d, &devices[index].mean, if own { 1.0 + 1.0 / peers } else { 1.0 });
            larger[index] = 1.0 + 1.0 / peers;
            let shrink = 1.0 / larger[index].sqrt();
            d.iter_mut().for_each(|x| *x *= shrink);
            apart[index] = d;
        }
    }
    let mmd2: Vec<f64> = apart.iter().map(|d| d.iter().map(|x| x * x).sum()).collect();
    let normal: Vec<usize> =
        (0..devices.len()).filter(|i| out[*i].is_none() && !apart[*i].is_empty()).collect();
    let (fixed, per_row) = expected(devices, &mmd2, &normal);
    let by_rows = |index: usize| fixed + per_row / devices[index].rows.max(1.0);
    let spreads = spreads(devices, &normal, |index| mmd2[index] / by_rows(index));
    let usual = |index: usize| by_rows(index) * spreads[index];
    let scaled = normal.iter().map(|index| {
        // A device of few rows, or of a group that scatters, is not to outweigh the others.
        let factor = 1.0 / usual(*index).max(f64::MIN_POSITIVE) / precise(normal.len());
        apart[*index].iter().map(|x| x * factor.sqrt()).collect()
    });
    let axes = axes(scaled, width);
    let total: f64 = axes.iter().map(|(value, _)| value.max(0.0)).sum();
    let ridge = RIDGE * total / precise(width.max(1));
    let weight = |value: f64| 1.0 / (value.max(0.0) + ridge);
    let spectrum = Spectrum::new(axes.iter().map(|(value, _)| value.max(0.0) * weight(*value)));
    // One pass over the axes for each device; what lies along none of them has an eigenvalue of 0.
    let statistic = |d: &[f64]| -> f64 {
        let (mut sum, mut rest) = (0.0, d.iter().map(|x| x * x).sum::<f64>());
        for (value, axis) in &axes {
            let along = axis.iter().zip(d).map(|(a, x)| a * x).sum::<f64>().powi(2);
            sum += weight(*value) * along;
            rest -= along;
        }
        sum + if axes.len() < width { weight(0.0) * rest.max(0.0) } else { 0.0 }
    };
    let ratios: Vec<f64> = (0..devices.len()).map(|i| statistic(&apart[i]) / usual(i)).collect();
    let mut sorted: Vec<f64> = normal.iter().map(|i| ratios[*i]).collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.get(sorted.len() / 2).copied().unwrap_or(1.0);
    let calibration = middle / spectrum.quantile(0.5).max(f64::MIN_POSITIVE);
    let seen = Seen::new(&sorted);
    // Where normal devices scatter more than the tail says, all are taken to.
    let unit = calibration.max(1.0);
    let p_values: Vec<Option<f64>> = (0..devices.len())
        .map(|i| match usual(i) {
            _ if apart[i].is_empty() => None,
            usual if usual > 0.0 => {
                Some(spectrum.above(ratios[i] / unit).max(seen.above(ratios[i])))
            }
            // All normal devices are the same to the last bit.
            _ => Some(f64::from(u8::from(mmd2[i] <= 0.0))),
        })
        .collect();
    let devices = q_values(&p_values).into_iter().enumerate().map(|(i, q_value)| Oddness {
        mmd2: mmd2[i] * larger[i],
        expected: usual(i) * total * larger[i],
        p_value: p_values[i],
        q_value,
    });
    (Findings { devices: devices.collect(), calibration }, ratios)
}

fn add(sum: &mut [f64], vector: &[f32], factor: f64) {
    sum.iter_mut().zip(vector).for_each(|(sum, x)| *sum += factor * f64::from(*x));
}

/// Fits a + b/rows to squared distances: what devices have in common, and what more rows lessen.
/// Both at least 0; distances weigh by how large they should be.
fn expected(devices: &[Device], mmd2: &[f64], normal: &[usize]) -> (f64, f64) {
    let count = precise(normal.len()).max(1.0);
    let mean = normal.iter().map(|i| mmd2[*i]).sum::<f64>() / count;
    let rows = |i: usize| devices[i].rows.max(1.0);
    let (least, most) =
        normal.iter().fold((f64::MAX, 0.0_f64), |(a, b), i| (a.min(rows(*i)), b.max(rows(*i))));
    if most <= 1.1 * least {
        return (mean, 0.0);
    }
    let (mut fixed, mut per_row) = (mean, 0.0);
    for _ in 0..20 {
        // Least squares of (t − a − b·u)/e over a and b, with u = 1/rows and e the last fit.
        let mut s = [0.0; 5];
        for i in normal {
            let u = 1.0 / rows(*i);
            let e = (fixed + per_row * u).max(1e-12 * mean);
            let weight = 1.0 / (e * e);
            let terms = [1.0, u, u * u, mmd2[*i], u * mmd2[*i]];
            s.iter_mut().zip(terms).for_each(|(s, term)| *s += weight * term);
        }
        let [n, u, uu, t, ut] = s;
        let determinant = n * uu - u * u;
        let (a, b) = if determinant > 0.0 {
            ((t * uu - u * ut) / determinant, (n * ut - u * t) / determinant)
        } else {
            (t / n, 0.0)
        };
        (fixed, per_row) = match (a < 0.0, b < 0.0) {
            (true, _) => (0.0, ut / uu),
            (_, true) => (t / n, 0.0),
            _ => (a, b),
        };
    }
    (fixed, per_row)
}

/// The tail that normal devices show, which need not be normally distributed along each axis: beyond a
/// quantile, an exponential.
///
/// Its mean is taken from the median of the excesses, so that odd devices which are still among them
/// do not hide themselves. A median of k tells as much as a mean of k/2; the probability of a new
/// excess y, when the mean β is known from n, is (1 + y/(n·β))⁻ⁿ.
struct Seen {
    /// Part of the devices beyond the threshold.
    share: f64,
    threshold: f64,
    /// Mean excess; 0 if devices do not differ.
    excess: f64,
    /// What the excess is worth, in values.
    known: f64,
}

impl Seen {
    /// Of ascending values.
    fn new(sorted: &[f64]) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of a count"
        )]
        let beyond = (TAIL * precise(sorted.len())) as usize;
        let beyond = beyond.max(WANTED).min(sorted.len() / 4);
        let (lower, upper) = sorted.split_at(sorted.len() - beyond);
        let threshold = lower.last().copied().unwrap_or(0.0);
        let middle = upper.get(beyond / 2).map_or(0.0, |middle| middle - threshold);
        Self {
            share: precise(beyond) / precise(sorted.len().max(1)),
            threshold,
            excess: middle / std::f64::consts::LN_2,
            known: 0.5 * precise(beyond),
        }
    }

    /// The probability of more than x; 0 where this tail does not tell.
    fn above(&self, x: f64) -> f64 {
        if x <= self.threshold || self.excess <= 0.0 {
            return 0.0;
        }
        let off = (x - self.threshold) / self.excess;
        self.share * (1.0 + off / self.known).powf(-self.known)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Numbers, device};
    use super::*;

    /// So low that hardly any list of a few hundred normal devices has an entry.
    const LEVEL: f64 = 1e-4;

    /// Groups of each size, of normal devices.
    fn fleet(
        sizes: std::ops::RangeInclusive<u32>,
        each: u32,
        numbers: &mut Numbers,
    ) -> Vec<Device> {
        let mut devices = Vec::new();
        for size in sizes {
            for group in 0..each {
                for _ in 0..size {
                    let mean = (0..16).map(|_| numbers.normal()).collect();
                    devices.push(device(&format!("{size}-{group}"), mean));
                }
            }
        }
        devices
    }

    fn listed(devices: &[Device]) -> Vec<usize> {
        let found = rank(devices, LEVEL).devices;
        (0..devices.len()).filter(|i| found[*i].is_odd(LEVEL)).collect()
    }

    #[test]
    fn peers_of_a_grossly_odd_device_are_not_listed() {
        for seed in 0..5 {
            let mut devices = fleet(3..=6, 150, &mut Numbers::new(seed));
            // One in the first group of each size, far beyond all that is usual.
            let odd: Vec<usize> = (3..=6)
                .filter_map(|size| devices.iter().position(|d| d.group == format!("{size}-0")))
                .collect();
            odd.iter().for_each(|i| devices[*i].mean[3] += 1000.0);
            assert_eq!(listed(&devices), odd, "seed {seed}");
            // Two in a group of five and six: their peers are still the majority.
            let mut more = odd.clone();
            more.extend([odd[2] + 1, odd[3] + 1]);
            more.sort_unstable();
            devices[odd[2] + 1].mean[5] -= 300.0;
            devices[odd[3] + 1].mean[3] += 200.0;
            assert_eq!(listed(&devices), more, "seed {seed}");
        }
    }

    #[test]
    fn of_two_devices_that_differ_both_are_listed() {
        let mut devices = fleet(2..=4, 20, &mut Numbers::new(3));
        devices[0].mean[3] += 1000.0;
        assert_eq!(listed(&devices), [0, 1]);
    }

    #[test]
    fn a_device_without_peers_is_not_tested_and_does_not_count() {
        let mut devices = fleet(4..=6, 10, &mut Numbers::new(5));
        devices[2].mean[3] += 9.0;
        let without = rank(&devices, LEVEL);
        assert!(without.devices.iter().all(|found| found.q_value.is_some()));
        let count = devices.len();
        for lone in 0..100_u8 {
            devices.push(device(&format!("lone-{lone}"), vec![f32::from(lone); 16]));
        }
        let found = rank(&devices, LEVEL);
        assert_eq!(found.devices[..count], without.devices);
        for lone in &found.devices[count..] {
            assert_eq!((lone.p_value, lone.q_value, lone.is_odd(1.0)), (None, None, false));
        }
        // Too few peers to learn from: nobody is tested, however odd.
        let few: Vec<Device> = devices[..4].iter().chain(&devices[count..]).cloned().collect();
        assert_eq!(with_peers(&few), 4);
        assert!(rank(&few, LEVEL).devices.iter().all(|found| found.q_value.is_none()));
    }

    #[test]
    fn mmd2_is_the_squared_distance_from_the_mean_of_the_peers() {
        let devices = fleet(2..=9, 5, &mut Numbers::new(6));
        let found = rank(&devices, LEVEL).devices;
        for (i, own) in devices.iter().enumerate() {
            let peers = devices.iter().enumerate();
            let peers = peers.filter(|(j, other)| *j != i && other.group == own.group);
            let mean = super::super::mean_of(peers.map(|(_, other)| &other.mean[..]), 16);
            let apart = own.mean.iter().zip(&mean).map(|(x, mean)| (f64::from(*x) - mean).powi(2));
            let exact: f64 = apart.sum();
            assert!((found[i].mmd2 / exact - 1.0).abs() < 1e-9, "{} {exact}", found[i].mmd2);
        }
        // Of small groups it is larger on average, and what is usual is, too.
        let usual = |group: &str| {
            found[devices.iter().position(|device| device.group == group).unwrap()].expected
        };
        assert!((usual("2-0") / usual("9-0") / (2.0 / (9.0 / 8.0)) - 1.0).abs() < 1e-9);
    }
}
