//! The arguments of a function over rows: a map, channels, a weight, a name.
//!
//! `([map,] x, y, … [, mmd_weight(w)] [, name])`: the types tell which is which. So a name has to be
//! text: a number as last argument is one more channel. Columns are read where they lie; only a tile of
//! rows at a time is standardised into a small buffer.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Float32Array, Float64Array, StringViewArray,
};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Float32Type, Float64Type};
use datafusion::error::Result;
use datafusion::logical_expr::function::AccumulatorArgs;

use crate::error::{Cause, FleetError};
use crate::map::{FleetMap, Scale};

/// The function that weighs rows.
pub(crate) const EMBED: &str = "mmd_embed";

/// The type of a weight: a struct, so that it is no channel.
pub(crate) fn weight_type() -> DataType {
    DataType::Struct(vec![weight_field()].into())
}

pub(crate) fn weight_field() -> FieldRef {
    Arc::new(Field::new("weight", DataType::Float32, true))
}

/// Which argument is what.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Layout {
    map: Option<usize>,
    channels: std::ops::Range<usize>,
    weight: Option<usize>,
    name: Option<usize>,
}

impl Layout {
    /// Tells the arguments of `function` apart by their types. Only `mmd_embed` weighs rows.
    pub(crate) fn of(function: &str, types: &[DataType]) -> Result<Self, Cause> {
        let is_text = |index: usize| types.get(index).is_some_and(is_text);
        let refused = |what: String| Cause::Arguments(format!("{function}: {what}"));
        let first = usize::from(is_text(0));
        let mut end = types.len();
        let mut name = None;
        if end > first && is_text(end - 1) {
            end -= 1;
            name = Some(end);
        }
        let mut weight = None;
        if end > first && types[end - 1] == weight_type() {
            if function != EMBED {
                return Err(refused("takes no mmd_weight".to_owned()));
            }
            end -= 1;
            weight = Some(end);
        }
        if end == first {
            return Err(refused("at least one channel is needed".to_owned()));
        }
        for (index, kind) in types[first..end].iter().enumerate() {
            if !(kind.is_numeric() || *kind == DataType::Null || *kind == DataType::Boolean) {
                let place = first + index + 1;
                return Err(refused(format!("argument {place} is {kind}, not a number")));
            }
        }
        Ok(Self { map: (first == 1).then_some(0), channels: first..end, weight, name })
    }

    /// The same, of an aggregate that is asked for. DISTINCT would have to keep all rows; the engine
    /// itself does so for a single argument, and then asks for the plain aggregate.
    pub(crate) fn asked(function: &str, args: &AccumulatorArgs<'_>) -> Result<Self, Cause> {
        not_distinct(function, args)?;
        let types: Vec<_> =
            args.expr_fields.iter().map(|field| field.data_type().clone()).collect();
        Self::of(function, &types)
    }

    /// The types that the arguments are converted to.
    pub(crate) fn coerced(function: &str, types: &[DataType]) -> Result<Vec<DataType>, Cause> {
        let layout = Self::of(function, types)?;
        let coerced = types.iter().enumerate().map(|(index, kind)| {
            if layout.channels.contains(&index) {
                // Integers of up to 53 bits, and decimals, as near as an `f64` is.
                if *kind == DataType::Float32 { DataType::Float32 } else { DataType::Float64 }
            } else if Some(index) == layout.weight {
                weight_type()
            } else {
                // One copy of a constant text, whatever the number of rows.
                DataType::Utf8View
            }
        });
        Ok(coerced.collect())
    }

    pub(crate) fn channels(&self) -> usize {
        self.channels.len()
    }
}

/// Refuses DISTINCT.
pub(crate) fn not_distinct(function: &str, args: &AccumulatorArgs<'_>) -> Result<(), Cause> {
    if args.is_distinct {
        let what = "DISTINCT is not supported; take distinct rows in a subquery";
        return Err(Cause::Arguments(format!("{function}: {what}")));
    }
    Ok(())
}

/// Whether a type is text, also as a dictionary, as which names of devices are often stored.
pub(crate) fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}

