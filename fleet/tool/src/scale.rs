//! The scale of the channels, from what most devices are like.
//!
//! Medians over devices: a single device whose readings are far from all others' does not change what
//! the others are compared by. A mean and deviation over all rows would flatten them.

use datafusion::arrow::array::{AsArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type};

use crate::fault::Fault;

/// How far from the median half of the values are, to their deviation, if they are normal.
const NORMAL: f64 = 1.4826;

/// Deviations beyond which all readings are alike: every feature has turned many times on the way.
const FAR: f64 = 1000.0;
/// Columns that are asked for each channel.
const ASKED: usize = 4;

/// The columns to ask for of each device.
pub(crate) fn columns(channels: &[String]) -> String {
    let own = |channel: &String| {
        let value = format!("CAST({channel} AS DOUBLE)");
        format!("avg({value}), stddev_pop({value}), min({value}), max({value})")
    };
    channels.iter().map(own).collect::<Vec<_>>().join(", ")
}

/// What most devices are like.
pub(crate) struct Scaled {
    /// The words of a map: a level and a deviation for each channel.
    pub(crate) words: String,
    /// The channels as arguments, those with far readings cut off there: a map does not reach beyond
    /// some million turns, and one device's broken sensor must not be all that is told of a fleet.
    pub(crate) arguments: Vec<String>,
    /// The places of those that are cut off.
    pub(crate) cut: Vec<usize>,
}

impl Scaled {
    /// Of what was answered; none if there are no devices.
    pub(crate) fn new(batches: &[RecordBatch], channels: &[String]) -> Result<Option<Self>, Fault> {
        if batches.iter().all(|batch| batch.num_rows() == 0) {
            return Ok(None);
        }
        let (mut levels, mut deviations) = (Vec::new(), Vec::new());
        let (mut arguments, mut cut) = (Vec::new(), Vec::new());
        for (index, channel) in channels.iter().enumerate() {
            let column = |asked: usize| finite(batches, ASKED * index + asked);
            let (level, deviation) = of(&mut column(0)?, &column(1)?);
            let (low, high) = (level - FAR * deviation, level + FAR * deviation);
            let is_far = |value: &f64| *value < low || *value > high;
            if column(2)?.iter().chain(&column(3)?).any(is_far) {
                cut.push(index);
                arguments.push(cut_off(channel, low, high));
            } else {
                arguments.push(channel.clone());
            }
            let (level, deviation) = rounded(level, deviation);
            levels.push(level);
            deviations.push(deviation);
        }
        let words = format!("level={} deviation={}", levels.join(","), deviations.join(","));
        Ok(Some(Self { words, arguments, cut }))
    }
}

/// A channel, cut off; what is not finite stays what it is.
fn cut_off(channel: &str, low: f64, high: f64) -> String {
    let number = |value: f64| format!("CAST({value:e} AS DOUBLE)");
    let (least, most) = (number(f64::MIN), number(f64::MAX));
    let (low, high) = (number(low), number(high));
    format!(
        "CASE WHEN {channel} > {high} AND {channel} <= {most} THEN {high} \
         WHEN {channel} < {low} AND {channel} >= {least} THEN {low} ELSE {channel} END"
    )
}

/// The finite values of a column. What is not finite is told when the rows are embedded, by name.
fn finite(batches: &[RecordBatch], column: usize) -> Result<Vec<f64>, Fault> {
    let mut values = Vec::new();
    for batch in batches {
        let column = cast(batch.column(column), &DataType::Float64).map_err(Fault::new)?;
        let column = column.as_primitive::<Float64Type>();
        values.extend(column.iter().flatten().filter(|value| value.is_finite()));
    }
    Ok(values)
}

fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// The median of the devices' means; and √(a² + b²) of the median a of their deviations and of the
/// robust deviation b of their means. Where most devices do not move and do not differ, of those that
/// do; 1 if none does.
fn of(means: &mut [f64], deviations: &[f64]) -> (f64, f64) {
    let level = median(means).unwrap_or(0.0);
    let mut off: Vec<f64> = means.iter().map(|mean| (mean - level).abs()).collect();
    let mut within = deviations.to_vec();
    let both = median(&mut within).unwrap_or(0.0).hypot(NORMAL * median(&mut off).unwrap_or(0.0));
    let above = |values: &[f64]| {
        median(&mut values.iter().copied().filter(|value| *value > 0.0).collect::<Vec<_>>())
    };
    let deviation = Some(both).filter(|both| *both > 0.0);
    (level, deviation.or_else(|| above(&within)).or_else(|| above(&off)).unwrap_or(1.0))
}

/// To three digits of the deviation: sums in another order, of other partitions, give the same map.
fn rounded(level: f64, deviation: f64) -> (String, String) {
    #[expect(clippy::cast_possible_truncation, reason = "exponents of f64 are below 309")]
    let places = 2 - deviation.log10().floor() as i32;
    let step = 10_f64.powi(-places);
    let level = match usize::try_from(places) {
        Ok(places) => format!("{level:.places$}"),
        Err(_) => format!("{}", (level / step).round() * step),
    };
    (level, format!("{deviation:.2e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_far_device_does_not_matter() {
        let mut means: Vec<f64> = (0..99_u8).map(|i| 20.0 + f64::from(i % 3)).collect();
        let mut deviations = vec![2.0; 99];
        let without = of(&mut means.clone(), &deviations);
        means.push(1e9);
        deviations.push(1e8);
        let (level, deviation) = of(&mut means, &deviations);
        assert_eq!((level, deviation), without);
        assert_eq!(level, 21.0);
        assert!(deviation > 2.0 && deviation < 3.0, "{deviation}");
    }

    #[test]
    fn channels_that_hardly_move_have_a_scale_too() {
        assert_eq!(of(&mut [5.0; 9], &[0.0; 9]), (5.0, 1.0));
        assert_eq!(of(&mut [5.0; 9], &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 0.5]), (5.0, 0.5));
        assert_eq!(of(&mut [5.0, 5.0, 5.0, 7.0], &[0.0; 4]), (5.0, 2.0));
        assert_eq!(of(&mut [], &[]), (0.0, 1.0));
    }

    #[test]
    fn rounding_keeps_what_matters() {
        let texts = |level, deviation| {
            let (level, deviation) = rounded(level, deviation);
            (level.parse::<f64>().unwrap(), deviation.parse::<f64>().unwrap())
        };
        assert_eq!(texts(1e6 + 0.123_456, 0.5), (1e6 + 0.123, 0.5));
        assert_eq!(texts(123_456.7, 9876.0), (123_460.0, 9880.0));
        assert_eq!(texts(-1e-9, 2e-12), (-1e-9, 2e-12));
        assert_eq!(rounded(0.1 + 0.2, 1.0), rounded(0.3, 1.0));
    }
}
