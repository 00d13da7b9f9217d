//! `reweight`: weights that make the rows of one file look like those of another.

use std::fmt::Write as _;

use fastmmd::embedding::MIN_WEIGHT;
use fastmmd_reference::matching::match_means;
use fastmmd_reference::{Points, real};
use serde_json::json;

use crate::args::ReweightArguments;
use crate::bar::Working;
use crate::bars;
use crate::fault::Fault;
use crate::files;
use crate::report;
use crate::sample::{Sample, median_gaussian, refused};

/// Most rows of each file; more would take minutes.
const MOST_ROWS: usize = 1500;

/// Mean and deviation of a column.
fn moments(rows: &[Vec<f64>], column: usize) -> (f64, f64) {
    let count = real(rows.len());
    let mean = rows.iter().map(|row| row[column]).sum::<f64>() / count;
    let squares: f64 = rows.iter().map(|row| (row[column] - mean).powi(2)).sum();
    (mean, (squares / count).sqrt())
}

/// Weights as an embedding takes them: of mean 1 instead of sum 1, which for many rows are smaller than
/// [`MIN_WEIGHT`]; those that still are become 0.
fn of_mean_one(weights: &[f64]) -> Vec<f64> {
    let rows = real(weights.len());
    let one = |weight: &f64| rows * weight;
    weights.iter().map(one).map(|w| if w < f64::from(MIN_WEIGHT) { 0.0 } else { w }).collect()
}

/// Finds the weights, writes them, and prints the distances of the means before and after.
pub(crate) fn run(arguments: &ReweightArguments) -> Result<(), Fault> {
    if let Some(path) = &arguments.output {
        files::check_output(path, [arguments.log.as_path(), arguments.target.as_path()])?;
    }
    let working = Working::begin("matching");
    let [own, target] = Sample::read_both([&arguments.log, &arguments.target], &arguments.rows)?;
    for sample in [&own, &target] {
        if sample.rows.len() > MOST_ROWS {
            let why = format!("{} rows; at most {MOST_ROWS}", sample.rows.len());
            return Err(Fault::of(&sample.name, why));
        }
    }
    // In units of the target's deviations.
    let scales: Vec<(f64, f64)> =
        (0..target.names.len()).map(|c| moments(&target.rows, c)).collect();
    if let Some(place) = scales.iter().position(|(_, deviation)| *deviation <= 0.0) {
        return Err(Fault::of(&target.name, format!("{} does not vary", target.names[place])));
    }
    let scaled = |sample: &Sample| -> Vec<Vec<f64>> {
        let row = |row: &Vec<f64>| row.iter().zip(&scales).map(|(x, (m, d))| (x - m) / d).collect();
        sample.rows.iter().map(row).collect()
    };
    let (x, y) = (scaled(&own), scaled(&target));
    let points = Points::new(scales.len(), y.concat()).map_err(refused)?;
    let kernel = median_gaussian(&points)?;
    let pair = |a: &Vec<f64>, b: &Vec<f64>| kernel(a, b);
    let matched = match_means(&x, &y, pair, arguments.ridge).map_err(refused)?;
    let mut apart = Vec::new();
    for (column, name) in own.names.iter().enumerate() {
        let before = moments(&x, column).0;
        let after = matched.mean(x.iter().map(|row| row[column]));
        apart.push((name.clone(), before, after));
    }
    let weights = of_mean_one(&matched.weights);
    if let Some(path) = &arguments.output {
        let mut text = String::from("weight\n");
        for weight in &weights {
            let _ = writeln!(text, "{weight}");
        }
        files::write(path, text.as_bytes())?;
    }
    if let Some(path) = &arguments.shown.plot {
        let two = apart.iter().flat_map(|(name, before, after)| {
            [(format!("{name}, as it is"), *before), (format!("{name}, weighted"), *after)]
        });
        let title = "Distance of each mean from the target's, in the target's deviations";
        bars::draw(path, title, &two.collect::<Vec<_>>())?;
    }
    drop(working);
    let effective = matched.effective_samples();
    if arguments.shown.json {
        let columns: Vec<_> = apart
            .iter()
            .map(
                |(name, before, after)| json!({ "column": name, "before": before, "after": after }),
            )
            .collect();
        return report::say_json(&json!({
            "rows": own.rows.len(),
            "target_rows": target.rows.len(),
            "effective_rows": effective,
            "columns": columns,
            "weights": weights,
        }));
    }
    report::say(format!(
        "{} rows weighted like {}: worth {effective:.0} rows",
        own.rows.len(),
        target.rows.len()
    ))?;
    report::say(
        "distance of each mean from the target's, in the target's deviations, before and after:",
    )?;
    for (name, before, after) in &apart {
        report::say(format!("  {before:7.3} {after:7.3}  {name}"))?;
    }
    Ok(())
}
