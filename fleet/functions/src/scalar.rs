//! Functions of states: distances, significance, witness, and what a state holds.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Float32Builder, Float64Builder, LargeBinaryBuilder, StringBuilder,
    StructArray,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::error::Result;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use fastmmd::embedding::{Assumption, mmd};
use fastmmd::{Error, TwoSample, Witness};

use crate::columns::{Layout, Rows, is_text, weight_field, weight_type};
use crate::error::{Cause, FleetError};
use crate::inspect;
use crate::merge::STATE;
use crate::state::State;

/// Which function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Function {
    /// `mmd2(a, b [, name])`: MMD_b² of two states.
    Mmd2,
    /// `mmd2_unbiased(a, b [, name])`: its unbiased estimate, below 0 at times.
    Mmd2Unbiased,
    /// `mmd_p_value(a, b [, name])`: the probability of an MMD_b² as large if both are of one
    /// distribution and rows are independent; an upper bound of it, for many rows.
    PValue,
    /// `mmd_witness(a, b, x, y, … [, name])`: the witness function at a point: above 0 where a has
    /// more rows than b.
    Witness,
    /// `mmd_count(state)`: total weight; the number of rows if all have weight 1.
    Count,
    /// `mmd_map(state)`: the text of its map.
    Map,
    /// `mmd_inspect(state [, name])`: what it holds, with the exact sums as an array of integers.
    Inspect,
    /// `device_state(bytes [, name])`: what a device or the tool `fastmmd` saved, as a state.
    Device,
    /// `mmd_weight(w)`: marks a column as the weight of the rows of `mmd_embed`.
    Weight,
}

impl Function {
    /// Every one.
    pub const ALL: [Self; 9] = [
        Self::Mmd2,
        Self::Mmd2Unbiased,
        Self::PValue,
        Self::Witness,
        Self::Count,
        Self::Map,
        Self::Inspect,
        Self::Device,
        Self::Weight,
    ];

    /// Its name in SQL.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mmd2 => "mmd2",
            Self::Mmd2Unbiased => "mmd2_unbiased",
            Self::PValue => "mmd_p_value",
            Self::Witness => "mmd_witness",
            Self::Count => "mmd_count",
            Self::Map => "mmd_map",
            Self::Inspect => "mmd_inspect",
            Self::Device => "device_state",
            Self::Weight => "mmd_weight",
        }
    }

    /// How many states it takes.
    const fn states(self) -> usize {
        match self {
            Self::Mmd2 | Self::Mmd2Unbiased | Self::PValue | Self::Witness => 2,
            Self::Count | Self::Map | Self::Inspect | Self::Device => 1,
            Self::Weight => 0,
        }
    }
}

/// A [`Function`] as the engine takes it.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Scalar {
    function: Function,
    signature: Signature,
}

impl From<Function> for Scalar {
    fn from(function: Function) -> Self {
        Self { function, signature: Signature::user_defined(Volatility::Immutable) }
    }
}

/// The types of `states` states and perhaps a name.
pub(crate) fn state_types(
    function: &str,
    states: usize,
    types: &[DataType],
) -> Result<Vec<DataType>, Cause> {
    let binary = |kind: &DataType| {
        matches!(
            kind,
            DataType::Binary
                | DataType::LargeBinary
                | DataType::BinaryView
                | DataType::FixedSizeBinary(_)
                | DataType::Null
        )
    };
    let fits = types.len() >= states
        && types.len() <= states + 1
        && types[..states].iter().all(binary)
        && types[states..].iter().all(is_text);
    if !fits {
        let plural = if states == 1 { "a state" } else { "two states" };
        let what = format!("{function}: {plural} and perhaps a name are needed, not {types:?}");
        return Err(Cause::Arguments(what));
    }
    let mut coerced = vec![STATE; states];
    coerced.extend(types[states..].iter().map(|_| DataType::Utf8View));
    Ok(coerced)
}

