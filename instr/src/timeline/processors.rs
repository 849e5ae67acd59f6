//! A row for each processor: which program ran there.

use std::collections::BTreeMap;
use std::io::{self, Write as _};

use anyhow::{Context as _, Result};
use instr_trace::kernel::Part;

use super::draw::{Glyph, Style};
use super::{json, text};
use crate::cli::TimelineOptions;
use crate::console::{Console, NO_OUTPUT};
use crate::page::Page;
use crate::processors::{open, slices};
use crate::report::timeline::part::{MOST_CELLS, Window};
use crate::summary::units::{count, counted, elide, elide_middle, percent, time};

/// Characters of a row's name.
const LABEL: usize = 9;
/// Programs that are told apart in a cell. Of more, those with least time are forgotten.
const FOLLOWED: usize = 64;

/// Time of programs in the cells of one processor.
type Row = Vec<Vec<(usize, u64)>>;

/// Who ran where.
pub(crate) struct Grid {
    pub(crate) window: Window,
    /// Names of programs, and their time on all processors in the window.
    pub(crate) programs: Vec<String>,
    pub(crate) time: Vec<u64>,
    /// By number of the processor.
    pub(crate) rows: BTreeMap<u32, Row>,
    /// Events that were lost.
    pub(crate) lost: u64,
    /// Processors that found no room.
    pub(crate) left_out: usize,
}

impl Grid {
    /// Reads who ran on which processor.
    ///
    /// # Errors
    ///
    /// Streams that cannot be read.
    pub(crate) fn read(parts: &[&Part], window: Window) -> Result<Self> {
        let mut grid = Self {
            window,
            programs: Vec::new(),
            time: Vec::new(),
            rows: BTreeMap::new(),
            lost: 0,
            left_out: 0,
        };
        let used = window.used();
        let mut numbers: Vec<u32> = parts.iter().flat_map(|part| part.processors()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let room = MOST_CELLS / used;
        grid.left_out = numbers.len().saturating_sub(room);
        for number in numbers.into_iter().take(room) {
            grid.rows.insert(number, vec![Vec::new(); used]);
        }
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        let several = parts.len() > 1;
        let found = slices(parts, &mut |slice| {
            let (begin, end) = (slice.begin_ns.max(window.from), slice.end_ns.min(window.to));
            if begin >= end {
                return Ok(());
            }
            let name = match slice.application {
                None => "other programs",
                Some(at) if several => parts[at].info().program.as_str(),
                Some(_) => slice.process_name,
            };
            let program = match places.get(name) {
                Some(number) => *number,
                None => {
                    places.insert(name.to_owned(), grid.programs.len());
                    grid.programs.push(name.to_owned());
                    grid.time.push(0);
                    grid.programs.len() - 1
                }
            };
            grid.add(slice.processor, program, begin, end);
            Ok(())
        })?;
        grid.lost = found.lost;
        Ok(grid)
    }

    fn add(&mut self, processor: u32, program: usize, begin: u64, end: u64) {
        self.time[program] = self.time[program].saturating_add(end - begin);
        let (window, width) = (self.window, self.window.width());
        let Some(row) = self.rows.get_mut(&processor) else {
            return;
        };
        for column in window.columns_of(begin, end).into_iter().flatten() {
            let from = window.from.saturating_add(column as u64 * width);
            let ns = end
                .min(from.saturating_add(width))
                .saturating_sub(begin.max(from));
            let cell = &mut row[column];
            match cell.iter_mut().find(|(other, _)| *other == program) {
                Some((_, sum)) => *sum = sum.saturating_add(ns),
                None => {
                    if cell.len() == FOLLOWED {
                        let least = (0..FOLLOWED).min_by_key(|at| cell[*at].1);
                        cell.swap_remove(least.unwrap_or(0));
                    }
                    cell.push((program, ns));
                }
            }
        }
    }

    /// Rank of each program by its time.
    pub(crate) fn ranks(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.time.len()).collect();
        order.sort_by_key(|program| std::cmp::Reverse(self.time[*program]));
        let mut ranks = vec![0; order.len()];
        for (rank, program) in order.into_iter().enumerate() {
            ranks[program] = rank;
        }
        ranks
    }
}

/// Busy time of a cell, and who ran longest.
pub(crate) fn cell(cell: &[(usize, u64)]) -> (u64, Option<usize>) {
    let busy = cell
        .iter()
        .fold(0u64, |sum, (_, ns)| sum.saturating_add(*ns));
    let longest = cell
        .iter()
        .max_by_key(|(program, ns)| (*ns, std::cmp::Reverse(*program)));
    (busy, longest.map(|(program, _)| *program))
}

/// The time of all recordings, ns.
pub(crate) fn length(parts: &[&Part]) -> u64 {
    let infos = parts.iter().map(|part| part.info());
    let begin = infos.clone().map(|info| info.start_monotonic_ns).min();
    let end = infos.map(|info| info.end_monotonic_ns).max();
    end.unwrap_or(0).saturating_sub(begin.unwrap_or(0))
}

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
    let grid = Grid::read(&parts, Window { from, to, columns })?;
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
        return json::write_processors(grid.window, &grid.programs, &rows, &mut *console.out)
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
        draw(&grid, &name, style, page)
    };
    console.page(usize::MAX, write).context(NO_OUTPUT)
}

fn draw(grid: &Grid, name: &str, style: Style, page: &mut Page<'_>) -> io::Result<()> {
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
            elide(&grid.programs[program], 40),
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
