//! `generate`: a made-up fleet as Parquet files.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, DictionaryArray, Float32Array, Int32Array, RecordBatch, StringArray, UInt8Array,
    UInt32Array,
};
use datafusion::arrow::datatypes::Int32Type;
use datafusion::parquet::arrow::ArrowWriter;

use crate::args::Generate;
use crate::fault::Fault;
use crate::made::{Fleet, Made};
use crate::output::say;

/// Files of a fleet.
const FILES: u32 = 16;

pub(crate) fn run(arguments: &Generate) -> Result<bool, Fault> {
    let Generate { ref folder, devices, rows, odd, moved, seed } = *arguments;
    let fleet = Fleet { devices, rows, odd, moved, seed };
    std::fs::create_dir_all(folder).map_err(|error| Fault::of(folder, error))?;
    for file in 0..FILES {
        let path = folder.join(format!("part-{file:02}.parquet"));
        write(&fleet, file, &path).map_err(|error| Fault::of(&path, error))?;
    }
    say(format!("{}: {devices} devices, {rows} rows each, {odd} odd", folder.display()))?;
    Ok(false)
}

fn write(fleet: &Fleet, file: u32, path: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let mut writer: Option<ArrowWriter<File>> = None;
    // Devices in turn, as they report: neighbours in a file are of different sites.
    for number in (file..fleet.devices).step_by(FILES as usize) {
        let batch = batch(fleet, fleet.device(number))?;
        let writer = match &mut writer {
            Some(writer) => writer,
            None => writer.insert(ArrowWriter::try_new(File::create(path)?, batch.schema(), None)?),
        };
        writer.write(&batch)?;
    }
    if let Some(writer) = writer {
        writer.close()?;
    }
    Ok(())
}

/// All rows of a device.
fn batch(fleet: &Fleet, made: Made) -> Result<RecordBatch, Box<dyn std::error::Error>> {
    let (rows, half) = (fleet.rows as usize, (fleet.rows / 2) as usize);
    let constant = |text: String| -> Result<ArrayRef, Box<dyn std::error::Error>> {
        let keys = Int32Array::from(vec![0; rows]);
        let array =
            DictionaryArray::<Int32Type>::try_new(keys, Arc::new(StringArray::from(vec![text])))?;
        Ok(Arc::new(array))
    };
    let weeks = (0..rows).map(|row| if row < half { 1 } else { 2 });
    let firmware = (0..rows).map(|row| if made.moved && row >= half { 2 } else { 1 });
    let mut channels = [const { Vec::<f32>::new() }; 3];
    for row in fleet.rows(made) {
        channels.iter_mut().zip(row).for_each(|(channel, value)| channel.push(value));
    }
    let [x, y, z] = channels.map(|channel| Arc::new(Float32Array::from(channel)) as ArrayRef);
    let columns: [(&str, ArrayRef); 8] = [
        ("device", constant(format!("pump-{:05}", made.number))?),
        ("site", constant(format!("site-{:03}", made.site))?),
        ("second", Arc::new(UInt32Array::from_iter_values(0..fleet.rows))),
        ("week", Arc::new(UInt8Array::from_iter_values(weeks))),
        ("firmware", Arc::new(UInt8Array::from_iter_values(firmware))),
        ("x", x),
        ("y", y),
        ("z", z),
    ];
    Ok(RecordBatch::try_from_iter(columns)?)
}
