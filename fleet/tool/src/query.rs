//! `query`: SQL over files.

use std::fs::File;
use std::path::{Path, PathBuf};

use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions, array_value_to_string};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::file::properties::WriterProperties;
use serde_json::{Map, Value};

use crate::args::Query;
use crate::fault::Fault;
use crate::output::say;
use crate::session::{Connect, Session};

/// Rows that are held before they are written.
const HELD: usize = 1 << 17;

pub(crate) async fn run(arguments: &Query, connect: Option<Connect>) -> Result<bool, Fault> {
    let session = Session::open(&arguments.engine, connect).await?;
    for table in &arguments.table {
        let wanted = || Fault::new(format!("--table {table}: NAME=PATH is needed"));
        let (name, path) = table.split_once('=').ok_or_else(wanted)?;
        session.add_table(name, Path::new(path)).await?;
    }
    let mut answer = session.ask(&arguments.sql).await?;
    if let Some(path) = &arguments.output {
        let mut target = Target::create(path, answer.schema())?;
        while let Some(batch) = answer.next().await? {
            target.write(&batch)?;
        }
        target.finish()?;
        return Ok(false);
    }
    let mut first = true;
    while let Some(batch) = answer.next().await? {
        if arguments.json {
            say_objects(&batch)?;
        } else {
            say_lines(&batch, first)?;
        }
        first = false;
    }
    Ok(false)
}

/// A Parquet file that is being written. It has its name only when it is whole.
pub(crate) struct Target {
    path: PathBuf,
    part: PathBuf,
    /// Until it is finished.
    writer: Option<ArrowWriter<File>>,
}

impl Target {
    pub(crate) fn create(path: &Path, schema: SchemaRef) -> Result<Self, Fault> {
        let mut part = path.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        let file = File::create(&part).map_err(|error| Fault::of(path, error))?;
        let held = WriterProperties::builder().set_max_row_group_row_count(Some(HELD)).build();
        let writer = ArrowWriter::try_new(file, schema, Some(held));
        let writer = writer.map_err(|error| Fault::of(path, error))?;
        Ok(Self { path: path.to_owned(), part, writer: Some(writer) })
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), Fault> {
        let written = self.writer.as_mut().map_or(Ok(()), |writer| writer.write(batch));
        written.map_err(|error| Fault::of(&self.path, error))
    }

    pub(crate) fn finish(mut self) -> Result<(), Fault> {
        let refused = |error: &dyn std::fmt::Display| Fault::of(&self.path, error);
        if let Some(writer) = self.writer.take() {
            writer.close().map_err(|error| refused(&error))?;
        }
        std::fs::rename(&self.part, &self.path).map_err(|error| refused(&error))
    }
}

impl Drop for Target {
    /// What is not whole is removed; what is whole has another name by then.
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.part);
    }
}

fn say_lines(batch: &RecordBatch, with_names: bool) -> Result<(), Fault> {
    let schema = batch.schema();
    if with_names {
        let names: Vec<_> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        say(names.join("\t"))?;
    }
    let options = FormatOptions::default();
    let columns = batch
        .columns()
        .iter()
        .map(|column| ArrayFormatter::try_new(column, &options))
        .collect::<Result<Vec<_>, _>>()
        .map_err(Fault::new)?;
    for row in 0..batch.num_rows() {
        let cells: Vec<_> = columns.iter().map(|column| column.value(row).to_string()).collect();
        say(cells.join("\t"))?;
    }
    Ok(())
}

fn say_objects(batch: &RecordBatch) -> Result<(), Fault> {
    let schema = batch.schema();
    for row in 0..batch.num_rows() {
        let mut object = Map::new();
        for (field, column) in schema.fields().iter().zip(batch.columns()) {
            object.insert(field.name().clone(), value(column, row)?);
        }
        say(Value::Object(object))?;
    }
    Ok(())
}

/// A cell as JSON: lists and structs as what they hold, what JSON has no type for as text.
fn value(column: &ArrayRef, row: usize) -> Result<Value, Fault> {
    if column.is_null(row) {
        return Ok(Value::Null);
    }
    let items = |items: &ArrayRef| -> Result<Value, Fault> {
        (0..items.len()).map(|item| value(items, item)).collect()
    };
    match column.data_type() {
        DataType::Null => Ok(Value::Null),
        DataType::Boolean => Ok(Value::Bool(column.as_boolean().value(row))),
        DataType::List(_) => items(&column.as_list::<i32>().value(row)),
        DataType::LargeList(_) => items(&column.as_list::<i64>().value(row)),
        DataType::FixedSizeList(..) => items(&column.as_fixed_size_list().value(row)),
        DataType::Struct(fields) => {
            let parts = fields.iter().zip(column.as_struct().columns());
            let parts = parts.map(|(field, part)| Ok((field.name().clone(), value(part, row)?)));
            Ok(Value::Object(parts.collect::<Result<_, Fault>>()?))
        }
        kind => {
            let text = array_value_to_string(column, row).map_err(Fault::new)?;
            // Numbers as they are; NaN and infinities have no form in JSON.
            let number = kind.is_numeric().then(|| serde_json::from_str(&text).unwrap_or_default());
            Ok(number.unwrap_or(Value::String(text)))
        }
    }
}
