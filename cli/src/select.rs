//! `select`: which columns predict a label?

use fastmmd_reference::cliques::gram;
use fastmmd_reference::kernel::gaussian;
use fastmmd_reference::selection;
use serde_json::json;

use crate::args::SelectArguments;
use crate::bar::Working;
use crate::bars;
use crate::fault::Fault;
use crate::independence::strength;
use crate::report;
use crate::sample::{MOST_MEDIAN_ROWS, Sample, median_distance, median_gaussian, refused};

/// Most rows, evenly spread: the time grows with the square of rows and of columns.
const MOST_ROWS: usize = 300;

/// Ranks the columns, the best predictor first.
pub(crate) fn run(arguments: &SelectArguments) -> Result<(), Fault> {
    let working = Working::begin("selecting");
    let sample = Sample::read(&arguments.log, &arguments.rows.columns, arguments.rows.missing)?;
    let all = sample.rows.len();
    let sample = sample.thinned(MOST_ROWS);
    let label = sample.column(&arguments.label)?;
    let columns: Vec<usize> = (0..sample.names.len()).filter(|column| *column != label).collect();
    if columns.is_empty() {
        return Err(Fault::new("no columns besides the label"));
    }
    let points = selection::standardised(&sample.part(&columns)?).map_err(refused)?;
    let y = selection::standardised(&sample.part(&[label])?).map_err(refused)?;
    let own = median_gaussian(&y)?;
    let labels = gram(&y.rows().collect::<Vec<_>>(), |a, b| own(a, b)).map_err(refused)?;
    // With fewer channels, rows are closer together, so the bandwidth shrinks as channels are dropped.
    let one =
        median_distance(&points, MOST_MEDIAN_ROWS)? / fastmmd_reference::real(columns.len()).sqrt();
    let kernel =
        |a: &[f64], b: &[f64]| gaussian(one * fastmmd_reference::real(a.len()).sqrt())(a, b);
    let mut order = selection::backward_elimination(&points, &labels, kernel).map_err(refused)?;
    order.reverse();
    let mut ranked = Vec::new();
    for place in order {
        let own = selection::standardised(&sample.part(&[columns[place]])?).map_err(refused)?;
        ranked.push((sample.names[columns[place]].clone(), strength(&own, &y)?));
    }
    if let Some(path) = &arguments.shown.plot {
        let title = format!(
            "Columns that predict {}, the best first; dependence of each alone",
            sample.names[label]
        );
        bars::draw(path, &title, &ranked)?;
    }
    drop(working);
    if arguments.shown.json {
        let list: Vec<_> = ranked
            .iter()
            .map(|(name, value)| json!({ "column": name, "dependence": value }))
            .collect();
        return report::say_json(&json!({
            "rows": all,
            "rows_used": sample.rows.len(),
            "label": sample.names[label],
            "ranked": list,
        }));
    }
    report::say(format!("columns that predict {}, the best first:", sample.names[label]))?;
    if sample.rows.len() < all {
        report::say(format!("by {} of {all} rows, evenly spread", sample.rows.len()))?;
    }
    for (place, (name, value)) in ranked.iter().enumerate() {
        report::say(format!("{:3}. {name}  (alone {value:.3} of 1)", place + 1))?;
    }
    Ok(())
}
