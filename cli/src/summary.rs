//! The report at the end of a log: what still differs, what was learned, and the promise.

use fastmmd::Change;
use fastmmd::monitor::{ChannelQuality, Leg, LegStatus, Open, Steadiness};
use fastmmd_tune::detector::Detector;
use serde_json::{Map, Value, json};

use crate::cost;
use crate::play::{Outcome, Told};
use crate::report::{self, DIM, GREEN, RED, number};

/// Repeated readings are reported from this share of the learning rows on.
pub(crate) const MANY_TIES: f32 = 0.2;

/// Something that differs at the end, and the alarm that was raised for it, if any.
struct Still<'a> {
    open: Open,
    told: Option<&'a Told>,
    since: i64,
}

impl<'a> Still<'a> {
    /// Everything that differs, the oldest first.
    fn all(outcome: &'a Outcome, detector: &Detector<'_>) -> Vec<Self> {
        let last = i64::try_from(outcome.rows).unwrap_or(i64::MAX) - 1;
        let still = |open: Open| {
            let own = |told: &&Told| {
                let alarm = told.alarm;
                alarm.leg == open.leg && open.channel.is_none_or(|channel| channel == alarm.channel)
            };
            // A step is found by another leg first, whose alarm is amended to a level.
            let as_level = |told: &&Told| {
                let alarm = told.alarm;
                open.leg == Leg::Level
                    && alarm.change == Change::Level
                    && open.channel == Some(alarm.channel)
            };
            let told = outcome.told.iter().find(own);
            let told = told.or_else(|| outcome.told.iter().find(as_level));
            let since = told.map_or(last - i64::from(open.rows), |told| told.since);
            Self { open, told, since }
        };
        let mut all: Vec<Self> = detector.open().into_iter().map(still).collect();
        all.sort_by_key(|still| (still.told.is_none(), still.since));
        all
    }

    /// The channel, or the one that the alarm names.
    fn channel(&self) -> Option<usize> {
        self.open.channel.or(self.told.map(|told| told.alarm.channel))
    }

    /// What the alarm says of it, if there was one.
    fn change(&self) -> Option<Change> {
        self.told.map(|told| told.alarm.change)
    }

    /// The same in a word; without an alarm, the statistic.
    fn word(&self) -> &'static str {
        self.change().map_or(self.open.leg.name(), Change::name)
    }

    fn json(&self, detector: &Detector<'_>, names: &[String]) -> Value {
        let channel = self.channel();
        json!({
            "channel": channel,
            "channel_name": channel.and_then(|channel| names.get(channel)),
            "change": self.word(),
            "leg": self.open.leg.name(),
            "size": number(self.open.size),
            "severity": severity(&self.open, detector).map(number),
            "since_row": self.since,
        })
    }
}

/// What differs at the end: one line per channel, however many of its legs differ.
pub(crate) fn still_lines(
    outcome: &Outcome,
    detector: &Detector<'_>,
    names: &[String],
) -> Vec<String> {
    let all = Still::all(outcome, detector);
    let mut channels: Vec<Option<usize>> = Vec::new();
    for still in &all {
        if !channels.contains(&still.channel()) {
            channels.push(still.channel());
        }
    }
    if channels.iter().any(Option::is_some) {
        // What all channels do together follows from what one does.
        channels.retain(Option::is_some);
    }
    let line = |channel: &Option<usize>| {
        let mine = || all.iter().filter(|still| still.channel() == *channel);
        let level = mine().find(|still| still.open.leg == Leg::Level);
        let first = level.filter(|level| level.told.is_some()).or(mine().next())?;
        let name = channel.map_or("all channels together", |channel| name_of(names, channel));
        let (change, since) = (first.word(), first.since);
        let is_level =
            first.change().map_or(first.open.leg == Leg::Level, |it| it == Change::Level);
        let shift = level.filter(|_| is_level);
        let shift = shift.map_or(String::new(), |it| format!(", {:.1} deviations", it.open.size));
        let now = mine().filter_map(|still| severity(&still.open, detector)).fold(0.0, f32::max);
        let now = match now {
            some if some > 1.0 => format!(", {some:.1} times the threshold"),
            _ => String::new(),
        };
        Some(format!(
            "still different at the end: {name}, {change}{shift}{now}, since about row {since}"
        ))
    };
    channels.iter().filter_map(line).collect()
}

