//! `instr timeline`: what each thread, or processor, did when, drawn with characters. `docs/terminal.md` says what they mean.
//!
//! | module | job |
//! |---|---|
//! | `select` | which time and which threads |
//! | `ruler` | the ticks above the rows |
//! | `draw` | characters and colours |
//! | `text`, `processors` | rows of threads, rows of processors |
//! | `json` | the same as numbers |

mod draw;
mod json;
pub(crate) mod processors;
pub(crate) mod ruler;
pub(crate) mod select;
#[cfg(test)]
mod tests;
mod text;

use anyhow::{Context as _, Result};

use crate::cli::{Rows, TimelineOptions};
use crate::console::{Console, NO_OUTPUT, WrongUsage};
use crate::page::Page;
use crate::progress::Progress;
use crate::report::timeline::part::{View, Window, view};
use crate::symbols::{as_names, of_session, open_readable};

/// Fewest and most characters of a line.
const WIDTHS: std::ops::RangeInclusive<usize> = 40..=1000;

/// Runs the command.
///
/// # Errors
///
/// Directories that hold no readable trace, a part of the time that the trace does not have, and failures to write.
pub fn run(options: &TimelineOptions, console: &mut Console<'_>) -> Result<()> {
    if options.by == Rows::Processor {
        let part = &options.part;
        if part.region.is_some() || !part.threads.is_empty() {
            let why = "`--by processor` shows all threads: it takes `--from` and `--to`, not `--region` or `--thread`";
            return Err(WrongUsage(why.to_owned()).into());
        }
        return processors::run(options, console);
    }
    let (session, refused) = open_readable(&options.traces, console)?;
    let symbols = of_session(&session, &options.symbols);
    let names = as_names(&symbols);
    let chosen = select::threads(&session, &options.part.threads)?;
    let (from, to) = select::time(&session, &names, &options.part, console)?;
    let shown = |track: usize| chosen.as_ref().is_none_or(|chosen| chosen[track]);
    let width = width(options, console);
    let rows = crate::report::timeline::part::rows(&session);
    let rows: Vec<_> = rows
        .iter()
        .enumerate()
        .filter(|(track, _)| shown(*track))
        .collect();
    let labels = text::label_width(rows.iter().map(|(_, row)| *row), width);
    let columns = match options.json {
        true => width,
        false => text::columns(width, labels),
    };
    let window = Window { from, to, columns };
    let mut bar = Progress::new("time line", console);
    let view: View = view(
        &session,
        &names,
        window,
        &|track, _| shown(track),
        &mut |done, total| {
            bar.at(done, total);
        },
    )?;
    drop(bar);
    for trace in session.traces() {
        crate::symbols::warn_of_unreadable(trace, console);
    }
    symbols.iter().for_each(|symbols| symbols.report(console));
    if options.json {
        json::write(&session, &view, &mut *console.out).context(NO_OUTPUT)?;
    } else {
        let ascii = console.is_ascii();
        let page = |page: &mut Page<'_>| {
            let drawing = text::Drawing {
                session: &session,
                view: &view,
                cells: options.show,
                labels,
                all: rows.len(),
            };
            drawing.write(
                &draw::Style {
                    ascii,
                    colour: page.colour,
                },
                width,
                page,
            )
        };
        console.page(usize::MAX, page).context(NO_OUTPUT)?;
    }
    refused.map_or(Ok(()), Err)
}

/// Characters of a line.
fn width(options: &TimelineOptions, console: &Console<'_>) -> usize {
    let asked = options.width.map(|width| width as usize);
    asked
        .unwrap_or(console.width)
        .clamp(*WIDTHS.start(), *WIDTHS.end())
}
