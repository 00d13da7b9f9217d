//! `nystrom`: how different are two files, by a few landmarks?

use fastmmd_reference::generate::Generator;
use fastmmd_reference::null::{self, Estimate, Pool as _};
use fastmmd_reference::nystrom::{self, Nystrom};
use fastmmd_reference::{Points, selection};
use fastmmd_tune::memory::Memory;
use fastmmd_tune::null::block_means;
use serde_json::json;

use crate::args::NystromArguments;
use crate::bar::Working;
use crate::bars;
use crate::blocks;
use crate::fault::Fault;
use crate::report;
use crate::sample::{Sample, median_gaussian, refused};

const SHUFFLES: usize = 199;

/// Runs the test by landmarks; returns whether the files differ.
pub(crate) fn run(arguments: &NystromArguments) -> Result<bool, Fault> {
    let working = Working::begin("testing");
    let [x, y] = Sample::read_both([&arguments.x, &arguments.y], &arguments.rows)?;
    let dims = x.names.len();
    let all = Points::new(dims, x.rows.concat().into_iter().chain(y.rows.concat()).collect());
    let all = selection::standardised(&all.map_err(refused)?).map_err(refused)?;
    let rows: Vec<&[f64]> = all.rows().collect();
    let kernel = median_gaussian(&all)?;
    let pair = |a: &&[f64], b: &&[f64]| kernel(a, b);
    let generator = &mut Generator::new(arguments.chance.seed);
    let mut series = Vec::new();
    let mut last = None;
    let mut count = 2;
    while count < arguments.landmarks {
        series.push(count);
        count *= 2;
    }
    series.push(arguments.landmarks);
    let mut values = Vec::new();
    for count in series {
        let chosen = nystrom::uniform(rows.len(), count, generator).map_err(refused)?;
        let map = Nystrom::new(chosen.iter().map(|&i| rows[i]).collect(), pair).map_err(refused)?;
        let (p, q) = rows.split_at(x.rows.len());
        values.push((count, map.mmd2(p, q).map_err(refused)?));
        last = Some(map);
    }
    let (Some(map), Some(&(landmarks, mmd2))) = (last, values.last()) else {
        return Err(Fault::new("no landmarks"));
    };
    // Features once; a shuffle is then a sum over rows, or over blocks of rows.
    let mut features = Vec::new();
    for row in &rows {
        features.push(map.feature_vector(row).map_err(refused)?);
    }
    let (both, sizes) = ([&x, &y], [x.rows.len(), y.rows.len()]);
    let memory = Memory::of(sizes, dims, |file, row, channel| both[file].rows[row][channel]);
    let pool = block_means(&features, sizes, blocks::rows(&memory)).map_err(refused)?;
    let statistic = pool.mmd2(Estimate::Biased).map_err(refused)?;
    let shuffled = null::permutation(&pool, Estimate::Biased, SHUFFLES, generator);
    let p_value = shuffled.map_err(refused)?.p_value(statistic);
    let differ = p_value <= arguments.chance.alpha;
    if let Some(path) = &arguments.shown.plot {
        let bars: Vec<_> =
            values.iter().map(|(count, value)| (format!("{count} landmarks"), *value)).collect();
        bars::draw(path, "Squared MMD by landmarks", &bars)?;
    }
    drop(working);
    if arguments.shown.json {
        let list: Vec<_> = values
            .iter()
            .map(|(count, value)| json!({ "landmarks": count, "mmd2": value }))
            .collect();
        let mut object = json!({
            "n": x.rows.len(),
            "m": y.rows.len(),
            "landmarks": landmarks,
            "mmd2": mmd2,
            "p_value": p_value,
            "alpha": arguments.chance.alpha,
            "reject": differ,
            "by_landmarks": list,
        });
        blocks::tell(&memory, &mut object);
        report::say_json(&object)?;
    } else {
        let p = report::probability(p_value);
        let verdict = report::verdict(differ, "different", "no difference found");
        report::say(format!("{verdict}: p = {p}, squared MMD {mmd2:.5} by {landmarks} landmarks"))?;
        blocks::lines(&memory).iter().try_for_each(report::say)?;
    }
    Ok(differ)
}
