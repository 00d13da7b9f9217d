//! `look`: what a log is, before anything is learned from it.

use fastmmd_reference::real;
use fastmmd_tune::dependence::Dependence;
use fastmmd_tune::learning::{GOOD_CYCLES, default_rows, least_rows};
use fastmmd_tune::period::{Cycle, ceiling, rounded};
use serde_json::{Value, json};

use crate::ahead;
#[cfg(feature = "terminal")]
use crate::args::LookArguments;
use crate::columns::Role;
use crate::fault::Fault;
use crate::options::{Columns, Missing};
use crate::order::{Evidence, Ground, Order};
use crate::paste;
use crate::progress::Progress;
#[cfg(feature = "terminal")]
use crate::report;
use crate::report::{DIM, number};
use crate::rows::Rows;
use crate::source::Source;
use crate::steady::{Changed, Kind};
use crate::survey::{Clock, Survey};
use crate::table::{Facts, Table};
use crate::time::{lasting, round};

/// Everything that was found.
pub(crate) struct Looked {
    name: String,
    facts: Facts,
    /// Each column of the log: name, unit, role, whether it looks like a label.
    columns: Vec<crate::columns::Column>,
    chosen: Vec<usize>,
    time: Option<(String, crate::columns::Time)>,
    /// The order of dates that later rows of a stream say, if it is not that of the first.
    other: Option<Order>,
    bad: u64,
    survey: Survey,
    changes: Vec<Changed>,
    dependence: Vec<Dependence>,
    cycle: Option<Cycle>,
    /// Whether it helps a detector to know the cycle.
    helps: bool,
    /// Rows to learn from; `None` if there are too few.
    learn: Option<u32>,
    /// The period to give, if it helps and there are enough cycles to learn it from.
    period: Option<f64>,
    command: String,
}

#[cfg(feature = "terminal")]
pub(crate) fn run(arguments: &LookArguments) -> Result<(), Fault> {
    let source = Source::new(&arguments.log, false);
    let looked = look(&source, &arguments.columns, Progress::on_terminal())?;
    if arguments.json {
        return report::say_json(&looked.json());
    }
    looked.lines().iter().try_for_each(report::say)
}

/// Reads a whole log.
pub(crate) fn look(
    source: &Source,
    columns: &Columns,
    progress: Progress<'_>,
) -> Result<Looked, Fault> {
    // What is no row is counted, however much it is.
    let choice = Columns { skip_bad: u64::MAX, ..columns.clone() };
    let table = Table::open(source, &choice, Missing::Reading)?;
    let (name, facts, mut layout) =
        (table.name().to_owned(), table.facts().clone(), table.layout().clone());
    let time = table.time_name().zip(layout.time.clone());
    let clock = table.clock();
    // What the later dates of a stream say; a file was asked already.
    let unsettled = layout.time.as_ref().is_some_and(|time| !time.settled);
    let mut evidence = Evidence::default();
    let mut survey = Survey::new(&table);
    let mut bad = 0;
    ahead::each(Rows::of_table(table), progress, |batch, _| {
        for row in batch.rows() {
            let seconds = clock.zip(row.time.as_deref()).and_then(|(it, cell)| it.seconds(cell));
            survey.add(row, seconds);
            if let Some(cell) = row.time.as_deref().filter(|_| unsettled) {
                evidence.note(cell);
            }
        }
        bad = batch.bad;
        Ok(())
    })?;
    survey.finish();
    // The first rows may not show it.
    for (at, channel) in layout.chosen.iter().zip(&survey.channels) {
        let column = &mut layout.columns[*at];
        column.is_label = channel.moves.is_label(column.is_label);
    }
    // What a label says is not measured. If there is nothing else, it is watched.
    let is_label = |channel: usize| layout.columns[layout.chosen[channel]].is_label;
    let all = 0..layout.chosen.len();
    let mut measured: Vec<usize> = all.clone().filter(|channel| !is_label(*channel)).collect();
    if measured.is_empty() {
        measured = all.collect();
    }
    let mut changes = survey.blocks.changes();
    changes.retain(|change| !is_label(change.channel));
    let healthy = changes.first().map_or(survey.rows, |change| change.row);
    let (dependence, found) = (survey.dependence(healthy), survey.cycle(healthy, &measured));
    let (cycle, helps) = found.map_or((None, false), |(cycle, helps)| (Some(cycle), helps));
    let learn = suggested(survey.rows, healthy, cycle.as_ref().filter(|_| helps));
    let mut columns = columns.clone();
    columns.skip_bad = columns.skip_bad.max(bad);
    let said = evidence.order(facts.decimals.comma);
    let taken = layout.time.as_ref().map(|time| time.order);
    let other = (unsettled && said.1 != Ground::Guess && Some(said.0) != taken).then_some(said.0);
    columns.dates = columns.dates.or(other);
    let labels = layout.chosen.iter().map(|at| &layout.columns[*at]);
    let labels: Vec<String> =
        labels.filter(|column| column.is_label).map(|column| column.name.clone()).collect();
    if !labels.is_empty() && columns.columns.is_none() && labels.len() < layout.chosen.len() {
        columns.exclude.get_or_insert_default().extend(labels);
    }
    let period = cycle.as_ref().filter(|_| helps).map(|cycle| rounded(cycle.rows));
    let period = period.filter(|rows| learn.is_some_and(|learn| least_rows(Some(*rows)) <= learn));
    let log = if *source == Source::StandardInput { "-".to_owned() } else { paste::quoted(&name) };
    let mut command = format!("fastmmd replay {log}{}", paste::reading(&columns));
    if let Some(learn) = learn {
        command.push_str(&format!(" --learn {learn}"));
    }
    if let Some(rows) = period {
        command.push_str(&format!(" --period {rows}"));
    }
    Ok(Looked {
        name,
        facts,
        columns: layout.columns,
        chosen: layout.chosen,
        time,
        other,
        bad,
        survey,
        changes,
        dependence,
        cycle,
        helps,
        learn,
        period,
        command,
    })
}

