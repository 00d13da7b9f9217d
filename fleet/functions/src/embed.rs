//! `mmd_embed`: rows of a device to its state.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, BooleanArray};
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::error::Result;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDFImpl, EmitTo, GroupsAccumulator, Signature, Volatility,
};
use datafusion::scalar::ScalarValue;

use crate::columns::{EMBED, Layout, Rows};
use crate::error::{Cause, FleetError};
use crate::map::FleetMap;
use crate::merge::{Merger, STATE, partial_fields};
use crate::state::State;

/// Rows that are standardised and added at a time: they and their features stay in the first cache.
const TILE: usize = 64;

/// `mmd_embed([map,] x, y, … [, mmd_weight(w)] [, name])`: the state of the rows, exact and in any
/// order. A row with a null is skipped and counted; one that is not finite is an error that names
/// the device. Of no rows at all, null.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Embed {
    signature: Signature,
}

impl Default for Embed {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl AggregateUDFImpl for Embed {
    fn name(&self) -> &'static str {
        EMBED
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(STATE)
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        Ok(Layout::coerced(self.name(), types)?)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        Ok(partial_fields(args.name))
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(One(Embeddings::new(Layout::asked(EMBED, &args)?))))
    }

    fn groups_accumulator_supported(&self, _: AccumulatorArgs<'_>) -> bool {
        true
    }

    fn create_groups_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(Embeddings::new(Layout::asked(EMBED, &args)?)))
    }
}

/// The states of many groups.
#[derive(Debug)]
struct Embeddings {
    layout: Layout,
    map: Option<Arc<FleetMap>>,
    groups: Merger,
    /// The rows of a batch by group, and a tile of them, standardised.
    order: Vec<u32>,
    tile: Vec<f32>,
}

impl Embeddings {
    fn new(layout: Layout) -> Self {
        Self {
            layout,
            map: None,
            groups: Merger::default(),
            order: Vec::new(),
            tile: Vec::with_capacity(TILE),
        }
    }

    /// Adds the rows for which `group_of` gives a group.
    fn update(
        &mut self,
        values: &[ArrayRef],
        rows: usize,
        group_of: impl Fn(usize) -> Option<usize>,
    ) -> Result<(), FleetError> {
        if rows == 0 {
            return Ok(());
        }
        let batch = Rows::new(&self.layout, values);
        let map = batch.map()?;
        match &self.map {
            Some(known) if !known.is_as(&map) => {
                return Err(known.unlike(&map).of(batch.name(0)));
            }
            Some(_) => {}
            None => self.map = Some(Arc::clone(&map)),
        }
        self.order.clear();
        let (mut last, mut sorted) = (0, true);
        for row in 0..rows {
            let Some(group) = group_of(row) else { continue };
            let state = self.groups.at(group, &map, || batch.name(row));
            if !batch.is_whole(row) {
                state.skip(1);
                continue;
            }
            sorted &= last <= group;
            last = group;
            self.order.push(u32::try_from(row).unwrap_or(u32::MAX));
        }
        let group = |row: u32| group_of(row as usize).unwrap_or_default();
        if !sorted {
            self.order.sort_by_key(|row| group(*row));
        }
        for run in self.order.chunk_by(|a, b| group(*a) == group(*b)) {
            let state = self.groups.at(group(run[0]), &map, || None);
            for rows in run.chunks(TILE) {
                batch.standardise(map.scales(), rows, &mut self.tile);
                add(state, &batch, rows, &self.tile)?;
            }
        }
        Ok(())
    }
}

/// Adds a tile of rows to a state.
fn add(state: &mut State, batch: &Rows<'_>, rows: &[u32], tile: &[f32]) -> Result<(), FleetError> {
    let width = state.map().channels();
    let one_by_one = |state: &mut State| {
        for (row, sample) in rows.iter().zip(tile.chunks_exact(width)) {
            let row = *row as usize;
            let added = state.add_weighted(sample, batch.weight(row));
            added.map_err(|why| bad_value(sample, why).of(batch.name(row)))?;
        }
        Ok(())
    };
    if batch.is_weighted() {
        return one_by_one(state);
    }
    match state.add_many(tile) {
        Ok(()) => Ok(()),
        // None was added: one by one, to learn which is bad.
        Err(error) => {
            one_by_one(&mut state.clone())?;
            Err(Cause::Refused(error).of(batch.name(rows[0] as usize)))
        }
    }
}

/// Which channel is bad.
fn bad_value(sample: &[f32], why: fastmmd::Error) -> Cause {
    let channel = sample.iter().position(|x| !x.is_finite()).map_or(0, |index| index + 1);
    Cause::BadValue { channel, why }
}

impl GroupsAccumulator for Embeddings {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        filter: Option<&BooleanArray>,
        total: usize,
    ) -> Result<()> {
        self.groups.resize(total);
        let passes = |row: usize| filter.is_none_or(|f| f.is_valid(row) && f.value(row));
        self.update(values, group_indices.len(), |row| passes(row).then(|| group_indices[row]))?;
        Ok(())
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        self.groups.whole(emit_to)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        self.groups.partial(emit_to)
    }

    fn merge_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        total: usize,
    ) -> Result<()> {
        self.groups.resize(total);
        self.groups.take_partial(values, |row| group_indices[row])?;
        Ok(())
    }

    /// Each row as a group of its own: what the engine asks for where groups hardly repeat.
    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let rows = values.first().map_or(0, |column| column.len());
        let mut each = Self::new(self.layout.clone());
        each.groups.resize(rows);
        let passes = |row: usize| filter.is_none_or(|f| f.is_valid(row) && f.value(row));
        each.update(values, rows, |row| passes(row).then_some(row))?;
        each.groups.partial(EmitTo::All)
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.groups.size() + 4 * (self.order.capacity() + self.tile.capacity())
    }
}

/// The state of one group.
#[derive(Debug)]
struct One(Embeddings);

impl Accumulator for One {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.0.groups.resize(1);
        let rows = values.first().map_or(0, |column| column.len());
        self.0.update(values, rows, |_| Some(0))?;
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(self.0.groups.one()?)
    }

    fn size(&self) -> usize {
        GroupsAccumulator::size(&self.0)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(self.0.groups.partial_of_one()?)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.0.groups.resize(1);
        self.0.groups.take_partial(states, |_| 0)?;
        Ok(())
    }
}
