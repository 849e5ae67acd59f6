//! A row for each thread.

use std::io::{self, Write as _};

use instr_trace::Session;

use super::draw::{Glyph, Style};
use super::ruler;
use crate::cli::Cells;
use crate::page::Page;
use crate::report::timeline::part::{Row, View, Window};
use crate::report::timeline::{STATE_NAMES, STATES};
use crate::summary::units::{brief, count, counted, elide_middle, percent, time};

/// Characters of a row's name.
const NAME: usize = 20;
/// What stands behind the cells: the share of user code.
const SHARE: usize = 8;
/// Letters that the legend names.
const LEGEND: usize = 12;

/// What is drawn.
pub(super) struct Drawing<'a> {
    pub(super) session: &'a Session,
    pub(super) view: &'a View,
    pub(super) cells: Cells,
    /// Characters of the names.
    pub(super) labels: usize,
    /// Threads that were asked for.
    pub(super) all: usize,
}

/// Characters that names take: those of the longest one, but not more than a third of the line.
pub(super) fn label_width<'r>(rows: impl Iterator<Item = &'r Row>, width: usize) -> usize {
    let longest = rows.map(|row| row.name.chars().count()).max().unwrap_or(0);
    longest.clamp(4, NAME.min(width / 3))
}

/// Columns of time in a line.
pub(super) fn columns(width: usize, labels: usize) -> usize {
    width.saturating_sub(labels + 2 + SHARE).max(10)
}

/// The lines above the rows: labels, and ticks below them.
pub(super) fn ruler(window: Window, before: usize, ascii: bool) -> [String; 2] {
    let width = window.width();
    let ticks = ruler::ticks(window.from, window.to, |characters| {
        width.saturating_mul(characters as u64 + 2)
    });
    let used = window.used();
    let (mut labels, (rule, tick)) = (
        " ".repeat(before),
        if ascii { ('-', '+') } else { ('─', '┬') },
    );
    let mut marks: Vec<char> = vec![rule; used];
    for found in &ticks {
        let at = ((found.at - window.from) / width) as usize;
        if let Some(mark) = marks.get_mut(at) {
            *mark = tick;
            let filled = labels.chars().count();
            if filled <= before + at && at + found.label.chars().count() <= used + SHARE {
                labels += &" ".repeat(before + at - filled);
                labels += &found.label;
            }
        }
    }
    let marks: String = marks.into_iter().collect();
    [labels, " ".repeat(before) + &marks]
}