/// Rows to learn from: as many as the core's default or as hold enough cycles, but no more than half
/// of the log, and all before the first change.
fn suggested(rows: u64, healthy: u64, cycle: Option<&Cycle>) -> Option<u32> {
    let wanted = cycle.map_or(0, |cycle| ceiling(GOOD_CYCLES * cycle.rows)).max(default_rows());
    // The change is known to a block, of which there are 64.
    let before = if healthy < rows { healthy - healthy / 16 } else { rows };
    let most = u32::try_from(before.min(rows / 2)).unwrap_or(u32::MAX);
    let learn = wanted.min(most);
    (learn >= least_rows(None)).then_some(learn)
}

impl Looked {
    /// Rows per second, if the log has times.
    pub(crate) fn rate(&self) -> Option<f64> {
        self.survey.clock.as_ref().and_then(|clock| clock.rate)
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("{}: {}", self.name, self.written())];
        let rows = self.survey.rows;
        let bad = match self.bad {
            0 => String::new(),
            bad => format!("; {bad} lines are no rows"),
        };
        lines.push(format!("rows     {rows}{bad}"));
        lines.push(self.time_line());
        lines.extend(self.survey.clock.iter().flat_map(clock_lines));
        if let Some(order) = self.other {
            let (name, argument) = (order.name(), order.argument());
            lines.push(format!("         later dates say {name}: --dates {argument}"));
        }
        lines.push(format!("columns  {} watched of {}", self.chosen.len(), self.columns.len()));
        lines.extend(self.column_lines());
        lines.push(self.dependence_line());
        lines.push(self.cycle_line());
        lines.extend(self.change_lines());
        lines.push(self.learn_line());
        lines.push(format!("\n{}", self.command));
        lines
    }

    /// How the log is written.
    fn written(&self) -> String {
        let Facts { format, packed, encoding, separator, decimals, .. } = self.facts;
        let mut parts = vec![format.to_owned()];
        parts.extend(packed.map(|packed| format!("packed by {packed}")));
        parts.extend(separator.map(|separator| format!("separator: {}", separator.name())));
        if decimals.comma {
            parts.push("decimal comma".to_owned());
        }
        if decimals.grouped {
            parts.push("thousands in groups".to_owned());
        }
        if format == "CSV" {
            parts.push(if self.facts.header { "header" } else { "no header" }.to_owned());
        }
        for (is, what) in [(self.facts.units, "row of units"), (self.facts.comments, "comments")] {
            parts.extend(is.then(|| what.to_owned()));
        }
        match self.facts.preamble {
            0 => {}
            1 => parts.push("1 line before the table left out".to_owned()),
            many => parts.push(format!("{many} lines before the table left out")),
        }
        if format != "Parquet" {
            parts.push(encoding.to_owned());
        }
        parts.join(", ")
    }

    fn time_line(&self) -> String {
        let Some((name, time)) = &self.time else {
            return "time     none found (--time, or --rate HZ)".to_owned();
        };
        let unit = match time.unit {
            _ if time.dates && time.ground == Ground::None => "dates".to_owned(),
            _ if time.dates => format!("dates, {}{}", time.order.name(), time.ground.remark()),
            unit => format!("in {}", unit_name(unit)),
        };
        let found = if time.dates && time.found != "by --time" { "" } else { time.found };
        let found = if found.is_empty() { String::new() } else { format!(", {found}") };
        let clock = self.survey.clock.as_ref();
        let rate = clock.and_then(|clock| clock.rate);
        let rate = rate.map_or("no rate".to_owned(), |rate| format!("{} per second", round(rate)));
        let long = clock.and_then(Clock::seconds);
        let long = long.map_or(String::new(), |seconds| format!(", {} in all", lasting(seconds)));
        format!("time     {name} ({unit}{found}): {rate}{long}")
    }

    fn column_lines(&self) -> Vec<String> {
        let width = self.columns.iter().map(|column| column.name.chars().count()).max();
        let width = width.unwrap_or(0).clamp(4, 24);
        let mut lines = Vec::new();
        for (at, column) in self.columns.iter().enumerate() {
            let name = if column.name.is_empty() { "(no name)" } else { &column.name };
            let unit = column.unit.as_ref().map_or(String::new(), |unit| format!(" in {unit}"));
            let Some(channel) = self.chosen.iter().position(|chosen| *chosen == at) else {
                if column.role != Role::Time {
                    let why = column.role.reason();
                    lines.push(format!("  {name:<width$}  {DIM}left out: {why}{DIM:#}"));
                }
                continue;
            };
            let own = self.survey.channels[channel];
            let whole = self.survey.blocks.whole(channel);
            let mut about = if whole.count < 0.5 {
                "no reading".to_owned()
            } else if own.least.to_bits() == own.largest.to_bits() {
                format!("always {}; watched for movement", own.least)
            } else if own.moves.is_binary() {
                format!("0 or 1; {} % are 1", round(100.0 * whole.mean))
            } else {
                let [least, largest] = [own.least, own.largest].map(|x| round(f64::from(x)));
                let (mean, deviation) = (round(whole.mean), round(whole.variance().sqrt()));
                format!("{least} to {largest}{unit}, mean {mean} ± {deviation}")
            };
            if own.missing > 0 {
                about.push_str(&format!(", {} missing", own.missing));
            }
            if column.is_label {
                about.push_str("; a label? --exclude it, or it is watched");
            }
            lines.push(format!("  {name:<width$}  {about}"));
        }
        lines
    }

    fn dependence_line(&self) -> String {
        let all = self.dependence.iter().zip(&self.chosen);
        let measured = all.filter(|(_, at)| !self.columns[**at].is_label);
        let Some((most, at)) = measured.max_by(|a, b| a.0.rows.total_cmp(&b.0.rows)) else {
            return "memory   not said of labels".to_owned();
        };
        if most.rows < 1.5 {
            return "memory   none: rows do not depend on earlier ones".to_owned();
        }
        format!(
            "memory   about {:.0} rows ({}; from row to row {:.2})",
            most.rows, self.columns[*at].name, most.next
        )
    }

    fn cycle_line(&self) -> String {
        let Some(cycle) = &self.cycle else { return "cycle    none found".to_owned() };
        let rate = self.rate();
        let long = rate.map_or(String::new(), |rate| format!(" ({})", lasting(cycle.rows / rate)));
        let best = cycle.explained.iter().zip(&self.chosen).max_by(|a, b| a.0.total_cmp(b.0));
        let best = best.map_or(String::new(), |(part, at)| {
            format!(", {:.0} % of {}", 100.0 * part, self.columns[*at].name)
        });
        let used = match (self.period, self.helps) {
            (Some(_), _) => "",
            (None, true) => "; too few cycles to learn it from",
            (None, false) => "; no better with it, as far as these rows tell (fastmmd tune)",
        };
        format!("cycle    {} rows{long}{best}{used}", rounded(cycle.rows))
    }

    fn change_lines(&self) -> Vec<String> {
        let line = |change: &Changed| {
            let name = &self.columns[self.chosen[change.channel]].name;
            let size = match change.kind {
                Kind::Level => format!("level differs by {:.1} deviations", change.size),
                Kind::Spread => format!("spread is {} times as wide", round(change.size)),
            };
            format!("change   {name}: {size} from about row {} on", change.row)
        };
        self.changes.iter().map(line).collect()
    }

    fn learn_line(&self) -> String {
        let rows = self.survey.rows;
        match (self.learn, self.changes.first()) {
            (Some(learn), Some(change)) if u64::from(learn) + change.row / 8 >= change.row => {
                format!("learn    the first {learn} rows, before what differs")
            }
            (Some(learn), _) => format!("learn    the first {learn} of {rows} rows"),
            (None, None) => {
                format!("learn    too few rows: {} are needed", 2 * least_rows(None))
            }
            (None, Some(change)) => {
                format!("learn    too few rows before row {}: give a healthy log", change.row)
            }
        }
    }

    pub(crate) fn json(&self) -> Value {
        let columns: Vec<Value> = self
            .columns
            .iter()
            .enumerate()
            .map(|(at, column)| {
                let channel = self.chosen.iter().position(|chosen| *chosen == at);
                let mut object = json!({
                    "name": column.name,
                    "unit": column.unit,
                    "role": if channel.is_some() { "reading" } else { column.role.reason() },
                    "watched": channel.is_some(),
                    "label": column.is_label,
                });
                if let Some(channel) = channel {
                    let (own, whole) =
                        (self.survey.channels[channel], self.survey.blocks.whole(channel));
                    object["least"] = number(own.least);
                    object["largest"] = number(own.largest);
                    object["mean"] = json!(whole.mean);
                    object["deviation"] = json!(whole.variance().sqrt());
                    object["missing"] = json!(own.missing);
                    object["autocorrelation"] = json!(self.dependence[channel].next);
                    object["memory_rows"] = json!(self.dependence[channel].rows);
                }
                object
            })
            .collect();
        let clock = self.survey.clock.as_ref();
        let time = self.time.as_ref().zip(clock).map(|((name, time), clock)| {
            json!({
                "column": name,
                "found": time.found,
                "dates": time.dates,
                "order": (time.dates && time.ground != Ground::None).then(|| time.order.argument()),
                "order_guessed": time.dates && time.ground == Ground::Guess,
                "unit_seconds": time.unit,
                "rate": clock.rate,
                "seconds": clock.seconds(),
                "gaps": clock.gaps,
                "longest_gap": clock.longest.map(|(seconds, _)| seconds),
                "resets": clock.resets,
                "repeated": clock.repeated,
                "unread": clock.unread,
            })
        });
        let changes: Vec<Value> = self
            .changes
            .iter()
            .map(|change| {
                json!({
                    "channel_name": self.columns[self.chosen[change.channel]].name,
                    "kind": change.kind.name(),
                    "size": change.size,
                    "row": change.row,
                })
            })
            .collect();
        json!({
            "event": "look",
            "log": self.name,
            "format": self.facts.format,
            "packed": self.facts.packed,
            "encoding": self.facts.encoding,
            "separator": self.facts.separator.map(|separator| separator.name()),
            "decimal_comma": self.facts.decimals.comma,
            "thousands": self.facts.decimals.grouped,
            "header": self.facts.header,
            "units": self.facts.units,
            "comments": self.facts.comments,
            "lines_before": self.facts.preamble,
            "rows": self.survey.rows,
            "bad_lines": self.bad,
            "time": time,
            "columns": columns,
            "cycle": self.cycle.as_ref().map(|cycle| json!({
                "rows": cycle.rows,
                "count": real(usize::try_from(self.survey.rows).unwrap_or(0)) / cycle.rows,
                "explained": cycle.explained,
                "helps": self.helps,
            })),
            "changes": changes,
            "learn": self.learn,
            "period": self.period,
            "command": self.command,
        })
    }
}

