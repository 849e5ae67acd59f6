//! For people.

use std::io::{self, Write};

use super::super::model::Summary;
use super::super::table::{MAX_ROWS, Sheet};
use super::super::units::{count, counted, elide, percent, time};

/// Writes the functions by share, if the program was sampled.
///
/// # Errors
///
/// Those of `out`.
pub fn write(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let Some(samples) = &summary.samples else {
        return Ok(());
    };
    write!(
        out,
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
        write!(out, " of {} periods", count(samples.periods))?;
    }
    match samples.lost {
        0 => writeln!(out)?,
        lost => writeln!(out, ", {} lost", counted(lost, "period"))?,
    }
    let mut table = Sheet::new(1, &["function", "self", "with calls", "periods"]);
    for function in samples.functions.iter().take(MAX_ROWS) {
        table.add_row([
            elide(&function.function, 200),
            percent(function.share),
            percent(function.inclusive_share),
            count(function.periods),
        ]);
    }
    table.print(samples.functions.len(), out)
}
