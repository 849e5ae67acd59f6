//! For people.

use std::io::{self, Write};

use crate::summary::units::elide;

use super::{Item, Report};

const NAME_WIDTH: usize = 36;
const TEXT_WIDTH: usize = 220;

/// Writes the report.
///
/// # Errors
///
/// Those of `out`.
pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for (title, items) in [
        ("compilers and linkers", &report.compilers),
        ("OpenMP libraries", &report.openmp),
        ("targets", &report.targets),
        ("recording", &report.recording),
        ("clock", &report.clock),
        ("permissions", &report.permissions),
        ("sensors (INSTR_SENSORS)", &report.sensors),
        ("counters of threads (INSTR_COUNTERS)", &report.counters),
    ] {
        section(title, items, out)?;
    }
    Ok(())
}

fn section(title: &str, items: &[Item], out: &mut dyn Write) -> io::Result<()> {
    if items.is_empty() {
        return Ok(());
    }
    writeln!(out, "{title}")?;
    let width = items
        .iter()
        .map(|item| item.name.chars().count())
        .max()
        .unwrap_or(0)
        .min(NAME_WIDTH);
    for item in items {
        let mark = match item.works {
            Some(true) => "ok",
            Some(false) => "no",
            None => "? ",
        };
        let name = elide(&item.name, NAME_WIDTH);
        writeln!(
            out,
            "  {mark}  {name:width$}  {}",
            elide(&item.what, TEXT_WIDTH)
        )?;
        if let Some(help) = &item.help {
            writeln!(out, "      {:width$}  help: {help}", "")?;
        }
    }
    writeln!(out)
}
