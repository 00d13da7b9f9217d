//! What a state holds, in columns that any engine reads.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, Float32Builder, Float64Builder, Int64Builder, ListBuilder, StringBuilder,
    StructArray, UInt32Builder, UInt64Builder,
};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::datatypes::{DataType, Field, Fields};
use fastmmd::FeatureMap;

use crate::state::State;

fn fields() -> Fields {
    let list = |kind| DataType::List(Arc::new(Field::new("item", kind, true)));
    Fields::from(vec![
        Field::new("weight", DataType::Float64, true),
        Field::new("skipped", DataType::UInt64, true),
        Field::new("channels", DataType::UInt32, true),
        Field::new("frequencies", DataType::UInt32, true),
        Field::new("amplitude", DataType::Float32, true),
        Field::new("map", DataType::Utf8, true),
        Field::new("level", list(DataType::Float64), true),
        Field::new("deviation", list(DataType::Float64), true),
        Field::new("sums", list(DataType::Int64), true),
    ])
}

/// The type of `mmd_inspect`: `sums` holds Σcos and Σsin of each frequency by turns, in units of 2⁻²⁴,
/// so that MMD_b² of two states is amplitude/frequencies·Σ(sums/weight/2²⁴ − others/weight/2²⁴)².
pub(crate) fn data_type() -> DataType {
    DataType::Struct(fields())
}

#[derive(Default)]
pub(crate) struct Parts {
    valid: Vec<bool>,
    weight: Float64Builder,
    skipped: UInt64Builder,
    channels: UInt32Builder,
    frequencies: UInt32Builder,
    amplitude: Float32Builder,
    map: StringBuilder,
    level: ListBuilder<Float64Builder>,
    deviation: ListBuilder<Float64Builder>,
    sums: ListBuilder<Int64Builder>,
}

impl Parts {
    pub(crate) fn append(&mut self, state: Option<&State>) {
        self.valid.push(state.is_some());
        self.weight.append_option(state.map(State::count));
        self.skipped.append_option(state.map(State::skipped));
        let recipe = state.map(|state| state.map().map().recipe());
        self.channels.append_option(recipe.map(|recipe| recipe.inputs));
        self.frequencies.append_option(recipe.map(|recipe| recipe.frequencies));
        self.amplitude.append_option(recipe.map(|recipe| recipe.kernel.amplitude()));
        self.map.append_option(state.map(|state| state.map().to_string()));
        let Some(state) = state else {
            self.level.append_null();
            self.deviation.append_null();
            self.sums.append_null();
            return;
        };
        let scales = state.map().scales();
        self.level.append_value(scales.iter().map(|scale| Some(scale.level)));
        self.deviation.append_value(scales.iter().map(|scale| Some(scale.deviation)));
        self.sums.append_value(state.embedding().exact_sums().flatten().map(Some));
    }

    pub(crate) fn finish(mut self) -> ArrayRef {
        let columns: Vec<ArrayRef> = vec![
            Arc::new(self.weight.finish()),
            Arc::new(self.skipped.finish()),
            Arc::new(self.channels.finish()),
            Arc::new(self.frequencies.finish()),
            Arc::new(self.amplitude.finish()),
            Arc::new(self.map.finish()),
            Arc::new(self.level.finish()),
            Arc::new(self.deviation.finish()),
            Arc::new(self.sums.finish()),
        ];
        Arc::new(StructArray::new(fields(), columns, Some(NullBuffer::from(self.valid))))
    }
}
