//! Did the devices of a group move from one time to another, as a whole and one by one?

use super::eigen::axes;
use super::levels::{precise, q_values};
use super::peers::{self, Findings};
use super::tail::Spectrum;
use super::{Device, groups, mean_of};

/// How far a group moved.
#[derive(Debug, Clone, PartialEq)]
pub struct Movement {
    /// The group.
    pub group: String,
    /// Devices that were seen at both times.
    pub devices: usize,
    /// Squared length of the mean movement of its devices: MMD² of the two times, if every device
    /// counts alike.
    pub mmd2: f64,
    /// What it is on average if nothing but chance moves devices.
    pub expected: f64,
    /// The probability of a mean movement at least as long, by chance; none if the group has too few
    /// devices to tell, and was not tested.
    pub p_value: Option<f64>,
    /// The same for a list of the tested groups down to this one, as a false-discovery rate.
    pub q_value: Option<f64>,
    /// Devices of it that moved otherwise than the others, at the level.
    pub moved: usize,
}

impl Movement {
    /// Whether it is called moved at a false-discovery rate; none if it was not tested.
    #[must_use]
    pub fn has_moved(&self, level: f64) -> Option<bool> {
        self.q_value.map(|q_value| q_value <= level)
    }
}

/// What moved.
#[derive(Debug, Clone, PartialEq)]
pub struct Movements {
    /// The groups, by name.
    pub groups: Vec<Movement>,
    /// Each device's movement against that of its peers, in the order of the devices.
    pub devices: Findings,
}

/// The movement of a device: after minus before, and the rows that tell it.
#[must_use]
pub fn movement(before: &Device, after: &Device) -> Device {
    let mean = after.mean.iter().zip(&before.mean).map(|(after, before)| after - before);
    Device {
        name: after.name.clone(),
        group: after.group.clone(),
        // Variances of both add up.
        rows: 1.0 / (1.0 / before.rows.max(1.0) + 1.0 / after.rows.max(1.0)),
        mean: mean.collect(),
    }
}

/// Tests whether groups of devices moved, and which devices did.
///
/// A group: the mean of its devices' movements, against how much these scatter. Devices are the unit,
/// so rows may depend on earlier rows; they must not depend on other devices beyond what the group
/// shares, which is what is tested. How much they scatter is known from few devices only: the squares
/// of ν = (n − 1)·(Σλ)²/Σλ² independent numbers (Dempster 1958), so the tail is one of F. A group needs
/// [`peers::FEWEST`] devices; smaller ones are not tested, and do not count among the tests.
#[must_use]
pub fn test(moves: &[Device], level: f64) -> Movements {
    let devices = peers::rank(moves, level);
    let mut tested = Vec::new();
    for (mut group, members) in by_group(moves) {
        group.moved = members.iter().filter(|i| devices.devices[**i].is_odd(level)).count();
        tested.push(group);
    }
    Movements { groups: tested, devices }
}

/// Whether groups moved as a whole, each with the places of its devices.
fn by_group(moves: &[Device]) -> Vec<(Movement, Vec<usize>)> {
    let width = moves.first().map_or(0, |device| device.mean.len());
    let mut tested: Vec<(Movement, Vec<usize>)> = Vec::new();
    for (group, members) in groups(moves) {
        let count = precise(members.len());
        let mean = mean_of(members.iter().map(|i| &moves[*i].mean[..]), width);
        let mmd2 = mean.iter().map(|x| x * x).sum::<f64>();
        let off = |index: &usize| -> Vec<f64> {
            let own = moves[*index].mean.iter().zip(&mean);
            own.map(|(x, mean)| f64::from(*x) - mean).collect()
        };
        let off: Vec<Vec<f64>> = members.iter().map(off).collect();
        let spectrum = scatter(off, 1.0 / (count - 1.0).max(1.0) / count);
        let known = (count - 1.0).max(1.0) * spectrum.spread();
        let enough = members.len() >= peers::FEWEST;
        let movement = Movement {
            group: group.to_owned(),
            devices: members.len(),
            mmd2,
            expected: spectrum.mean(),
            p_value: enough.then(|| spectrum.above_estimated(mmd2, known)),
            q_value: None,
            moved: 0,
        };
        tested.push((movement, members));
    }
    let p_values: Vec<_> = tested.iter().map(|(group, _)| group.p_value).collect();
    for ((group, _), q_value) in tested.iter_mut().zip(q_values(&p_values)) {
        group.q_value = q_value;
    }
    tested
}

