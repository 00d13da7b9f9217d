//! `inspect`: explains a saved state.

use std::marker::PhantomData;
use std::path::Path;

use fastmmd::dynamic;
use fastmmd::monitor::{ChannelQuality, Leg, LegStatus, SavedLegs};
use fastmmd::state::Kind;
use fastmmd::{Config, Error, Recipe};
use fastmmd_tune::detector::Detector;
use serde_json::{Value, json};

use crate::cost;
use crate::fault::Fault;
use crate::files;
use crate::report::{self, number};

pub(crate) fn run(file: &Path, as_json: bool) -> Result<(), Fault> {
    let bytes = files::read(file)?;
    let facts = facts(&bytes).map_err(|error| Fault::of(file.display(), error))?;
    if as_json {
        let object = facts.into_iter().map(|fact| (fact.name.to_owned(), fact.value)).collect();
        return report::say_json(&Value::Object(object));
    }
    for Fact { name, value, unit } in facts {
        let label = name.replace('_', " ");
        let value = match value {
            Value::Array(values) if values.iter().any(Value::is_object) => {
                values
                    .iter()
                    .try_for_each(|one| report::say(format!("{label:<30} {}", line(one))))?;
                continue;
            }
            Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(", "),
            other => plain(&other),
        };
        report::say(format!("{label:<30} {value}{unit}"))?;
    }
    Ok(())
}

/// A value without quotes.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A statistic as a line.
fn line(status: &Value) -> String {
    let channel = match &status["channel"] {
        Value::Null => "all channels".to_owned(),
        channel => format!("channel {channel}"),
    };
    let window = match status["window"].as_u64() {
        Some(0) | None => String::new(),
        Some(rows) => format!(" over {rows} rows"),
    };
    let leg = plain(&status["leg"]);
    let (now, most) = (&status["statistic"], &status["threshold"]);
    format!("{leg} of {channel}{window}: {now}, alarms beyond {most}")
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
        // Besides the map they hold only sums.
        Kind::Map
        | Kind::Embedding
        | Kind::TwoSample
        | Kind::TwoSampleTest
        | Kind::Family
        | Kind::Classifier
        | Kind::Coupling => {
            return Ok(facts);
        }
    }
    facts.extend(of_legs(&SavedLegs::restore(bytes)?, &recipe));
    let restored = dynamic::saved_map(bytes)
        .and_then(|map| Detector::restored(&map, bytes).map(|detector| of_detector(&detector)));
    match restored {
        Ok(more) => facts.extend(more),
        // A detector with given frequencies, which cannot be drawn again, another backend, or legs
        // that this tool does not run.
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

fn of_legs(legs: &SavedLegs, recipe: &Recipe) -> Vec<Fact> {
    let carried = Leg::ALL.into_iter().filter(|leg| legs.carries(*leg));
    let names: Vec<&str> = carried.map(Leg::name).collect();
    vec![
        fact("channels", recipe.inputs, ""),
        fact("legs", names, ""),
        fact("parts_of_a_cycle", legs.bins, ""),
    ]
}

fn of_detector(detector: &Detector<'_>) -> Vec<Fact> {
    // All settings, so that a new one does not compile until it is shown here too.
    let Config {
        mean_time_between_false_alarms,
        learning_rows,
        not_a_number,
        period,
        relearn_after,
        legs: PhantomData,
    } = detector.config();
    let supported = detector.config().supported_mean_time();
    let mut facts = vec![
        fact("stage", detector.stage().name(), ""),
        fact("rows", detector.rows(), ""),
        fact("devices", detector.merged(), ""),
        fact("mean_time_between_false_alarms", number(mean_time_between_false_alarms), " rows"),
        fact("supported_mean_time", number(supported), " rows"),
        fact("learning_rows", learning_rows, ""),
        fact("not_a_number", not_a_number.name(), ""),
        fact("ram_bytes", cost::ram_bytes(detector), " bytes on this machine"),
    ];
    facts.extend(period.map(|rows| fact("period", number(rows), " rows")));
    facts.extend(relearn_after.map(|rows| fact("relearn_after", rows, " rows")));
    let numbers = |of: &dyn Fn(&ChannelQuality) -> f32| {
        Value::from_iter(detector.quality().iter().map(|quality| number(of(quality))))
    };
    facts.push(fact("levels", numbers(&|quality| quality.level), " in the log's units"));
    facts.push(fact("deviations", numbers(&|quality| quality.deviation), " in the log's units"));
    if !detector.stage().is_learned() {
        return facts;
    }
    let steadiness = detector.quality().iter().map(|it| it.steadiness.name()).collect::<Vec<_>>();
    facts.push(fact("steadiness", steadiness, ""));
    facts.push(fact("ties", numbers(&|quality| quality.ties), " of the learning rows"));
    facts.push(fact("missing", numbers(&|quality| quality.missing), " of the learning rows"));
    facts.push(fact("independent_rows", numbers(&|quality| quality.independent_rows), ""));
    let supported = numbers(&|quality| quality.supported_mean_time);
    facts.push(fact("supported_mean_times", supported, " rows"));
    facts.push(fact("open", detector.open().len(), ""));
    facts.push(fact("mute", detector.mute().len(), " statistics that cannot fire"));
    facts.push(fact("statistics", statistics(detector), ""));
    facts
}

/// Every statistic: its leg, channel and window, and what it may reach.
fn statistics(detector: &Detector<'_>) -> Value {
    let one = |status: LegStatus| {
        json!({
            "leg": status.leg.name(),
            "channel": status.channel,
            "window": status.window,
            "statistic": number(status.statistic),
            "threshold": number(status.threshold),
        })
    };
    Value::from_iter(detector.legs().into_iter().map(one))
}