/// How far the statistic of something that differs is beyond its threshold now.
fn severity(open: &Open, detector: &Detector<'_>) -> Option<f32> {
    let own = |leg: &LegStatus| leg.leg == open.leg && leg.channel == open.channel;
    let ratios = detector.legs().into_iter().filter(own).map(|leg| leg.ratio());
    ratios.filter(|ratio| ratio.is_finite()).reduce(f32::max)
}

fn name_of(names: &[String], channel: usize) -> &str {
    names.get(channel).map_or("?", String::as_str)
}

/// What is noteworthy about what was learned.
pub(crate) fn learned_lines(detector: &Detector<'_>, names: &[String]) -> Vec<String> {
    if !detector.stage().is_learned() {
        return Vec::new();
    }
    let mut lines = Vec::new();
    for (name, quality) in names.iter().zip(detector.quality()) {
        lines.extend(of_channel(name, &quality));
    }
    lines
}

fn of_channel(name: &str, quality: &ChannelQuality) -> Vec<String> {
    let ChannelQuality { level, deviation, ties, missing, steadiness, .. } = *quality;
    let percent = |part: f32| format!("{:.0} %", (100.0 * part).max(1.0));
    let mut lines = Vec::new();
    if missing >= 1.0 {
        lines.push(format!("{name}: no reading while learning; any that comes is out of range"));
        return lines;
    }
    if missing > 0.0 {
        lines.push(format!("{name}: {} of the learning rows had no reading", percent(missing)));
    }
    if deviation <= 0.0 {
        let moved = "a movement of it that lasts, or comes again soon, is an alarm";
        lines.push(format!("{name}: stood still while learning, at {level}; {moved}"));
        return lines;
    }
    if ties >= MANY_TIES {
        lines.push(format!("{name}: {} of the readings repeat the one before", percent(ties)));
    }
    match steadiness {
        Steadiness::Steady => {}
        Steadiness::Doubtful => {
            lines.push(format!("{name}: its level may wander, and needs more evidence"));
        }
        Steadiness::Wandering => {
            lines.push(format!("{name}: its level wanders, and is not watched"));
        }
    }
    lines
}

/// How many statistics cannot fire, if any: in an ordinary run a few of the shortest windows.
pub(crate) fn mute_line(detector: &Detector<'_>) -> Option<String> {
    let mute = detector.mute().len();
    let all = detector.legs().len() + mute;
    let is_told = mute > 0 && detector.stage().is_learned();
    is_told.then(|| {
        format!("{mute} of {all} statistics cannot reach their thresholds (replay --json: which)")
    })
}

/// The results of a log as JSON.
pub(crate) fn json(outcome: &Outcome, detector: &Detector<'_>, names: &[String]) -> Value {
    let config = detector.config();
    let warnings: Vec<String> = config.warnings().map(|warning| warning.to_string()).collect();
    let open: Vec<Value> =
        Still::all(outcome, detector).iter().map(|still| still.json(detector, names)).collect();
    let learned = detector.stage().is_learned();
    let channels = names.iter().zip(detector.quality()).filter(|_| learned);
    let channels: Vec<Value> = channels.map(|(name, quality)| of_quality(name, &quality)).collect();
    let mute = detector.mute().into_iter().filter(|_| learned).map(|mute| {
        json!({
            "leg": mute.leg.name(),
            "channel": mute.channel,
            "channel_name": mute.channel.and_then(|channel| names.get(channel)),
            "window": mute.window,
        })
    });
    let over: Vec<Value> = outcome
        .learned_over
        .iter()
        .map(|change| {
            json!({
                "channel_name": name_of(names, change.channel),
                "kind": change.kind.name(),
                "row": change.row,
            })
        })
        .collect();
    let mut object = Map::new();
    for (name, value) in [
        ("event", json!("summary")),
        ("rows", json!(outcome.rows)),
        ("learned", json!(outcome.learned)),
        ("learning_rows_missing", json!(outcome.to_learn)),
        ("skipped", json!(outcome.skipped)),
        ("missing_readings", json!(outcome.missing)),
        ("bad_lines", json!(outcome.bad)),
        ("learned_over", json!(over)),
        ("warning", json!((!warnings.is_empty()).then(|| warnings.join("; ")))),
        ("drift", json!(outcome.is_drift(detector))),
        ("alarms", json!(outcome.alarms)),
        ("promised_false_alarms", json!(outcome.promised(detector))),
        ("open", json!(open)),
        ("channels", json!(channels)),
        ("mute", json!(mute.collect::<Vec<_>>())),
        ("features", json!(detector.recipe().frequencies)),
        ("ram_bytes", json!(cost::ram_bytes(detector))),
        ("period", config.period.map_or(Value::Null, number)),
        ("mean_time_between_false_alarms", number(config.mean_time_between_false_alarms)),
        ("supported_mean_time", number(config.supported_mean_time())),
    ] {
        object.insert(name.to_owned(), value);
    }
    Value::Object(object)
}

