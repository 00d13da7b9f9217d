//! The states of the devices, by SQL.

use std::collections::HashSet;

use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type};
use fastmmd_datafusion::{FleetError, State, Words};
use serde_json::{Map, json};

use crate::args::Telemetry;
use crate::fault::Fault;
use crate::scale::{self, Scaled};
use crate::session::{Connect, Session};
use crate::statistics::Device;
use crate::statistics::peers::FEWEST;

/// The name of the table that is asked.
const TABLE: &str = "telemetry";
/// Most frequencies of a map here: the time of the statistics grows with their cube.
const MOST_FREQUENCIES: usize = 512;

/// Names of columns that tell a time, in small letters; also as the end of a longer name, after `_`, those
/// that tell nothing else.
const TIMES: [&str; 20] = [
    "t",
    "time",
    "date",
    "second",
    "seconds",
    "minute",
    "hour",
    "day",
    "week",
    "month",
    "year",
    "epoch",
    "utc",
    "unix",
    "unixtime",
    "unix_time",
    "ts",
    "timestamp",
    "datetime",
    "date_time",
];
const TIMES_AT_THE_END: [&str; 3] = ["_ts", "_timestamp", "_datetime"];

/// Devices, each once for every time that was asked for.
#[derive(Default)]
pub(crate) struct Fleet {
    /// For each time the devices that have rows then.
    pub(crate) times: Vec<Vec<Device>>,
    /// The text of the map.
    pub(crate) map: String,
    /// The columns of readings, and those of numbers that were not taken for such.
    channels: Vec<String>,
    not_taken: Vec<String>,
    /// Columns of floating point that tell times, or that a condition names.
    left_out: Vec<String>,
    /// Rows that were skipped, and rows without the name of a device.
    skipped: u64,
    nameless: u64,
    /// Channels of which far readings were cut off.
    cut: Vec<String>,
    /// Devices without a row at one of the times, and those in more than one group.
    without: Vec<String>,
    in_two_groups: Vec<String>,
}

impl Fleet {
    /// Asks for the devices, at each of the times, given as conditions.
    pub(crate) async fn read(
        telemetry: &Telemetry,
        times: &[&str],
        connect: Option<Connect>,
    ) -> Result<Self, Fault> {
        let session = Session::open(&telemetry.engine, connect).await?;
        session.add_table(TABLE, &telemetry.path).await?;
        let mut fleet = Self { times: vec![vec![]; times.len()], ..Self::default() };
        let (device, name) = (quoted(&telemetry.device), device_text(telemetry));
        let one = match &telemetry.state {
            Some(column) => format!("mmd_merge({}, {name})", quoted(column)),
            None => {
                fleet.choose_channels(&session, telemetry, times).await?;
                let channels: Vec<String> =
                    fleet.channels.iter().map(|column| argument(telemetry, column)).collect();
                let (map, arguments) = fleet.map(&session, telemetry, channels, times).await?;
                format!("mmd_embed({}, {}, {name})", text(&map), arguments.join(", "))
            }
        };
        let (group, several) = group(&session, telemetry, times).await?;
        let states = times.iter().enumerate().map(|(index, time)| {
            format!("{one} FILTER (WHERE ({time}) AND {device} IS NOT NULL) AS state{index}")
        });
        if telemetry.state.is_some() && !telemetry.merge {
            one_state_each(&session, telemetry, times).await?;
        }
        let sql = format!(
            "SELECT {name} AS name, {group} AS peers, {several} AS several, count(*) AS found, {} \
             FROM {TABLE} WHERE {} GROUP BY {device}",
            states.collect::<Vec<_>>().join(", "),
            condition(telemetry, times),
        );
        for batch in session.run(&sql).await? {
            let column =
                |index: usize, kind: &DataType| cast(batch.column(index), kind).map_err(Fault::new);
            let (names, groups) = (column(0, &DataType::Utf8)?, column(1, &DataType::Utf8)?);
            let (names, groups) = (names.as_string::<i32>(), groups.as_string::<i32>());
            let (several, found) = (column(2, &DataType::Boolean)?, column(3, &DataType::Int64)?);
            let (several, found) = (several.as_boolean(), found.as_primitive::<Int64Type>());
            let states = (0..times.len())
                .map(|time| column(4 + time, &DataType::LargeBinary))
                .collect::<Result<Vec<_>, _>>()?;
            for row in 0..batch.num_rows() {
                if names.is_null(row) {
                    fleet.nameless += u64::try_from(found.value(row)).unwrap_or(0);
                    continue;
                }
                let name = names.value(row);
                if several.is_valid(row) && several.value(row) {
                    fleet.in_two_groups.push(name.to_owned());
                }
                for (time, states) in states.iter().enumerate() {
                    let states = states.as_binary::<i64>();
                    let bytes = states.is_valid(row).then(|| states.value(row));
                    fleet.take(time, name, groups.value(row), bytes)?;
                }
            }
        }
        // The same order whatever the partitions.
        fleet.times.iter_mut().for_each(|devices| devices.sort_by(|a, b| a.name.cmp(&b.name)));
        fleet.without.sort();
        fleet.without.dedup();
        fleet.in_two_groups.sort();
        Ok(fleet)
    }

