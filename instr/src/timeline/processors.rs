//! A row for each processor: which program ran there.

use std::io::{self, Write as _};

use anyhow::{Context as _, Result};
use instr_trace::kernel::Part;

use super::draw::{Glyph, Style};
use super::{json, text};
use crate::cli::TimelineOptions;
use crate::console::{Console, NO_OUTPUT};
use crate::page::Page;
use crate::processors::grid::{Grid, cell, length};
use crate::processors::groups::Groups;
use crate::processors::open;
use crate::report::timeline::part::Window;
use crate::summary::units::{count, counted, elide, elide_middle, percent, time};

/// Characters of a row's name.
const LABEL: usize = 9;
/// Draws processors.
///
/// # Errors
///
/// Traces without what `instr run` records of processors, and failures to write.
pub(super) fn run(options: &TimelineOptions, console: &mut Console<'_>) -> Result<()> {
    let parts = open(&options.traces)?;
    let parts: Vec<&Part> = parts.iter().collect();
    let (from, to) = super::select::between(&options.part, length(&parts))?;
    let width = super::width(options, console);
    let columns = if options.json {
        width
    } else {
        text::columns(width, LABEL)
    };
    let mut groups = Groups::programs(&parts);
    let grid = Grid::read(&parts, &mut groups, Window { from, to, columns })?;
    if options.json {
        let rows: Vec<_> = grid
            .rows
            .iter()
            .map(|(number, row)| json::Processor {
                processor: *number,
                busy_ns: row.iter().map(|shares| cell(shares).0).collect(),
                program: row.iter().map(|shares| cell(shares).1).collect(),
            })
            .collect();
        return json::write_processors(grid.window, &groups.names, &rows, &mut *console.out)
            .context(NO_OUTPUT);
    }
    let ascii = console.is_ascii();
    let name = parts
        .first()
        .map_or(String::new(), |part| elide_middle(&part.info().program, 40));
    let write = |page: &mut Page<'_>| {
        let style = Style {
            ascii,
            colour: page.colour,
        };
        draw(&grid, &groups.names, &name, style, page)
    };
    console.page(usize::MAX, write).context(NO_OUTPUT)
}

fn draw(
    grid: &Grid,
    programs: &[String],
    name: &str,
    style: Style,
    page: &mut Page<'_>,
) -> io::Result<()> {
    let window = grid.window;
    let head = format!(
        "{name} · {} · {} to {} · a column is {}",
        counted(grid.rows.len() as u64, "processor"),
        time(window.from),
        time(window.to),
        time(window.width())
    );
    page.paragraph("", &head)?;
    writeln!(page)?;
    for line in text::ruler(window, LABEL + 2, style.ascii) {
        writeln!(page, "{}", line.trim_end())?;
    }
    let ranks = grid.ranks();
    let whole = window.to.saturating_sub(window.from).max(1);
    for (number, row) in &grid.rows {
        let mut sum = 0u64;
        let mut cells: Vec<Glyph> = Vec::with_capacity(row.len());
        for (column, shares) in row.iter().enumerate() {
            let (busy, longest) = cell(shares);
            sum = sum.saturating_add(busy);
            let width = window
                .width()
                .min(whole - (column as u64 * window.width()).min(whole));
            // What lasts longest in the cell: a program, or none of them.
            cells.push(match longest {
                Some(program) if busy >= width.saturating_sub(busy) => style.letter(ranks[program]),
                _ => style.nothing(),
            });
        }
        let label = format!("{:<LABEL$}  ", format!("CPU {number}"));
        writeln!(
            page,
            "{label}{}{:>8}",
            style.line(&cells),
            percent(sum as f64 / whole as f64)
        )?;
    }
    if grid.left_out > 0 {
        writeln!(
            page,
            "... and {}",
            counted(grid.left_out as u64, "more processor")
        )?;
    }
    writeln!(page)?;
    let mut order: Vec<usize> = (0..ranks.len()).collect();
    order.sort_by_key(|program| ranks[*program]);
    for &program in order.iter().take(12) {
        let glyph = style.line(&[style.letter(ranks[program])]);
        writeln!(
            page,
            "{glyph} {}, {}",
            elide(&programs[program], 40),
            time(grid.time[program])
        )?;
    }
    if order.len() > 12 {
        writeln!(page, "... and {} more", order.len() - 12)?;
    }
    writeln!(
        page,
        "{} none of them, for half of the cell or more",
        style.line(&[style.nothing()])
    )?;
    writeln!(
        page,
        "at the right: share of the time in which the processor was in use"
    )?;
    match grid.lost {
        0 => Ok(()),
        lost => page.paragraph(
            "note: ",
            &format!("{} events were lost: times are missing", count(lost)),
        ),
    }
}