/// What is known of a channel, as JSON.
pub(crate) fn of_quality(name: &str, quality: &ChannelQuality) -> Value {
    json!({
        "name": name,
        "level": number(quality.level),
        "deviation": number(quality.deviation),
        "ties": number(quality.ties),
        "missing": number(quality.missing),
        "steadiness": quality.steadiness.name(),
        "independent_rows": number(quality.independent_rows),
    })
}

/// The results of a log as lines.
pub(crate) fn lines(outcome: &Outcome, detector: &Detector<'_>, names: &[String]) -> Vec<String> {
    let config = detector.config();
    let watched = outcome.watched();
    let verdict = match outcome.alarms {
        0 if outcome.to_learn > 0 => format!("learning: {} rows to go", outcome.to_learn),
        0 if watched == 0 => "learned from all rows, none left to watch".to_owned(),
        0 if outcome.is_drift(detector) => {
            format!("{RED}drift{RED:#} from before, no new alarm")
        }
        many if outcome.is_drift(detector) => {
            format!("{RED}drift{RED:#}: {}", report::alarms(many))
        }
        0 => format!("{GREEN}healthy{GREEN:#}"),
        many => format!(
            "{GREEN}healthy{GREEN:#}: {}, where about {:.0} false ones are promised",
            report::alarms(many),
            outcome.promised(detector)
        ),
    };
    let skipped = match outcome.skipped {
        0 => String::new(),
        rows => format!(", {rows} skipped"),
    };
    let learned = outcome.learned;
    let mut lines =
        vec![format!("{verdict}; {watched} rows watched, {learned} learned from{skipped}")];
    if outcome.bad > 0 {
        lines.push(format!("note: lines left out that are no rows: {}", outcome.bad));
    }
    if outcome.missing > 0 {
        lines.push(format!("note: readings missing: {}", outcome.missing));
    }
    lines.extend(learning_lines(outcome, names));
    lines.extend(learned_lines(detector, names).iter().map(|line| format!("note: {line}")));
    let wanders = |quality: &ChannelQuality| quality.steadiness != Steadiness::Steady;
    let may_have_cycle = detector.stage().is_learned() && config.period.is_none();
    if may_have_cycle && detector.quality().iter().any(wanders) {
        lines.push("note: a level that wanders may have a cycle: fastmmd tune finds it".to_owned());
    }
    let promise = config.mean_time_between_false_alarms;
    let expected = outcome.promised(detector);
    lines.push(format!(
        "{DIM}promised: one false alarm in {promise} rows, {expected:.1} in the rows watched; {} \
         frequencies, {} bytes of RAM{DIM:#}",
        detector.recipe().frequencies,
        cost::ram_bytes(detector),
    ));
    lines.extend(mute_line(detector).map(|line| format!("{DIM}{line}{DIM:#}")));
    lines.extend(still_lines(outcome, detector, names));
    lines
}

/// What speaks against the rows that were learned from.
fn learning_lines(outcome: &Outcome, names: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    if outcome.learned > outcome.watched() && outcome.watched() > 0 {
        lines.push(format!(
            "note: more than half of the rows were learned from: {} of {}",
            outcome.learned, outcome.rows
        ));
    }
    for change in &outcome.learned_over {
        lines.push(format!(
            "note: {} changed in {} while learning, at about row {}: if that is the fault, learn from \
             fewer rows (--learn)",
            name_of(names, change.channel),
            change.kind.name(),
            change.row
        ));
    }
    lines
}