    /// The columns of readings: those that were asked for, or all of floating point that are neither times
    /// nor what rows are chosen by: whoever compares two weeks would find that the week differs.
    async fn choose_channels(
        &mut self,
        session: &Session,
        telemetry: &Telemetry,
        times: &[&str],
    ) -> Result<(), Fault> {
        self.channels.clone_from(&telemetry.channels);
        if !self.channels.is_empty() {
            return Ok(());
        }
        let conditions = named_in(session, &condition(telemetry, times)).await?;
        let table = session.context.table(TABLE).await?;
        let mut saved = None;
        for field in table.schema().fields() {
            let (name, kind) = (field.name(), field.data_type());
            if *name == telemetry.device || Some(name) == telemetry.by.as_ref() {
                continue;
            }
            if is_binary(kind) && (saved.is_none() || name == "state") {
                saved = Some(name.clone());
            } else if kind.is_floating() && (is_time(name) || conditions.contains(name)) {
                self.left_out.push(name.clone());
            } else if kind.is_floating() {
                self.channels.push(name.clone());
            } else if kind.is_numeric() {
                self.not_taken.push(name.clone());
            }
        }
        match saved {
            Some(saved) if saved == "state" || self.channels.is_empty() => {
                let hint = format!(
                    "column {saved} may hold saved states: give --state {saved}, or --channels"
                );
                Err(Fault::of(&telemetry.path, hint))
            }
            _ if self.channels.is_empty() && !self.left_out.is_empty() => {
                let columns = self.left_out.join(", ");
                let why = format!(
                    "no column of floating point but times and those of conditions: {columns}; give --channels"
                );
                Err(Fault::of(&telemetry.path, why))
            }
            _ if self.channels.is_empty() => {
                Err(Fault::of(&telemetry.path, "no column of floating point; give --channels"))
            }
            _ => Ok(()),
        }
    }

    /// The words of the map, with the scale of most devices unless it is given; and the channels as its
    /// arguments.
    async fn map(
        &mut self,
        session: &Session,
        telemetry: &Telemetry,
        channels: Vec<String>,
        times: &[&str],
    ) -> Result<(String, Vec<String>), Fault> {
        // A bad word is told before any row is read.
        let words: Words =
            telemetry.map.parse().map_err(|cause| Fault::new(format!("--map: {cause}")))?;
        few_frequencies(words.frequencies())?;
        if words.has_scales() {
            return Ok((telemetry.map.clone(), channels));
        }
        let device = quoted(&telemetry.device);
        let sql = format!(
            "SELECT {} FROM {TABLE} WHERE {} AND {device} IS NOT NULL GROUP BY {device}",
            scale::columns(&channels),
            condition(telemetry, times),
        );
        let scaled = Scaled::new(&session.run(&sql).await?, &channels)?;
        let Some(Scaled { words, arguments, cut }) = scaled else {
            return Err(Fault::of(&telemetry.path, "no rows"));
        };
        self.cut = cut.into_iter().map(|index| self.channels[index].clone()).collect();
        Ok((format!("{} {words}", telemetry.map), arguments))
    }

