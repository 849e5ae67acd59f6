//! For people.

use std::io::{self, Write};

use super::super::model::Summary;
use super::super::units::{count, counted, elide, percent, time};
use crate::page::Page;
use crate::sheet::Sheet;

/// Writes the functions by share, if the program was sampled.
///
/// # Errors
///
/// Those of the page.
pub fn write(summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
    let Some(samples) = &summary.samples else {
        return Ok(());
    };
    write!(
        page,
        "\nsampled every {} of {} time: {}",
        time(samples.period_ns),
        if samples.clock == "real" {
            "real"
        } else {
            "processor"
        },
        counted(samples.taken, "sample"),
    )?;
    if samples.periods > samples.taken {
        write!(page, " of {} periods", count(samples.periods))?;
    }
    match samples.lost {
        0 => writeln!(page)?,
        lost => writeln!(page, ", {} lost", counted(lost, "period"))?,
    }
    let mut table = Sheet::of_places(1, &["function", "self", "with calls", "periods"]);
    for function in samples.functions.iter().take(page.rows) {
        table.add_row([
            elide(&function.function, 200),
            percent(function.share),
            percent(function.inclusive_share),
            count(function.periods),
        ]);
    }
    table.print(samples.functions.len(), page)
}
