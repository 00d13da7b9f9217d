//! `inspect`: explains a saved state.

use std::marker::PhantomData;
use std::path::Path;

use fastmmd::dynamic::{self, Config, Detector};
use fastmmd::monitor::{Bandwidth, Calibration, Policy, Reference, SavedShape};
use fastmmd::state::Kind;
use fastmmd::{Error, Recipe};
use serde_json::{Value, json};

use crate::cost;
use crate::fault::Fault;
use crate::files;
use crate::report::{self, number};
use crate::view;

pub(crate) fn run(file: &Path, as_json: bool) -> Result<(), Fault> {
    let bytes = files::read(file)?;
    let facts = facts(&bytes).map_err(|error| Fault::of(file.display(), error))?;
    if as_json {
        let object = facts.into_iter().map(|fact| (fact.name.to_owned(), fact.value)).collect();
        return report::say_json(&Value::Object(object));
    }
    for Fact { name, value, unit } in facts {
        let value = match value {
            Value::String(text) => text,
            Value::Array(values) => {
                values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")
            }
            other => other.to_string(),
        };
        let label = name.replace('_', " ");
        report::say(format!("{label:<30} {value}{unit}"))?;
    }
    Ok(())
}

struct Fact {
    name: &'static str,
    value: Value,
    unit: &'static str,
}

fn fact(name: &'static str, value: impl Into<Value>, unit: &'static str) -> Fact {
    Fact { name, value: value.into(), unit }
}

/// Everything that a record contains.
fn facts(bytes: &[u8]) -> Result<Vec<Fact>, Error> {
    let (kind, recipe) = (Kind::of(bytes)?, Recipe::restore(bytes)?);
    let mut facts = of_record(kind, bytes.len(), &recipe);
    match kind {
        Kind::Detector => {}
        // All that they say beside the map is their sums.
        Kind::Map | Kind::Embedding | Kind::TwoSample | Kind::Coupling | Kind::Drift => {
            return Ok(facts);
        }
    }
    facts.extend(of_shape(&SavedShape::restore(bytes)?, &recipe));
    let restored = dynamic::saved_map(bytes)
        .and_then(|map| dynamic::restored(&map, bytes).map(|detector| of_detector(&detector)));
    match restored {
        Ok(more) => facts.extend(more),
        // A detector with given frequencies, which cannot be drawn again, or another backend.
        Err(Error::WrongShape) => {}
        Err(error) => return Err(error),
    }
    Ok(facts)
}

fn of_record(kind: Kind, length: usize, recipe: &Recipe) -> Vec<Fact> {
    let kernel = recipe.kernel;
    let mut facts = vec![
        fact("kind", kind.name(), ""),
        fact("length", length, " bytes"),
        fact("map", recipe.kind.name(), ""),
        fact("inputs", recipe.inputs, ""),
        fact("frequencies", recipe.frequencies, ""),
        fact("sampling", recipe.sampling.name(), ""),
        fact("kernel", kernel.profile().name(), ""),
        fact("kernel_bandwidth", number(kernel.bandwidth()), ""),
        fact("kernel_amplitude", number(kernel.amplitude()), ""),
        fact("seed", recipe.seed, ""),
    ];
    if recipe.block > 0 {
        facts.push(fact("block", recipe.block, ""));
    }
    facts
}

fn of_shape(shape: &SavedShape, recipe: &Recipe) -> Vec<Fact> {
    let lags = recipe.inputs.checked_div(shape.channels).unwrap_or(1);
    vec![
        fact("channels", shape.channels, ""),
        fact("lags", lags, ""),
        fact("view", view::view(shape.view, lags), ""),
        fact("window_count", shape.windows, ""),
    ]
}

fn of_detector(detector: &Detector<'_>) -> Vec<Fact> {
    // All settings, so that a new one does not compile until it is shown here too.
    let Config {
        windows,
        mean_time_between_false_alarms,
        scaling_rows,
        learning_rows,
        bandwidth: width,
        reference: compared,
        calibration: thresholds,
        lone_outliers,
        policy: follows,
        view: PhantomData,
    } = detector.config();
    let numbers = |values: &[f32]| Value::from_iter(values.iter().map(|value| number(*value)));
    let beyond: Vec<f32> = detector.windows().map(|window| window.threshold).collect();
    let mut facts = vec![
        fact("stage", detector.stage().name(), ""),
        fact("rows", detector.rows(), ""),
        fact("reference_rows", detector.reference_rows(), ""),
        fact("windows", json!(windows), " rows"),
        fact("thresholds", numbers(&beyond), ""),
        fact("mean_time_between_false_alarms", number(*mean_time_between_false_alarms), " rows"),
        fact("scaling_rows", *scaling_rows, ""),
        fact("learning_rows", *learning_rows, ""),
        fact("bandwidth", bandwidth(*width), ""),
        fact("reference", reference(*compared), ""),
        fact("calibration", calibration(*thresholds), ""),
        fact("lone_outliers", lone_outliers.name(), ""),
        fact("policy", policy(*follows), ""),
        fact("ram_bytes", cost::ram_bytes(detector), " bytes on this machine"),
    ];
    if let Some((means, deviations)) = detector.scale() {
        facts.push(fact("means", numbers(&means), " in the log's units"));
        facts.push(fact("deviations", numbers(&deviations), " in the log's units"));
    }
    if let Some(sigma) = detector.bandwidth() {
        facts.push(fact("sigma", number(sigma), " standard deviations"));
    }
    facts
}

pub(crate) fn bandwidth(choice: Bandwidth) -> String {
    match choice {
        Bandwidth::Deviations(deviations) => format!("{deviations} standard deviations"),
        Bandwidth::MedianDistance(factor) => format!("{factor} median distances"),
        Bandwidth::Family => "family".to_owned(),
    }
}

fn reference(choice: Reference) -> String {
    match choice {
        Reference::Learned => "as learned".to_owned(),
        Reference::Moving(rows) => format!("moves over {rows} rows"),
    }
}

fn calibration(choice: Calibration) -> String {
    match choice {
        Calibration::Learned => "as learned".to_owned(),
        Calibration::Adaptive(rows) => format!("adapts over {rows} rows"),
    }
}

fn policy(choice: Policy) -> String {
    match choice {
        Policy::Latch => "one alarm until acknowledged".to_owned(),
        Policy::HoldOff(rows) => format!("an alarm every {rows} rows"),
        Policy::OncePerChange(rows) => format!("one alarm for each change, {rows} calm rows apart"),
        Policy::Relearn { hold_off, settle } => {
            format!("relearns {hold_off} rows after an alarm, settles in {settle}")
        }
    }
}
