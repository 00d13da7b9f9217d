//! How often lists are wrong, over many small fleets: in process, without files.

use fastmmd::dynamic::Map;
use fastmmd::{Kernel, Sampling};
use fastmmd_fleet::made::{Fleet, Made};
use fastmmd_fleet::statistics::{Device, peers};
use fastmmd_fleet_bare::at_once;

const LEVEL: f64 = 0.05;
/// Not the seeds that constants of the statistics were chosen with.
const SEEDS: std::ops::Range<u64> = 1000..1020;

/// The tool's default map.
fn default_map() -> Map {
    let frequencies = fastmmd_datafusion::FREQUENCIES;
    Map::fourier(Kernel::GAUSSIAN, Sampling::Additive, 1, 3, frequencies).unwrap()
}

/// The devices of a fleet, each embedded as the tool does.
fn devices(fleet: &Fleet, map: &Map) -> Vec<Device> {
    let one = |made: Made| {
        let standard =
            |[x, y, z]: [f32; 3]| [(x - 20.0) / 2.0, (y - 5.0) / 0.5, (z - 100.0) / 10.0];
        let rows: Vec<f32> = fleet.rows(made).flat_map(standard).collect();
        let embedding = at_once(map, &rows).unwrap();
        let unit = (1.0 / embedding.frequencies() as f32).sqrt();
        let mean = embedding.mean().unwrap().flat_map(|point| [unit * point.cos, unit * point.sin]);
        Device {
            name: made.number.to_string(),
            group: made.site.to_string(),
            rows: f64::from(fleet.rows),
            mean: mean.collect(),
        }
    };
    (0..fleet.devices).map(|number| one(fleet.device(number))).collect()
}

#[test]
fn lists_of_small_fleets_keep_their_level_and_find_most() {
    let map = default_map();
    let (mut part, mut found, mut whole) = (0.0, 0, 0);
    for seed in SEEDS {
        let fleet = Fleet { devices: 300, rows: 200, odd: 12, moved: 0, seed };
        let ranked = peers::rank(&devices(&fleet, &map), LEVEL).devices;
        let listed = (0..fleet.devices).filter(|i| ranked[*i as usize].is_odd(LEVEL));
        let (right, wrong): (Vec<u32>, Vec<u32>) =
            listed.partition(|number| fleet.device(*number).odd.is_some());
        part += wrong.len() as f64 / (right.len() + wrong.len()).max(1) as f64;
        found += right.len();
        whole += fleet.odd as usize;
    }
    let (rate, power) = (part / SEEDS.count() as f64, found as f64 / whole as f64);
    println!(
        "wrong entries: {:.1} % of a list on average; found: {:.0} %",
        100.0 * rate,
        100.0 * power
    );
    assert!(rate <= LEVEL, "{rate}");
    // The control: lists are not empty.
    assert!(power > 0.5, "{power}");
}

/// How many lists of fleets are not empty, at each level, and how many have device 0 on them.
fn lists(devices_each: u32, odd: u32, fleets: u64, levels: [f64; 2]) -> ([u64; 2], [u64; 2]) {
    let map = default_map();
    let (mut any, mut first) = ([0; 2], [0; 2]);
    for seed in 0..fleets {
        let seed = 10_000 * u64::from(devices_each) + seed;
        let fleet = Fleet { devices: devices_each, rows: 100, odd, moved: 0, seed };
        let devices = devices(&fleet, &map);
        for (place, level) in levels.into_iter().enumerate() {
            let found = peers::rank(&devices, level).devices;
            any[place] += u64::from(found.iter().any(|found| found.is_odd(level)));
            first[place] += u64::from(found[0].is_odd(level));
        }
    }
    (any, first)
}

#[test]
fn fleets_of_20_50_and_100_devices_keep_their_level() {
    let levels = [0.05, 0.2];
    for (devices, fleets) in [(20, 200), (50, 200), (100, 100)] {
        // Without odd devices, every list that is not empty is wrong as a whole.
        let (wrong, _) = lists(devices, 0, fleets, levels);
        println!(
            "{devices} devices, none odd: {wrong:?} of {fleets} lists at {levels:?} are wrong"
        );
        for (wrong, level) in wrong.into_iter().zip(levels) {
            let count = fleets as f64;
            // Three deviations of a binomial above the level.
            let most = count * level + 3.0 * (count * level * (1.0 - level)).sqrt();
            assert!((wrong as f64) < most, "{devices} devices at {level}: {wrong} of {fleets}");
        }
    }
    // The control: the first device, of another level, is on most lists of a hundred.
    let (any, found) = lists(100, 1, 20, levels);
    println!(
        "100 devices, one odd: {found:?} of 20 found at {levels:?}; {any:?} lists are not empty"
    );
    assert!(found[0] >= 10 && found[1] >= 15, "{found:?}");
}
