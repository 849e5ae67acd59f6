//! All runs of a sweep as a table: a row for each run, and one for each of its regions. The columns are those of the frames that PaScal's own tools make, and more; the counters that were asked for are the last ones.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::Write;

use anyhow::{Context as _, Result};
use instr_tables::frame::{Cell, Frame, Kind};

use super::record::Record;
use super::run::{Region, Run};

/// Columns before the counters.
const COLUMNS: [(&str, Kind); 23] = [
    ("repetition", Kind::Int),
    ("program", Kind::Text),
    ("input", Kind::Text),
    ("environment", Kind::Text),
    ("placement", Kind::Text),
    ("frequency_khz", Kind::Int),
    ("smt", Kind::Text),
    ("cores", Kind::Int),
    ("region", Kind::Text),
    ("executions", Kind::Int),
    ("begin_ns", Kind::Int),
    ("seconds", Kind::Real),
    ("own_seconds", Kind::Real),
    ("processor_seconds", Kind::Real),
    ("resident_bytes", Kind::Int),
    ("failure", Kind::Text),
    ("joules", Kind::Real),
    ("execution_min", Kind::Real),
    ("execution_mean", Kind::Real),
    ("execution_median", Kind::Real),
    ("execution_p95", Kind::Real),
    ("execution_max", Kind::Real),
    ("execution_deviation", Kind::Real),
];

/// Writes lines of values separated by commas (RFC 4180) with a header; what is missing is empty.
pub(super) fn csv(record: &Record, out: &mut dyn Write) -> Result<()> {
    let mut out = csv::Writer::from_writer(out);
    let columns = columns(record);
    out.write_record(columns.iter().map(|(name, _)| name.as_ref()))?;
    each_row(record, &mut |row| {
        for cell in row {
            match cell {
                Cell::Missing => out.write_field("")?,
                Cell::Int(value) => out.write_field(value.to_string())?,
                Cell::Real(value) => out.write_field(value.to_string())?,
                Cell::Text(text) => out.write_field(text.as_ref())?,
            }
        }
        Ok(out.write_record(None::<&[u8]>)?)
    })?;
    Ok(out.flush()?)
}

/// Writes a file of Parquet; what is missing is null.
pub(super) fn parquet(record: &Record, out: &mut dyn Write) -> Result<()> {
    let columns = columns(record);
    let columns = columns.iter().map(|(name, kind)| (name.as_ref(), *kind));
    let mut frame = Frame::new(columns).context("cannot make Parquet")?;
    each_row(record, &mut |row| {
        frame.add(row).context("cannot make Parquet")
    })?;
    Ok(out.write_all(&frame.finish().context("cannot make Parquet")?)?)
}

fn columns(record: &Record) -> Vec<(Cow<'_, str>, Kind)> {
    let fixed = COLUMNS.iter().map(|(name, kind)| (Cow::from(*name), *kind));
    // A counter may have the name of a column.
    let counter = |name: &'_ str| match COLUMNS.iter().any(|(other, _)| *other == name) {
        true => Cow::from(format!("counter {name}")),
        false => Cow::from(name.to_owned()),
    };
    let counters = counters(record).into_iter().map(counter);
    fixed
        .chain(counters.map(|name| (name, Kind::Int)))
        .collect()
}

/// Names of what was counted in any run.
fn counters(record: &Record) -> BTreeSet<&str> {
    let runs = record.runs().iter();
    let names = runs.flat_map(|run| run.counted.counters.keys());
    names.map(String::as_str).collect()
}

fn each_row(record: &Record, to: &mut dyn FnMut(&[Cell<'_>]) -> Result<()>) -> Result<()> {
    let counters = counters(record);
    for run in record.runs() {
        to(&row(run, None, &counters))?;
        for region in &run.regions {
            to(&row(run, Some(region), &counters))?;
        }
    }
    Ok(())
}

fn row<'r>(run: &'r Run, region: Option<&'r Region>, counters: &BTreeSet<&str>) -> Vec<Cell<'r>> {
    let point = &run.point;
    let environment: Vec<String> = point
        .environment
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let joules = match region {
        None => run.energy.map(|energy| energy.joules),
        Some(region) => region.joules,
    };
    let executions = region.and_then(|region| region.executions.as_deref());
    let executions = executions.map_or([None; 6], |it| {
        [it.min, it.mean, it.median, it.p95, it.max, it.deviation].map(Some)
    });
    let whole = region.is_none();
    let mut cells = vec![
        int(Some(run.repeat.into())),
        text(point.program.as_deref()),
        text(point.input.as_deref()),
        text((!environment.is_empty()).then(|| environment.join(" "))),
        text(point.placement.map(|placement| placement.word())),
        int(point.frequency_khz),
        text(point.smt.map(|smt| smt.word())),
        int(Some(point.threads.into())),
        text(region.map(|region| region.path.join(" / "))),
        int(Some(region.map_or(1, |region| region.count))),
        int(Some(run.begin_ns)),
        real(Some(region.map_or(run.seconds, |region| region.seconds))),
        real(region.map(|region| region.own_seconds)),
        real(whole.then_some(run.user_seconds + run.system_seconds)),
        int(run.resident_bytes.filter(|_| whole)),
        text(run.failure.as_deref()),
        real(joules),
    ];
    cells.extend(executions.map(real));
    let counted = region.map_or(&run.counted.counters, |region| &region.counters);
    cells.extend(counters.iter().map(|name| int(counted.get(*name).copied())));
    cells
}

fn int<'r>(value: Option<u64>) -> Cell<'r> {
    value.map_or(Cell::Missing, Cell::Int)
}

fn real<'r>(value: Option<f64>) -> Cell<'r> {
    value.map_or(Cell::Missing, Cell::Real)
}

fn text<'r>(text: Option<impl Into<Cow<'r, str>>>) -> Cell<'r> {
    let text = text.map(Into::into).filter(|text| !text.is_empty());
    text.map_or(Cell::Missing, Cell::Text)
}