    fn take(
        &mut self,
        time: usize,
        name: &str,
        group: &str,
        bytes: Option<&[u8]>,
    ) -> Result<(), Fault> {
        let Some(bytes) = bytes else {
            self.without.push(name.to_owned());
            return Ok(());
        };
        let refused = |cause| Fault::new(FleetError { device: Some(name.to_owned()), cause });
        let state = State::of_bytes(bytes).map_err(refused)?;
        let map = state.map().to_string();
        if self.map.is_empty() {
            few_frequencies(state.embedding().frequencies())?;
            self.map = map;
        } else if self.map != map {
            let (expected, found) = (self.map.clone(), map);
            return Err(refused(fastmmd_datafusion::Cause::OtherMap { expected, found }));
        }
        self.skipped += state.skipped();
        let embedding = state.embedding();
        let Ok(mean) = embedding.mean() else {
            self.without.push(name.to_owned());
            return Ok(());
        };
        #[expect(clippy::cast_precision_loss, reason = "at most 512 frequencies")]
        let unit = (embedding.amplitude() / embedding.frequencies() as f32).sqrt();
        self.times[time].push(Device {
            name: name.to_owned(),
            group: group.to_owned(),
            rows: state.count(),
            mean: mean.flat_map(|point| [unit * point.cos, unit * point.sin]).collect(),
        });
        Ok(())
    }

    /// Refuses a fleet that is too small to say what is normal.
    pub(crate) fn check(&self, devices: usize, what: &str) -> Result<(), Fault> {
        if devices >= FEWEST {
            return Ok(());
        }
        Err(Fault::new(format!(
            "{devices} devices with {what}: at least {FEWEST} are needed to learn how far devices lie apart"
        )))
    }