/// A channel, where it lies.
enum Channel<'a> {
    Single(&'a Float32Array),
    Double(&'a Float64Array),
}

/// A batch of rows.
pub(crate) struct Rows<'a> {
    channels: Vec<Channel<'a>>,
    weight: Option<&'a Float32Array>,
    /// Which rows have a weight at all: the struct may be null where its number is not.
    weighed: Option<&'a NullBuffer>,
    name: Option<&'a StringViewArray>,
    map: Option<&'a StringViewArray>,
    /// Whether no row has a null.
    complete: bool,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(layout: &Layout, values: &'a [ArrayRef]) -> Self {
        let channels: Vec<_> = values[layout.channels.clone()]
            .iter()
            .map(|column| match column.data_type() {
                DataType::Float32 => Channel::Single(column.as_primitive::<Float32Type>()),
                _ => Channel::Double(column.as_primitive::<Float64Type>()),
            })
            .collect();
        let weight = layout.weight.map(|index| values[index].as_struct().column(0).as_primitive());
        let nulls = values[layout.channels.clone()].iter().any(|column| column.null_count() > 0);
        let weighed = layout.weight.and_then(|index| values[index].nulls());
        let weightless =
            weighed.is_some() || weight.is_some_and(|w: &Float32Array| w.null_count() > 0);
        Self {
            channels,
            weight,
            weighed,
            name: layout.name.map(|index| values[index].as_string_view()),
            map: layout.map.map(|index| values[index].as_string_view()),
            complete: !nulls && !weightless,
        }
    }

    /// The map that the rows name: one and the same for all of them.
    pub(crate) fn map(&self) -> Result<Arc<FleetMap>, FleetError> {
        FleetMap::of(self.words()?, self.channels.len()).map_err(|cause| cause.of(self.name(0)))
    }

    /// Its text; empty where no map is given.
    pub(crate) fn words(&self) -> Result<&'a str, FleetError> {
        let Some(texts) = self.map else { return Ok("") };
        if texts.null_count() > 0 {
            let row = (0..texts.len()).find(|row| texts.is_null(*row)).unwrap_or_default();
            return Err(Cause::BadMap("null".to_owned()).of(self.name(row)));
        }
        let text = if texts.is_empty() { "" } else { texts.value(0) };
        // Copies of one constant have equal views; only others have to be looked at.
        let views = texts.views();
        for row in 1..texts.len() {
            if views[row] != views[row - 1] && texts.value(row) != text {
                let (expected, found) = (text.to_owned(), texts.value(row).to_owned());
                return Err(Cause::OtherMap { expected, found }.of(self.name(row)));
            }
        }
        Ok(text)
    }

    /// What the query calls the device of a row.
    pub(crate) fn name(&self, row: usize) -> Option<&'a str> {
        self.name.filter(|names| names.is_valid(row)).map(|names| names.value(row))
    }

    pub(crate) fn is_weighted(&self) -> bool {
        self.weight.is_some()
    }

    pub(crate) fn weight(&self, row: usize) -> f32 {
        self.weight.map_or(1.0, |weights| weights.value(row))
    }

    /// Whether the row has all its values.
    pub(crate) fn is_whole(&self, row: usize) -> bool {
        self.complete
            || (self.weight.is_none_or(|weights| weights.is_valid(row))
                && self.weighed.is_none_or(|weighed| weighed.is_valid(row))
                && self.channels.iter().all(|channel| match channel {
                    Channel::Single(column) => column.is_valid(row),
                    Channel::Double(column) => column.is_valid(row),
                }))
    }

    /// Writes these rows, standardised, one after the other.
    pub(crate) fn standardise(&self, scales: &[Scale], rows: &[u32], tile: &mut Vec<f32>) {
        let width = self.channels.len();
        tile.clear();
        tile.resize(rows.len() * width, 0.0);
        for (place, (channel, scale)) in self.channels.iter().zip(scales).enumerate() {
            let places = tile[place..].iter_mut().step_by(width).zip(rows);
            match channel {
                Channel::Single(column) if *scale == Scale::NONE => {
                    let values = column.values();
                    places.for_each(|(place, row)| *place = values[*row as usize]);
                }
                Channel::Single(column) => {
                    let values = column.values();
                    places.for_each(|(place, row)| {
                        *place = scale.apply(f64::from(values[*row as usize]));
                    });
                }
                Channel::Double(column) => {
                    let values = column.values();
                    places.for_each(|(place, row)| *place = scale.apply(values[*row as usize]));
                }
            }
        }
    }

    /// The channels of a row in `f64`, with nulls as `None`.
    pub(crate) fn values(&self, row: usize) -> impl Iterator<Item = Option<f64>> + '_ {
        self.channels.iter().map(move |channel| match channel {
            Channel::Single(column) => column.is_valid(row).then(|| f64::from(column.value(row))),
            Channel::Double(column) => column.is_valid(row).then(|| column.value(row)),
        })
    }
}