impl ScalarUDFImpl for Scalar {
    fn name(&self) -> &str {
        self.function.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let (name, states) = (self.name(), self.function.states());
        match self.function {
            Function::Weight => match types {
                [kind] if kind.is_numeric() || *kind == DataType::Null => {
                    Ok(vec![DataType::Float32])
                }
                _ => Err(Cause::Arguments("mmd_weight: one number is needed".to_owned()).into()),
            },
            Function::Witness if types.len() > states => {
                let mut coerced = state_types(name, states, &types[..states])?;
                if is_text(&types[states]) {
                    let what = "mmd_witness: two states and a point are needed".to_owned();
                    return Err(Cause::Arguments(what).into());
                }
                coerced.extend(Layout::coerced(name, &types[states..])?);
                Ok(coerced)
            }
            _ => Ok(state_types(name, states, types)?),
        }
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(match self.function {
            Function::Mmd2 | Function::Mmd2Unbiased | Function::PValue | Function::Witness => {
                DataType::Float32
            }
            Function::Count => DataType::Float64,
            Function::Map => DataType::Utf8,
            Function::Inspect => inspect::data_type(),
            Function::Device => STATE,
            Function::Weight => weight_type(),
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        if self.function == Function::Weight {
            let weights = cast(&args.args[0].to_array(rows)?, &DataType::Float32)?;
            let weights = StructArray::new(vec![weight_field()].into(), vec![weights], None);
            return Ok(ColumnarValue::Array(Arc::new(weights)));
        }
        let states = self.function.states();
        let columns = args.args[..states].iter().map(States::new).collect::<Result<Vec<_>>>()?;
        let rest = args.args[states..]
            .iter()
            .map(|value| value.to_array(rows))
            .collect::<Result<Vec<_>>>()?;
        let result = self.results(columns, &rest, rows)?;
        Ok(ColumnarValue::Array(result))
    }
}

impl Scalar {
    fn results(
        &self,
        mut states: Vec<States>,
        rest: &[ArrayRef],
        rows: usize,
    ) -> Result<ArrayRef, FleetError> {
        if self.function == Function::Witness {
            return witness(&mut states, rest, rows);
        }
        let names = rest.first().map(|names| names.as_string_view());
        let name = |row: usize| names.filter(|n| n.is_valid(row)).map(|n| n.value(row));
        let of = |row: usize| move |cause: Cause| cause.of(name(row));
        match (self.function, &mut states[..]) {
            (Function::Count, [one]) => {
                let mut counts = Float64Builder::with_capacity(rows);
                for row in 0..rows {
                    counts.append_option(one.at(row).map_err(of(row))?.map(State::count));
                }
                Ok(Arc::new(counts.finish()))
            }
            (Function::Map, [one]) => {
                let mut texts = StringBuilder::new();
                for row in 0..rows {
                    let state = one.at(row).map_err(of(row))?;
                    texts.append_option(state.map(|state| state.map().to_string()));
                }
                Ok(Arc::new(texts.finish()))
            }
            (Function::Inspect, [one]) => {
                let mut parts = inspect::Parts::default();
                for row in 0..rows {
                    parts.append(one.at(row).map_err(of(row))?);
                }
                Ok(parts.finish())
            }
            (Function::Device, [one]) => {
                let mut saved = LargeBinaryBuilder::new();
                for row in 0..rows {
                    let bytes = one.bytes(row).map(|bytes| State::of_device(bytes)?.to_bytes());
                    saved.append_option(bytes.transpose().map_err(of(row))?);
                }
                Ok(Arc::new(saved.finish()))
            }
            (function, [a, b]) => {
                let mut values = Float32Builder::with_capacity(rows);
                for row in 0..rows {
                    let pair = pair(a, b, row).map_err(of(row))?;
                    let value = pair.map(|(a, b)| between(function, a, b)).transpose();
                    values.append_option(value.map_err(of(row))?);
                }
                Ok(Arc::new(values.finish()))
            }
            _ => Err(Cause::Arguments(format!("{}: wrong arguments", self.name())).into()),
        }
    }
}

/// Two states of one map; `None` if one is null.
fn pair<'s>(
    a: &'s mut States,
    b: &'s mut States,
    row: usize,
) -> Result<Option<(&'s State, &'s State)>, Cause> {
    let (Some(a), Some(b)) = (a.at(row)?, b.at(row)?) else { return Ok(None) };
    if !a.map().is_as(b.map()) {
        return Err(a.map().unlike(b.map()));
    }
    Ok(Some((a, b)))
}

fn between(function: Function, a: &State, b: &State) -> Result<f32, Cause> {
    let (p, q) = (a.embedding(), b.embedding());
    let value = match function {
        Function::Mmd2Unbiased => mmd::squared_unbiased(p, q),
        Function::PValue => {
            let mut both = TwoSample::new(a.map().map());
            (*both.p_mut(), *both.q_mut()) = (p.clone(), q.clone());
            both.p_value(Assumption::ManySamples)
        }
        _ => mmd::squared_biased(p, q),
    };
    value.map_err(refused)
}

fn refused(error: Error) -> Cause {
    if error == Error::Empty { Cause::Empty } else { Cause::Refused(error) }
}

/// The witness at a point of each row.
fn witness(states: &mut [States], rest: &[ArrayRef], rows: usize) -> Result<ArrayRef, FleetError> {
    let types: Vec<_> = rest.iter().map(|column| column.data_type().clone()).collect();
    let layout = Layout::of(Function::Witness.name(), &types)?;
    let batch = Rows::new(&layout, rest);
    let [a, b] = states else {
        return Err(Cause::Arguments("mmd_witness: two states are needed".to_owned()).into());
    };
    let mut values = Float32Builder::with_capacity(rows);
    let mut point = Vec::new();
    for row in 0..rows {
        let name = batch.name(row);
        let pair = pair(a, b, row).map_err(|cause| cause.of(name))?;
        let Some((p, q)) = pair.filter(|_| batch.is_whole(row)) else {
            values.append_null();
            continue;
        };
        let map = p.map();
        if map.channels() != layout.channels() {
            let (own, given) = (map.channels(), layout.channels());
            let what = format!("mmd_witness: states of {own} channels, a point of {given}");
            return Err(Cause::Arguments(what).of(name));
        }
        batch.standardise(map.scales(), &[u32::try_from(row).unwrap_or(u32::MAX)], &mut point);
        let value = Witness::new(map.map(), p.embedding(), q.embedding())
            .and_then(|witness| witness.at(&point[..]));
        values.append_value(value.map_err(|error| refused(error).of(name))?);
    }
    Ok(Arc::new(values.finish()))
}

/// A column of states, or one for all rows; the last one read is kept.
struct States {
    column: ArrayRef,
    constant: bool,
    last: Option<(usize, State)>,
}

impl States {
    fn new(value: &ColumnarValue) -> Result<Self> {
        let constant = matches!(value, ColumnarValue::Scalar(_));
        let column = match value {
            ColumnarValue::Array(column) => Arc::clone(column),
            ColumnarValue::Scalar(scalar) => scalar.to_array()?,
        };
        Ok(Self { column: cast(&column, &STATE)?, constant, last: None })
    }

    fn bytes(&self, row: usize) -> Option<&[u8]> {
        let column = self.column.as_binary::<i64>();
        let row = if self.constant { 0 } else { row };
        column.is_valid(row).then(|| column.value(row))
    }

    fn at(&mut self, row: usize) -> Result<Option<&State>, Cause> {
        let Some(bytes) = self.bytes(row) else { return Ok(None) };
        // A reference beside every device is often the same in all rows.
        let known = self.last.as_ref().is_some_and(|(at, _)| self.bytes(*at) == Some(bytes));
        if !known {
            self.last = Some((row, State::of_bytes(bytes)?));
        }
        Ok(self.last.as_ref().map(|(_, state)| state))
    }
}
