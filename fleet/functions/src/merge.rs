//! `mmd_merge`: states of many devices, sites or days to one.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, LargeBinaryBuilder, LargeStringBuilder, StringViewArray,
};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::error::Result;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDFImpl, EmitTo, GroupsAccumulator, Signature, Volatility,
};
use datafusion::scalar::ScalarValue;

use crate::columns::not_distinct;
use crate::error::{Cause, FleetError};
use crate::map::FleetMap;
use crate::scalar::state_types;
use crate::state::State;

/// The type of states: with 64-bit offsets, for millions of groups are more than 2 GiB.
pub(crate) const STATE: DataType = DataType::LargeBinary;

/// `mmd_merge(state [, name])`: one state of all of them, exact and in any order. Nulls are left
/// out; a state of another map is an error that names its device, also if the states that it differs
/// from are in another partition.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Merge {
    signature: Signature,
}

impl Default for Merge {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl AggregateUDFImpl for Merge {
    fn name(&self) -> &'static str {
        "mmd_merge"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(STATE)
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        Ok(state_types(self.name(), 1, types)?)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        Ok(partial_fields(args.name))
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        not_distinct(self.name(), &args)?;
        Ok(Box::new(One(Merger::default())))
    }

    fn groups_accumulator_supported(&self, _: AccumulatorArgs<'_>) -> bool {
        true
    }

    fn create_groups_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        not_distinct(self.name(), &args)?;
        Ok(Box::new(Merger::default()))
    }
}

/// What partitions hand on: the state of a group, and a device that it is of, for errors.
pub(crate) fn partial_fields(name: &str) -> Vec<FieldRef> {
    vec![
        Arc::new(Field::new(format!("{name}[state]"), STATE, true)),
        Arc::new(Field::new(format!("{name}[name]"), DataType::LargeUtf8, true)),
    ]
}

/// A group: all its states are of one map, so any of its devices stands for it.
#[derive(Debug)]
struct Group {
    state: State,
    name: Option<Box<str>>,
}

/// The states of many groups.
#[derive(Debug, Default)]
pub(crate) struct Merger {
    groups: Vec<Option<Group>>,
    /// Bytes of the states, about.
    size: usize,
}

impl Merger {
    pub(crate) fn resize(&mut self, total: usize) {
        if self.groups.len() < total {
            self.groups.resize_with(total, || None);
        }
    }

    /// The state of a group, empty at first, and then called by this name.
    pub(crate) fn at<'n>(
        &mut self,
        group: usize,
        map: &Arc<FleetMap>,
        name: impl FnOnce() -> Option<&'n str>,
    ) -> &mut State {
        self.resize(group + 1);
        let size = &mut self.size;
        let group = self.groups[group].get_or_insert_with(|| {
            let made = Group { state: State::new(Arc::clone(map)), name: name().map(Box::from) };
            *size += made.size();
            made
        });
        &mut group.state
    }

    fn bytes(&self, group: usize) -> Result<Option<Vec<u8>>, Cause> {
        let group = self.groups.get(group).and_then(Option::as_ref);
        group.map(|group| group.state.to_bytes()).transpose()
    }

    /// The state of the only group; null if nothing came.
    pub(crate) fn one(&self) -> Result<ScalarValue, Cause> {
        Ok(ScalarValue::LargeBinary(self.bytes(0)?))
    }

    /// What is handed on of the only group.
    pub(crate) fn partial_of_one(&self) -> Result<Vec<ScalarValue>, Cause> {
        let name = self.groups.first().and_then(Option::as_ref).and_then(|it| it.name.as_deref());
        Ok(vec![self.one()?, ScalarValue::LargeUtf8(name.map(str::to_owned))])
    }

    /// What is handed on of many groups, which are then gone.
    pub(crate) fn partial(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let (mut bytes, mut names) = (LargeBinaryBuilder::new(), LargeStringBuilder::new());
        for group in emit_to.take_needed(&mut self.groups) {
            self.size -= group.as_ref().map_or(0, Group::size).min(self.size);
            bytes.append_option(group.as_ref().map(|it| it.state.to_bytes()).transpose()?);
            names.append_option(group.and_then(|group| group.name));
        }
        Ok(vec![Arc::new(bytes.finish()), Arc::new(names.finish())])
    }

    /// The states of many groups, which are then gone.
    pub(crate) fn whole(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        Ok(self.partial(emit_to)?.swap_remove(0))
    }

    pub(crate) fn size(&self) -> usize {
        self.size + self.groups.capacity() * size_of::<Option<Group>>()
    }

    /// Takes what other partitions hand on.
    pub(crate) fn take_partial(
        &mut self,
        values: &[ArrayRef],
        group_of: impl Fn(usize) -> usize,
    ) -> Result<(), FleetError> {
        let names = values[1].as_string::<i64>();
        let name = |row: usize| names.is_valid(row).then(|| names.value(row));
        self.take(&values[0], name, |row| Some(group_of(row)))
    }

    /// Takes states into the groups that `group_of` gives.
    fn take<'n>(
        &mut self,
        states: &ArrayRef,
        name: impl Fn(usize) -> Option<&'n str>,
        group_of: impl Fn(usize) -> Option<usize>,
    ) -> Result<(), FleetError> {
        let states = states.as_binary::<i64>();
        for row in 0..states.len() {
            let Some(group) = group_of(row).filter(|_| states.is_valid(row)) else { continue };
            let merged = State::of_bytes(states.value(row)).and_then(|state| {
                // An empty group takes the first map that comes.
                let map = Arc::clone(state.map());
                self.at(group, &map, || name(row)).merge(&state)
            });
            merged.map_err(|cause| cause.of(name(row)))?;
        }
        Ok(())
    }
}

impl Group {
    fn size(&self) -> usize {
        self.state.size() + self.name.as_ref().map_or(0, |name| name.len())
    }
}

/// The names in the second argument, if there is one.
fn names<'v>(values: &'v [ArrayRef]) -> impl Fn(usize) -> Option<&'v str> {
    let names: Option<&'v StringViewArray> = values.get(1).map(|names| names.as_string_view());
    move |row| names.filter(|names| names.is_valid(row)).map(|names| names.value(row))
}

impl GroupsAccumulator for Merger {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        filter: Option<&BooleanArray>,
        total: usize,
    ) -> Result<()> {
        self.resize(total);
        let passes = |row: usize| filter.is_none_or(|f| f.is_valid(row) && f.value(row));
        self.take(&values[0], names(values), |row| passes(row).then(|| group_indices[row]))?;
        Ok(())
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        self.whole(emit_to)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        self.partial(emit_to)
    }

    fn merge_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        total: usize,
    ) -> Result<()> {
        self.resize(total);
        self.take_partial(values, |row| group_indices[row])?;
        Ok(())
    }

    /// Each row as a group of its own.
    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let mut each = Self::default();
        each.resize(values[0].len());
        let passes = |row: usize| filter.is_none_or(|f| f.is_valid(row) && f.value(row));
        each.take(&values[0], names(values), |row| passes(row).then_some(row))?;
        each.partial(EmitTo::All)
    }

    fn size(&self) -> usize {
        size_of::<Self>() + Merger::size(self)
    }
}

/// The state of one group.
#[derive(Debug)]
struct One(Merger);

impl Accumulator for One {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.0.take(&values[0], names(values), |_| Some(0))?;
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(self.0.one()?)
    }

    fn size(&self) -> usize {
        GroupsAccumulator::size(&self.0)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(self.0.partial_of_one()?)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.0.take_partial(states, |_| 0)?;
        Ok(())
    }
}
