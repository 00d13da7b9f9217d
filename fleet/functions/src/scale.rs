//! `mmd_scale`: one map for the whole fleet, with the level and deviation of each channel.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::error::Result;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDFImpl, Signature, Volatility};
use datafusion::scalar::ScalarValue;

use crate::columns::{Layout, Rows};
use crate::error::{Cause, FleetError};
use crate::exact::Moments;
use crate::map::{Scale, Words};

/// `mmd_scale([words,] x, y, … [, name])`: the text of a map that standardises each channel by its
/// mean and deviation over all rows, with the other words of the map as given. Exact: the same text
/// for any order and partition. Rows with a null are left out, values that are not finite are errors;
/// a channel that does not move is only shifted. Of no whole row, null. A single device with readings
/// far from all others' widens the scale for everyone: leave it out, or take medians over devices, as
/// the tool does.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct MakeScale {
    signature: Signature,
}

impl Default for MakeScale {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl AggregateUDFImpl for MakeScale {
    fn name(&self) -> &'static str {
        "mmd_scale"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        Ok(Layout::coerced(self.name(), types)?)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let field = |what: &str, kind| Field::new(format!("{}[{what}]", args.name), kind, true);
        Ok(vec![
            Arc::new(field("words", DataType::Utf8)),
            Arc::new(field("moments", DataType::Binary)),
            Arc::new(field("name", DataType::Utf8)),
        ])
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let layout = Layout::asked(self.name(), &args)?;
        let moments = vec![Moments::default(); layout.channels()];
        Ok(Box::new(Scales { layout, words: None, name: None, moments }))
    }
}

#[derive(Debug)]
struct Scales {
    layout: Layout,
    words: Option<String>,
    /// A device that gave the words, for errors.
    name: Option<String>,
    moments: Vec<Moments>,
}

impl Scales {
    /// All rows have to agree on the other words of the map.
    fn agree(&mut self, words: &str, name: Option<&str>) -> Result<(), FleetError> {
        match &self.words {
            Some(known) if known != words => {
                let (expected, found) = (known.clone(), words.to_owned());
                return Err(Cause::OtherMap { expected, found }.of(name));
            }
            Some(_) => {}
            None => {
                self.words = Some(words.to_owned());
                self.name = name.map(str::to_owned);
            }
        }
        Ok(())
    }

    fn take_in(&mut self, batch: &Rows<'_>, rows: usize) -> Result<(), FleetError> {
        for row in (0..rows).filter(|row| batch.is_whole(*row)) {
            for (index, value) in batch.values(row).flatten().enumerate() {
                if !value.is_finite() {
                    let channel = fastmmd::Parameter::Channel(index);
                    let why = fastmmd::Error::NonFinite(channel);
                    return Err(Cause::BadValue { channel: index + 1, why }.of(batch.name(row)));
                }
                self.moments[index].add(value);
            }
        }
        Ok(())
    }
}

impl Accumulator for Scales {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let rows = values.first().map_or(0, |column| column.len());
        if rows == 0 {
            return Ok(());
        }
        let batch = Rows::new(&self.layout, values);
        let words = batch.words()?;
        self.agree(words, batch.name(0))?;
        self.take_in(&batch, rows)?;
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let rows = self.moments.first().map_or(0, Moments::count);
        let Some(words) = self.words.as_ref().filter(|_| rows > 0) else {
            return Ok(ScalarValue::Utf8(None));
        };
        let scale = |moments: &Moments| {
            let (level, deviation) = moments.level_and_deviation();
            Scale { level, deviation: if deviation > 0.0 { deviation } else { 1.0 } }
        };
        let scales: Vec<_> = self.moments.iter().map(scale).collect();
        let words = words.parse::<Words>()?.with_scales(scales);
        let map = words.draw(self.moments.len())?;
        Ok(ScalarValue::Utf8(Some(map.to_string())))
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.moments.iter().map(Moments::size).sum::<usize>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let mut bytes = Vec::new();
        for moments in &self.moments {
            let own = moments.to_bytes();
            bytes.extend(u64::try_from(own.len()).unwrap_or_default().to_le_bytes());
            bytes.extend(own);
        }
        Ok(vec![
            ScalarValue::Utf8(self.words.clone()),
            ScalarValue::Binary(Some(bytes)),
            ScalarValue::Utf8(self.name.clone()),
        ])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let (words, moments) = (states[0].as_string::<i32>(), states[1].as_binary::<i32>());
        let names = states[2].as_string::<i32>();
        for row in 0..words.len() {
            if words.is_null(row) || moments.is_null(row) {
                continue;
            }
            self.agree(words.value(row), names.is_valid(row).then(|| names.value(row)))?;
            let refused = || Cause::BadState(fastmmd::Error::WrongLength);
            let mut rest = moments.value(row);
            for own in &mut self.moments {
                let (length, after) = rest.split_first_chunk().ok_or_else(refused)?;
                let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| refused())?;
                let (bytes, after) = after.split_at_checked(length).ok_or_else(refused)?;
                own.merge(&Moments::of_bytes(bytes).ok_or_else(refused)?);
                rest = after;
            }
        }
        Ok(())
    }
}
