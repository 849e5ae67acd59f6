//! `instr processors`: who ran on which processor, of one trace or of several that ran at the same time.

pub(crate) mod csv;
pub(crate) mod grid;
pub(crate) mod groups;
mod svg;
pub(crate) mod table;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use instr_analysis::processors::{Allocation, allocation, comparable, each_slice};
use instr_trace::kernel::Part;

use crate::cli::{By, ProcessorOptions, SymbolOptions};
use crate::console::{Console, NO_OUTPUT, Refusal};
use crate::find;
use crate::output::write_to;
use crate::page::Page;
use crate::processors::groups::{Groups, Wanted};
use crate::sheet::MAX_ROWS;

/// Runs the command.
///
/// # Errors
///
/// Traces without what `instr run` records of processors, traces that cannot be put on one time line, and failures to write.
pub fn run(options: &ProcessorOptions, console: &mut Console<'_>) -> Result<()> {
    let traces = find::traces(&options.traces)?;
    let parts = open_all(&traces)?;
    let parts: Vec<&Part> = parts.iter().collect();
    let wanted = Wanted {
        by: options.by.unwrap_or(By::Program),
        application: options.application.as_deref(),
        traces: &traces,
        symbols: &SymbolOptions::default(),
    };
    if let Some(file) = &options.csv {
        let by_section = options.by == Some(By::Section);
        let mut groups = Groups::of(&wanted, &parts)?;
        let groups = (by_section || options.application.is_some()).then_some(&mut groups);
        return write_to(file, console, |out| csv::write(&parts, groups, out));
    }
    if let Some(file) = &options.series {
        let ([trace], [part]) = (traces.as_slice(), parts.as_slice()) else {
            return Err(anyhow!("--series is of one trace"));
        };
        let begin = part.info().start_monotonic_ns;
        return write_to(file, console, |out| {
            crate::series::csv::write(trace, begin, out)
        });
    }
    if let Some(file) = &options.svg {
        let mut groups = Groups::of(&wanted, &parts)?;
        return write_to(file, console, |out| svg::write(&parts, &mut groups, out));
    }
    let found = allocation(&parts)?;
    if options.json {
        serde_json::to_writer_pretty(&mut *console.out, &found).context(NO_OUTPUT)?;
        return writeln!(console.out).context(NO_OUTPUT);
    }
    let rows = options.top.map_or(MAX_ROWS, |top| top as usize);
    let tables = |page: &mut Page<'_>| table::write(&found, page);
    console.page(rows, tables).context(NO_OUTPUT)
}

/// The kernel's parts of traces that users name, which can be put on one time line.
///
/// # Errors
///
/// Traces without one, and traces that cannot be put on one time line.
pub(crate) fn open(given: &[PathBuf]) -> Result<Vec<Part>> {
    open_all(&find::traces(given)?)
}

fn open_all(traces: &[PathBuf]) -> Result<Vec<Part>> {
    let parts: Result<Vec<Part>> = traces.iter().map(|trace| part_of(trace)).collect();
    let parts = parts?;
    match comparable(&parts.iter().collect::<Vec<_>>()) {
        Some(why) => Err(anyhow!("the traces cannot be put on one time line: {why}")),
        None => Ok(parts),
    }
}

/// The kernel's part of a trace.
fn part_of(trace: &Path) -> Result<Part> {
    Part::of_trace(trace)?.ok_or_else(|| {
        Refusal {
            message: format!(
                "{} does not have who ran on which processor",
                trace.display()
            ),
            notes: Vec::new(),
            help: Some("`instr run PROGRAM` records it".to_owned()),
        }
        .into()
    })
}

/// What the kernel's part of a trace says, if there is one.
///
/// # Errors
///
/// Streams that cannot be read.
pub(crate) fn of_trace(trace: &Path) -> Result<Option<Allocation>> {
    let Some(part) = Part::of_trace(trace)? else {
        return Ok(None);
    };
    Ok(Some(allocation(&[&part])?))
}

/// Calls `each` with every time in which a processor ran a thread, in order of their ends.
pub(crate) fn slices(
    parts: &[&Part],
    each: &mut dyn FnMut(&instr_analysis::processors::Slice<'_>) -> Result<()>,
) -> Result<Allocation> {
    let mut failed = None;
    let found = each_slice(parts, &mut |slice| {
        if failed.is_none() {
            failed = each(slice).err();
        }
    })?;
    failed.map_or(Ok(found), Err)
}
