//! `independence`: do two groups of columns depend on each other?

use fastmmd_reference::generate::Generator;
use fastmmd_reference::hsic::{ExactPairs, Pairs};
use fastmmd_reference::{Points, selection};
use fastmmd_tune::memory::Memory;
use serde_json::json;

use crate::args::IndependenceArguments;
use crate::bar::Working;
use crate::bars;
use crate::blocks;
use crate::fault::Fault;
use crate::report;
use crate::sample::{Sample, median_gaussian, refused};

/// Most rows, evenly spread: the time grows with their square.
const MOST_ROWS: usize = 800;
const SHUFFLES: usize = 499;

/// HSIC of two groups as pairs; channels have been divided by their deviations.
fn pairs(x: &Points, y: &Points) -> Result<ExactPairs, Fault> {
    let (first, second) = (median_gaussian(x)?, median_gaussian(y)?);
    let (x, y): (Vec<&[f64]>, Vec<&[f64]>) = (x.rows().collect(), y.rows().collect());
    ExactPairs::new(&x, &y, |a, b| first(a, b), |a, b| second(a, b)).map_err(refused)
}

/// HSIC(x, y)/√(HSIC(x, x)·HSIC(y, y)): from 0 to 1.
pub(crate) fn strength(x: &Points, y: &Points) -> Result<f64, Fault> {
    let value = |a, b| pairs(a, b)?.hsic().map_err(refused);
    Ok(value(x, y)? / (value(x, x)? * value(y, y)?).sqrt())
}

/// Runs the test; returns whether the groups depend on each other.
pub(crate) fn run(arguments: &IndependenceArguments) -> Result<bool, Fault> {
    let working = Working::begin("testing");
    let sample = Sample::read(&arguments.log, &arguments.rows.columns, arguments.rows.missing)?;
    let all = sample.rows.len();
    let sample = sample.thinned(MOST_ROWS);
    let group = |names: &[String]| -> Result<Vec<usize>, Fault> {
        names.iter().map(|name| sample.column(name)).collect()
    };
    let first = group(&arguments.first)?;
    let second = match &arguments.second {
        Some(names) => group(names)?,
        None => (0..sample.names.len()).filter(|column| !first.contains(column)).collect(),
    };
    if second.is_empty() || second.iter().any(|column| first.contains(column)) {
        return Err(Fault::new("the two groups must be different columns"));
    }
    let part = |columns: &[usize]| -> Result<Points, Fault> {
        selection::standardised(&sample.part(columns)?).map_err(refused)
    };
    let (x, y) = (part(&first)?, part(&second)?);
    let joint = pairs(&x, &y)?;
    let hsic = joint.hsic().map_err(refused)?;
    let generator = &mut Generator::new(arguments.chance.seed);
    // Of the rows that are used, which are further apart if some were left out.
    let (count, groups) = (sample.rows.len(), [&first, &second]);
    let channels = first.len().max(second.len());
    let memory = Memory::of([count; 2], channels, |group, row, channel| {
        let columns = groups[group];
        sample.rows[row][columns[channel % columns.len()]]
    });
    let null = joint.null_by_blocks(blocks::rows(&memory), SHUFFLES, generator);
    let p_value = null.map_err(refused)?.p_value(hsic);
    let strength_of_all = strength(&x, &y)?;
    let mut single = Vec::new();
    for &a in &first {
        for &b in &second {
            let name = format!("{} and {}", sample.names[a], sample.names[b]);
            single.push((name, strength(&part(&[a])?, &part(&[b])?)?));
        }
    }
    single.sort_by(|a, b| b.1.total_cmp(&a.1));
    let depend = p_value <= arguments.chance.alpha;
    if let Some(path) = &arguments.shown.plot {
        bars::draw(path, "Dependence of each two columns, from 0 to 1", &single)?;
    }
    drop(working);
    if arguments.shown.json {
        let of_pairs: Vec<_> = single
            .iter()
            .map(|(name, value)| json!({ "pair": name, "dependence": value }))
            .collect();
        let mut object = json!({
            "rows": all,
            "rows_used": sample.rows.len(),
            "hsic": hsic,
            "dependence": strength_of_all,
            "p_value": p_value,
            "alpha": arguments.chance.alpha,
            "dependent": depend,
            "pairs": of_pairs,
        });
        blocks::tell(&memory, &mut object);
        report::say_json(&object)?;
    } else {
        let p = report::probability(p_value);
        let verdict = report::verdict(depend, "dependent", "no dependence found");
        report::say(format!("{verdict}: p = {p}, dependence {strength_of_all:.3} of 1"))?;
        if sample.rows.len() < all {
            report::say(format!("by {} of {all} rows, evenly spread", sample.rows.len()))?;
        }
        blocks::lines(&memory).iter().try_for_each(report::say)?;
        for (name, value) in &single {
            report::say(format!("  {value:.3}  {name}"))?;
        }
    }
    Ok(depend)
}