    /// What was looked at, and what was not, in lines.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.channels.is_empty() {
            notes.push(format!("channels: {}", self.channels.join(", ")));
        }
        if !self.not_taken.is_empty() {
            let columns = self.not_taken.join(", ");
            notes
                .push(format!("not taken as channels, being integers: {columns} (see --channels)"));
        }
        if !self.left_out.is_empty() {
            let columns = self.left_out.join(", ");
            notes.push(format!(
                "not taken as channels, being times or named in a condition: {columns} (see --channels)"
            ));
        }
        if !self.cut.is_empty() {
            let columns = self.cut.join(", ");
            notes.push(format!("readings beyond 1000 deviations were cut off there: {columns}"));
        }
        if self.skipped > 0 {
            notes.push(format!("{} rows with a null were skipped", self.skipped));
        }
        if self.nameless > 0 {
            notes.push(format!("{} rows name no device and were left out", self.nameless));
        }
        let some = |devices: &[String]| match devices {
            [] => None,
            [one] => Some(one.clone()),
            [first, rest @ ..] => Some(format!("{first} and {} more", rest.len())),
        };
        if let Some(devices) = some(&self.without) {
            notes.push(format!("no rows of device {devices}"));
        }
        if let Some(devices) = some(&self.in_two_groups) {
            notes.push(format!("in two groups, and taken to be in the last: device {devices}"));
        }
        notes
    }

    /// The same for JSON.
    pub(crate) fn facts(&self) -> Map<String, serde_json::Value> {
        let facts = [
            ("channels", json!(self.channels)),
            ("not_taken", json!(self.not_taken)),
            ("left_out", json!(self.left_out)),
            ("cut_off", json!(self.cut)),
            ("skipped_rows", json!(self.skipped)),
            ("nameless_rows", json!(self.nameless)),
            ("without_rows", json!(self.without)),
            ("in_two_groups", json!(self.in_two_groups)),
            ("map", json!(self.map)),
        ];
        facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

fn few_frequencies(count: usize) -> Result<(), Fault> {
    if count <= MOST_FREQUENCIES {
        return Ok(());
    }
    Err(Fault::new(format!(
        "a map of {count} frequencies: this command takes at most {MOST_FREQUENCIES}; query takes any"
    )))
}

/// Whether a column tells times, by its name.
fn is_time(name: &str) -> bool {
    let name = name.to_lowercase();
    TIMES.contains(&&*name) || TIMES_AT_THE_END.iter().any(|end| name.ends_with(end))
}

fn is_binary(kind: &DataType) -> bool {
    matches!(kind, DataType::Binary | DataType::LargeBinary | DataType::BinaryView)
}

/// The columns that a condition names.
async fn named_in(session: &Session, condition: &str) -> Result<HashSet<String>, Fault> {
    let asked = session.context.sql(&format!("SELECT {condition} FROM {TABLE}")).await?;
    let expressions = asked.logical_plan().expressions();
    let columns = expressions.iter().flat_map(datafusion::logical_expr::Expr::column_refs);
    Ok(columns.map(|column| column.name.clone()).collect())
}

/// Refuses a device with several states at a time. They may be of two devices of one name.
async fn one_state_each(
    session: &Session,
    telemetry: &Telemetry,
    times: &[&str],
) -> Result<(), Fault> {
    let (device, name) = (quoted(&telemetry.device), device_text(telemetry));
    let table = session.context.table(TABLE).await?;
    // As ingest writes them.
    let has_folders = table.schema().has_column_with_unqualified_name("folder");
    let folder = if has_folders { "CAST(folder AS VARCHAR)" } else { "''" };
    for time in times {
        let rows = condition(telemetry, &[time]);
        let sql = format!(
            "SELECT {name}, count(*), min({folder}), max({folder}) FROM {TABLE} \
             WHERE {rows} AND {device} IS NOT NULL GROUP BY {device} HAVING count(*) > 1 \
             ORDER BY {name} LIMIT 1"
        );
        if let Some(batch) = session.run(&sql).await?.iter().find(|batch| batch.num_rows() > 0) {
            let column = |index: usize| {
                let text = cast(batch.column(index), &DataType::Utf8).map_err(Fault::new)?;
                Ok::<_, Fault>(text.as_string::<i32>().value(0).to_owned())
            };
            let (name, count, first, last) = (column(0)?, column(1)?, column(2)?, column(3)?);
            let place = |folder: &str| match folder {
                "" => "the outermost folder".to_owned(),
                _ => format!("folder {folder}"),
            };
            let places = if first == last {
                String::new()
            } else {
                format!(", in {} and in {}", place(&first), place(&last))
            };
            return Err(Fault::new(format!(
                "device {name}: {count} states{places}: of two devices of one name, or of one at several \
                 times? Choose by --where, or add them up by --merge"
            )));
        }
    }
    Ok(())
}

/// The group of a device, and whether it has more than one. Where there are times, the group is that of
/// the last one: a device with new firmware is among those that have it.
async fn group(
    session: &Session,
    telemetry: &Telemetry,
    times: &[&str],
) -> Result<(String, String), Fault> {
    let Some(name) = &telemetry.by else { return Ok((text(""), "false".to_owned())) };
    let table = session.context.table(TABLE).await?;
    let field = table.schema().field_with_unqualified_name(name)?;
    let column = quoted(name);
    // Numbers in their own order: 10 comes after 9.
    let is_number = field.data_type().is_numeric();
    let value = if is_number { column } else { format!("CAST({column} AS VARCHAR)") };
    let last = match times {
        [_, .., last] => format!(" FILTER (WHERE {last})"),
        _ => String::new(),
    };
    let (least, most) = (format!("min({value}){last}"), format!("max({value}){last}"));
    Ok((format!("coalesce(CAST({most} AS VARCHAR), '')"), format!("{least} <> {most}")))
}

/// A channel as an argument.
fn argument(telemetry: &Telemetry, channel: &str) -> String {
    let column = quoted(channel);
    if telemetry.not_a_number == "skip" {
        // The engine orders NaN beyond infinity.
        let most = "CAST(1.7976931348623157e308 AS DOUBLE)";
        return format!("CASE WHEN {column} BETWEEN -{most} AND {most} THEN {column} END");
    }
    column
}

/// Rows that are asked for at all.
fn condition(telemetry: &Telemetry, times: &[&str]) -> String {
    let times = times.iter().map(|time| format!("({time})")).collect::<Vec<_>>().join(" OR ");
    match &telemetry.condition {
        Some(own) => format!("({own}) AND ({times})"),
        None => format!("({times})"),
    }
}

fn device_text(telemetry: &Telemetry) -> String {
    format!("CAST({} AS VARCHAR)", quoted(&telemetry.device))
}

/// A name of a column.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text.
fn text(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}