impl Drawing<'_> {
    /// Writes everything.
    ///
    /// # Errors
    ///
    /// Those of the page.
    pub(super) fn write(&self, style: &Style, width: usize, page: &mut Page<'_>) -> io::Result<()> {
        let (view, window) = (self.view, self.view.window);
        let processes = self.session.traces();
        let program = processes
            .first()
            .map_or("", |trace| trace.metadata().program.as_str());
        let mut head = format!(
            "{} · {} · {} to {} · a column is {}",
            elide_middle(program, 40),
            counted(view.rows.len() as u64, "thread"),
            time(window.from),
            time(window.to),
            time(window.width())
        );
        if processes.len() > 1 {
            head = head.replacen(
                " · ",
                &format!(" and {} more processes · ", processes.len() - 1),
                1,
            );
        }
        page.paragraph("", &head)?;
        writeln!(page)?;
        for line in ruler(window, self.labels + 2, style.ascii) {
            writeln!(page, "{}", line.trim_end())?;
        }
        let ranks = self.ranks();
        let mut process = None;
        for (number, row) in view.rows.iter().enumerate() {
            if processes.len() > 1 && process != Some(row.process) {
                process = Some(row.process);
                let metadata = processes[row.process].metadata();
                let name = format!("{} ({})", metadata.program, metadata.pid);
                writeln!(page, "{}", elide_middle(&name, width))?;
            }
            self.row(number, row, &ranks, *style, page)?;
        }
        let left_out = self.all.saturating_sub(view.rows.len());
        if left_out > 0 {
            writeln!(
                page,
                "... and {} more (--thread chooses)",
                counted(left_out as u64, "thread")
            )?;
        }
        writeln!(page)?;
        match self.cells {
            Cells::States => self.states(*style, page)?,
            Cells::Regions => self.regions(&ranks, *style, page)?,
        }
        self.losses(page)
    }

    fn row(
        &self,
        number: usize,
        row: &Row,
        ranks: &[usize],
        style: Style,
        page: &mut Page<'_>,
    ) -> io::Result<()> {
        let window = self.view.window;
        let (mut useful, mut whole) = (0u64, 0u64);
        let mut cells: Vec<Glyph> = Vec::with_capacity(window.used());
        for column in 0..window.used() {
            let states = self.view.states(number, column);
            useful = useful.saturating_add(states[0]);
            whole = states.iter().fold(whole, |sum, ns| sum.saturating_add(*ns));
            cells.push(match largest(&states) {
                None => (' ', 0),
                Some(state) if self.cells == Cells::States => style.state(state),
                Some(_) => match self.view.code(number, column) {
                    0 => style.nothing(),
                    code => style.letter(ranks[code]),
                },
            });
        }
        for loss in &row.losses {
            for column in window
                .columns_of(loss.begin, loss.end)
                .into_iter()
                .flatten()
            {
                cells[column] = style.lost();
            }
        }
        let share = match whole {
            0 => "-".to_owned(),
            _ => percent(useful as f64 / whole as f64),
        };
        let name = elide_middle(&row.name, self.labels);
        let name = format!("{name:<width$}  ", width = self.labels);
        writeln!(page, "{name}{}{share:>SHARE$}", style.line(&cells))
    }

    /// By code: its rank by the cells that it has.
    fn ranks(&self) -> Vec<usize> {
        let mut cells = vec![0u64; self.view.codes.len()];
        if self.cells == Cells::Regions {
            for row in 0..self.view.rows.len() {
                for column in 0..self.view.window.used() {
                    cells[self.view.code(row, column)] += 1;
                }
            }
        }
        let mut order: Vec<usize> = (1..cells.len()).filter(|code| cells[*code] > 0).collect();
        order.sort_by_key(|code| std::cmp::Reverse(cells[*code]));
        let mut ranks = vec![usize::MAX; cells.len()];
        for (rank, code) in order.into_iter().enumerate() {
            ranks[code] = rank;
        }
        ranks
    }

    fn states(&self, style: Style, page: &mut Page<'_>) -> io::Result<()> {
        let names = STATE_NAMES.iter().enumerate();
        let each = names.map(|(state, name)| {
            let glyph = style.line(&[style.state(state)]);
            format!("{glyph} {}", if state == 0 { "user code" } else { name })
        });
        let lost = format!("{} events are missing", style.line(&[style.lost()]));
        let all: Vec<_> = each.chain([lost]).collect();
        // Colours have characters that take no room: the line is not folded.
        for line in all.chunks(3) {
            writeln!(page, "{}", line.join("   "))?;
        }
        writeln!(page, "at the right: share of user code")
    }

    fn regions(&self, ranks: &[usize], style: Style, page: &mut Page<'_>) -> io::Result<()> {
        let mut named: Vec<_> = (1..ranks.len())
            .filter(|code| ranks[*code] != usize::MAX)
            .collect();
        named.sort_by_key(|code| ranks[*code]);
        for &code in named.iter().take(LEGEND) {
            let glyph = style.line(&[style.letter(ranks[code])]);
            writeln!(page, "{glyph} {}", brief(&self.view.codes[code].label, 60))?;
        }
        let more = named.len().saturating_sub(LEGEND);
        if more > 0 {
            writeln!(
                page,
                "... and {more} more{}",
                match named.len() > Style::letters() {
                    true => ", the last ones as *",
                    false => "",
                }
            )?;
        }
        let (nothing, lost) = (style.line(&[style.nothing()]), style.line(&[style.lost()]));
        writeln!(page, "{nothing} none of them   {lost} events are missing")
    }

    /// How many events the marks stand for.
    fn losses(&self, page: &mut Page<'_>) -> io::Result<()> {
        let window = self.view.window;
        let all = self.view.rows.iter().flat_map(|row| &row.losses);
        let seen = all.filter(|loss| window.columns_of(loss.begin, loss.end).is_some());
        let (mut places, mut events) = (0u64, 0u64);
        seen.for_each(|loss| {
            places += 1;
            events = events.saturating_add(loss.events);
        });
        if places == 0 {
            return Ok(());
        }
        let text = match events {
            0 => format!(
                "events are missing at {}; nobody counted them",
                counted(places, "place")
            ),
            _ => format!(
                "{} events are missing at {}",
                count(events),
                counted(places, "place")
            ),
        };
        page.paragraph("note: ", &text)
    }
}

/// The state with most time, of equal ones the first; `None`: there is no time.
pub(super) fn largest(states: &[u64; STATES]) -> Option<usize> {
    let most = states.iter().max().filter(|most| **most > 0)?;
    states.iter().position(|ns| ns == most)
}
