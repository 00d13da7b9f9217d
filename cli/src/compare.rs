//! `compare` and `merge`: what several devices learned.

use std::path::{Path, PathBuf};

use fastmmd::Error;
use fastmmd::monitor::Steadiness;
use fastmmd_tune::detector::Detector;
use serde_json::json;

use crate::fault::Fault;
use crate::files;
use crate::report::{self, number};
use crate::saved::{self, Saved};

/// A p-value below which devices that are merged are said to differ.
const SURELY: f32 = 1e-3;

/// Prints how different two saved detectors are; returns whether they differ.
pub(crate) fn run(first: &Path, second: &Path, alpha: f64, json: bool) -> Result<bool, Fault> {
    let (own, other) = (Saved::read(first)?, files::read(second)?);
    let detector = own.detector()?;
    let refused = |error| explain(second, error);
    let other = own.restored(&other).map_err(refused)?;
    let difference = detector.difference(&other).map_err(refused)?;
    // A p-value of exactly 0 is never justified.
    let p_value = difference.p_value.max(f32::MIN_POSITIVE);
    let differ = f64::from(p_value) <= alpha;
    if json {
        report::say_json(&json!({
            "mmd2_biased": number(difference.squared),
            "mmd2_expected": number(difference.expected),
            "p_value": number(p_value),
            "alpha": alpha,
            "reject": differ,
            "channel": difference.channel,
        }))?;
        return Ok(differ);
    }
    report::say(format!(
        "MMD²    {:.3e}  (mean for equal devices: {:.3e})\np-value {}",
        difference.squared,
        difference.expected,
        report::probability(f64::from(p_value))
    ))?;
    if wanders(&detector) || wanders(&other) {
        report::say("note: the level of a channel wanders, so it is not compared")?;
    }
    let verdict = report::verdict(differ, "different", "no difference");
    let most = if differ {
        format!(", most of all in channel {}", difference.channel)
    } else {
        String::new()
    };
    report::say(format!("{verdict} at the level of {alpha}{most}"))?;
    Ok(differ)
}

/// Merges the references of saved detectors, in their order.
pub(crate) fn merge(all: &[PathBuf], output: &Path) -> Result<(), Fault> {
    let Some((first, others)) = all.split_first() else {
        return Err(Fault::new("nothing to merge"));
    };
    let own = Saved::read(first)?;
    let (mut detector, alone) = (own.detector()?, own.detector()?);
    let mut different = Vec::new();
    for path in others {
        let other = own.restored(&files::read(path)?).map_err(|error| explain(path, error))?;
        let difference = alone.difference(&other).map_err(|error| explain(path, error))?;
        if difference.p_value < SURELY {
            different.push(path.display().to_string());
        }
        detector.merge(&other).map_err(|error| explain(path, error))?;
    }
    saved::write(output, &detector)?;
    report::say(format!("{}: {} devices", output.display(), detector.merged()))?;
    if !different.is_empty() {
        report::say(format!(
            "note: {} differ from {} (see fastmmd compare): the merged reference takes all of them as healthy",
            different.join(", "),
            first.display()
        ))?;
    }
    report::say(format!(
        "note: channels are predicted from their past as {} learned it",
        first.display()
    ))
}

/// Whether the level of some channel cannot be compared.
fn wanders(detector: &Detector<'_>) -> bool {
    detector.quality().iter().any(|quality| quality.steadiness != Steadiness::Steady)
}

fn explain(path: &Path, error: Error) -> Fault {
    let why = match error {
        Error::NotComparable => {
            "learned with another scale or other settings; learn it again with \
             fastmmd export LOG --scale-from the first file"
                .to_owned()
        }
        Error::WrongShape | Error::MapMismatch => {
            "a record of another kind, shape or map than the first file".to_owned()
        }
        other => other.to_string(),
    };
    Fault::of(path.display(), why)
}