/// The eigenvalues of `factor`·Σoff·off'.
fn scatter(off: Vec<Vec<f64>>, factor: f64) -> Spectrum {
    let width = off.first().map_or(0, Vec::len);
    Spectrum::new(axes(off.into_iter(), width).into_iter().map(|(value, _)| factor * value))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Numbers, device};
    use super::*;

    const LEVEL: f64 = 0.05;

    /// Sites of devices that move by chance, mostly along one axis.
    fn sites(count: u32, devices: u32, numbers: &mut Numbers) -> Vec<Device> {
        let one = |site: u32, numbers: &mut Numbers| {
            let mean = (0..8).map(|axis| numbers.normal() * if axis == 0 { 1.0 } else { 0.05 });
            device(&format!("site-{site}"), mean.collect())
        };
        (0..count * devices).map(|index| one(index % count, numbers)).collect()
    }

    #[test]
    fn many_sites_of_few_devices_keep_the_level() {
        let (fleets, mut wrong, mut thin) = (200, 0, 0);
        for seed in 0..fleets {
            let moves = sites(100, 20, &mut Numbers::new(seed));
            let found: Vec<_> = by_group(&moves).into_iter().map(|(group, _)| group).collect();
            wrong += usize::from(found.iter().any(|group| group.has_moved(LEVEL) == Some(true)));
            // The control: with the scatter taken as known, p = P(z² > mmd2/expected).
            let known = |group: &Movement| {
                Some(Spectrum::new([1.0].into_iter()).above(group.mmd2 / group.expected))
            };
            let p_values: Vec<_> = found.iter().map(known).collect();
            thin += usize::from(q_values(&p_values).iter().flatten().any(|q| *q <= LEVEL));
        }
        println!("{wrong} of {fleets} lists of sites are not empty; with a known scatter, {thin}");
        // At 5 % each, more than 20 of 200 come once in a thousand times.
        assert!(wrong <= 20, "{wrong}");
        assert!(thin > 30, "{thin}");
    }

    #[test]
    fn a_site_that_moved_is_found() {
        let mut moves = sites(100, 20, &mut Numbers::new(7));
        let shifted = moves.iter_mut().filter(|device| device.group == "site-3");
        shifted.for_each(|device| device.mean[0] += 1.5);
        let found = test(&moves, LEVEL).groups;
        let moved = found.iter().filter(|group| group.has_moved(LEVEL) == Some(true));
        assert_eq!(moved.map(|group| &*group.group).collect::<Vec<_>>(), ["site-3"]);
    }

    #[test]
    fn groups_that_are_too_small_are_not_tested_and_cost_nothing() {
        let mut moves = sites(5, 20, &mut Numbers::new(7));
        let shifted = moves.iter_mut().filter(|device| device.group == "site-3");
        shifted.for_each(|device| device.mean[0] += 1.1);
        let alone = by_group(&moves);
        // Small sites beside them, all of which moved by far.
        let mut numbers = Numbers::new(8);
        for site in 0..400 {
            for _ in 0..2 + site % 18 {
                let mean = (0..8).map(|_| 9.0 + numbers.normal()).collect();
                moves.push(device(&format!("small-{site}"), mean));
            }
        }
        let both = by_group(&moves);
        let (small, large): (Vec<_>, Vec<_>) =
            both.iter().partition(|(group, _)| group.group.starts_with("small"));
        assert_eq!(small.len(), 400);
        for (group, _) in small {
            assert_eq!((group.p_value, group.q_value, group.has_moved(LEVEL)), (None, None, None));
        }
        let q_values = |tested: &[&(Movement, Vec<usize>)]| -> Vec<Option<f64>> {
            tested.iter().map(|(group, _)| group.q_value).collect()
        };
        assert_eq!(q_values(&large), q_values(&alone.iter().collect::<Vec<_>>()));
        let moved = |(group, _): &&&(Movement, Vec<usize>)| group.has_moved(LEVEL) == Some(true);
        assert_eq!(large.iter().filter(moved).count(), 1);
        // The control: were the small ones counted as tests that found nothing, none would be called.
        let mut counted: Vec<_> = alone.iter().map(|(group, _)| group.p_value).collect();
        counted.resize(405, Some(1.0));
        assert!(super::q_values(&counted).iter().flatten().all(|q| *q > LEVEL));
    }
}
