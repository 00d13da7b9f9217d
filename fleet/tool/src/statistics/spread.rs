//! Groups that scatter more than others: a site with worse sensors, or one that is out in the weather.

use super::levels::precise;
use super::peers::FEWEST;
use super::{Device, groups};

/// The deviation of normal values, over the median of how far they are from theirs.
const NORMAL: f64 = 1.4826;

/// For each device how much its group scatters, over what the middle one of all groups does: a factor of
/// squared distances, of which `ratio` is one over what it should be.
///
/// The logarithm of a group's median ratio has a variance of π/2·s²/n, if logarithms scatter by s within
/// groups of n. What groups differ by beyond that is believed, in the part that it is of the whole (James
/// and Stein 1961): groups that scatter alike all have a factor of about 1. So do those of fewer than
/// [`FEWEST`] devices. Medians, so that odd devices do not hide themselves.
pub(crate) fn spreads(
    devices: &[Device],
    normal: &[usize],
    ratio: impl Fn(usize) -> f64,
) -> Vec<f64> {
    let mut factors = vec![1.0; devices.len()];
    let mut is_normal = vec![false; devices.len()];
    normal.iter().for_each(|index| is_normal[*index] = true);
    let (mut known, mut off) = (Vec::new(), Vec::new());
    for (_, members) in groups(devices) {
        let own = members.iter().filter(|index| is_normal[**index]);
        let logs = own.map(|index| ratio(*index).ln()).filter(|log| log.is_finite());
        let mut logs: Vec<f64> = logs.collect();
        if logs.len() >= FEWEST {
            let middle = median(&mut logs);
            off.extend(logs.iter().map(|log| (log - middle).abs()));
            known.push((members, middle, precise(logs.len())));
        }
    }
    if known.len() < 2 {
        return factors;
    }
    let within = (NORMAL * median(&mut off)).powi(2);
    let noise = |count: f64| std::f64::consts::FRAC_PI_2 * within / count;
    let centre = median(&mut known.iter().map(|(_, middle, _)| *middle).collect::<Vec<_>>());
    let beyond = known.iter().map(|(_, middle, count)| (middle - centre).powi(2) - noise(*count));
    let between = (beyond.sum::<f64>() / precise(known.len())).max(0.0);
    for (members, middle, count) in known {
        let believed = between / (between + noise(count)).max(f64::MIN_POSITIVE);
        let factor = ((middle - centre) * believed).exp();
        members.into_iter().for_each(|index| factors[index] = factor);
    }
    factors
}

/// The middle value; of an even count, the mean of both.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    match values {
        [] => 0.0,
        _ if values.len() % 2 == 1 => values[half],
        _ => 0.5 * (values[half - 1] + values[half]),
    }
}

#[cfg(test)]
mod tests {
    use super::super::peers::rank;
    use super::super::tests::{Numbers, device};
    use super::*;

    const LEVEL: f64 = 0.05;

    /// Sites of 40 devices, of which the first scatters by this factor.
    fn fleet(sites: u32, factor: f32, numbers: &mut Numbers) -> Vec<Device> {
        let one = |site: u32, numbers: &mut Numbers| {
            let gain = if site == 0 { factor } else { 1.0 };
            let mean = (0..16).map(|_| gain * numbers.normal()).collect();
            device(&format!("site-{site}"), mean)
        };
        (0..40 * sites).map(|index| one(index % sites, numbers)).collect()
    }

    fn listed(devices: &[Device]) -> Vec<usize> {
        let found = rank(devices, LEVEL).devices;
        (0..devices.len()).filter(|index| found[*index].is_odd(LEVEL)).collect()
    }

    #[test]
    fn a_site_that_scatters_more_is_not_a_site_of_odd_devices() {
        let (mut wrong, mut hidden) = ([0; 2], [0; 2]);
        for seed in 0..20 {
            let mut one = fleet(100, 4.0, &mut Numbers::new(seed));
            // A device that is odd for its own site, but would not be at the one that scatters.
            let mut two = fleet(2, 4.0, &mut Numbers::new(100 + seed));
            two[1].mean[3] += 12.0;
            for groups in 0..2 {
                wrong[groups] += usize::from(!listed(&one).is_empty());
                hidden[groups] += usize::from(!listed(&two).contains(&1));
                // The control: all taken as one group.
                one.iter_mut().chain(&mut two).for_each(|device| device.group.clear());
            }
        }
        println!("lists with wrong entries, of 20: {wrong:?}; odd devices hidden: {hidden:?}");
        // At 5 % each, more than 4 of 20 come three times in a thousand.
        assert!(wrong[0] <= 4 && hidden[0] <= 4, "{wrong:?} {hidden:?}");
        assert!(wrong[1] >= 16 && hidden[1] >= 16, "{wrong:?} {hidden:?}");
    }

    #[test]
    fn sites_that_scatter_alike_have_about_one_spread() {
        let mut numbers = Numbers::new(3);
        let devices = fleet(50, 1.0, &mut numbers);
        let normal: Vec<usize> = (0..devices.len()).collect();
        let squares: Vec<f64> =
            devices.iter().map(|one| one.mean.iter().map(|x| f64::from(x * x)).sum()).collect();
        let alike = spreads(&devices, &normal, |index| squares[index]);
        assert!(alike.iter().all(|factor| (factor - 1.0).abs() < 0.1), "{alike:?}");
        // The control: a site that scatters four times as much, squared, has a spread of about that.
        let wide = |index: usize| squares[index] * if index.is_multiple_of(50) { 4.0 } else { 1.0 };
        let wide = spreads(&devices, &normal, wide);
        assert!((wide[0] / wide[1]).ln() > 0.7 * 4.0_f64.ln(), "{} {}", wide[0], wide[1]);
        // A small site is taken to be as the middle one.
        let few: Vec<usize> =
            normal.into_iter().filter(|index| index % 50 > 0 || *index < 500).collect();
        assert_eq!(spreads(&devices, &few, |index| squares[index])[0], 1.0);
    }
}
