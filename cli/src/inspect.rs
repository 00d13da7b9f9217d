//! `inspect`: a saved state, explained.

use std::path::Path;

use fastmmd::detector::{Bandwidth, Calibration, Policy, Reference};
use fastmmd::{Error, Recipe};
use fastmmd_shapes::{Shape, Watch};
use serde_json::{Value, json};

use crate::fault::Fault;
use crate::files;
use crate::report::{self, number};

pub(crate) fn run(file: &Path, as_json: bool) -> Result<(), Fault> {
    let bytes = files::read(file)?;
    let fault = |why: String| Fault::of(file.display(), why);
    let recipe = Recipe::restore(&bytes).map_err(|error| fault(error.to_string()))?;
    let mut facts = of_record(&bytes, &recipe);
    match Shape::of_saved(&bytes) {
        Ok(shape) if shape.check().is_ok() => {
            let (shape, detector) = fastmmd_shapes::restored(&bytes).map_err(fault)?;
            facts.extend(of_detector(&shape, detector.as_ref()));
        }
        // One that this command has no detector for: what can be told without.
        Ok(shape) => {
            facts.extend(of_shape(&shape));
            facts.push(fact("windows", shape.windows, ""));
        }
        Err(Error::WrongShape) => {}
        Err(error) => return Err(fault(error.to_string())),
    }
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

fn of_record(bytes: &[u8], recipe: &Recipe) -> Vec<Fact> {
    // The kind is the sixth byte of the frame, which has been checked.
    let kind = match bytes.get(5) {
        Some(1) => "map",
        Some(2) => "embedding",
        Some(3) => "pair of streams",
        Some(5) => "detector",
        Some(6) => "monitor of couplings",
        _ => "unknown",
    };
    let kernel = recipe.kernel;
    let mut facts = vec![
        fact("kind", kind, ""),
        fact("length", bytes.len(), " bytes"),
        fact("map", recipe.kind.name(), ""),
        fact("inputs", recipe.dims, ""),
        fact("frequencies", recipe.features, ""),
        fact("sampling", recipe.sampling.name(), ""),
        fact("kernel", kernel.profile().name(), ""),
        fact("kernel_bandwidth", number(kernel.bandwidth()), ""),
        fact("kernel_scale", number(kernel.scale()), ""),
        fact("seed", recipe.seed, ""),
    ];
    if recipe.block > 0 {
        facts.push(fact("block", recipe.block, ""));
    }
    facts
}

fn of_shape(shape: &Shape) -> Vec<Fact> {
    vec![
        fact("channels", shape.channels, ""),
        fact("lags", shape.lags, ""),
        fact("view", shape.view(), ""),
    ]
}

fn of_detector(shape: &Shape, detector: &dyn Watch) -> Vec<Fact> {
    let settings = detector.settings();
    let config = settings.config;
    let numbers = |values: &[f32]| Value::from_iter(values.iter().map(|value| number(*value)));
    let mut facts = of_shape(shape);
    facts.extend([
        fact("stage", detector.stage().name(), ""),
        fact("rows", detector.rows(), ""),
        fact("reference_rows", detector.reference_rows(), ""),
        fact("scales", json!(settings.scales), " rows"),
        fact("thresholds", numbers(&detector.thresholds()), ""),
        fact(
            "mean_time_between_false_alarms",
            number(config.mean_time_between_false_alarms),
            " rows",
        ),
        fact("scaling_rows", config.scaling_rows, ""),
        fact("learning_rows", config.learning_rows, ""),
        fact("bandwidth", bandwidth(config.bandwidth), ""),
        fact("reference", reference(config.reference), ""),
        fact("calibration", calibration(config.calibration), ""),
        fact("lone_outliers", config.lone_outliers.name(), ""),
        fact("policy", policy(config.policy), ""),
        fact("ram_bytes", detector.ram_bytes(), " bytes on this machine"),
    ]);
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