fn clock_lines(clock: &Clock) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some((longest, row)) = clock.longest {
        let gaps =
            if clock.gaps == 1 { "a gap".to_owned() } else { format!("{} gaps", clock.gaps) };
        lines
            .push(format!("         {gaps}, the longest of {} before row {row}", lasting(longest)));
    }
    if let Some(row) = clock.reset {
        let times =
            if clock.resets == 1 { "once".to_owned() } else { format!("{} times", clock.resets) };
        lines.push(format!("         it goes back {times}, first at row {row}"));
    }
    for (count, what) in
        [(clock.repeated, "repeat the one before"), (clock.unread, "cannot be read")]
    {
        if count > 0 {
            lines.push(format!("         {count} times {what}"));
        }
    }
    lines
}

fn unit_name(seconds: f64) -> String {
    let units = [
        (1e-9, "ns"),
        (1e-6, "µs"),
        (1e-3, "ms"),
        (60.0, "minutes"),
        (3600.0, "hours"),
        (86_400.0, "days"),
    ];
    let same = |unit: &&(f64, &str)| (unit.0 / seconds - 1.0).abs() < 1e-6;
    units.iter().find(same).map_or("s", |(_, name)| *name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_have_names() {
        assert_eq!([1e-3, 1.0, 1e-9, 60.0].map(unit_name), ["ms", "s", "ns", "minutes"]);
    }
}
